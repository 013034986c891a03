/* SPDX-License-Identifier: GPL-2.0 */
#ifndef HYPSTAT_TOP_TEXT_H
#define HYPSTAT_TOP_TEXT_H

#include "view.h"

/**
 * struct top_round - the figures between two refreshes
 * @elapsed: the time between them in nanoseconds
 * @nr_cpus: of so many CPUs
 * @view: how they are shown
 * @total: all times at EL2
 * @rows: the rows, sorted
 * @gaps: the times that are not EL2's
 * @nano: show nanoseconds
 * @max_rows: show no more rows; 0: no limit
 */
struct top_round {
	u64			elapsed;
	unsigned int		nr_cpus;
	const struct view	*view;
	struct loghist		total;
	struct account		rows;
	struct account		gaps;
	bool			nano;
	unsigned int		max_rows;
};

/* The lines beside those of the rows */
#define TOP_OTHER_LINES	8

void top_text(const struct top_round *round);

#endif
