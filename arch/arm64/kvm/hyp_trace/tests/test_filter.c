// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit: EL2's filters against the host's, on the same records
 *
 * Any expression over an event's fields, as the host's filters take it, is made
 * into a program for EL2, whose source is built a second time here; and into one of
 * the host's. What the one lets pass, the other must.
 */
#include <linux/prandom.h>
#include <linux/seq_buf.h>

#include <linux/trace_remote_filter.h>

#include <asm/kvm_hypevents_defs.h>

#include "../../../../../kernel/trace/trace.h"
#include "hyp/nvhe/filter.c"
#include "../hyp_trace.h"
#include "test.h"

#define FILTER_TEST_ROUNDS	60
#define FILTER_TEST_RECORDS	60
#define FILTER_TEST_DEPTH	3
#define FILTER_TEST_TEXT	1000

/**
 * struct filter_test - an event, and filters of it
 * @event:	the event
 * @fields:	its fields that are numbers
 * @nr_fields:	how many
 * @size:	of a record, bytes
 * @rnd:	where chance comes from
 * @record:	a record
 * @text:	an expression
 * @preds:	... for EL2
 * @ours:	... at EL2
 */
struct filter_test {
	struct trace_remote_event	*event;
	struct ftrace_event_field	*fields[16];
	unsigned int			nr_fields;
	unsigned int			size;
	struct rnd_state		rnd;
	u64				record[16];
	char				text[FILTER_TEST_TEXT];
	struct trace_remote_pred	preds[TRACE_REMOTE_MAX_PREDS];
	struct el2_filter		ours;
};

/* The filter that the test reads: events of one CPU, as EL2 has it. */
static const struct el2_filter *filter_test_reading;

const struct el2_filter **el2_filter_reading(unsigned int cpu)
{
	return cpu ? NULL : &filter_test_reading;
}

static u32 filter_test_below(struct filter_test *t, u32 n)
{
	return prandom_u32_state(&t->rnd) % n;
}

static bool filter_test_begin(struct kunit *test, struct filter_test *t,
			      struct trace_remote_event *event)
{
	struct ftrace_event_field *field;

	t->event = event;
	t->nr_fields = 0;
	t->size = sizeof(struct trace_entry);
	/* The first field is the last of the list. */
	list_for_each_entry_reverse(field, trace_get_fields(&event->call), link) {
		if (strchr(field->type, '['))
			break;
		KUNIT_ASSERT_LT(test, t->nr_fields, ARRAY_SIZE(t->fields));
		t->fields[t->nr_fields++] = field;
		t->size = field->offset + field->size;
	}
	KUNIT_ASSERT_LE(test, t->size, sizeof(t->record));
	return t->nr_fields;
}

/* Bytes that are the same often enough for comparisons to be close. */
static void filter_test_fill(struct filter_test *t)
{
	static const u8 bytes[] = { 0, 0, 0, 1, 2, 0x7f, 0x80, 0xff, 0xff };
	u8 *record = (u8 *)t->record;
	unsigned int i;

	for (i = 0; i < sizeof(t->record); i++)
		record[i] = bytes[filter_test_below(t, ARRAY_SIZE(bytes))];
}

/* A number that the field may hold, or nearly. */
static s64 filter_test_value(struct filter_test *t, const struct ftrace_event_field *field)
{
	u64 value = 0;

	filter_test_fill(t);
	memcpy(&value, (u8 *)t->record + field->offset, field->size);
	if (field->is_signed)
		value = sign_extend64(value, field->size * 8 - 1);
	return value + (s64)filter_test_below(t, 3) - 1;
}

static void filter_test_put_leaf(struct filter_test *t, struct seq_buf *text)
{
	static const char * const ops[] = { "==", "!=", "<", "<=", ">", ">=", "&" };
	const struct ftrace_event_field *field = t->fields[filter_test_below(t, t->nr_fields)];
	s64 value = filter_test_value(t, field);

	if (!filter_test_below(t, 8))
		field = trace_find_event_field(&t->event->call, "common_pid");
	seq_buf_printf(text, field->is_signed ? "%s %s %lld" : "%s %s %llu", field->name,
		       ops[filter_test_below(t, ARRAY_SIZE(ops))], value);
}

static void filter_test_put(struct filter_test *t, struct seq_buf *text, int depth)
{
	if (!depth || !filter_test_below(t, 4)) {
		filter_test_put_leaf(t, text);
		return;
	}

	seq_buf_puts(text, filter_test_below(t, 3) ? "(" : "!(");
	filter_test_put(t, text, depth - 1);
	seq_buf_puts(text, filter_test_below(t, 2) ? " && " : " || ");
	filter_test_put(t, text, depth - 1);
	seq_buf_puts(text, ")");
}

static void filter_test_compile(struct kunit *test, struct filter_test *t)
{
	struct trace_filter_error error = { };
	char text[FILTER_TEST_TEXT];
	int i, nr;

	strscpy(text, t->text);
	nr = trace_compile_remote_filter(&t->event->call, text, t->preds, ARRAY_SIZE(t->preds),
					 &error);
	KUNIT_ASSERT_GT_MSG(test, nr, 0, "%s: %s", t->text, error.text);

	for (i = 0; i < nr; i++) {
		const struct trace_remote_pred *pred = &t->preds[i];

		KUNIT_ASSERT_EQ(test, 0, el2_filter_add(&t->ours, i, pred->code, pred->val,
							ALIGN(t->size, 8)));
	}
	KUNIT_ASSERT_EQ(test, 0, el2_filter_set(&t->ours, nr));
}

static unsigned int filter_test_compare(struct kunit *test, struct filter_test *t,
					struct event_filter *host)
{
	unsigned int i, nr = 0;

	for (i = 0; i < FILTER_TEST_RECORDS; i++) {
		bool ours, theirs;

		filter_test_fill(t);
		ours = el2_filter_match(&t->ours, &filter_test_reading, t->record);
		theirs = filter_match_preds(host, t->record);
		if (ours != theirs)
			KUNIT_FAIL(test, "%s: %s: EL2 says %d: %*ph", t->event->call.name, t->text,
				   ours, t->size, t->record);
		nr += ours;
	}

	return nr;
}

/* One expression. How many records passed. */
static unsigned int filter_test_round(struct kunit *test, struct filter_test *t)
{
	struct event_filter *host = NULL;
	struct seq_buf text;
	unsigned int nr;

	seq_buf_init(&text, t->text, sizeof(t->text));
	filter_test_put(t, &text, FILTER_TEST_DEPTH);
	seq_buf_str(&text);
	filter_test_compile(test, t);

	mutex_lock(&event_mutex);
	KUNIT_EXPECT_EQ(test, 0, create_event_filter(NULL, &t->event->call, t->text, false, &host));
	mutex_unlock(&event_mutex);

	nr = filter_test_compare(test, t, host);
	free_event_filter(host);
	return nr;
}

void filter_test_as_host(struct kunit *test)
{
	struct filter_test *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);
	unsigned int i, passed = 0, rounds = 0;
	struct trace_remote_event *event;

	KUNIT_ASSERT_NOT_NULL(test, t);
	if (list_empty(trace_get_fields(&hyp_events[0].call)))
		kunit_skip(test, "no events: there is no EL2 to trace");

	prandom_seed_state(&t->rnd, 1);
	for (event = hyp_events; event < hyp_events + NR_HYP_EVENTS; event++) {
		if (!filter_test_begin(test, t, event))
			continue;

		for (i = 0; i < FILTER_TEST_ROUNDS; i++, rounds++) {
			passed += filter_test_round(test, t);
			cond_resched();
		}
	}

	/* Neither of the two says the same of all. */
	KUNIT_EXPECT_GT(test, passed, rounds * FILTER_TEST_RECORDS / 4);
	KUNIT_EXPECT_LT(test, passed, rounds * FILTER_TEST_RECORDS / 4 * 3);
	kunit_info(test, "%u expressions, %u of %u records passed\n", rounds, passed,
		   rounds * FILTER_TEST_RECORDS);
}
