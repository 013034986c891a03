/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The reader's side of a ring, as the host's kernel plays it. (A) and (B) are
 * the orderings of trace_ring.c.
 */
#ifndef __HYPTRACE_READER_H
#define __HYPTRACE_READER_H

#include "fixture.h"

struct observer;

/**
 * struct reader - a reader
 * @f:		the ring, to ask for a swap, its pages and its meta page
 * @id:		the reader's page
 * @position:	its position
 * @has_position: false until the first swap
 * @has_page:	false until the first swap since the last reset
 * @offset:	how far it is read
 * @time:	of the last event on it
 * @lost:	events lost just before the next event
 * @first:	number of the first event on it, from 0 at the last reset
 * @number:	of the next event
 * @overrun:	events reported lost since then
 * @observers:	who looks at the ring meanwhile, see observer.h
 */
struct reader {
	struct fixture	*f;
	u32		id;
	u64		position;
	bool		has_position;
	bool		has_page;
	u64		offset;
	u64		time;
	u64		lost;
	u64		first;
	u64		number;
	u64		overrun;
	struct observer	*observers;
};

void reader_init(struct reader *reader, struct fixture *f);
int reader_swap(struct reader *reader);
int reader_next(struct reader *reader, struct event *event);
void reader_reset(struct reader *reader);
u64 reader_events(const struct reader *reader);

/* To the machine, before it runs */
void reader_hide(const struct reader *reader);

#endif /* __HYPTRACE_READER_H */
