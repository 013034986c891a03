/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The rings of a remote writer: what is on their pages
 *
 * A remote writer (a hypervisor, say) fills rings of pages that it shares with the kernel, one
 * ring per CPU, in the format of the kernel's own ring buffer. This header has the layout of a
 * page, of an event's header and of the meta page. It is free of other kernel headers, so that
 * the writer's source builds anywhere. The reader's side is kernel/trace/ring_buffer_reader.h.
 */
#ifndef _LINUX_RING_BUFFER_WRITER_H
#define _LINUX_RING_BUFFER_WRITER_H

#include <linux/types.h>

#include <uapi/linux/trace_mmap.h>

/**
 * struct ring_buffer_writer_page - a page of events, struct buffer_data_page
 * @time_stamp:	of the first event on the page, ns
 * @commit:	bytes of @data that hold finished events; stored with release
 *		by the writer, loaded with acquire by the reader
 * @data:	the events, each aligned to 4 bytes
 */
struct ring_buffer_writer_page {
	u64		time_stamp;
	unsigned long	commit;
	u8		data[];
};

/* An event's header is one word: a type or short length, and a time delta. */
#define RB_WRITER_TYPE_BITS	5
#define RB_WRITER_TS_SHIFT	27
#define RB_WRITER_TS_MASK	((1ULL << RB_WRITER_TS_SHIFT) - 1)
#define RB_WRITER_TIME_EXTEND	30	/* RINGBUF_TYPE_TIME_EXTEND */
#define RB_WRITER_MAX_SHORT	(28 * 4)	/* RINGBUF_TYPE_DATA_TYPE_LEN_MAX */

/**
 * rb_writer_header - the header word of an event, struct ring_buffer_event
 * @type:	RB_WRITER_TIME_EXTEND; or the length of the event's data in
 *		words, 0 when the next word holds it in bytes
 * @delta:	ns since the event before, below 1 << RB_WRITER_TS_SHIFT
 *
 * Return: the word.
 */
static inline u32 rb_writer_header(u32 type, u32 delta)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	return type | delta << RB_WRITER_TYPE_BITS;
#else
	return type << RB_WRITER_TS_SHIFT | delta;
#endif
}

/**
 * rb_writer_type - the type in a header word
 * @header:	the word
 *
 * Return: the type, as rb_writer_header() has it.
 */
static inline u32 rb_writer_type(u32 header)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	return header & ((1U << RB_WRITER_TYPE_BITS) - 1);
#else
	return header >> RB_WRITER_TS_SHIFT;
#endif
}

/**
 * rb_writer_delta - the time in a header word
 * @header:	the word
 *
 * Return: the time, as rb_writer_header() has it.
 */
static inline u32 rb_writer_delta(u32 header)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	return header >> RB_WRITER_TYPE_BITS;
#else
	return header & RB_WRITER_TS_MASK;
#endif
}

/**
 * struct ring_buffer_writer_meta - what a writer reports of itself
 * @meta:	what user space knows of a ring; the writer fills in the sizes,
 *		@meta.entries and @meta.overrun (events on the pages that the
 *		writer has left, and of those the ones overwritten before they
 *		were read), @meta.reader.id and @meta.reader.lost_events (at
 *		the last swap)
 * @tail:	position of the page being written; positions count the pages
 *		that the writer has begun, from 0
 * @next:	position the writer goes to, while it does; else @tail
 * @base:	events at positions before this one are cleared
 * @reader:	position of the reader's page; meaningless before the first swap
 * @reader_entries: events on that page, if the writer had left it by then; else 0
 * @dropped:	events the writer could not take
 * @bytes:	bytes of events on the pages that the writer has left
 * @overrun_bytes: bytes of those overwritten before they were read
 * @task:	the task that the ring's CPU runs: RB_WRITER_TASK()
 *
 * One page, written by the writer alone, but for @task. The kernel writes that, at any time. A
 * writer that puts tasks into its events loads it once for each.
 */
struct ring_buffer_writer_meta {
	struct trace_buffer_meta	meta;
	u64				tail;
	u64				next;
	u64				base;
	u64				reader;
	u64				reader_entries;
	u64				dropped;
	u64				bytes;
	u64				overrun_bytes;
	u64				task;
};

/* A task: its pid, and whether the writer shall write no events of it. Other bits mean nothing. */
#define RB_WRITER_TASK_IGNORED	(1ULL << 32)
#define RB_WRITER_TASK(pid, ignored)	((u32)(pid) | ((ignored) ? RB_WRITER_TASK_IGNORED : 0))

/* A ring needs a page to read, a page to write and one to go to. */
#define RB_WRITER_MIN_PAGES	3

/**
 * struct ring_buffer_writer_cpu - the ring of one CPU
 * @meta:	its meta page
 * @pages:	its pages, by id; the last one is the reader's at first
 * @nr_pages:	how many, RB_WRITER_MIN_PAGES or more
 */
struct ring_buffer_writer_cpu {
	struct ring_buffer_writer_meta	*meta;
	void				**pages;
	unsigned int			nr_pages;
};

#endif /* _LINUX_RING_BUFFER_WRITER_H */
