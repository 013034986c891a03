/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A ring to test, with memory of its own, and events to write into it.
 */
#ifndef __HYPTRACE_FIXTURE_H
#define __HYPTRACE_FIXTURE_H

#include <linux/trace_ring.h>

#include "page.h"

/**
 * struct fixture - a ring and its memory
 * @ring:	the ring
 * @meta:	its meta page
 * @dir:	its directory page
 * @pages:	its pages, by id
 * @slots:	which page is in which slot, by id, as far as a reader knows
 * @nr_pages:	how many
 */
struct fixture {
	struct trace_ring		ring;
	struct ring_buffer_writer_meta	*meta;
	struct trace_ring_entry		**dir;
	struct ring_buffer_writer_page	**pages;
	u32				*slots;
	u32				nr_pages;
};

void *fixture_page(void);
void *fixture_pages(u32 nr);
void fixture_stop(struct fixture *f);
void fixture_init(struct fixture *f, u32 nr_pages);
void fixture_init_at(struct fixture *f, u32 nr_pages, u64 tail);
void fixture_free(struct fixture *f);

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

#endif /* __HYPTRACE_FIXTURE_H */
