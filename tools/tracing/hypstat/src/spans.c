// SPDX-License-Identifier: GPL-2.0
#include "spans.h"

static u64 column_begin(const struct spans *spans, unsigned int column)
{
	u64 width = spans->to - spans->from;

	return spans->from + (u64)((__uint128_t)width * column / SPANS_COLUMNS);
}

static unsigned int column_of(const struct spans *spans, u64 ts)
{
	__uint128_t at = ts - spans->from;
	unsigned int column = at * SPANS_COLUMNS / (spans->to - spans->from);

	/* Both divisions round down, so the next column may have begun. */
	while (column + 1 < SPANS_COLUMNS && column_begin(spans, column + 1) <= ts)
		column++;
	return column < SPANS_COLUMNS ? column : SPANS_COLUMNS - 1;
}

/**
 * spans_clip - cut off what is outside the picture
 * @first: when that begins
 * @last: when it ends
 * @from: when something began
 * @to: when it ended
 *
 * Return: whether anything is left.
 */
bool spans_clip(u64 first, u64 last, u64 *from, u64 *to)
{
	if (*from < first)
		*from = first;
	if (*to > last)
		*to = last;
	return *from < *to;
}

/**
 * spans_add - add a time in which a lane was busy
 * @spans: the lane
 * @from: when it began
 * @to: when it ended; what is outside the picture is left out
 */
void spans_add(struct spans *spans, u64 from, u64 to)
{
	unsigned int column;
	u64 end;

	if (!spans_clip(spans->from, spans->to, &from, &to))
		return;
	for (column = column_of(spans, from); from < to; column++, from = end) {
		end = column_begin(spans, column + 1);
		if (end > to)
			end = to;
		spans->busy[column] += end - from;
	}
}

/* 0: idle; SPANS_LEVELS: busy all the time. A short stay is not idle. */
static unsigned int level_of(const struct spans *spans, unsigned int column)
{
	u64 width = column_begin(spans, column + 1) - column_begin(spans, column);
	u64 busy = spans->busy[column];

	if (!busy || !width)
		return busy ? SPANS_LEVELS : 0;
	if (busy >= width)
		return SPANS_LEVELS;
	return (busy * SPANS_LEVELS + width - 1) / width;
}

/**
 * spans_next - find the next columns that look the same and are not idle
 * @spans: the lane
 * @run: the last ones, all 0 at first; then the next ones
 *
 * Return: whether there are any.
 */
bool spans_next(const struct spans *spans, struct run *run)
{
	unsigned int column = run->first + run->nr;

	while (column < SPANS_COLUMNS && !spans->busy[column])
		column++;
	run->first = column;
	if (column == SPANS_COLUMNS)
		return false;
	run->level = level_of(spans, column);
	while (column < SPANS_COLUMNS && level_of(spans, column) == run->level)
		column++;
	run->nr = column - run->first;
	return true;
}
