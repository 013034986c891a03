/* SPDX-License-Identifier: GPL-2.0 */
#ifndef HYPSTAT_OUTPUT_H
#define HYPSTAT_OUTPUT_H

#include "summary.h"

struct trace_seq;

void text_print(const struct summary *summary);
void text_print_last(const struct summary *summary);
void json_print(const struct summary *summary);
void csv_print(const struct summary *summary);
void folded_print(const struct summary *summary);
void prometheus_print(const struct summary *summary);
void inside_text(const struct summary *summary, const struct stay *stay,
		 const struct inside *inside, struct trace_seq *seq);

#endif
