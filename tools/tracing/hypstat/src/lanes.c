// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>

#include "lanes.h"
#include "utils.h"

static bool is_lane(const struct lane *lane, enum lane_kind kind, int cpu,
		    const struct guest *guest)
{
	if (lane->kind != kind || lane->cpu != cpu)
		return false;
	return !guest || (lane->guest.vm_pid == guest->vm_pid &&
			  lane->guest.vm_fd == guest->vm_fd && lane->guest.vcpu == guest->vcpu);
}

static struct lane *add(struct lanes *lanes, enum lane_kind kind, int cpu,
			const struct guest *guest)
{
	struct lane *lane;

	if (lanes->nr == MAX_LANES)
		return NULL;
	lane = xcalloc(1, sizeof(*lane));
	lane->kind = kind;
	lane->cpu = cpu;
	if (guest)
		lane->guest = *guest;
	lane->spans.from = lanes->from;
	lane->spans.to = lanes->to;
	lanes->lanes[lanes->nr++] = lane;
	return lane;
}

static struct lane *find(struct lanes *lanes, enum lane_kind kind, int cpu,
			 const struct guest *guest)
{
	unsigned int i;

	/* The CPU's lanes are the last ones, since one CPU is read after another. */
	for (i = lanes->nr; i && lanes->lanes[i - 1]->cpu == cpu; i--) {
		if (is_lane(lanes->lanes[i - 1], kind, cpu, guest))
			return lanes->lanes[i - 1];
	}
	return add(lanes, kind, cpu, guest);
}

/**
 * lanes_add - add a time in which someone was busy
 * @lanes: the lines
 * @kind: who
 * @cpu: the CPU, which is the last one or a new one
 * @guest: the guest, or NULL
 * @from: when it began
 * @to: when it ended; what is outside the picture is left out
 */
void lanes_add(struct lanes *lanes, enum lane_kind kind, int cpu, const struct guest *guest,
	       u64 from, u64 to)
{
	struct lane *lane;

	if (!spans_clip(lanes->from, lanes->to, &from, &to))
		return;
	lane = find(lanes, kind, cpu, guest);
	if (!lane) {
		lanes->left_out++;
		return;
	}
	lane->total += to - from;
	spans_add(&lane->spans, from, to);
}

/**
 * lanes_free - free the lines
 * @lanes: them
 */
void lanes_free(struct lanes *lanes)
{
	while (lanes->nr)
		free(lanes->lanes[--lanes->nr]);
}
