// SPDX-License-Identifier: GPL-2.0-only
/*
 * The events of several CPUs in the order of their times
 *
 * A heap of the CPUs that have an event, with the CPU of the earliest event at its root.
 * To go on to the next event takes a number of steps that grows with the logarithm of the
 * number of these CPUs. The readers of text look up the events; the heap has their times.
 */
#include <linux/min_heap.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "remote.h"

static bool remote_merge_less(const void *lhs, const void *rhs, void *args)
{
	const struct trace_remote_merge_entry *a = lhs, *b = rhs;

	return a->ts < b->ts || (a->ts == b->ts && a->cpu < b->cpu);
}

static void remote_merge_swap(void *lhs, void *rhs, void *args)
{
	struct trace_remote_merge_entry *a = lhs, *b = rhs;

	swap(*a, *b);
}

static const struct min_heap_callbacks remote_merge_callbacks = {
	.less	= remote_merge_less,
	.swp	= remote_merge_swap,
};

/**
 * trace_remote_merge_init - allocate an empty heap, with room for all CPUs
 * @merge:	the heap, for trace_remote_merge_free()
 *
 * Context: process context, may sleep.
 * Return: 0 or -ENOMEM.
 */
int trace_remote_merge_init(struct trace_remote_merge *merge)
{
	void *entries = kvcalloc(nr_cpu_ids, sizeof(*merge->data), GFP_KERNEL_ACCOUNT);

	if (!entries)
		return -ENOMEM;

	min_heap_init(merge, entries, nr_cpu_ids);
	return 0;
}

/**
 * trace_remote_merge_free - undo trace_remote_merge_init()
 * @merge:	the heap
 *
 * Context: process context, may sleep.
 */
void trace_remote_merge_free(struct trace_remote_merge *merge)
{
	kvfree(merge->data);
}

/**
 * trace_remote_merge_clear - remove all CPUs
 * @merge:	the heap
 */
void trace_remote_merge_clear(struct trace_remote_merge *merge)
{
	merge->nr = 0;
}

/**
 * trace_remote_merge_add - add a CPU
 * @merge:	the heap, without @cpu
 * @cpu:	the CPU
 * @ts:		the time of its earliest event
 */
void trace_remote_merge_add(struct trace_remote_merge *merge, int cpu, u64 ts)
{
	const struct trace_remote_merge_entry entry = { .ts = ts, .cpu = cpu };

	min_heap_push(merge, &entry, &remote_merge_callbacks, NULL);
}

/**
 * trace_remote_merge_update - the CPU of the earliest event has another earliest event
 * @merge:	the heap, not empty
 * @ts:		that event's time
 */
void trace_remote_merge_update(struct trace_remote_merge *merge, u64 ts)
{
	merge->data[0].ts = ts;
	min_heap_sift_down(merge, 0, &remote_merge_callbacks, NULL);
}

/**
 * trace_remote_merge_pop - the CPU of the earliest event has no more events
 * @merge:	the heap, not empty
 */
void trace_remote_merge_pop(struct trace_remote_merge *merge)
{
	min_heap_pop(merge, &remote_merge_callbacks, NULL);
}
