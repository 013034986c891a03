/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One who looks at a ring and takes nothing, as the host's kernel does for a
 * non-consuming iterator: pages are copied though they are not its own, and
 * the writer may take them meanwhile. (G) is the ordering of trace_ring.c.
 *
 * The reader of the ring does nothing while one of these functions runs; who
 * calls them sees to it.
 */
#ifndef __HYPTRACE_OBSERVER_H
#define __HYPTRACE_OBSERVER_H

#include "reader.h"

/* How often to look again for what the writer was just changing */
#define OBSERVER_TRIES		16

/* Some events were lost, and their number is not known. */
#define OBSERVER_UNKNOWN	UINT64_MAX

/**
 * struct ring_state - what a writer reports of itself, all of one time
 * @tail:	position of the page being written
 * @oldest:	position of the oldest one that is not the reader's
 * @entries:	events written
 * @overrun:	events overwritten
 * @bytes:	bytes of events that were written, and not overwritten
 */
struct ring_state {
	u64	tail;
	u64	oldest;
	u64	entries;
	u64	overrun;
	u64	bytes;
};

/**
 * struct observer - a look at a ring, at what was in it when it began
 * @reader:	who reads the ring
 * @next:	the reader's next observer
 * @stopped:	all was cleared, there is nothing more to read
 * @position:	of the page to copy next
 * @last:	position of the last page to copy
 * @taken:	events to be shown that the reader took and gave back
 * @number:	of the next event
 * @end:	number of the first event not to be shown
 * @lost:	events missing just before the next one, or at the end
 * @time:	of the last event
 * @offset:	how far the copy is shown
 * @copy:	of a page
 * @words:	the same, as words
 */
struct observer {
	struct reader	*reader;
	struct observer	*next;
	bool		stopped;
	u64		position;
	u64		last;
	u64		taken;
	u64		number;
	u64		end;
	u64		lost;
	u64		time;
	u64		offset;
	union {
		struct page	page;
		u32		words[PAGE_SIZE / sizeof(u32)];
	} copy;
};

void observer_start(struct observer *observer, struct reader *reader);
int observer_next(struct observer *observer, struct event *event);
void observer_finish(struct observer *observer);

bool observer_look(struct reader *reader, struct ring_state *state);

/* What the reader passes to its observers */
void observers_taken(struct reader *reader);
void observers_reset(struct reader *reader);

#endif /* __HYPTRACE_OBSERVER_H */
