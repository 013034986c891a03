// SPDX-License-Identifier: GPL-2.0
/* Names in the formats that are written. A name of a task can have any byte. */
#include "escape.h"

static int shown(char c)
{
	return (unsigned char)c < 0x20 || (unsigned char)c >= 0x7f ? '?' : c;
}

/**
 * escape_csv - print a field of comma-separated values (RFC 4180)
 * @text: the field
 */
void escape_csv(const char *text)
{
	putchar('"');
	for (; *text; text++) {
		if (*text == '"')
			putchar('"');
		putchar((unsigned char)*text < 0x20 ? '?' : *text);
	}
	putchar('"');
}

/**
 * escape_label - print the value of a label of Prometheus' metrics, which are UTF-8
 * @text: the value
 */
void escape_label(const char *text)
{
	putchar('"');
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			putchar('\\');
		putchar(shown(*text));
	}
	putchar('"');
}

/**
 * escape_xml - print text or the value of an attribute in XML
 * @file: where to
 * @text: the text
 */
void escape_xml(FILE *file, const char *text)
{
	for (; *text; text++) {
		if (*text == '<' || *text == '>' || *text == '&' || *text == '"')
			fprintf(file, "&#%d;", *text);
		else
			putc(shown(*text), file);
	}
}
