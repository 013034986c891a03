// SPDX-License-Identifier: GPL-2.0-only
#include "expect.h"

/* The next event is this one, and @lost events are missing before it. */
void expect_event(struct fixture *f, u32 size, u64 number, u64 time, u64 lost)
{
	struct event event;

	if (!CHECK(fixture_read(f, &event)))
		return;

	CHECK(payload_matches(&event, size, number));
	CHECK(event.time == time);
	CHECK(event.lost == lost);
}

/* What fixture_write_pages() wrote, @lost events before the first. */
void expect_pages(struct fixture *f, u64 first, u64 nr, u64 lost)
{
	u64 number;

	for (number = first; number < first + nr; number++)
		expect_event(f, EVENT_MAX, number, number, number == first ? lost : 0);
}

/* What fixture_write_shares() wrote; @lost were lost before the first one. */
void expect_shares(struct fixture *f, u32 per_page, u64 first, u64 end, u64 lost)
{
	u64 number;

	for (number = first; number < end; number++)
		expect_event(f, fixture_share(per_page), number, number,
			     number == first ? lost : 0);
}

/*
 * The reader has read @read of three events of page 0, and stays there, when @more are written.
 * Returns how many of these are lost.
 */
u64 expect_part(struct fixture *f, u32 read, u64 more)
{
	u64 tail = (more + 2) / 3;

	tap_at("%u read, %llu more", read, more);
	fixture_init(f, 4);
	fixture_write_shares(f, 3, 0, 3);
	expect_shares(f, 3, 0, read, 0);
	fixture_write_shares(f, 3, 3, more);
	return tail > 3 ? (tail - 3) * 3 : 0;
}

/* All is read, and the meta page says so: no swap was worth a try. */
void expect_nothing(struct fixture *f)
{
	struct event event;

	CHECK(!fixture_read(f, &event));
	CHECK(!f->reader->consumed.lost);
}

/* A swap is refused, and leaves no trace. */
void expect_no_data(struct fixture *f)
{
	struct trace_ring ring = f->ring;
	struct ring_buffer_writer_meta meta = *f->meta;

	CHECK(trace_ring_swap_reader(&f->ring) == -ENODATA);
	CHECK(!memcmp(&ring, &f->ring, sizeof(ring)));
	CHECK(!memcmp(&meta, f->meta, sizeof(meta)));
}

/* But for @base and bytes */
void expect_counters(struct fixture *f, struct counters counters)
{
	CHECK(fixture_entries(f) == counters.entries);
	CHECK(f->ring.entries == counters.entries);
	CHECK(f->meta->meta.overrun == counters.overrun);
	CHECK(f->meta->dropped == counters.dropped);
	CHECK(f->meta->tail == counters.tail);
	CHECK(f->meta->next == counters.tail);
}

void expect_all_counters(struct fixture *f, struct counters counters)
{
	expect_counters(f, counters);
	CHECK(f->meta->base == counters.base);
	CHECK(f->meta->bytes == counters.bytes);
	CHECK(f->meta->overrun_bytes == counters.overrun_bytes);
}
