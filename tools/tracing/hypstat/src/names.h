/* SPDX-License-Identifier: GPL-2.0 */
#ifndef HYPSTAT_NAMES_H
#define HYPSTAT_NAMES_H

#include <stdbool.h>
#include <linux/types.h>

struct tep_event;

struct name {
	u64		value;
	const char	*text;
};

/**
 * struct names - the names of a field's values
 * @names: one for each value
 * @nr: how many
 */
struct names {
	struct name	*names;
	unsigned int	nr;
};

void names_read(struct names *names, struct tep_event *event, const char *field);
const char *names_find(const struct names *names, u64 value);
bool names_value(const struct names *names, const char *text, u64 *value);
void names_free(struct names *names);

#endif
