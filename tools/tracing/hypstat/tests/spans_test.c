// SPDX-License-Identifier: GPL-2.0
#include <string.h>

#include "../src/spans.h"
#include "tap.h"

static struct spans spans;

static void begin(u64 from, u64 to)
{
	memset(&spans, 0, sizeof(spans));
	spans.from = from;
	spans.to = to;
}

static u64 sum(void)
{
	unsigned int column;
	u64 total = 0;

	for (column = 0; column < SPANS_COLUMNS; column++)
		total += spans.busy[column];
	return total;
}

static unsigned int count_runs(struct run *last)
{
	struct run run = {};
	unsigned int nr = 0;

	while (spans_next(&spans, &run)) {
		*last = run;
		nr++;
	}
	return nr;
}

/* Whatever the bounds are, each nanosecond is in one column. */
static void check_sums(void)
{
	static const u64 ends[] = { 1, 7, SPANS_COLUMNS, 12345, 1000000007, 1ULL << 62 };
	unsigned int i;

	for (i = 0; i < sizeof(ends) / sizeof(*ends); i++) {
		u64 to = 1000 + ends[i];

		begin(1000, to);
		spans_add(&spans, 0, 1000 + ends[i] / 3);
		spans_add(&spans, 1000 + ends[i] / 3, to + 5);
		equals("a time is all of the picture's", sum(), ends[i]);
	}
}

static void check_bounds(void)
{
	begin(1000, 2000);
	spans_add(&spans, 0, 1000);
	spans_add(&spans, 2000, 3000);
	spans_add(&spans, 1500, 1500);
	spans_add(&spans, 1600, 1500);
	equals("what is outside or empty is left out", sum(), 0);
}

static void check_runs(void)
{
	struct run run = {};

	begin(0, SPANS_COLUMNS * 100);
	equals("an idle lane has no runs", count_runs(&run), 0);
	spans_add(&spans, 1000, 2000);
	spans_add(&spans, 2000, 2001);
	equals("two levels are two runs", count_runs(&run), 2);
	ok(run.first == 20 && run.nr == 1 && run.level == 1, "a nanosecond is seen");
	spans_add(&spans, 0, SPANS_COLUMNS * 100);
	equals("a lane that is always busy is one run", count_runs(&run), 1);
	ok(!run.first && run.nr == SPANS_COLUMNS && run.level == SPANS_LEVELS, "of all columns");
}

int main(void)
{
	check_sums();
	check_bounds();
	check_runs();
	return tap_end();
}
