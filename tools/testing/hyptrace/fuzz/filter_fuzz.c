// SPDX-License-Identifier: GPL-2.0-only
/*
 * A host passes valid and invalid predicates in any order, and sets them as the filter
 * of records with any bytes. A program that EL2 accepts must have the result of a second
 * implementation. CPUs that read the filter prevent writes to it.
 */
#include <stdlib.h>

#include <nvhe/filter.h>

#include "input.h"

#define MAX_RECORD	64

/**
 * struct program - what the filter should be
 * @preds:	the predicates
 * @vals:	their operands
 * @nr:		how many; 0 for no filter
 */
struct program {
	u64		preds[TRACE_REMOTE_MAX_PREDS];
	u64		vals[TRACE_REMOTE_MAX_PREDS];
	unsigned int	nr;
};

static unsigned int record_size;

/* CPU 0 filters the records. The others begin to read and end by steps of the input. */
#define NR_READERS	4

static const struct hyp_filter *reading[NR_READERS];
/* It was seen outside since the last hyp_filter_set(). */
static bool was_outside[NR_READERS];

const struct hyp_filter **hyp_filter_reading(unsigned int cpu)
{
	return cpu < NR_READERS ? &reading[cpu] : NULL;
}

static void begin_or_end_reading(struct hyp_filter *filter, struct input *input)
{
	unsigned int cpu = 1 + input_below(input, NR_READERS - 1);

	reading[cpu] = reading[cpu] ? NULL : filter;
	was_outside[cpu] |= !reading[cpu];
}

/* Whether it is right to refuse a first predicate, or not to. */
static void check_retired(bool refused)
{
	unsigned int cpu, nr_reading = 0, nr_inside = 0;

	for (cpu = 1; cpu < NR_READERS; cpu++) {
		nr_reading += !!reading[cpu];
		nr_inside += !was_outside[cpu];
	}
	if (refused ? !nr_reading : nr_inside)
		abort();
}

/* A predicate of fields that might be right, or any word. */
static u64 any_pred(struct input *input)
{
	u8 what = input_u8(input);

	if (what & 1)
		return input_bytes(input, 8);
	return trace_remote_pred_code(input_u8(input), 1 << (what >> 1 & 3), what >> 3 & 1,
				      input_below(input, TRACE_REMOTE_OPS + 2), what >> 4 & 1,
				      input_below(input, 36));
}

static s64 field_of(u64 pred, const u8 *record)
{
	unsigned int bits = 8 * trace_remote_pred_size(pred);
	u64 field = 0;

	memcpy(&field, record + trace_remote_pred_offset(pred), trace_remote_pred_size(pred));
	if (trace_remote_pred_is_signed(pred) && bits < 64 && field >> (bits - 1))
		field |= ~0ULL << bits;
	return field;
}

static bool holds(u64 pred, u64 val, const u8 *record)
{
	u64 field = field_of(pred, record);
	bool is_signed = trace_remote_pred_is_signed(pred);
	unsigned int op = trace_remote_pred_op(pred);
	int sign = is_signed ? ((s64)field > (s64)val) - ((s64)field < (s64)val) :
			       (field > val) - (field < val);

	return (op & TRACE_REMOTE_LT && sign < 0) || (op & TRACE_REMOTE_EQ && !sign) ||
	       (op & TRACE_REMOTE_GT && sign > 0) || (op & TRACE_REMOTE_AND && field & val);
}

static bool matches(const struct program *program, const u8 *record)
{
	unsigned int i = 0;

	while (i < program->nr) {
		u64 pred = program->preds[i];
		bool outcome = holds(pred, program->vals[i], record);

		if (outcome == trace_remote_pred_when(pred))
			i = trace_remote_pred_target(pred);
		else
			i++;
	}

	return i == program->nr;
}

/* The record ends where its memory does. */
static void match(struct hyp_filter *filter, const struct program *program, struct input *input)
{
	u8 *record = malloc(record_size);
	unsigned int i;

	for (i = 0; i < record_size; i++)
		record[i] = input_u8(input);
	if (hyp_filter_match(filter, &reading[0], record) != matches(program, record))
		abort();
	free(record);
}

static void add(struct hyp_filter *filter, struct program *next, struct input *input)
{
	u64 index = input_u8(input) % 4 ? next->nr : input_number(input, 0);
	u64 pred = any_pred(input), val = input_number(input, 0);
	int ret;

	ret = hyp_filter_add(filter, index, pred, val, record_size);
	if (ret != -EINVAL && !index)
		check_retired(ret == -EAGAIN);
	if (ret)
		return;

	/* What does not begin anew goes on. */
	if (index && index != next->nr)
		abort();
	next->preds[index] = pred;
	next->vals[index] = val;
	next->nr = index + 1;
}

static void set(struct hyp_filter *filter, struct program *program, struct program *next,
		struct input *input)
{
	u64 nr = input_u8(input) % 4 ? next->nr : input_number(input, 0);
	unsigned int cpu;

	if (hyp_filter_set(filter, nr))
		return;
	for (cpu = 1; cpu < NR_READERS; cpu++)
		was_outside[cpu] = !reading[cpu];
	if (nr && nr != next->nr)
		abort();
	/* What was passed is used, or discarded. */
	next->nr = nr;
	*program = *next;
	next->nr = 0;
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct hyp_filter *filter = calloc(1, sizeof(*filter));
	struct program program = { }, next = { };
	struct input input = { data, size };

	memset(reading, 0, sizeof(reading));
	memset(was_outside, true, sizeof(was_outside));
	record_size = 4 + 4 * input_below(&input, MAX_RECORD / 4);
	while (input.size) {
		switch (input_below(&input, 9)) {
		case 0 ... 4:
			add(filter, &next, &input);
			break;
		case 5:
			set(filter, &program, &next, &input);
			break;
		case 8:
			begin_or_end_reading(filter, &input);
			break;
		default:
			match(filter, &program, &input);
		}
	}

	free(filter);
	return 0;
}
