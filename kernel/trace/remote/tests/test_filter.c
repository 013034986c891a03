// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit: a remote's filters against the kernel's, on the same records
 *
 * Random expressions over an event's fields are compiled twice: into a program for the remote,
 * and into one of the kernel's own. Both must pass the same records.
 */
#include <linux/prandom.h>
#include <linux/seq_buf.h>
#include <linux/trace_remote_filter.h>

#include "../../trace.h"
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
 * @rnd:	state of the random numbers
 * @record:	a record
 * @text:	an expression
 * @preds:	its program for the remote
 * @nr_preds:	number of predicates in @preds
 * @target:	evaluates the program
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
	int				nr_preds;
	const struct filter_test_target	*target;
};

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

/* Bytes of few different values, so that comparisons are often equal. */
static void filter_test_fill(struct filter_test *t)
{
	static const u8 bytes[] = { 0, 0, 0, 1, 2, 0x7f, 0x80, 0xff, 0xff };
	u8 *record = (u8 *)t->record;
	unsigned int i;

	for (i = 0; i < sizeof(t->record); i++)
		record[i] = bytes[filter_test_below(t, ARRAY_SIZE(bytes))];
}

/* A number within the field's range, or just outside. */
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
	int i;

	strscpy(text, t->text);
	t->nr_preds = trace_compile_remote_filter(&t->event->call, text, t->preds,
						  ARRAY_SIZE(t->preds), &error);
	KUNIT_ASSERT_GT_MSG(test, t->nr_preds, 0, "%s: %s", t->text, error.text);

	for (i = 0; i < t->nr_preds; i++)
		KUNIT_ASSERT_TRUE(test, trace_remote_pred_is_valid(t->preds[i].code, i,
								   ALIGN(t->size, 8)));
	KUNIT_ASSERT_TRUE(test, trace_remote_filter_is_valid(t->preds, t->nr_preds));
	if (t->target->set)
		t->target->set(test, t->preds, t->nr_preds, ALIGN(t->size, 8));
}

static unsigned int filter_test_compare(struct kunit *test, struct filter_test *t,
					struct event_filter *host)
{
	unsigned int i, nr = 0;

	for (i = 0; i < FILTER_TEST_RECORDS; i++) {
		bool ours, theirs;

		filter_test_fill(t);
		ours = t->target->match(t->preds, t->nr_preds, t->record);
		theirs = filter_match_preds(host, t->record);
		if (ours != theirs)
			KUNIT_FAIL(test, "%s: %s: the remote says %d: %*ph",
				   t->event->call.name, t->text, ours, t->size, t->record);
		nr += ours;
	}

	return nr;
}

/* Check one expression. Returns the number of records that passed. */
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

/**
 * filter_test_events - compare a remote's filters with the kernel's
 * @test:	the test
 * @events:	the remote's events, which are registered
 * @nr:		how many
 * @target:	evaluates a program as the remote does
 */
void filter_test_events(struct kunit *test, struct trace_remote_event *events, unsigned int nr,
			const struct filter_test_target *target)
{
	struct filter_test *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);
	unsigned int i, passed = 0, rounds = 0;
	struct trace_remote_event *event;

	KUNIT_ASSERT_NOT_NULL(test, t);
	t->target = target;
	prandom_seed_state(&t->rnd, 1);
	for (event = events; event < events + nr; event++) {
		if (!filter_test_begin(test, t, event))
			continue;

		for (i = 0; i < FILTER_TEST_ROUNDS; i++, rounds++) {
			passed += filter_test_round(test, t);
			cond_resched();
		}
	}

	/* Some records passed and some did not. */
	KUNIT_EXPECT_GT(test, passed, rounds * FILTER_TEST_RECORDS / 4);
	KUNIT_EXPECT_LT(test, passed, rounds * FILTER_TEST_RECORDS / 4 * 3);
	kunit_info(test, "%u expressions, %u of %u records passed\n", rounds, passed,
		   rounds * FILTER_TEST_RECORDS);
}

static bool filter_test_match(const struct trace_remote_pred *preds, unsigned int nr,
			      const void *record)
{
	return trace_remote_filter_match(preds, nr, record);
}

void filter_test_as_kernel(struct kunit *test)
{
	static const struct filter_test_target target = { .match = filter_test_match };

	kunit_remote_register(test);
	filter_test_events(test, kunit_remote_desc.events, kunit_remote_desc.nr_events, &target);
}
