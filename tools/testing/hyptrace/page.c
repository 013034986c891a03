// SPDX-License-Identifier: GPL-2.0-only
#include "page.h"

/* struct ring_buffer_event */
struct header {
	u32	type_len:5, time_delta:27;
	u32	array[];
};

enum {
	TYPE_LONG		= 0,
	TYPE_LONGEST_SHORT	= 28,
	TYPE_TIME_EXTEND	= 30,
};

#define LONGEST_SHORT	112
#define EXTEND_SIZE	8

/* How many bytes a reader gets for @size that were written. */
u32 page_stored_size(u32 size)
{
	return size ? (size + 3) / 4 * 4 : 4;
}

/* How many bytes of a page an event takes, a time extend apart. */
u32 page_event_size(u32 size)
{
	u32 stored = page_stored_size(size);

	return stored + (stored > LONGEST_SHORT ? 8 : 4);
}

/* A time extend of less than the header's own 27 bits would be waste. */
static int page_extend(const struct header *header, u64 left, u64 *time)
{
	if (left < EXTEND_SIZE || !header->array[0])
		return -EBADMSG;

	*time += ((u64)header->array[0] << 27) + header->time_delta;
	return EXTEND_SIZE;
}

static int page_short(const struct header *header, struct event *event)
{
	event->size = header->type_len * 4;
	event->data = (const u8 *)header->array;
	return 4 + event->size;
}

static int page_long(const struct header *header, u64 left, struct event *event)
{
	u32 length = left < 8 ? 0 : header->array[0];

	if (length % 4 || length <= LONGEST_SHORT + 4)
		return -EBADMSG;

	event->size = length - 4;
	event->data = (const u8 *)(header->array + 1);
	return 4 + length;
}

static int page_data(const struct header *header, u64 left, struct event *event)
{
	if (left < 4 || header->type_len > TYPE_LONGEST_SHORT)
		return -EBADMSG;
	if (header->type_len == TYPE_LONG)
		return page_long(header, left, event);

	return page_short(header, event);
}

/* The page's time stamp is that of its first event. */
bool page_starts_well(const struct page *page)
{
	const struct header *header = (const void *)page->data;

	return header->type_len != TYPE_TIME_EXTEND && !header->time_delta;
}

static int page_decode(const struct header *header, u64 left, u64 *time, struct event *event)
{
	int extend = 0, size;

	if (header->type_len == TYPE_TIME_EXTEND) {
		extend = page_extend(header, left, time);
		header += 2;
		if (extend < 0 || (left > EXTEND_SIZE && header->time_delta))
			return -EBADMSG;
	}

	size = page_data(header, left - extend, event);
	if (size < 0 || (u64)(extend + size) > left)
		return -EBADMSG;

	*time += header->time_delta;
	event->time = *time;
	return extend + size;
}

/**
 * page_event - read the next event
 * @page:	the page
 * @offset:	where the event begins; on return, where it ends
 * @commit:	where the page ends; there is an event before that
 * @time:	of the event before on this page, the page's for the first; on
 *		return, of this one
 * @event:	the event
 *
 * Return: 0, or -EBADMSG when it is not in the kernel's format.
 */
int page_event(const struct page *page, u64 *offset, u64 commit, u64 *time,
	       struct event *event)
{
	const struct header *header = (const void *)(page->data + *offset);
	int size;

	if (commit > PAGE_CAPACITY || commit - *offset < 4)
		return -EBADMSG;

	size = page_decode(header, commit - *offset, time, event);
	if (size < 0)
		return size;

	*offset += size;
	return 0;
}

/* How many events there are on a page that nothing writes to */
u64 page_count(const struct page *page)
{
	u64 offset = 0, time = 0, nr;
	struct event event;

	if (page->commit && !page_starts_well(page))
		return 0;

	for (nr = 0; offset < page->commit; nr++)
		if (page_event(page, &offset, page->commit, &time, &event))
			break;
	return nr;
}
