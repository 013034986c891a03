// SPDX-License-Identifier: GPL-2.0
#include <string.h>

#include "../src/json.h"
#include "tap.h"

static const char expected[] =
	"{\n"
	"  \"a\\\"\\\\\\u0001\\u00ff\": \"b\",\n"
	"  \"list\": [\n"
	"    1,\n"
	"    {}\n"
	"  ],\n"
	"  \"none\": []\n"
	"}\n";

int main(void)
{
	char *text;
	size_t size;
	struct json json = { .file = open_memstream(&text, &size) };

	json_open(&json, NULL, '{');
	json_text(&json, "a\"\\\x01\xff", "b");
	json_open(&json, "list", '[');
	json_number(&json, NULL, 1);
	json_open(&json, NULL, '{');
	json_close(&json, '}');
	json_close(&json, ']');
	json_open(&json, "none", '[');
	json_close(&json, ']');
	json_close(&json, '}');
	fclose(json.file);
	if (!ok(!strcmp(text, expected), "objects, arrays and strings"))
		printf("# %s", text);
	free(text);
	return tap_end();
}
