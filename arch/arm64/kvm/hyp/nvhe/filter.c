// SPDX-License-Identifier: GPL-2.0-only
/*
 * Filters of the hypervisor's events
 *
 * The host hands over a program, a predicate a hypercall, and then has it used in
 * place of the one there was. It is not trusted:
 *
 * - A predicate is checked when it comes: its field is in the record and aligned, and
 *   its target is behind it.
 * - A program is checked when it is to be used: all of its predicates were handed
 *   over, and none goes past its two ends. It thus ends after TRACE_REMOTE_MAX_PREDS of
 *   them, and reads nothing but the record.
 * - A program does not change while a CPU may read it, whatever the host does.
 *
 * States of a filter's two programs
 * ---------------------------------
 *
 *	handed over --set--> in use --set--> retired --all CPUs quiesced--> handed over
 *
 * el2_filter_set() retires the program in use: CPUs may still read it, and no CPU begins
 * to. The first predicate of the next program is refused with -EAGAIN until each CPU
 * was seen outside of the filter once since then. EL2 does not wait: the host retries.
 * A CPU that was seen outside is not checked again, so that events that come all the time
 * on many CPUs do not put it off.
 *
 * Locking: the caller serialises el2_filter_add() and el2_filter_set().
 * el2_filter_match() takes no lock.
 *
 * Memory ordering: (Q) and (R) are explained in trace_ring.c.
 */
#include <linux/build_bug.h>
#include <linux/compiler.h>
#include <linux/errno.h>
#include <linux/nospec.h>
#include <linux/threads.h>

#include <asm/barrier.h>

#include <nvhe/filter.h>

/* A program that is not in use */
static struct el2_filter_prog *el2_filter_next(struct el2_filter *filter)
{
	return &filter->progs[filter->prog == &filter->progs[0]];
}

/* Whether no CPU can read the program that is not in use. NR_CPUS steps at most. */
static bool el2_filter_is_quiesced(struct el2_filter *filter)
{
	const struct el2_filter **reading;

	smp_mb();					/* (R) */
	for (; filter->quiesced < NR_CPUS; filter->quiesced++) {
		reading = el2_filter_reading(filter->quiesced);
		if (reading && smp_load_acquire(reading) == filter)	/* (R) */
			return false;
	}

	return true;
}

/**
 * el2_filter_add - take the next predicate of a program
 * @filter:	the filter
 * @index:	which it is, from 0: the first one begins a new program
 * @code:	the predicate's trace_remote_pred_code()
 * @val:	its operand
 * @size:	of the event's records, bytes
 *
 * Return: 0; -EINVAL for one that does not fit there; -EAGAIN for a first one while a
 * CPU may read the program that was in use before. Then nothing has changed.
 */
int el2_filter_add(struct el2_filter *filter, u64 index, u64 code, u64 val, unsigned int size)
{
	struct el2_filter_prog *prog = el2_filter_next(filter);

	if (index >= TRACE_REMOTE_MAX_PREDS || (index && index != filter->added) ||
	    !trace_remote_pred_is_valid(code, index, size))
		return -EINVAL;
	if (!index && !el2_filter_is_quiesced(filter))
		return -EAGAIN;

	index = array_index_nospec(index, TRACE_REMOTE_MAX_PREDS);
	prog->preds[index] = (struct trace_remote_pred) { code, val };
	filter->added = index + 1;
	return 0;
}

/**
 * el2_filter_set - use the program that was handed over
 * @filter:	the filter
 * @nr:		how many predicates that has; 0 for no filter
 *
 * Return: 0, or -EINVAL for a program that is not sound; then nothing has changed.
 */
int el2_filter_set(struct el2_filter *filter, u64 nr)
{
	struct el2_filter_prog *next = nr ? el2_filter_next(filter) : NULL;

	if (next) {
		if (nr != filter->added || !trace_remote_filter_is_valid(next->preds, filter->added))
			return -EINVAL;
		next->nr = nr;
	}

	smp_store_release(&filter->prog, next);		/* (Q) */
	filter->added = 0;
	filter->quiesced = 0;
	return 0;
}

/**
 * el2_filter_match - is an event wanted?
 * @filter:	the filter
 * @reading:	where this CPU publishes that it reads @filter, as el2_filter_reading()
 *		returns it
 * @record:	the event's record
 *
 * Return: whether it is; true when there is no filter.
 */
bool el2_filter_match(struct el2_filter *filter, const struct el2_filter **reading,
		      const void *record)
{
	const struct el2_filter_prog *prog;
	bool match;

	WRITE_ONCE(*reading, filter);
	smp_mb();					/* (R) */
	prog = smp_load_acquire(&filter->prog);		/* (Q) */
	match = !prog || trace_remote_filter_match(prog->preds, prog->nr, record);
	smp_store_release(reading, NULL);		/* (R) */

	return match;
}
