// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which events of a remote are enabled
 *
 * The remote is passed the enabled events only while tracing is on, so that an event costs
 * next to nothing otherwise.
 */
#include <linux/bitmap.h>
#include <linux/export.h>
#include <linux/string.h>

#include "remote.h"

/**
 * trace_remote_event - an event of a remote
 * @remote:	the remote
 * @nr:		which, from 0
 *
 * Return: the event; NULL when there are no more.
 */
struct trace_remote_event *trace_remote_event(const struct trace_remote *remote, unsigned int nr)
{
	return nr < remote->desc->nr_events ? &remote->desc->events[nr] : NULL;
}

/**
 * trace_remote_event_id - the id that the records of an event have
 * @event:	the event
 *
 * Context: any.
 * Return: the id.
 */
int trace_remote_event_id(const struct trace_remote_event *event)
{
	return event->is_bprint ? TRACE_BPRINT : event->call.event.type;
}
EXPORT_SYMBOL_GPL(trace_remote_event_id);

/**
 * trace_remote_find_event - the event with an id
 * @remote:	the remote
 * @id:		the id, trace_remote_event_id()
 *
 * Context: any.
 * Return: the event; NULL if none of the remote's has the id.
 */
struct trace_remote_event *trace_remote_find_event(const struct trace_remote *remote, int id)
{
	struct trace_remote_event *events = remote->desc->events;
	int i = id - events[0].call.event.type;

	/* The ids are consecutive, unless the kernel was short of them. */
	if (i >= 0 && i < remote->desc->nr_events && trace_remote_event_id(&events[i]) == id)
		return &events[i];

	for (i = 0; remote->desc->functions && i < NR_TRACE_REMOTE_TRACER_EVENTS; i++) {
		if (trace_remote_event_id(&remote->tracer_events[i]) == id)
			return (struct trace_remote_event *)&remote->tracer_events[i];
	}

	for (i = 0; i < remote->desc->nr_events; i++) {
		if (trace_remote_event_id(&events[i]) == id)
			return &events[i];
	}

	return NULL;
}

/* A field is in the record. So is what a dynamic one points to; and a string ends there. */
static bool remote_field_is_valid(const struct ftrace_event_field *field, const char *record,
				  unsigned int size)
{
	unsigned int offset = field->offset, len = field->size;
	u32 loc;

	if (offset + len > size)
		return false;

	if (str_has_prefix(field->type, "__data_loc")) {
		memcpy(&loc, record + offset, sizeof(loc));
		offset = loc & 0xffff;
		len = loc >> 16;
		if (offset + len > size)
			return false;
	}

	switch (field->filter_type) {
	case FILTER_OTHER:
	case FILTER_TRACE_FN:
		return true;
	case FILTER_STATIC_STRING:
	case FILTER_DYN_STRING:
		return memchr(record + offset, 0, len);
	default:
		/* No field points into the kernel. */
		return false;
	}
}

/**
 * trace_remote_record_event - the event of a record, if that is valid
 * @remote:	the remote
 * @record:	the record, which nothing changes
 * @size:	bytes of it
 *
 * The remote's pages are shared, and may hold anything.
 *
 * Context: any.
 * Return: the event; NULL if @record is no record of an event of the remote, or not a whole one.
 */
struct trace_remote_event *trace_remote_record_event(const struct trace_remote *remote,
						     const void *record, unsigned int size)
{
	const struct trace_entry *header = record;
	struct ftrace_event_field *field;
	struct trace_remote_event *event;

	event = size >= sizeof(*header) ? trace_remote_find_event(remote, header->type) : NULL;
	if (!event)
		return NULL;

	list_for_each_entry(field, trace_get_fields(&event->call), link) {
		if (!remote_field_is_valid(field, record, size))
			return NULL;
	}

	return event;
}

static bool remote_event_is_on(const struct trace_remote *remote,
			       const struct trace_remote_event *event)
{
	return event->enabled && (!event->is_function || READ_ONCE(remote->function_events));
}

/* Does the tracer write a record? */
static bool remote_tracer_has(const struct trace_remote *remote, enum trace_remote_tracer_event nr)
{
	return trace_remote_tracer(remote) == (nr == TRACE_REMOTE_FUNCTION ?
					       TRACE_REMOTE_TRACE_FUNCTION :
					       TRACE_REMOTE_TRACE_GRAPH);
}

/* Pass the enabled events to the remote, in one call however many have changed. */
static int remote_update_events(struct trace_remote *remote)
{
	unsigned int i, nr = remote->desc->nr_events;

	lockdep_assert_held(&remote->events_lock);

	for (i = 0; i < nr; i++)
		__assign_bit(i, remote->events_bitmap, remote->events_on &&
			     remote_event_is_on(remote, &remote->desc->events[i]));
	for (i = 0; i < NR_TRACE_REMOTE_TRACER_EVENTS; i++)
		__assign_bit(nr + i, remote->events_bitmap,
			     remote->events_on && remote_tracer_has(remote, i));
	return trace_remote_call(remote, set_events, remote->events_bitmap);
}

/**
 * trace_remote_events_stop - have the remote disable all events
 * @remote:	the remote
 *
 * The events that user space enabled stay enabled for trace_remote_events_start().
 *
 * Context: process context, may sleep.
 */
void trace_remote_events_stop(struct trace_remote *remote)
{
	guard(mutex)(&remote->events_lock);
	remote->events_on = false;
	WARN_ON_ONCE(remote_update_events(remote));
}

/**
 * trace_remote_events_start - have the remote write the events that user space enabled
 * @remote:	the remote
 *
 * Context: process context, may sleep.
 * Return: 0, or what the remote's set_events() returned. Then all events are disabled.
 */
int trace_remote_events_start(struct trace_remote *remote)
{
	int ret;

	scoped_guard(mutex, &remote->events_lock) {
		remote->events_on = true;
		ret = remote_update_events(remote);
	}

	if (ret)
		trace_remote_events_stop(remote);
	return ret;
}

/**
 * trace_remote_mark_event - enable or disable events, from the next
 *			     trace_remote_apply_events() on
 * @remote:	the remote
 * @nr:		the event's number, or TRACE_REMOTE_ALL
 * @enable:	which of the two
 *
 * Context: process context, may sleep.
 */
void trace_remote_mark_event(struct trace_remote *remote, int nr, bool enable)
{
	int i;

	guard(mutex)(&remote->events_lock);

	for (i = 0; i < remote->desc->nr_events; i++) {
		if (nr == TRACE_REMOTE_ALL || nr == i)
			remote->desc->events[i].enabled = enable;
	}
}

/**
 * trace_remote_apply_events - have the remote write the enabled events, if tracing is on
 * @remote:	the remote
 *
 * A disabled event may still come from a CPU that was writing it.
 *
 * Context: process context, may sleep.
 * Return: 0, or what the remote's set_events() returned.
 */
int trace_remote_apply_events(struct trace_remote *remote)
{
	guard(mutex)(&remote->events_lock);

	/* The remote has all of them disabled as long as tracing is off. */
	return remote->events_on ? remote_update_events(remote) : 0;
}

/**
 * trace_remote_enable_event - enable or disable events
 * @remote:	the remote
 * @nr:		the event's number, or TRACE_REMOTE_ALL
 * @enable:	which of the two
 *
 * Context: process context, may sleep.
 * Return: as trace_remote_apply_events().
 */
int trace_remote_enable_event(struct trace_remote *remote, int nr, bool enable)
{
	trace_remote_mark_event(remote, nr, enable);
	return trace_remote_apply_events(remote);
}

/**
 * trace_remote_enable_all - enable or disable all events
 * @remote:	the remote
 * @enable:	which of the two
 *
 * Context: process context, may sleep.
 * Return: as trace_remote_apply_events().
 */
int trace_remote_enable_all(struct trace_remote *remote, bool enable)
{
	return trace_remote_enable_event(remote, TRACE_REMOTE_ALL, enable);
}
EXPORT_SYMBOL_GPL(trace_remote_enable_all);

/**
 * trace_remote_event_is_enabled - did user space enable an event?
 * @remote:	the remote
 * @event:	the event
 *
 * Context: process context, may sleep.
 * Return: whether it did.
 */
bool trace_remote_event_is_enabled(struct trace_remote *remote,
				   const struct trace_remote_event *event)
{
	guard(mutex)(&remote->events_lock);
	return event->enabled;
}

static void remote_unregister_events(struct trace_remote *remote, unsigned int nr)
{
	while (nr--)
		trace_remove_remote_event(&remote->desc->events[nr].call);
}

/**
 * trace_remote_events_register - make the events known to the kernel
 * @remote:	the remote
 *
 * Each gets an id, and a format in the top level's events/, where programs that record
 * traces look for formats. All are enabled.
 *
 * Context: process context, may sleep.
 * Return: 0; -ENOMEM; or what trace_add_remote_event() returns. After an error none is known.
 */
int trace_remote_events_register(struct trace_remote *remote)
{
	unsigned int i;
	int ret;

	mutex_init(&remote->events_lock);
	remote->events_bitmap = bitmap_zalloc(remote->desc->nr_events +
					      NR_TRACE_REMOTE_TRACER_EVENTS, GFP_KERNEL);
	if (!remote->events_bitmap)
		return -ENOMEM;

	trace_remote_init_tracer_events(remote);

	for (i = 0; i < remote->desc->nr_events; i++) {
		ret = trace_add_remote_event(&remote->desc->events[i].call);
		if (ret) {
			remote_unregister_events(remote, i);
			bitmap_free(remote->events_bitmap);
			return ret;
		}
		remote->desc->events[i].remote = remote;
		remote->desc->events[i].enabled = true;
	}

	return 0;
}

/**
 * trace_remote_events_unregister - undo trace_remote_events_register()
 * @remote:	the remote
 *
 * Context: process context, may sleep.
 */
void trace_remote_events_unregister(struct trace_remote *remote)
{
	remote_unregister_events(remote, remote->desc->nr_events);
	bitmap_free(remote->events_bitmap);
}
