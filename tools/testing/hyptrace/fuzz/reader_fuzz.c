// SPDX-License-Identifier: GPL-2.0-only
/*
 * A remote that corrupts the pages and the meta page of a ring at any moment: each word that the
 * kernel's reader loads from them may be another one, the next time as well. The reader accesses
 * no other memory, each call comes to an end, and it does not count more than there can be.
 *
 * An input is a list of what the remote writes and of calls of the reader, each with what the
 * reader loads meanwhile and with what the remote answers.
 */
#include <ring_buffer_reader_internal.h>

#include "input.h"

#define PAGES		4
#define MAX_ROUNDS	100000

/* The meta page, then the pages of events */
static void *remote[1 + PAGES];
static struct input *now;
static unsigned int rounds;

/* Of what is loaded from the remote's pages, some is as it was written. */
static u64 corrupt(const void *addr, u64 latest, int order)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(remote); i++)
		if ((uintptr_t)addr - (uintptr_t)remote[i] < PAGE_SIZE && now->size)
			return input_below(now, 4) ? latest : input_number(now, 0);
	return latest;
}

/* Nothing waits for ever. */
static void relax(void)
{
	if (rounds++ == MAX_ROUNDS)
		abort();
}

static const struct shim corrupting = { .load = corrupt, .relax = relax };

static int any_page(struct ring_buffer_writer *writer, int cpu)
{
	return input_below(now, 8) ? (int)input_below(now, PAGES + 1) : -EAGAIN;
}

static int any_reset(struct ring_buffer_writer *writer, int cpu)
{
	return input_below(now, 4) ? 0 : -EINVAL;
}

static u64 no_clock(void)
{
	return 0;
}

/* Of all events, so that each word is read */
u32 event_sum;

/* An event is wholly in the copy of a page. */
static void check_event(const struct ring_buffer_event *event)
{
	u32 words, i;

	if (!event)
		return;

	words = event->type_len ?: 1 + (event->array[0] - sizeof(u32)) / sizeof(u32);
	for (i = 0; i < words; i++)
		event_sum += event->array[i];
}

/* No more events are counted than there can have been. */
static void check_consumed(const struct rb_reader_consumed *consumed)
{
	if (consumed->nr > consumed->bytes / RB_WRITER_MIN_EVENT ||
	    consumed->offset > RB_WRITER_PAGE_DATA)
		abort();
}

static void iterate(struct ring_buffer_reader_iter *iter)
{
	u64 ts;

	check_event(ring_buffer_reader_iter_peek(iter, &ts));
	ring_buffer_reader_iter_lost(iter);
	ring_buffer_reader_iter_advance(iter);
}

/* Those who read without consuming */
struct readers {
	struct ring_buffer_reader_iter		*iter;
	struct ring_buffer_reader_follower	*follower;
};

static void finish(struct readers *readers)
{
	ring_buffer_reader_iter_finish(readers->iter);
	ring_buffer_reader_follow_finish(readers->follower);
}

static void start(struct readers *readers, struct trace_buffer *buffer, bool from_first)
{
	readers->iter = ring_buffer_reader_iter_start(buffer, 0);
	readers->follower = ring_buffer_reader_follow_start(buffer, 0, from_first);
}

/* See a page: no more events than it has room for. */
static void follow(struct ring_buffer_reader_follower *follower)
{
	struct ring_buffer_event *event;
	unsigned long lost;
	unsigned int nr = 0;
	u64 ts;

	ring_buffer_reader_follow_page(follower);
	while ((event = ring_buffer_reader_follow_next(follower, &ts, &lost))) {
		check_event(event);
		if (nr++ > RB_WRITER_PAGE_DATA / RB_WRITER_MIN_EVENT)
			abort();
	}
}

static void consume(struct trace_buffer *buffer)
{
	struct ring_buffer_reader_cursor cursor;
	unsigned int nr = input_below(now, 8);

	ring_buffer_reader_cursor_start(&cursor, buffer, 0);
	while (nr-- && ring_buffer_reader_cursor_peek(&cursor)) {
		check_event(cursor.event);
		if (cursor.walk.offset + cursor.walk.length > cursor.walk.commit)
			abort();
		ring_buffer_reader_cursor_advance(&cursor);
	}
	ring_buffer_reader_cursor_finish(&cursor);
}

static void read_page(struct trace_buffer *buffer)
{
	struct ring_buffer_writer_page *page = (void *)__get_free_page(GFP_KERNEL);
	size_t len = input_below(now, 4) ? PAGE_SIZE : input_bytes(now, 2);

	if (!ring_buffer_reader_read_page(buffer, 0, page, len, input_below(now, 2)) &&
	    (page->commit & RB_WRITER_COMMIT_MASK) > RB_WRITER_PAGE_DATA)
		abort();
	free_page((unsigned long)page);
}

static void dump(struct trace_buffer *buffer)
{
	struct ring_buffer_reader_dump dump;
	u8 data[64];

	ring_buffer_reader_dump_start(&dump, buffer, 0, input_below(now, 16));
	while (ring_buffer_reader_dump_next(&dump))
		ring_buffer_reader_dump_copy(&dump, data, sizeof(data));
}

static void any_write(void)
{
	u64 *words = remote[input_below(now, ARRAY_SIZE(remote))];

	words[input_below(now, 32)] = input_number(now, 0);
}

static void any_call(struct trace_buffer *buffer, struct readers *readers)
{
	struct ring_buffer_reader_stats stats;

	rounds = 0;
	switch (input_below(now, 8)) {
	case 0:
		consume(buffer);
		break;
	case 1:
		read_page(buffer);
		break;
	case 2:
		finish(readers);
		start(readers, buffer, false);
		break;
	case 3:
		dump(buffer);
		break;
	case 4:
		ring_buffer_reader_reset(buffer, 0);
		break;
	case 5:
		ring_buffer_reader_get_stats(buffer, 0, &stats);
		break;
	case 6:
		any_write();
		break;
	default:
		iterate(readers->iter);
		follow(readers->follower);
	}
}

/* What is there first: short events, one after the other. */
static void fill_page(struct ring_buffer_writer_page *page)
{
	u32 *words = (u32 *)page->data;
	unsigned int i;

	memset(page, 0, PAGE_SIZE);
	page->commit = RB_WRITER_PAGE_DATA;
	for (i = 0; i < RB_WRITER_PAGE_DATA / sizeof(u32); i += 2)
		words[i] = rb_writer_header(1, 1);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	static const struct ring_buffer_writer_ops ops = { any_page, any_reset };
	struct input input = { data, size };
	struct ring_buffer_writer_cpu cpu;
	struct ring_buffer_writer writer = { .ops = &ops, .clock = no_clock, .cpus = &cpu };
	struct trace_buffer *buffer;
	struct readers readers;
	void *shared[1 + PAGES];
	unsigned int i;

	now = &input;
	for (i = 0; i < ARRAY_SIZE(remote); i++) {
		remote[i] = (void *)__get_free_page(GFP_KERNEL);
		if (i)
			fill_page(remote[i]);
		else
			memset(remote[i], 0, PAGE_SIZE);
		shared[i] = shim_share(remote[i]);
	}

	cpu = (struct ring_buffer_writer_cpu){ shared[0], &shared[1], PAGES };
	buffer = ring_buffer_reader(&writer);
	start(&readers, buffer, true);
	shim = &corrupting;
	while (input.size) {
		any_call(buffer, &readers);
		check_consumed(&rb_reader_of(buffer, 0)->consumed);
	}
	shim = NULL;
	finish(&readers);
	ring_buffer_reader_free(buffer);
	for (i = 0; i < ARRAY_SIZE(remote); i++)
		free_page((unsigned long)remote[i]);
	return 0;
}
