// SPDX-License-Identifier: GPL-2.0-only
/*
 * Filters of the hypervisor's events
 *
 * The host passes a program, one predicate a hypercall, and then has it replace the
 * program in use. The host is not trusted:
 *
 * - EL2 checks each predicate when it is added: its field is in the record and aligned, and
 *   its target is behind it.
 * - EL2 checks a program before it is used: all its predicates were added, and none goes
 *   past its two ends. So it ends after TRACE_REMOTE_MAX_PREDS predicates, and reads
 *   nothing but the record.
 * - A program does not change while a CPU may read it, whatever the host does.
 * - A CPU that speculates past a program's end finds predicates that EL2 has checked before, or
 *   two of zeroes: see TRACE_REMOTE_PREDS_ROOM. So it loads nothing but the record, either.
 *
 * States of a filter's two programs
 * ---------------------------------
 *
 *	added --set--> in use --set--> retired --all CPUs quiesced--> added
 *
 * hyp_filter_set() retires the program in use: CPUs may still read it, but no CPU begins to.
 * The first predicate of the next program is refused with -EAGAIN until each CPU was seen
 * outside of the filter once since then. EL2 does not wait: the host retries. A CPU that
 * was seen outside is not checked again, so that a stream of events on many CPUs does not
 * delay the host for ever.
 *
 * Locking: the caller serialises hyp_filter_add(), hyp_filter_set() and hyp_filter_reads().
 * hyp_filter_match() takes no lock.
 *
 * Memory ordering: (Q) and (R) are explained in trace.c.
 */
#include <linux/build_bug.h>
#include <linux/compiler.h>
#include <linux/errno.h>
#include <linux/nospec.h>
#include <linux/threads.h>

#include <asm/barrier.h>

#include <nvhe/filter.h>

/* A program that is not in use */
static struct hyp_filter_prog *hyp_filter_next(struct hyp_filter *filter)
{
	return &filter->progs[filter->prog == &filter->progs[0]];
}

/* Whether no CPU can read the program that is not in use. NR_CPUS steps at most. */
static bool hyp_filter_is_quiesced(struct hyp_filter *filter)
{
	const struct hyp_filter **reading;

	smp_mb();					/* (R) */
	for (; filter->quiesced < NR_CPUS; filter->quiesced++) {
		reading = hyp_filter_reading(filter->quiesced);
		if (reading && smp_load_acquire(reading) == filter)	/* (R) */
			return false;
	}

	return true;
}

/**
 * hyp_filter_add - add the next predicate of a program
 * @filter:	the filter
 * @index:	its number, from 0, which begins a new program
 * @code:	the predicate's trace_remote_pred_code()
 * @val:	its operand
 * @size:	bytes of the event's records
 *
 * Return: 0; -EINVAL for a predicate that is not valid there; -EAGAIN for a first one while
 * a CPU may read the program that it would overwrite. Then nothing has changed.
 */
int hyp_filter_add(struct hyp_filter *filter, u64 index, u64 code, u64 val, unsigned int size)
{
	struct hyp_filter_prog *prog = hyp_filter_next(filter);

	if (index >= TRACE_REMOTE_MAX_PREDS || (index && index != filter->added) ||
	    !trace_remote_pred_is_valid(code, index, size))
		return -EINVAL;
	if (!index && !hyp_filter_is_quiesced(filter))
		return -EAGAIN;

	index = array_index_nospec(index, TRACE_REMOTE_MAX_PREDS);
	prog->preds[index] = (struct trace_remote_pred) { code, val };
	filter->added = index + 1;
	return 0;
}

/**
 * hyp_filter_set - use the program that was added
 * @filter:	the filter
 * @nr:		its number of predicates; 0 for no filter
 *
 * Return: 0; or -EINVAL for a program that is not valid. Then nothing has changed.
 */
int hyp_filter_set(struct hyp_filter *filter, u64 nr)
{
	struct hyp_filter_prog *next = nr ? hyp_filter_next(filter) : NULL;

	if (next) {
		if (nr != filter->added ||
		    !trace_remote_filter_is_valid(next->preds, filter->added))
			return -EINVAL;
		next->nr = nr;
	}

	smp_store_release(&filter->prog, next);		/* (Q) */
	filter->added = 0;
	filter->quiesced = 0;
	return 0;
}

/**
 * hyp_filter_reads - does the program in use read what is at an offset or behind it?
 * @filter:	the filter
 * @offset:	the offset, bytes from the record's begin
 *
 * Context: as hyp_filter_set(), which makes the program in use.
 * Return: whether a predicate does.
 */
bool hyp_filter_reads(const struct hyp_filter *filter, unsigned int offset)
{
	const struct hyp_filter_prog *prog = filter->prog;
	unsigned int i;

	for (i = 0; prog && i < prog->nr; i++) {
		if (trace_remote_pred_offset(prog->preds[i].code) >= offset)
			return true;
	}

	return false;
}

/**
 * hyp_filter_match - does an event match the filter?
 * @filter:	the filter
 * @reading:	where this CPU publishes that it reads @filter, as hyp_filter_reading()
 *		returns it
 * @record:	the event's record
 *
 * Return: whether it does; true if there is no filter.
 */
bool hyp_filter_match(struct hyp_filter *filter, const struct hyp_filter **reading,
		      const void *record)
{
	return __hyp_filter_match(filter, reading, record);
}
