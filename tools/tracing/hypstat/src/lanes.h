/* SPDX-License-Identifier: GPL-2.0 */
#ifndef HYPSTAT_LANES_H
#define HYPSTAT_LANES_H

#include "spans.h"
#include "stays.h"

#define MAX_LANES	256	/* of a picture */

enum lane_kind {
	LANE_HOST,
	LANE_EL2,
	LANE_GUEST,
};

/**
 * struct lane - a line of the picture
 * @kind: who is busy
 * @cpu: the CPU
 * @guest: the guest
 * @total: how long it was busy
 * @spans: when
 */
struct lane {
	enum lane_kind	kind;
	int		cpu;
	struct guest	guest;
	u64		total;
	struct spans	spans;
};

/**
 * struct lanes - the lines of a picture: of each CPU the host, EL2 and each guest
 * @first: the time of the first event
 * @from: when the picture begins
 * @to: when it ends
 * @lanes: the lines
 * @nr: how many
 * @left_out: lines for which there is no room
 */
struct lanes {
	u64		first;
	u64		from;
	u64		to;
	struct lane	*lanes[MAX_LANES];
	unsigned int	nr;
	u64		left_out;
};

void lanes_add(struct lanes *lanes, enum lane_kind kind, int cpu, const struct guest *guest,
	       u64 from, u64 to);
void lanes_free(struct lanes *lanes);

#endif
