/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A filter of the hypervisor's events, as the host hands it to EL2: a program
 * of predicates without loops, made of a filter expression. Free of other kernel
 * headers, so that what goes through it builds anywhere.
 *
 * From the first one on, a predicate whose outcome is @when goes to its target,
 * another to the next one. Past the last predicate the event matches; one further
 * on it does not.
 */
#ifndef __ARM64_KVM_HYPFILTER_H
#define __ARM64_KVM_HYPFILTER_H

#include <linux/types.h>

/* Predicates in a program */
#define HYP_FILTER_MAX_PREDS	32

/* What a field may be to the operand; of an operation, all that make it true */
#define HYP_FILTER_LT		1
#define HYP_FILTER_EQ		2
#define HYP_FILTER_GT		4
#define HYP_FILTER_AND		8	/* they have bits in common */
#define HYP_FILTER_LE		(HYP_FILTER_LT | HYP_FILTER_EQ)
#define HYP_FILTER_GE		(HYP_FILTER_GT | HYP_FILTER_EQ)
#define HYP_FILTER_OPS		0xf

/*
 * All of a predicate but its operand in one word, so that it is always read as
 * it was checked.
 */
#define HYP_PRED_OFFSET		0	/* in the record, 16 bits, bytes */
#define HYP_PRED_SIZE		16	/* 8 bits, bytes: 1, 2, 4 or 8 */
#define HYP_PRED_OP		24	/* 8 bits, HYP_FILTER_LT... */
#define HYP_PRED_TARGET		32	/* 8 bits */
#define HYP_PRED_WHEN		40	/* 1 bit: the outcome that branches */
#define HYP_PRED_NOT		41	/* 1 bit: the outcome is inverted */
#define HYP_PRED_SIGNED		42	/* 1 bit: the field is */
#define HYP_PRED_BITS		43

static inline u64 hyp_pred(u16 offset, u8 size, bool is_signed, u8 op, bool not, bool when,
			   u8 target)
{
	return (u64)offset << HYP_PRED_OFFSET | (u64)size << HYP_PRED_SIZE |
	       (u64)op << HYP_PRED_OP | (u64)target << HYP_PRED_TARGET |
	       (u64)when << HYP_PRED_WHEN | (u64)not << HYP_PRED_NOT |
	       (u64)is_signed << HYP_PRED_SIGNED;
}

static inline u16 hyp_pred_offset(u64 pred)
{
	return pred >> HYP_PRED_OFFSET;
}

static inline u8 hyp_pred_size(u64 pred)
{
	return pred >> HYP_PRED_SIZE;
}

static inline u8 hyp_pred_op(u64 pred)
{
	return pred >> HYP_PRED_OP;
}

static inline u8 hyp_pred_target(u64 pred)
{
	return pred >> HYP_PRED_TARGET;
}

static inline bool hyp_pred_when(u64 pred)
{
	return pred >> HYP_PRED_WHEN & 1;
}

static inline bool hyp_pred_not(u64 pred)
{
	return pred >> HYP_PRED_NOT & 1;
}

static inline bool hyp_pred_is_signed(u64 pred)
{
	return pred >> HYP_PRED_SIGNED & 1;
}

#endif /* __ARM64_KVM_HYPFILTER_H */
