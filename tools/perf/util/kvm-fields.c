// SPDX-License-Identifier: GPL-2.0
/*
 * Lines for other programs: JSON objects, or values with a separator
 *
 * A line is one object. With a separator, the names of the values are a line before the
 * first one, and before each line that has other names than the last one.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>
#include <linux/compiler.h>
#include <linux/kernel.h>
#include "kvm-fields.h"

void kvm_fields__init(struct kvm_fields *fields, const char *separator, FILE *fp)
{
	memset(fields, 0, sizeof(*fields));
	fields->fp = fp;
	fields->separator = separator;
	strbuf_init(&fields->line, 0);
	strbuf_init(&fields->names, 0);
	strbuf_init(&fields->header, 0);
}

void kvm_fields__exit(struct kvm_fields *fields)
{
	strbuf_release(&fields->line);
	strbuf_release(&fields->names);
	strbuf_release(&fields->header);
}

static void add(struct kvm_fields *fields, struct strbuf *to, const char *text)
{
	fields->err = fields->err ?: strbuf_addstr(to, text);
}

static void add_char(struct kvm_fields *fields, char c)
{
	fields->err = fields->err ?: strbuf_addch(&fields->line, c);
}

/* What is before the value */
static void add_name(struct kvm_fields *fields, const char *name)
{
	if (!fields->separator) {
		fields->err = fields->err ?: strbuf_addf(&fields->line, "%s\"%s\" : ",
							 fields->line.len ? ", " : "", name);
		return;
	}
	if (fields->names.len) {
		add(fields, &fields->line, fields->separator);
		add(fields, &fields->names, fields->separator);
	}
	add(fields, &fields->names, name);
}

static void add_json(struct kvm_fields *fields, const char *text)
{
	add_char(fields, '"');
	for (; *text; text++) {
		unsigned char c = *text;

		if (c < ' ') {
			fields->err = fields->err ?: strbuf_addf(&fields->line, "\\u%04x", c);
			continue;
		}
		if (c == '"' || c == '\\')
			add_char(fields, '\\');
		add_char(fields, c);
	}
	add_char(fields, '"');
}

/* As in perf report: a separator in the text is a dot, and so is the end of a line. */
static void add_separated(struct kvm_fields *fields, const char *text)
{
	size_t len = strlen(fields->separator);

	while (*text) {
		if (!strncmp(text, fields->separator, len)) {
			add_char(fields, '.');
			text += len;
		} else {
			add_char(fields, *text == '\n' ? '.' : *text);
			text++;
		}
	}
}

void kvm_fields__string(struct kvm_fields *fields, const char *name, const char *value)
{
	add_name(fields, name);
	if (fields->separator)
		add_separated(fields, value);
	else
		add_json(fields, value);
}

void kvm_fields__u64(struct kvm_fields *fields, const char *name, u64 value)
{
	add_name(fields, name);
	fields->err = fields->err ?: strbuf_addf(&fields->line, "%" PRIu64, value);
}

void kvm_fields__double(struct kvm_fields *fields, const char *name, double value)
{
	add_name(fields, name);
	fields->err = fields->err ?: strbuf_addf(&fields->line, "%.2f", value);
}

static int print_header(struct kvm_fields *fields)
{
	if (fields->header.len && !strcmp(fields->header.buf, fields->names.buf))
		return 0;
	fprintf(fields->fp, "%s%s\n", fields->header.len ? "\n" : "", fields->names.buf);
	strbuf_setlen(&fields->header, 0);
	return strbuf_addstr(&fields->header, fields->names.buf);
}

/**
 * kvm_fields__end - print the line
 * @fields:	what has the fields of the line
 *
 * Return: 0, or a negative error if memory is missing: there is no line then.
 */
int kvm_fields__end(struct kvm_fields *fields)
{
	int err = fields->err;

	if (!err && fields->separator)
		err = print_header(fields);
	if (!err && fields->separator)
		fprintf(fields->fp, "%s\n", fields->line.buf);
	else if (!err)
		fprintf(fields->fp, "{%s}\n", fields->line.buf);
	strbuf_setlen(&fields->line, 0);
	strbuf_setlen(&fields->names, 0);
	fields->err = 0;
	return err;
}
