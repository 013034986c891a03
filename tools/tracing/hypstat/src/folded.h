/* SPDX-License-Identifier: GPL-2.0 */
#ifndef HYPSTAT_FOLDED_H
#define HYPSTAT_FOLDED_H

#include "calls.h"

#define FOLDED_NAME	96

/* What stays were for, and the paths of calls in these */
struct folded_root {
	char		name[FOLDED_NAME];
	struct path	path;
};

/**
 * struct folded - the time at EL2 by path of calls
 * @roots: by what the stays were for
 * @nr: how many
 * @nr_paths: how many paths they have in all
 */
struct folded {
	struct folded_root	**roots;
	unsigned int		nr;
	unsigned int		nr_paths;
};

struct path *folded_root(struct folded *folded, const char *name);
void folded_add(struct folded *folded, struct path *root, const struct path *path);
void folded_free(struct folded *folded);

#endif
