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
#include "hyp/include/nvhe/printk.h"
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
	filter_test_events(test, hyp_events, NR_HYP_LISTED_EVENTS, &target);
}

static void events_test_corrupt_printed(struct kunit *test)
{
	events_test_need_events(test);
	event_test_print_corrupt(test, hyp_events, NR_HYP_LISTED_EVENTS);
}

/* The text of a record, which is copied to memory that ends where it does */
static const char *events_test_print(struct kunit *test, enum hyp_event_nr nr, const void *record,
				     unsigned int size)
{
	struct trace_event *event = &hyp_events[nr].call.event;
	struct trace_iterator *iter = kunit_kzalloc(test, sizeof(*iter), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, iter);
	iter->ent = kunit_kmalloc(test, size, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, iter->ent);
	memcpy(iter->ent, record, size);
	iter->ent_size = size;
	trace_seq_init(&iter->seq);
	event->funcs->trace(iter, 0, event);
	return seq_buf_str(&iter->seq.seq);
}

/* Text of a host_hcall with a result */
static const char *events_test_print_hcall(struct kunit *test, s64 ret)
{
	const struct hyp_event_host_hcall record = { .ret = ret };

	return events_test_print(test, HYP_EVENT_host_hcall, &record, sizeof(record));
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

/* The arguments are where vbin_printf() puts them, and the text is the kernel's for the format. */
#define EVENTS_TEST_PRINTK(test, format, args...)					\
do {											\
	HYP_PRINTK_FORMAT(__format, format, ##args);					\
	struct hyp_printk_record __record = { .event.fmt = (u64)__format.fmt };		\
	unsigned int __len = hyp_printk_pack(__record.words, ##args);			\
	u32 __bin[ARRAY_SIZE(__record.words)];						\
	char __text[HYP_EVENT_MAX_STRING + 16] = "hyp_printk ";				\
											\
	hyp_printk_check(format, ##args);						\
	KUNIT_EXPECT_EQ(test, __len / sizeof(u32), bprintf(__bin, ARRAY_SIZE(__bin),	\
							   format, ##args));		\
	KUNIT_EXPECT_MEMEQ(test, __bin, __record.words, __len);				\
	snprintf(__text + strlen(__text), HYP_EVENT_MAX_STRING, format, ##args);	\
	strcat(__text, "\n");								\
	KUNIT_EXPECT_STREQ(test, __text, events_test_print(test, HYP_EVENT_hyp_printk,	\
			   &__record, sizeof(__record.event) + __len));			\
} while (0)

static void events_test_printk(struct kunit *test)
{
	s8 narrow = -1;

	EVENTS_TEST_PRINTK(test, "no argument, 100%%");
	EVENTS_TEST_PRINTK(test, "%d %i %u %o %x %X", -1, INT_MIN, UINT_MAX, 8, 0xbeef, 0xbeef);
	EVENTS_TEST_PRINTK(test, "%lld %ld %llu %lo %zx %llX", S64_MIN, LONG_MAX, U64_MAX, 8UL,
			   (size_t)-1, 0xdeadbeefcafeULL);
	EVENTS_TEST_PRINTK(test, "%d %lld %d %llx %d", narrow, -2LL, 3, 4ULL, -5);
	EVENTS_TEST_PRINTK(test, "%1d|%05d|%5d|%08lld|%020llu|%06x", 1, -2, 3, -4LL, 5ULL, 6);
	EVENTS_TEST_PRINTK(test, "cut: %100lld %0100llu", 1LL, 2ULL);
}

static void events_test_expect_printk(struct kunit *test, u64 fmt, unsigned int args_size,
				      const char *expected)
{
	const struct hyp_printk_record record = { .event.fmt = fmt };
	const char *text = events_test_print(test, HYP_EVENT_hyp_printk, &record,
					     sizeof(record.event) + args_size);

	KUNIT_EXPECT_TRUE_MSG(test, strstarts(text, expected), "%s", text);
}

/* A record is the host's to write: no address but a format's counts, and no byte beyond it. */
static void events_test_printk_corrupt(struct kunit *test)
{
	HYP_PRINTK_FORMAT(format, "%d %lld", 1, 2LL);
	static const char other[] = "%s";
	u64 fmt = (u64)format.fmt;

	events_test_expect_printk(test, fmt, 12, "hyp_printk 0 0\n");
	events_test_expect_printk(test, fmt, 8, "hyp_printk 8 of 12 bytes of arguments: %d %lld\n");
	events_test_expect_printk(test, fmt, 0, "hyp_printk 0 of 12 bytes of arguments: %d %lld\n");
	events_test_expect_printk(test, 0, 12, "hyp_printk unknown format 0x0\n");
	events_test_expect_printk(test, fmt + 1, 12, "hyp_printk unknown format 0x");
	events_test_expect_printk(test, fmt + 64, 12, "hyp_printk unknown format 0x");
	events_test_expect_printk(test, fmt + (1UL << 30), 12, "hyp_printk unknown format 0x");
	events_test_expect_printk(test, (u64)other, 12, "hyp_printk unknown format 0x");
	events_test_expect_printk(test, U64_MAX, 12,
				  "hyp_printk unknown format 0xffffffffffffffff\n");
}

/* Programs that know the kernel's bprint find the fields where they expect them. */
static void events_test_bprint(struct kunit *test)
{
	BUILD_BUG_ON(offsetof(struct hyp_event_hyp_printk, ip) !=
		     offsetof(struct bprint_entry, ip));
	BUILD_BUG_ON(offsetof(struct hyp_event_hyp_printk, fmt) !=
		     offsetof(struct bprint_entry, fmt));
	BUILD_BUG_ON(sizeof(struct hyp_event_hyp_printk) != offsetof(struct bprint_entry, buf));
	KUNIT_EXPECT_EQ(test, TRACE_BPRINT,
			trace_remote_event_id(&hyp_events[HYP_EVENT_hyp_printk]));
}

static struct kunit_case events_test_cases[] = {
	KUNIT_CASE(events_test_filters),
	KUNIT_CASE(events_test_corrupt_printed),
	KUNIT_CASE(events_test_unlisted),
	KUNIT_CASE(events_test_printk),
	KUNIT_CASE(events_test_printk_corrupt),
	KUNIT_CASE(events_test_bprint),
	{ }
};

static struct kunit_suite events_test_suite = {
	.name		= "hyp_trace_events",
	.test_cases	= events_test_cases,
};

kunit_test_suite(events_test_suite);
