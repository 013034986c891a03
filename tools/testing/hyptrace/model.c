// SPDX-License-Identifier: GPL-2.0-only
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

/* Is the page of a lap ago there, with events that no reader has had? */
static bool model_is_full(const struct model *model)
{
	u64 tail = model->counters.tail + 1, old = tail - model->nr_slots;

	return tail >= model->nr_slots && old >= model->next && old >= model->base;
}

/* The writer begins the next page, and what was a lap ago is overwritten. */
static void model_cross(struct model *model)
{
	bool full = model_is_full(model);
	u64 tail = ++model->counters.tail, old = tail - model->nr_slots;

	model->counters.bytes += model->spans[tail - 1].bytes;
	if (full) {
		model->counters.overrun += model->spans[old].nr;
		model->counters.overrun_bytes += model->spans[old].bytes;
	}

	model->spans[tail] = (struct span){ .first = model->nr_events };
	model->used = 0;
	model->ended = false;
}

/* How much of a page an event takes, put behind the last one */
static u64 model_need(const struct model *model, u32 size, u64 time)
{
	u64 extend = model->used && time - model->time >= EXTEND ? 8 : 0;

	return page_event_size(size) + extend;
}

/* Does the event need another page? */
static bool model_crosses(const struct model *model, u32 size, u64 time)
{
	return model->ended || model->counters.tail < model->base ||
	       model->used + model_need(model, size, time) > PAGE_CAPACITY ||
	       (model->used && time - model->time >= EXTEND << 32);
}

/* Where the event goes; false when it goes nowhere. */
bool model_reserve(struct model *model, u32 size, u64 *time)
{
	bool crosses, full;

	*time = *time > model->time ? *time : model->time;
	crosses = size <= EVENT_MAX && model_crosses(model, size, *time);
	full = crosses && model->keeps && model_is_full(model);
	if (size > EVENT_MAX || full) {
		model->ended |= full;
		model->counters.dropped++;
		return false;
	}

	if (crosses)
		model_cross(model);
	return true;
}

void model_commit(struct model *model, u32 size, u64 time)
{
	struct span *span = &model->spans[model->counters.tail];
	u64 bytes = model_need(model, size, time);

	model->used += bytes;
	model->time = time;
	model->events[model->nr_events++] = (struct written){
		.size		= size,
		.bytes		= bytes,
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

static bool model_swap(struct model *model)
{
	u64 oldest = model_oldest(model);

	if (oldest > model->counters.tail || !model->spans[oldest].nr)
		return false;

	model->lost += model->counters.overrun - model->reported;
	model->reported = model->counters.overrun;
	model->next = oldest + 1;
	model->index = 0;
	return true;
}

/* Has the writer left the page of the next event? */
bool model_next_is_complete(const struct model *model)
{
	if (model_unread(model))
		return model->next - 1 < model->counters.tail;
	return model_oldest(model) < model->counters.tail;
}

/* Go to the page of the next event: how many events it has from @first on */
u64 model_next_page(struct model *model, u64 *first)
{
	if (!model_unread(model) && !model_swap(model))
		return 0;

	*first = model_reader_next(model);
	return model_unread(model);
}

/* Consume the next events, which are on the reader's page. */
void model_consume(struct model *model, u64 nr)
{
	struct written *event = &model->events[model_reader_next(model)];

	model->index += nr;
	model->read += nr;
	for (; nr--; event++) {
		event->is_consumed = true;
		model->bytes_read += event->bytes;
	}
	model->lost = 0;
}

void model_reset(struct model *model)
{
	u64 tail = model->counters.tail;

	model->spans[tail].bytes = 0;
	model->ended = false;
	model->nr_cleared = model->nr_events;
	model->base = tail + 1;
	model->counters = (struct counters){ .tail = tail, .base = tail + 1 };
	model->reported = 0;
	model->lost = 0;
	model->read = 0;
	model->bytes_read = 0;
}

/* Begin a snapshot of what a consuming reader would get from now on. */
void model_snapshot(const struct model *model, struct snapshot *snapshot)
{
	u64 next = model_reader_next(model);

	*snapshot = (struct snapshot){
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
static void model_copy(const struct model *model, struct snapshot *snapshot)
{
	const struct span *span = &model->spans[model->events[snapshot->next].position];

	snapshot->copied = min(span->first + span->nr, snapshot->end);
}

/* Go to the next event that can be shown; false at the end. */
bool model_show(const struct model *model, struct snapshot *snapshot, u64 *number)
{
	while (snapshot->next < snapshot->end) {
		if (snapshot->next >= snapshot->copied && model_is_there(model, snapshot->next))
			model_copy(model, snapshot);
		if (snapshot->next < snapshot->copied) {
			*number = snapshot->next++;
			return true;
		}
		snapshot->lost += !model->events[snapshot->next++].is_consumed;
	}

	return false;
}
