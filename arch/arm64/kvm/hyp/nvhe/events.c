// SPDX-License-Identifier: GPL-2.0-only
/*
 * Turning the hypervisor's trace events on and off
 *
 * The host names an event by its place in the catalogue and gives the id that
 * its records shall carry. The id serves no other purpose at EL2: a wrong one
 * spoils the trace.
 */
#include <linux/build_bug.h>
#include <linux/errno.h>
#include <linux/nospec.h>
#include <linux/limits.h>

#include <asm/barrier.h>

#include <nvhe/trace.h>

u16 hyp_event_ids[NR_HYP_EVENTS];

/**
 * __hyp_trace_set_event - turn an event on or off, on all CPUs
 * @nr:		its place in the catalogue
 * @id:		the id of its records, or 0 to turn it off
 *
 * Context: hypercall, with arguments from the host.
 * Return: 0, or -EINVAL for an argument out of range.
 */
int __hyp_trace_set_event(u64 nr, u64 id)
{
	if (nr >= NR_HYP_EVENTS || id > U16_MAX)
		return -EINVAL;

	nr = array_index_nospec(nr, NR_HYP_EVENTS);
	WRITE_ONCE(hyp_event_ids[nr], id);
	return 0;
}
