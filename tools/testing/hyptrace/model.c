// SPDX-License-Identifier: GPL-2.0-only
#include <string.h>

#include <linux/minmax.h>

#include "model.h"

void model_init(struct model *model, u32 nr_pages)
{
	memset(model, 0, sizeof(*model));
	model->nr_slots = nr_pages - 1;
}

/* The oldest position that is not the reader's */
static u64 model_oldest(const struct model *model)
{
	u64 tail = model->counters.tail;
	u64 lap = tail >= model->nr_slots ? tail - model->nr_slots + 1 : 0;

	return max3(lap, model->next, model->base);
}

/* The writer begins the next page, and what was a lap ago is overwritten. */
static void model_cross(struct model *model)
{
	u64 tail = ++model->counters.tail, old = tail - model->nr_slots;

	model->counters.bytes += model->spans[tail - 1].bytes;
	if (tail >= model->nr_slots && old >= model->next && old >= model->base) {
		model->counters.overrun += model->spans[old].nr;
		model->counters.overrun_bytes += model->spans[old].bytes;
	}

	model->spans[tail] = (struct span){ .first = model->nr_events };
	model->used = 0;
}

/* How much of a page an event takes, put behind the last one */
static u64 model_need(const struct model *model, u32 size, u64 time)
{
	u64 extend = model->used && time - model->time >= EXTEND ? 8 : 0;

	return page_event_size(size) + extend;
}

/* Where the event goes; false when it goes nowhere. */
bool model_reserve(struct model *model, u32 size, u64 *time)
{
	if (size > EVENT_MAX) {
		model->counters.dropped++;
		return false;
	}

	*time = *time > model->time ? *time : model->time;
	if (model->counters.tail < model->base ||
	    model->used + model_need(model, size, *time) > PAGE_CAPACITY ||
	    (model->used && *time - model->time >= EXTEND << 32))
		model_cross(model);
	return true;
}

void model_commit(struct model *model, u32 size, u64 time)
{
	struct span *span = &model->spans[model->counters.tail];

	model->used += model_need(model, size, time);
	model->time = time;
	model->events[model->nr_events++] = (struct written){
		.size		= size,
		.time		= time,
		.position	= model->counters.tail,
	};
	span->nr++;
	span->bytes = model->used;
	model->counters.entries++;
}

/* The number of the next event on the reader's page; what is not is lost or to come. */
static u64 model_reader_next(const struct model *model)
{
	if (!model->next || model->next - 1 < model->base)
		return model->nr_cleared;

	return model->spans[model->next - 1].first + model->index;
}

/* Events still to come on the reader's page */
static u64 model_unread(const struct model *model)
{
	if (!model->next || model->next - 1 < model->base)
		return 0;

	return model->spans[model->next - 1].nr - model->index;
}

static u64 model_take(struct model *model)
{
	u64 number = model_reader_next(model);

	model->events[number].is_taken = true;
	model->index++;
	model->nr_taken++;
	return number;
}

bool model_swap(struct model *model)
{
	u64 oldest = model_oldest(model);

	if (oldest > model->counters.tail)
		return false;

	while (model_unread(model))
		model_take(model);
	model->lost += model->counters.overrun - model->reported;
	model->reported = model->counters.overrun;
	model->next = oldest + 1;
	model->index = 0;
	return true;
}

/* The next event's number, or false */
bool model_read(struct model *model, u64 *number)
{
	while (!model_unread(model))
		if (!model_swap(model))
			return false;

	*number = model_take(model);
	return true;
}

void model_reset(struct model *model)
{
	u64 tail = model->counters.tail;

	model->spans[tail].bytes = 0;
	model->nr_cleared = model->nr_events;
	model->base = tail + 1;
	model->counters = (struct counters){ .tail = tail, .base = tail + 1 };
	model->reported = 0;
	model->lost = 0;
	model->nr_taken = 0;
}

/* Begin to look at what a reader would get from now on. */
void model_look(const struct model *model, struct onlooker *onlooker)
{
	u64 next = model_reader_next(model);

	*onlooker = (struct onlooker){
		.next	= next,
		.end	= model->nr_events,
		.copied	= next + model_unread(model),
		.lost	= model->lost,
	};
}

/* Is the event still there, in the ring or on the reader's page? */
static bool model_is_there(const struct model *model, u64 number)
{
	u64 position = model->events[number].position;

	return position >= model_oldest(model) || position == model->next - 1;
}

/* Copy the page that the next event is on. */
static void model_copy(const struct model *model, struct onlooker *onlooker)
{
	const struct span *span = &model->spans[model->events[onlooker->next].position];

	onlooker->copied = min(span->first + span->nr, onlooker->end);
}

/* Go to the next event that can be shown; false at the end. */
bool model_show(const struct model *model, struct onlooker *onlooker, u64 *number)
{
	while (onlooker->next < onlooker->end) {
		if (onlooker->next >= onlooker->copied && model_is_there(model, onlooker->next))
			model_copy(model, onlooker);
		if (onlooker->next < onlooker->copied) {
			*number = onlooker->next++;
			return true;
		}
		onlooker->lost += !model->events[onlooker->next++].is_taken;
	}

	return false;
}
