/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A filter of a remote's events, as the kernel passes it to the remote
 *
 * trace_compile_remote_filter() makes a program of a filter expression. The program is a
 * list of predicates, and has no loops. A predicate compares a field of the event's record
 * with an operand. For one of the two outcomes the program goes to the predicate's target,
 * for the other one to the next predicate. A target is always behind its predicate. After
 * the last predicate the event matches, and one further on it does not.
 *
 * The remote evaluates the program with trace_remote_filter_match(). A remote that does
 * not trust the kernel first checks each predicate with trace_remote_pred_is_valid(), and
 * the program with trace_remote_filter_is_valid(). The program then ends, and reads
 * nothing but the record.
 *
 * This header has no other kernel header than the smallest ones, so that the source of a
 * remote builds anywhere.
 */
#ifndef _LINUX_TRACE_REMOTE_FILTER_H
#define _LINUX_TRACE_REMOTE_FILTER_H

#include <linux/compiler.h>
#include <linux/types.h>
#include <linux/unaligned.h>

/* Predicates in a program, at the most */
#define TRACE_REMOTE_MAX_PREDS	32

/*
 * Predicates that a remote that does not trust the kernel has room for. It never writes to the
 * last two, which are zeroes. A CPU that mispredicts the end of a program goes on with the
 * predicate at a target, up to TRACE_REMOTE_MAX_PREDS + 1. There it must not find a word that
 * was not checked. The zeroes read the record's first word, and lead to predicate 0.
 */
#define TRACE_REMOTE_PREDS_ROOM	(TRACE_REMOTE_MAX_PREDS + 2)

/* How a field may compare with the operand; an operation is all those that make it true. */
#define TRACE_REMOTE_LT		1
#define TRACE_REMOTE_EQ		2
#define TRACE_REMOTE_GT		4
#define TRACE_REMOTE_AND	8	/* they have bits in common */
#define TRACE_REMOTE_LE		(TRACE_REMOTE_LT | TRACE_REMOTE_EQ)
#define TRACE_REMOTE_GE		(TRACE_REMOTE_GT | TRACE_REMOTE_EQ)
#define TRACE_REMOTE_OPS	0xf

/*
 * All of a predicate but its operand is in one word, so that a remote evaluates exactly
 * what it has checked.
 */
#define TRACE_REMOTE_PRED_OFFSET	0	/* in the record, 16 bits, bytes */
#define TRACE_REMOTE_PRED_SIZE		16	/* 8 bits, bytes: 1, 2, 4 or 8 */
#define TRACE_REMOTE_PRED_OP		24	/* 8 bits, TRACE_REMOTE_LT... */
#define TRACE_REMOTE_PRED_TARGET	32	/* 8 bits */
#define TRACE_REMOTE_PRED_WHEN		40	/* 1 bit: the outcome that branches */
#define TRACE_REMOTE_PRED_SIGNED	41	/* 1 bit: the field is signed */
#define TRACE_REMOTE_PRED_BITS		42

/**
 * struct trace_remote_pred - a predicate
 * @code:	trace_remote_pred_code()
 * @val:	the operand, in the field's type, extended to 64 bits
 */
struct trace_remote_pred {
	u64	code;
	u64	val;
};

/**
 * trace_remote_pred_code - all of a predicate but its operand
 * @offset:	of the field, in the record, bytes
 * @size:	of the field, bytes
 * @is_signed:	the field is signed
 * @op:		how it compares with the operand, TRACE_REMOTE_LT...
 * @when:	the outcome for which the program goes to @target
 * @target:	the number of a predicate, from 0; or the number of predicates for a match,
 *		or one more for no match
 *
 * Return: @code of struct trace_remote_pred.
 */
static inline u64 trace_remote_pred_code(u16 offset, u8 size, bool is_signed, u8 op, bool when,
					 u8 target)
{
	return (u64)offset << TRACE_REMOTE_PRED_OFFSET |
	       (u64)size << TRACE_REMOTE_PRED_SIZE |
	       (u64)op << TRACE_REMOTE_PRED_OP |
	       (u64)target << TRACE_REMOTE_PRED_TARGET |
	       (u64)when << TRACE_REMOTE_PRED_WHEN |
	       (u64)is_signed << TRACE_REMOTE_PRED_SIGNED;
}

static inline u16 trace_remote_pred_offset(u64 code)
{
	return code >> TRACE_REMOTE_PRED_OFFSET;
}

static inline u8 trace_remote_pred_size(u64 code)
{
	return code >> TRACE_REMOTE_PRED_SIZE;
}

static inline u8 trace_remote_pred_op(u64 code)
{
	return code >> TRACE_REMOTE_PRED_OP;
}

static inline u8 trace_remote_pred_target(u64 code)
{
	return code >> TRACE_REMOTE_PRED_TARGET;
}

static inline bool trace_remote_pred_when(u64 code)
{
	return code >> TRACE_REMOTE_PRED_WHEN & 1;
}

static inline bool trace_remote_pred_is_signed(u64 code)
{
	return code >> TRACE_REMOTE_PRED_SIGNED & 1;
}

static inline bool trace_remote_pred_field_is_valid(u64 code, unsigned int record_size)
{
	unsigned int offset = trace_remote_pred_offset(code);
	unsigned int size = trace_remote_pred_size(code);

	if (size != 1 && size != 2 && size != 4 && size != 8)
		return false;
	return offset % size == 0 && offset + size <= record_size;
}

/**
 * trace_remote_pred_is_valid - check a predicate by itself
 * @code:	of the predicate
 * @index:	its number in the program
 * @record_size: bytes of the event's records, at the least
 *
 * Return: whether its field is in the record and aligned, and its target is behind it.
 */
static inline bool trace_remote_pred_is_valid(u64 code, unsigned int index,
					      unsigned int record_size)
{
	unsigned int op = trace_remote_pred_op(code), target = trace_remote_pred_target(code);

	return !(code >> TRACE_REMOTE_PRED_BITS) && op && !(op & ~TRACE_REMOTE_OPS) &&
	       target > index && target <= TRACE_REMOTE_MAX_PREDS + 1 &&
	       trace_remote_pred_field_is_valid(code, record_size);
}

/**
 * trace_remote_filter_is_valid - check a program of predicates that are valid
 * @preds:	the predicates
 * @nr:		how many
 *
 * Return: whether none goes past the two ends of the program.
 */
static inline bool trace_remote_filter_is_valid(const struct trace_remote_pred *preds,
						unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++) {
		if (trace_remote_pred_target(preds[i].code) > nr + 1)
			return false;
	}

	return true;
}

/* A field of the record, extended to 64 bits. A size has one bit, which is cheap to test. */
static __always_inline u64 trace_remote_pred_load(u64 code, const void *record)
{
	const void *field = record + trace_remote_pred_offset(code);
	bool is_signed = trace_remote_pred_is_signed(code);

	/* A record in the ring is aligned to 4 bytes. */
	if (code & 8UL << TRACE_REMOTE_PRED_SIZE)
		return get_unaligned((const u64 *)field);
	if (code & 4UL << TRACE_REMOTE_PRED_SIZE)
		return is_signed ? (u64)*(const s32 *)field : *(const u32 *)field;
	if (code & 2UL << TRACE_REMOTE_PRED_SIZE)
		return is_signed ? (u64)*(const s16 *)field : *(const u16 *)field;
	return is_signed ? (u64)*(const s8 *)field : *(const u8 *)field;
}

static __always_inline bool trace_remote_pred_compare(u64 code, u64 field, u64 val)
{
	bool above = field > val, not_below = field >= val;
	unsigned int is;

	if (trace_remote_pred_is_signed(code)) {
		above = (s64)field > (s64)val;
		not_below = (s64)field >= (s64)val;
	}

	is = TRACE_REMOTE_LT << (not_below + above);
	if (field & val)
		is |= TRACE_REMOTE_AND;
	return trace_remote_pred_op(code) & is;
}

/**
 * trace_remote_filter_match - evaluate a program
 * @preds:	the predicates
 * @nr:		how many, 1 at the least
 * @record:	the event's record, aligned to 4 bytes
 *
 * The next predicate is selected, not branched to: a CPU can't mispredict which one it is.
 *
 * Return: whether the event matches.
 */
static __always_inline bool
trace_remote_filter_match(const struct trace_remote_pred *preds, unsigned int nr,
			  const void *record)
{
	const struct trace_remote_pred *pred = preds;
	unsigned int i = 0;

	do {
		u64 code = pred->code;
		u64 field = trace_remote_pred_load(code, record);
		bool outcome = trace_remote_pred_compare(code, field, pred->val);

		i = outcome == trace_remote_pred_when(code) ? trace_remote_pred_target(code) :
							      i + 1;
		pred = preds + i;
	} while (i < nr);

	return i == nr;
}

#endif /* _LINUX_TRACE_REMOTE_FILTER_H */
