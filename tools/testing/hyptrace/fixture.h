/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A ring to test, with memory of its own, events to write into it, and the kernel's reader.
 */
#ifndef __HYPTRACE_FIXTURE_H
#define __HYPTRACE_FIXTURE_H

#include <linux/trace_ring.h>
#include <ring_buffer_reader_internal.h>

#include "page.h"

/**
 * struct fixture - a ring and its memory
 * @ring:	the ring
 * @meta:	its meta page
 * @dir:	its directory page
 * @pages:	its pages, by id
 * @nr_pages:	how many
 * @writer:	the ring as the kernel has it
 * @cpu:	... of the one CPU, with the addresses of what is shared
 * @buffer:	the kernel's buffer
 * @reader:	the CPU's reader
 */
struct fixture {
	struct trace_ring		ring;
	struct ring_buffer_writer_meta	*meta;
	struct trace_ring_entry		**dir;
	struct ring_buffer_writer_page	**pages;
	u32				nr_pages;
	struct ring_buffer_writer	writer;
	struct ring_buffer_writer_cpu	cpu;
	struct trace_buffer		*buffer;
	struct rb_reader		*reader;
};

void *fixture_page(void);
void *fixture_pages(u32 nr);
void fixture_stop(struct fixture *f);
void fixture_init(struct fixture *f, u32 nr_pages);
void fixture_init_at(struct fixture *f, u32 nr_pages, u64 tail);
void fixture_free(struct fixture *f);
void fixture_expose(struct fixture *f);
void fixture_hide_counters(struct fixture *f);

/* The one payload there is: the event's number, then bytes made of it. */
#define NUMBERED	8U

void payload_fill(void *data, u32 size, u64 number);
bool payload_matches(const struct event *event, u32 size, u64 number);
u64 payload_number(const struct event *event);

bool fixture_write(struct fixture *f, u32 size, u64 number, u64 time);
bool fixture_abandon(struct fixture *f, u32 size, u64 time);
void fixture_write_pages(struct fixture *f, u64 first, u64 nr);
u32 fixture_share(u32 per_page);
void fixture_write_shares(struct fixture *f, u32 per_page, u64 first, u64 nr);
u64 fixture_used(const struct fixture *f, u32 id);
u64 fixture_entries(const struct fixture *f);
bool fixture_next(struct ring_buffer_reader_cursor *cursor, struct event *event);
bool fixture_read(struct fixture *f, struct event *event);
bool fixture_iterate(struct ring_buffer_reader_iter *iter, struct event *event);

#endif /* __HYPTRACE_FIXTURE_H */
