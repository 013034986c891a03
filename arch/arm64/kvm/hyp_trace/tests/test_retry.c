// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit: what the kernel does when EL2 refuses
 *
 * EL2 returns -EAGAIN for the first predicate of a filter while a CPU may still read the program
 * that the predicate would overwrite. No test can keep a CPU at EL2, so the functions below answer
 * in EL2's place. The source is included, because its hypercalls are replaced, and so its
 * functions have other names here. EL2 itself is not called.
 */
#include <kunit/test.h>

#define hyp_trace_remote	retry_test_remote
#define hyp_trace_register	retry_test_register
#define hyp_trace_unregister	retry_test_unregister
#define hyp_trace_dump_panic	retry_test_dump_panic
#include "../hyp_trace.h"

#undef hyp_trace_hypcall
#define hyp_trace_hypcall(f, ...)	retry_test##f(__VA_ARGS__)

/* The hypercalls that no case makes */
#define retry_test__hyp_trace_enable(...)	(-ENODEV)
#define retry_test__hyp_trace_swap_reader(...)	(-ENODEV)
#define retry_test__hyp_trace_reset(...)	(-ENODEV)
#define retry_test__hyp_trace_set_overwrite(...)	(-ENODEV)
#define retry_test__hyp_trace_set_event(...)	(-ENODEV)
#define retry_test__hyp_trace_set_stopped(...)	(-ENODEV)
#define retry_test__hyp_trace_is_stopped(...)	(-ENODEV)
#define retry_test__hyp_trace_set_trigger(...)	(-ENODEV)
#define retry_test__hyp_trace_trigger_count(...) (-ENODEV)
#define retry_test__hyp_trace_write_event(...)	(-ENODEV)

/**
 * struct retry_test_el2 - what EL2 would have, for one event
 * @refusals:	how many more first predicates are refused
 * @error:	what they are refused with
 * @firsts:	first predicates that were handed over, refused ones included
 * @added:	predicates of the next program
 * @used:	predicates of the program in use
 * @sets:	how many programs came into use
 */
static struct retry_test_el2 {
	unsigned int	refusals;
	int		error;
	unsigned int	firsts;
	unsigned int	added;
	unsigned int	used;
	unsigned int	sets;
} retry_test_el2;

static int retry_test__hyp_trace_add_pred(unsigned int nr, unsigned int index, u64 pred, u64 val)
{
	struct retry_test_el2 *el2 = &retry_test_el2;

	el2->firsts += !index;
	if (!index && el2->refusals) {
		el2->refusals--;
		return el2->error;
	}
	if (index && index != el2->added)
		return -EINVAL;

	el2->added = index + 1;
	return 0;
}

static int retry_test__hyp_trace_set_filter(unsigned int nr, unsigned int preds)
{
	struct retry_test_el2 *el2 = &retry_test_el2;

	if (preds && preds != el2->added)
		return -EINVAL;

	el2->added = 0;
	el2->used = preds;
	el2->sets++;
	return 0;
}

struct trace_remote *retry_test_remote;

#include "../hyp_trace.c"

static const struct trace_remote_pred retry_test_preds[2];

/* EL2 has a program of one predicate; then it refuses. */
static void retry_test_begin(unsigned int refusals, int error)
{
	retry_test_el2 = (struct retry_test_el2){
		.refusals	= refusals,
		.error		= error,
		.used		= 1,
	};
}

/* Nothing has changed after so many attempts. */
static void retry_test_expect_old(struct kunit *test, unsigned int firsts)
{
	KUNIT_EXPECT_EQ(test, firsts, retry_test_el2.firsts);
	KUNIT_EXPECT_EQ(test, 0, retry_test_el2.sets);
	KUNIT_EXPECT_EQ(test, 1, retry_test_el2.used);
}

/* The CPU leaves the filter: the new program comes into use, each predicate passed once. */
static void retry_test_accepted(struct kunit *test)
{
	retry_test_begin(5, -EAGAIN);
	KUNIT_EXPECT_EQ(test, 0, hyp_trace_set_filter(NULL, 0, retry_test_preds, 2));
	KUNIT_EXPECT_EQ(test, 6, retry_test_el2.firsts);
	KUNIT_EXPECT_EQ(test, 1, retry_test_el2.sets);
	KUNIT_EXPECT_EQ(test, 2, retry_test_el2.used);
}

/* No CPU keeps the host here for ever. */
static void retry_test_busy(struct kunit *test)
{
	retry_test_begin(UINT_MAX, -EAGAIN);
	KUNIT_EXPECT_EQ(test, -EBUSY, hyp_trace_set_filter(NULL, 0, retry_test_preds, 1));
	retry_test_expect_old(test, HYP_TRACE_PRED_TRIES);
}

/* The filter can still be removed: for that EL2 overwrites nothing. */
static void retry_test_removed(struct kunit *test)
{
	retry_test_begin(UINT_MAX, -EAGAIN);
	KUNIT_EXPECT_EQ(test, 0, hyp_trace_set_filter(NULL, 0, NULL, 0));
	KUNIT_EXPECT_EQ(test, 0, retry_test_el2.firsts);
	KUNIT_EXPECT_EQ(test, 0, retry_test_el2.used);
}

/* Any other error is final. */
static void retry_test_refused(struct kunit *test)
{
	retry_test_begin(1, -EPERM);
	KUNIT_EXPECT_EQ(test, -EPERM, hyp_trace_set_filter(NULL, 0, retry_test_preds, 1));
	retry_test_expect_old(test, 1);
}

static struct kunit_case retry_test_cases[] = {
	KUNIT_CASE(retry_test_accepted),
	KUNIT_CASE(retry_test_busy),
	KUNIT_CASE(retry_test_removed),
	KUNIT_CASE(retry_test_refused),
	{ }
};

static struct kunit_suite retry_test_suite = {
	.name		= "hyp_trace_retry",
	.test_cases	= retry_test_cases,
};

kunit_test_suite(retry_test_suite);
