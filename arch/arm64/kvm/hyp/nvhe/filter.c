// SPDX-License-Identifier: GPL-2.0-only
/*
 * Filters of the hypervisor's events
 *
 * The host hands over a program, a predicate a hypercall, and then has it used in
 * place of the one there was. It is not trusted:
 *
 * - A predicate is checked when it comes: its field is in the record and aligned, and
 *   its target is behind it. It is one word, stored and loaded as such, so that
 *   whatever the host hands over meanwhile, each that is gone through was checked
 *   for its place. A program, or a mixture of two, thus ends after
 *   HYP_FILTER_MAX_PREDS of them, and reads nothing but the record.
 * - A program is checked when it is to be used: all of its predicates were handed
 *   over, and none goes past its two ends.
 *
 * Who hands over is serialised by the caller. Who goes through a program is not: a
 * host that changes a filter twice while a CPU is in it may see an event pass
 * that neither wanted.
 *
 * Ordering: @nr, @preds and @vals are stored before @prog is, with release; they are
 * loaded after it, by the address that it gives.
 */
#include <linux/compiler.h>
#include <linux/errno.h>

#include <asm/barrier.h>

#include <nvhe/filter.h>

/* A program that is not in use */
static struct hyp_filter_prog *hyp_filter_next(struct hyp_filter *filter)
{
	return &filter->progs[filter->prog == &filter->progs[0]];
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
 * Return: 0, or -EINVAL for one that does not fit there; then nothing has changed.
 */
int hyp_filter_add(struct hyp_filter *filter, u64 index, u64 pred, u64 val, unsigned int size)
{
	struct hyp_filter_prog *prog = hyp_filter_next(filter);

	if (index >= HYP_FILTER_MAX_PREDS || (index && index != prog->nr) ||
	    !hyp_pred_is_valid(pred, index, size))
		return -EINVAL;

	WRITE_ONCE(prog->preds[index], pred);
	WRITE_ONCE(prog->vals[index], val);
	WRITE_ONCE(prog->nr, index + 1);
	return 0;
}

static bool hyp_filter_prog_is_valid(const struct hyp_filter_prog *prog, u64 nr)
{
	unsigned int i;

	if (nr != prog->nr)
		return false;

	for (i = 0; i < prog->nr; i++) {
		if (hyp_pred_target(prog->preds[i]) > prog->nr + 1)
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

	if (next && !hyp_filter_prog_is_valid(next, nr))
		return -EINVAL;

	smp_store_release(&filter->prog, next);	/* after the program */
	WRITE_ONCE(hyp_filter_next(filter)->nr, 0);
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

/**
 * hyp_filter_match - is an event wanted?
 * @filter:	the filter
 * @record:	the event's record
 *
 * Return: whether it is; true when there is no filter.
 */
bool hyp_filter_match(struct hyp_filter *filter, const void *record)
{
	const struct hyp_filter_prog *prog = READ_ONCE(filter->prog);	/* before what it has */
	unsigned int i, nr;

	if (!prog)
		return true;

	nr = READ_ONCE(prog->nr);

	for (i = 0; i < nr;) {
		u64 pred = READ_ONCE(prog->preds[i]);
		u64 field = hyp_filter_load(pred, record);
		bool match = hyp_filter_compare(pred, field, READ_ONCE(prog->vals[i]));

		if ((match ^ hyp_pred_not(pred)) == hyp_pred_when(pred))
			i = hyp_pred_target(pred);
		else
			i++;
	}

	return i == nr;
}
