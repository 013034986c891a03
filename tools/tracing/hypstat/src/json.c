// SPDX-License-Identifier: GPL-2.0
/* Writes JSON. A key is NULL in an array. */
#include "json.h"

static void put_string(struct json *json, const char *text)
{
	putc('"', json->file);
	for (; *text; text++) {
		unsigned char c = *text;

		if (c == '"' || c == '\\')
			fprintf(json->file, "\\%c", c);
		else if (c < 0x20 || c >= 0x7f)
			fprintf(json->file, "\\u%04x", c);
		else
			putc(c, json->file);
	}
	putc('"', json->file);
}

static void begin_value(struct json *json, const char *key)
{
	if (json->comma)
		putc(',', json->file);
	if (json->depth)
		fprintf(json->file, "\n%*s", 2 * json->depth, "");
	json->comma = true;
	if (!key)
		return;
	put_string(json, key);
	fputs(": ", json->file);
}

/**
 * json_open - begin an object or an array
 * @json: the JSON
 * @key: its key
 * @bracket: { or [
 */
void json_open(struct json *json, const char *key, char bracket)
{
	begin_value(json, key);
	putc(bracket, json->file);
	json->depth++;
	json->comma = false;
}

/**
 * json_close - end an object or an array
 * @json: the JSON
 * @bracket: } or ]
 */
void json_close(struct json *json, char bracket)
{
	json->depth--;
	if (json->comma)
		fprintf(json->file, "\n%*s", 2 * json->depth, "");
	putc(bracket, json->file);
	json->comma = true;
	if (!json->depth)
		putc('\n', json->file);
}

/**
 * json_number - write a number
 * @json: the JSON
 * @key: its key
 * @value: it
 */
void json_number(struct json *json, const char *key, u64 value)
{
	begin_value(json, key);
	fprintf(json->file, "%llu", (unsigned long long)value);
}

/**
 * json_text - write a string
 * @json: the JSON
 * @key: its key
 * @text: it; a byte that is not ASCII is taken for a character of Latin 1
 */
void json_text(struct json *json, const char *key, const char *text)
{
	begin_value(json, key);
	put_string(json, text);
}
