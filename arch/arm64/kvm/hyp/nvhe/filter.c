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
 *   over, and none goes past its two ends. It thus ends after HYP_FILTER_MAX_PREDS of
 *   them, and reads nothing but the record.
 * - A program does not change while a CPU may read it, whatever the host does.
 *
 * States of a filter's two programs
 * ---------------------------------
 *
 *	handed over --set--> in use --set--> retired --all CPUs quiesced--> handed over
 *
 * hyp_filter_set() retires the program in use: CPUs may still read it, and no CPU begins
 * to. The first predicate of the next program is refused with -EAGAIN until each CPU
 * was seen outside of the filter once since then. EL2 does not wait: the host retries.
 * A CPU that was seen outside is not checked again, so that events that come all the time
 * on many CPUs do not put it off.
 *
 * Locking: the caller serialises hyp_filter_add() and hyp_filter_set().
 * hyp_filter_match() takes no lock.
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

static bool hyp_pred_field_is_valid(u64 pred, unsigned int size)
{
	unsigned int offset = hyp_pred_offset(pred), bytes = hyp_pred_size(pred);

	if (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8)
		return false;
	return offset % bytes == 0 && offset + bytes <= size;
}

static bool hyp_pred_is_valid(u64 pred, unsigned int index, unsigned int size)
{
	unsigned int op = hyp_pred_op(pred), target = hyp_pred_target(pred);

	return !(pred >> HYP_PRED_BITS) && op && !(op & ~HYP_FILTER_OPS) &&
	       target > index && target <= HYP_FILTER_MAX_PREDS + 1 &&
	       hyp_pred_field_is_valid(pred, size);
}

/**
 * hyp_filter_add - take the next predicate of a program
 * @filter:	the filter
 * @index:	which it is, from 0: the first one begins a new program
 * @pred:	the predicate
 * @val:	its operand
 * @size:	of the event's records, bytes
 *
 * Return: 0; -EINVAL for one that does not fit there; -EAGAIN for a first one while a
 * CPU may read the program that was in use before. Then nothing has changed.
 */
int hyp_filter_add(struct hyp_filter *filter, u64 index, u64 pred, u64 val, unsigned int size)
{
	struct hyp_filter_prog *prog = hyp_filter_next(filter);

	if (index >= HYP_FILTER_MAX_PREDS || (index && index != filter->added) ||
	    !hyp_pred_is_valid(pred, index, size))
		return -EINVAL;
	if (!index && !hyp_filter_is_quiesced(filter))
		return -EAGAIN;

	index = array_index_nospec(index, HYP_FILTER_MAX_PREDS);
	prog->preds[index] = pred;
	prog->vals[index] = val;
	filter->added = index + 1;
	return 0;
}

static bool hyp_filter_prog_is_valid(const struct hyp_filter_prog *prog, unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++) {
		if (hyp_pred_target(prog->preds[i]) > nr + 1)
			return false;
	}

	return true;
}

/**
 * hyp_filter_set - use the program that was handed over
 * @filter:	the filter
 * @nr:		how many predicates that has; 0 for no filter
 *
 * Return: 0, or -EINVAL for a program that is not sound; then nothing has changed.
 */
int hyp_filter_set(struct hyp_filter *filter, u64 nr)
{
	struct hyp_filter_prog *next = nr ? hyp_filter_next(filter) : NULL;

	if (next) {
		if (nr != filter->added || !hyp_filter_prog_is_valid(next, filter->added))
			return -EINVAL;
		next->nr = nr;
	}

	smp_store_release(&filter->prog, next);		/* (Q) */
	filter->added = 0;
	filter->quiesced = 0;
	return 0;
}

/* A field of the record, extended to 64 bits. */
static __always_inline u64 hyp_filter_load(u64 pred, const void *record)
{
	const void *field = record + hyp_pred_offset(pred);
	bool is_signed = hyp_pred_is_signed(pred);

	switch (hyp_pred_size(pred)) {
	case 1:
		return is_signed ? (u64)*(const s8 *)field : *(const u8 *)field;
	case 2:
		return is_signed ? (u64)*(const s16 *)field : *(const u16 *)field;
	case 4:
		return is_signed ? (u64)*(const s32 *)field : *(const u32 *)field;
	default:
		return *(const u64 *)field;
	}
}

static __always_inline bool hyp_filter_compare(u64 pred, u64 field, u64 val)
{
	bool less = hyp_pred_is_signed(pred) ? (s64)field < (s64)val : field < val;
	unsigned int is = less ? HYP_FILTER_LT : HYP_FILTER_GT;

	if (field == val)
		is = HYP_FILTER_EQ;
	if (field & val)
		is |= HYP_FILTER_AND;
	return hyp_pred_op(pred) & is;
}

/* A program that is in use has one predicate at least. */
static __always_inline bool hyp_filter_run(const struct hyp_filter_prog *prog, const void *record)
{
	unsigned int i = 0;

	do {
		u64 pred = prog->preds[i];
		u64 field = hyp_filter_load(pred, record);
		bool match = hyp_filter_compare(pred, field, prog->vals[i]);

		if ((match ^ hyp_pred_not(pred)) == hyp_pred_when(pred))
			i = hyp_pred_target(pred);
		else
			i++;
	} while (i < prog->nr);

	return i == prog->nr;
}

/**
 * hyp_filter_match - is an event wanted?
 * @filter:	the filter
 * @reading:	where this CPU publishes that it reads @filter, as hyp_filter_reading()
 *		returns it
 * @record:	the event's record
 *
 * Return: whether it is; true when there is no filter.
 */
bool hyp_filter_match(struct hyp_filter *filter, const struct hyp_filter **reading,
		      const void *record)
{
	const struct hyp_filter_prog *prog;
	bool match;

	WRITE_ONCE(*reading, filter);
	smp_mb();					/* (R) */
	prog = smp_load_acquire(&filter->prog);		/* (Q) */
	match = !prog || hyp_filter_run(prog, record);
	smp_store_release(reading, NULL);		/* (R) */

	return match;
}
