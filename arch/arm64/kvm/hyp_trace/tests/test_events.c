// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit: the hypervisor's events, in the tests that kernel/trace/remote/tests has for the
 * events of any remote
 *
 * EL2's filters are built a second time here, and evaluate what the host's parser compiles.
 */
#include <kunit/test.h>

#include <asm/kvm_hypevents_defs.h>

#include "../../../../../kernel/trace/remote/tests/test.h"
#include "../../../../../kernel/trace/trace.h"
#include "hyp/nvhe/filter.c"
#include "../hyp_trace.h"

/* The filter that the test reads: events of one CPU, as EL2 has it. */
static const struct hyp_filter *events_test_reading;

const struct hyp_filter **hyp_filter_reading(unsigned int cpu)
{
	return cpu ? NULL : &events_test_reading;
}

static struct hyp_filter events_test_filter;

static void events_test_set(struct kunit *test, const struct trace_remote_pred *preds,
			    unsigned int nr, unsigned int size)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		KUNIT_ASSERT_EQ(test, 0, hyp_filter_add(&events_test_filter, i, preds[i].code,
							preds[i].val, size));
	KUNIT_ASSERT_EQ(test, 0, hyp_filter_set(&events_test_filter, nr));
}

static bool events_test_match(const struct trace_remote_pred *preds, unsigned int nr,
			      const void *record)
{
	return hyp_filter_match(&events_test_filter, &events_test_reading, record);
}

static void events_test_need_events(struct kunit *test)
{
	if (list_empty(trace_get_fields(&hyp_events[0].call)))
		kunit_skip(test, "no events: there is no EL2 to trace");
}

static void events_test_filters(struct kunit *test)
{
	static const struct filter_test_target target = { events_test_set, events_test_match };

	events_test_need_events(test);
	filter_test_events(test, hyp_events, NR_HYP_EVENTS, &target);
}

static void events_test_corrupt_printed(struct kunit *test)
{
	events_test_need_events(test);
	event_test_print_corrupt(test, hyp_events, NR_HYP_EVENTS);
}

/* Text of a host_hcall with a result */
static const char *events_test_print_hcall(struct kunit *test, s64 ret)
{
	struct trace_event *event = &hyp_events[HYP_EVENT_host_hcall].call.event;
	struct trace_iterator *iter = kunit_kzalloc(test, sizeof(*iter), GFP_KERNEL);
	struct hyp_event_host_hcall *record = kunit_kzalloc(test, sizeof(*record), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, iter);
	KUNIT_ASSERT_NOT_NULL(test, record);
	record->ret = ret;
	iter->ent = (struct trace_entry *)record;
	iter->ent_size = sizeof(*record);
	trace_seq_init(&iter->seq);
	event->funcs->trace(iter, 0, event);
	return seq_buf_str(&iter->seq.seq);
}

/* A result that EL2 does not know is not shown as one. */
static void events_test_unlisted(struct kunit *test)
{
	KUNIT_EXPECT_NOT_NULL(test, strstr(events_test_print_hcall(test, 0), " invalid=0 ret=0\n"));
	KUNIT_EXPECT_NOT_NULL(test, strstr(events_test_print_hcall(test, -22),
					   " invalid=0 ret=-22\n"));
	KUNIT_EXPECT_NOT_NULL(test, strstr(events_test_print_hcall(test, HYP_HCALL_UNLISTED),
					   " invalid=0 unlisted=1\n"));
}

static struct kunit_case events_test_cases[] = {
	KUNIT_CASE(events_test_filters),
	KUNIT_CASE(events_test_corrupt_printed),
	KUNIT_CASE(events_test_unlisted),
	{ }
};

static struct kunit_suite events_test_suite = {
	.name		= "hyp_trace_events",
	.test_cases	= events_test_cases,
};

kunit_test_suite(events_test_suite);
