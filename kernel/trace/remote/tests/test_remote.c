// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit: a remote of the tests' own, with the events of the test remote. It writes nothing.
 */
#include <linux/err.h>

#define REMOTE_TEST_GROUP	"trace_remote_kunit"
#include "../../trace.h"
#include "test_events.h"
#include "test.h"

static const struct trace_remote_ops kunit_remote_ops = { };

const struct trace_remote_desc kunit_remote_desc = {
	.name		= "trace_remote_kunit",
	.ops		= &kunit_remote_ops,
	.events		= remote_test_events,
	.nr_events	= NR_REMOTE_TEST_EVENTS,
	.max_pages	= TRACE_RING_MAX_PAGES,
};

static void kunit_remote_unregister(void *remote)
{
	trace_remote_unregister(remote);
}

struct trace_remote *kunit_remote_register(struct kunit *test)
{
	struct trace_remote *remote = trace_remote_register(&kunit_remote_desc, NULL);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, remote);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, kunit_remote_unregister, remote));
	return remote;
}

/* A field of a record, as the compiler lays it out */
struct layout_test {
	enum remote_test_event	nr;
	const char		*name;
	int			offset;
	int			size;
};

#define LAYOUT_TEST(nr, event, field, name)						\
	{ nr, name, offsetof(struct remote_test_##event, field),			\
	  sizeof_field(struct remote_test_##event, field) }

static const struct layout_test layout_tests[] = {
	LAYOUT_TEST(REMOTE_TEST_SELFTEST, selftest, id, "id"),
	LAYOUT_TEST(REMOTE_TEST_NUMBERS, numbers, kind, "kind"),
	LAYOUT_TEST(REMOTE_TEST_NUMBERS, numbers, s8, "s8"),
	LAYOUT_TEST(REMOTE_TEST_NUMBERS, numbers, u16, "u16"),
	LAYOUT_TEST(REMOTE_TEST_NUMBERS, numbers, s16, "s16"),
	LAYOUT_TEST(REMOTE_TEST_NUMBERS, numbers, u32, "u32"),
	LAYOUT_TEST(REMOTE_TEST_NUMBERS, numbers, s32, "s32"),
	LAYOUT_TEST(REMOTE_TEST_NUMBERS, numbers, s64, "s64"),
	LAYOUT_TEST(REMOTE_TEST_ARRAY, array, words, "words"),
	LAYOUT_TEST(REMOTE_TEST_STRING, string, __data_loc_text, "text"),
	LAYOUT_TEST(REMOTE_TEST_BITMASK, bitmask, __data_loc_mask, "mask"),
};

/* The core computes offsets from sizes and alignments: they are those of the structures. */
void remote_test_layout(struct kunit *test)
{
	const struct ftrace_event_field *field;
	const struct layout_test *l;

	kunit_remote_register(test);
	for (l = layout_tests; l < layout_tests + ARRAY_SIZE(layout_tests); l++) {
		field = trace_find_event_field(&remote_test_events[l->nr].call, (char *)l->name);
		KUNIT_ASSERT_NOT_NULL_MSG(test, field, "%s", l->name);
		KUNIT_EXPECT_EQ_MSG(test, field->offset, l->offset, "%s", l->name);
		KUNIT_EXPECT_EQ_MSG(test, field->size, l->size, "%s", l->name);
	}
}
