/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a ring does, without rings: lists of events, one for each position.
 */
#ifndef __HYPTRACE_MODEL_H
#define __HYPTRACE_MODEL_H

#include "expect.h"

#define EXTEND		0x8000000ULL

/* Events of a model, at most */
#define MODEL_EVENTS	3000

/**
 * struct written - an event
 * @size:	of its data
 * @bytes:	that it takes on its page
 * @time:	when
 * @position:	of its page
 * @is_consumed: by a reader
 */
struct written {
	u32	size;
	u32	bytes;
	u64	time;
	u64	position;
	bool	is_consumed;
};

/**
 * struct span - the events of one position
 * @first:	number of its first event
 * @nr:		how many
 * @bytes:	... they take
 */
struct span {
	u64	first;
	u64	nr;
	u64	bytes;
};

/**
 * struct model - a ring and its reader
 * @nr_slots:	pages but one
 * @events:	all events ever written, by number
 * @spans:	all positions
 * @nr_events:	events ever written
 * @nr_cleared: events written before the last reset
 * @base:	the first position since then
 * @used:	bytes used of the last page
 * @keeps:	the oldest events are kept, and new ones dropped
 * @ended:	an event was dropped, so none may follow on the last page
 * @time:	of the last event
 * @counters:	as the meta page has them
 * @next:	the first position the reader has not had
 * @index:	of the next event on the reader's page, by position @next - 1
 * @reported:	overrun at the last swap
 * @lost:	events to be reported lost before the next event
 * @read:	events consumed since the reset
 * @bytes_read:	bytes of these
 */
struct model {
	u32		nr_slots;
	struct written	events[MODEL_EVENTS];
	struct span	spans[MODEL_EVENTS + 1];
	u64		nr_events;
	u64		nr_cleared;
	u64		base;
	u64		used;
	bool		keeps;
	bool		ended;
	u64		time;
	struct counters	counters;
	u64		next;
	u64		index;
	u64		reported;
	u64		lost;
	u64		read;
	u64		bytes_read;
};

/**
 * struct snapshot - a non-consuming reader of the model
 * @next:	number of the next event
 * @end:	... of the first one not to be shown
 * @copied:	... of the first one that is not in the copy
 * @lost:	events missing before the next one
 */
struct snapshot {
	u64	next;
	u64	end;
	u64	copied;
	u64	lost;
};

void model_init(struct model *model, u32 nr_pages);

bool model_reserve(struct model *model, u32 size, u64 *time);
void model_commit(struct model *model, u32 size, u64 time);
void model_reset(struct model *model);

bool model_next_is_complete(const struct model *model);
u64 model_next_page(struct model *model, u64 *first);
void model_consume(struct model *model, u64 nr);

void model_snapshot(const struct model *model, struct snapshot *snapshot);
bool model_show(const struct model *model, struct snapshot *snapshot, u64 *number);

#endif /* __HYPTRACE_MODEL_H */
