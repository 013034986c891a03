/* SPDX-License-Identifier: GPL-2.0 */
#ifndef HYPSTAT_JSON_H
#define HYPSTAT_JSON_H

#include <stdbool.h>
#include <stdio.h>
#include <linux/types.h>

/**
 * struct json - JSON that is being written
 * @file: where to
 * @depth: how deep the next value is
 * @comma: a comma comes before it
 */
struct json {
	FILE	*file;
	int	depth;
	bool	comma;
};

void json_open(struct json *json, const char *key, char bracket);
void json_close(struct json *json, char bracket);
void json_number(struct json *json, const char *key, u64 value);
void json_text(struct json *json, const char *key, const char *text);

#endif
