/* SPDX-License-Identifier: GPL-2.0 */
#ifndef HYPSTAT_HISTOGRAMS_H
#define HYPSTAT_HISTOGRAMS_H

#include <stdio.h>

#include "view.h"

/**
 * struct histograms - what hypstat hist shows
 * @accounts: what was counted, by each CPU or by all
 * @nr: how many accounts there are
 * @view: the rows that people see
 * @reason: of this reason alone, or NULL
 * @elapsed: the time in which this was counted, in nanoseconds; 0: since the last reset
 * @nano: show nanoseconds
 * @with_zeros: show empty buckets
 */
struct histograms {
	struct account		*accounts;
	unsigned int		nr;
	const struct view	*view;
	const char		*reason;
	u64			elapsed;
	bool			nano;
	bool			with_zeros;
};

/* The text of a time */
#define TIME_TEXT	32

int histograms_main(int argc, char **argv);
void histograms_text(const struct histograms *histograms);
void histograms_json(const struct histograms *histograms);
void histograms_csv(const struct histograms *histograms);
void histograms_prometheus(const struct histograms *histograms);
void histograms_svg(FILE *file, const struct histograms *histograms);
const char *histograms_time(const struct histograms *histograms, u64 ns, char *text);
const char *histograms_bound(const struct histograms *histograms, unsigned int bucket, char *text);

#endif
