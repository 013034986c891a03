/* SPDX-License-Identifier: GPL-2.0 */
#ifndef HYPSTAT_SPANS_H
#define HYPSTAT_SPANS_H

#include <stdbool.h>
#include <linux/types.h>

/*
 * A picture is some thousand pixels wide. A lane has the share of each pixel's time that it was
 * busy, so it takes the same memory for ten events and for ten million.
 */
#define SPANS_COLUMNS	2000

/**
 * struct spans - when a lane of the time line was busy
 * @from: the time of the first column's begin
 * @to: the time of the last column's end
 * @busy: how long it was busy in each column, in ns
 */
struct spans {
	u64	from;
	u64	to;
	u64	busy[SPANS_COLUMNS];
};

/* Columns beside each other that look the same */
struct run {
	unsigned int	first;
	unsigned int	nr;
	unsigned int	level;
};

#define SPANS_LEVELS	8

bool spans_clip(u64 first, u64 last, u64 *from, u64 *to);
void spans_add(struct spans *spans, u64 from, u64 to);
bool spans_next(const struct spans *spans, struct run *run);

#endif
