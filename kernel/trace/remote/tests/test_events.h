/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The events of the test remote: their records, their fields, and their text
 *
 * trace_remote_test.c writes these events. The KUnit tests have them in a remote of their own,
 * and so this header defines static objects. Its user defines REMOTE_TEST_GROUP, the name of
 * the events' group.
 *
 * Each event has a record that begins with struct trace_entry. The event's fields follow, in
 * the order of the structure and with its alignment: the kernel computes their offsets.
 */
#ifndef __TRACE_REMOTE_TEST_EVENTS_H__
#define __TRACE_REMOTE_TEST_EVENTS_H__

#include <linux/trace_events.h>
#include <linux/trace_remote.h>
#include <linux/trace_seq.h>

#include <trace/stages/stage3_trace_output.h>

enum remote_test_event {
	REMOTE_TEST_SELFTEST,
	REMOTE_TEST_NUMBERS,
	REMOTE_TEST_ARRAY,
	REMOTE_TEST_STRING,
	REMOTE_TEST_BITMASK,
	NR_REMOTE_TEST_EVENTS,
};

/* A number that was written to write_event */
struct remote_test_selftest {
	struct trace_entry	ent;
	u64			id;
};

/* Numbers of each size */
struct remote_test_numbers {
	struct trace_entry	ent;
	u8			kind;
	s8			s8;
	u16			u16;
	s16			s16;
	u32			u32;
	s32			s32;
	s64			s64;
};

#define REMOTE_TEST_WORDS	4

struct remote_test_array {
	struct trace_entry	ent;
	u32			words[REMOTE_TEST_WORDS];
};

#define REMOTE_TEST_TEXT	32

/* A location has the offset from the record in its low half, and the length in its high half. */
struct remote_test_string {
	struct trace_entry	ent;
	u32			__data_loc_text;
	char			text[REMOTE_TEST_TEXT];
};

#define REMOTE_TEST_LONGS	2

struct remote_test_bitmask {
	struct trace_entry	ent;
	u32			__data_loc_mask;
	unsigned long		mask[REMOTE_TEST_LONGS];
};

#define REMOTE_TEST_FIELD(ftype, fname, fsize, falign, sign, flen)	\
	{								\
		.type		= ftype,				\
		.name		= fname,				\
		.size		= fsize,				\
		.align		= falign,				\
		.is_signed	= sign,					\
		.filter_type	= FILTER_OTHER,				\
		.len		= flen,					\
	}
#define REMOTE_TEST_NUMBER(type, name)					\
	REMOTE_TEST_FIELD(#type, #name, sizeof(type), __alignof__(type), is_signed_type(type), 0)
#define REMOTE_TEST_DYNAMIC(type, name)					\
	REMOTE_TEST_FIELD("__data_loc " type, name, sizeof(u32), __alignof__(u32), false, 0)

static struct trace_event_fields remote_test_fields_selftest[] = {
	REMOTE_TEST_NUMBER(u64, id),
	{ }
};

static struct trace_event_fields remote_test_fields_numbers[] = {
	REMOTE_TEST_NUMBER(u8, kind),
	REMOTE_TEST_NUMBER(s8, s8),
	REMOTE_TEST_NUMBER(u16, u16),
	REMOTE_TEST_NUMBER(s16, s16),
	REMOTE_TEST_NUMBER(u32, u32),
	REMOTE_TEST_NUMBER(s32, s32),
	REMOTE_TEST_NUMBER(s64, s64),
	{ }
};

static struct trace_event_fields remote_test_fields_array[] = {
	REMOTE_TEST_FIELD("u32[4]", "words", sizeof(u32) * REMOTE_TEST_WORDS, __alignof__(u32),
			  false, REMOTE_TEST_WORDS),
	{ }
};

static struct trace_event_fields remote_test_fields_string[] = {
	REMOTE_TEST_DYNAMIC("char[]", "text"),
	{ }
};

static struct trace_event_fields remote_test_fields_bitmask[] = {
	REMOTE_TEST_DYNAMIC("unsigned long[]", "mask"),
	{ }
};

/*
 * The remote may write any bytes. Before a record is printed, these functions check that it is
 * as long as the event's, and that what a location names is in it.
 */
static bool remote_test_is_in_record(const struct trace_iterator *iter, u32 loc)
{
	return (loc & 0xffff) + (loc >> 16) <= iter->ent_size;
}

static bool remote_test_is_valid_selftest(const struct trace_iterator *iter)
{
	return iter->ent_size >= sizeof(struct remote_test_selftest);
}

static bool remote_test_is_valid_numbers(const struct trace_iterator *iter)
{
	return iter->ent_size >= sizeof(struct remote_test_numbers);
}

static bool remote_test_is_valid_array(const struct trace_iterator *iter)
{
	return iter->ent_size >= sizeof(struct remote_test_array);
}

static bool remote_test_is_valid_string(const struct trace_iterator *iter)
{
	const struct remote_test_string *record = (const void *)iter->ent;
	unsigned int end;

	if (iter->ent_size < offsetof(struct remote_test_string, text))
		return false;

	end = (record->__data_loc_text & 0xffff) + (record->__data_loc_text >> 16);
	return remote_test_is_in_record(iter, record->__data_loc_text) &&
	       record->__data_loc_text >> 16 && !((const char *)record)[end - 1];
}

/* It is printed by the long. */
static bool remote_test_is_valid_bitmask(const struct trace_iterator *iter)
{
	const struct remote_test_bitmask *record = (const void *)iter->ent;

	return iter->ent_size >= offsetof(struct remote_test_bitmask, mask) &&
	       remote_test_is_in_record(iter, record->__data_loc_mask) &&
	       !((record->__data_loc_mask >> 16) % sizeof(long));
}

/*
 * An event: the format of its text for programs, the function that prints it, its class, and
 * the functions. REC is the record, as those programs name it.
 */
#define REC	field

#define REMOTE_TEST_EVENT(ename, fmt, args...)					\
static char remote_test_print_fmt_##ename[] = "\"" fmt "\", " #args;		\
										\
static enum print_line_t							\
remote_test_print_##ename(struct trace_iterator *iter, int flags,		\
			  struct trace_event *event)				\
{										\
	const struct remote_test_##ename *field = (const void *)iter->ent;	\
	struct trace_seq *p = &iter->tmp_seq;					\
										\
	if (!remote_test_is_valid_##ename(iter))				\
		return TRACE_TYPE_UNHANDLED;					\
										\
	trace_seq_init(p);							\
	trace_seq_printf(&iter->seq, #ename " " fmt "\n", args);		\
	return trace_handle_return(&iter->seq);					\
}										\
										\
static struct trace_event_functions remote_test_funcs_##ename = {		\
	.trace	= remote_test_print_##ename,					\
};										\
										\
static struct trace_event_class remote_test_class_##ename = {			\
	.system		= REMOTE_TEST_GROUP,					\
	.fields_array	= remote_test_fields_##ename,				\
	.fields		= LIST_HEAD_INIT(remote_test_class_##ename.fields),	\
	.raw_init	= trace_event_raw_init,					\
}

REMOTE_TEST_EVENT(selftest, "id=%llu", REC->id);
REMOTE_TEST_EVENT(numbers, "kind=%s s8=%d u16=%u s16=%d u32=%u s32=%d s64=%lld",
		  __print_symbolic(REC->kind, { 0, "zero" }, { 1, "one" }, { 2, "two" }),
		  REC->s8, REC->u16, REC->s16, REC->u32, REC->s32, REC->s64);
REMOTE_TEST_EVENT(array, "words=%s", __print_array(REC->words, 4, 4));
REMOTE_TEST_EVENT(string, "text=%s", __get_str(text));
REMOTE_TEST_EVENT(bitmask, "mask=%s", __get_bitmask(mask));

/* The names of the text above, for filters */
static const struct trace_print_flags remote_test_kinds[] = {
	{ 0, "zero" }, { 1, "one" }, { 2, "two" }, { }
};

static const struct trace_remote_names remote_test_names_numbers[] = {
	{ "kind", remote_test_kinds }, { }
};

/* The members after the call follow the name. */
#define REMOTE_TEST_CALL(ename, members...)				\
	{								\
		.call = {						\
			.class		= &remote_test_class_##ename,	\
			.name		= #ename,			\
			.event.funcs	= &remote_test_funcs_##ename,	\
			.print_fmt	= remote_test_print_fmt_##ename,	\
		},							\
		members							\
	}

static struct trace_remote_event remote_test_events[] = {
	[REMOTE_TEST_SELFTEST]	= REMOTE_TEST_CALL(selftest),
	[REMOTE_TEST_NUMBERS]	= REMOTE_TEST_CALL(numbers, .names = remote_test_names_numbers),
	[REMOTE_TEST_ARRAY]	= REMOTE_TEST_CALL(array),
	[REMOTE_TEST_STRING]	= REMOTE_TEST_CALL(string),
	[REMOTE_TEST_BITMASK]	= REMOTE_TEST_CALL(bitmask),
};

static_assert(ARRAY_SIZE(remote_test_events) == NR_REMOTE_TEST_EVENTS);

#endif /* __TRACE_REMOTE_TEST_EVENTS_H__ */
