// SPDX-License-Identifier: GPL-2.0
/*
 * The events of a remote, in the top level's events/
 *
 * A remote's event has an id, a format file in events/ and nothing else there. It has all of
 * that or nothing.
 */
#include <linux/align.h>
#include <linux/export.h>
#include <linux/lockdep.h>
#include <linux/mutex.h>
#include <linux/trace.h>
#include <linux/trace_events.h>

#include "trace.h"

/* A remote may write any address: to filters, histograms and text a pointer is a number. */
static void remote_field_points_nowhere(struct trace_event_call *call)
{
	struct ftrace_event_field *field = list_first_entry(trace_get_fields(call),
							    struct ftrace_event_field, link);

	if (field->filter_type == FILTER_PTR_STRING)
		field->filter_type = FILTER_OTHER;
}

/* Each field is behind what ends at @offset. */
static int remote_define_fields(struct trace_event_call *call,
				const struct trace_event_fields *field, unsigned int *offset)
{
	int ret = 0;

	for (; field && field->type && !ret; field++) {
		*offset = ALIGN(*offset, field->align);
		ret = trace_define_field_ext(call, field->type, field->name, *offset, field->size,
					     field->is_signed, field->filter_type, field->len,
					     field->needs_test);
		if (!ret)
			remote_field_points_nowhere(call);
		*offset += field->size;
	}

	return ret;
}

/**
 * trace_define_remote_fields - define the fields of a remote's event
 * @call: The event, whose class has the fields of the record in @fields_array
 * @values: What follows the record; NULL for nothing
 *
 * As event_define_fields(), which warns if there is no memory.
 *
 * Context: process context, may sleep; no one else knows @call.
 * Return: 0, or -ENOMEM. After both trace_destroy_fields() undoes it.
 */
int trace_define_remote_fields(struct trace_event_call *call,
			       const struct trace_event_fields *values)
{
	unsigned int offset = sizeof(struct trace_entry);

	return remote_define_fields(call, call->class->fields_array, &offset) ?:
	       remote_define_fields(call, values, &offset);
}

/* trace_add_event_call() does not return an error if there is no memory for it. */
static bool remote_event_has_dir(struct trace_event_call *call)
{
	struct trace_event_file *file;

	file = __find_event_file(top_trace_array(), call->class->system, trace_event_name(call));
	return file && file->ei;
}

/* The id is free again, so that the event can be added again. */
static void remote_event_remove(struct trace_event_call *call)
{
	lockdep_assert_held(&event_mutex);
	WARN_ON_ONCE(trace_remove_event_call(call));
	call->event.type = 0;
}

/**
 * trace_add_remote_event - show the format of a remote's event
 * @call: The event, with a class of its own
 *
 * For remotes, which have a buffer of their own. The event gets an id that no other event
 * has, and a format file in events/, where programs that record traces look for it. It
 * can't be enabled there.
 *
 * Context: process context, may sleep; any time from fs_initcall() on.
 * Return: 0; -ENOMEM; or -ENODEV if there are no more ids, or no memory for one. Then
 * nothing has changed.
 */
int trace_add_remote_event(struct trace_event_call *call)
{
	int ret;

	call->flags |= TRACE_EVENT_FL_IGNORE_ENABLE;

	/* The work that makes the kernel's own directories would not see it. */
	trace_wait_init();

	guard(mutex)(&event_mutex);
	ret = trace_define_remote_fields(call, NULL) ?: trace_add_event_call(call);
	if (ret) {
		trace_destroy_fields(call);
		return ret;
	}

	if (remote_event_has_dir(call))
		return 0;

	remote_event_remove(call);
	return -ENOMEM;
}
EXPORT_SYMBOL_GPL(trace_add_remote_event);

/**
 * trace_remove_remote_event - undo trace_add_remote_event()
 * @call: The event
 *
 * Context: process context, may sleep.
 */
void trace_remove_remote_event(struct trace_event_call *call)
{
	guard(mutex)(&event_mutex);
	remote_event_remove(call);
}
EXPORT_SYMBOL_GPL(trace_remove_remote_event);
