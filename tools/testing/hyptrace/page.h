/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A page of events as kernel/trace/ring_buffer.c lays it out, read without
 * any of the writer's definitions, so that the two can disagree.
 */
#ifndef __HYPTRACE_PAGE_H
#define __HYPTRACE_PAGE_H

/* struct buffer_data_page */
struct page {
	u64	time_stamp;
	u64	commit;
	u8	data[];
};

#define PAGE_CAPACITY	((u32)(PAGE_SIZE - sizeof(struct page)))

/* The most data an event can have: two header words, nothing else on the page. */
#define EVENT_MAX	(PAGE_CAPACITY - 8)

/**
 * struct event - an event that was read
 * @time:	ns
 * @lost:	events lost before it
 * @size:	bytes of data, with the padding up to a word
 * @data:	on the page, or on a copy
 */
struct event {
	u64		time;
	u64		lost;
	u32		size;
	const u8	*data;
};

u32 page_stored_size(u32 size);
u32 page_event_size(u32 size);
bool page_starts_well(const struct page *page);
u64 page_count(const struct page *page);
int page_event(const struct page *page, u64 *offset, u64 commit, u64 *time,
	       struct event *event);

#endif /* __HYPTRACE_PAGE_H */
