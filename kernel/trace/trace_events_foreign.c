// SPDX-License-Identifier: GPL-2.0
/*
 * Events that others write: what the kernel shows of them
 *
 * Included from trace_events.c. Such an event has an id, a format file in events/ and
 * nothing else there. All of that is there, or nothing.
 */

/* As event_define_fields(), which takes it for a bug if there is no memory */
static int __init foreign_define_fields(struct trace_event_call *call)
{
	const struct trace_event_fields *field = call->class->fields_array;
	unsigned int offset = sizeof(struct trace_entry);
	int ret = 0;

	for (; field->type && !ret; field++) {
		offset = ALIGN(offset, field->align);
		ret = trace_define_field_ext(call, field->type, field->name, offset, field->size,
					     field->is_signed, field->filter_type, field->len,
					     field->needs_test);
		offset += field->size;
	}

	return ret;
}

/* trace_add_event_call() does not tell if there was no memory for it. */
static bool __init foreign_event_has_dir(struct trace_event_call *call)
{
	struct trace_event_file *file;

	file = __find_event_file(top_trace_array(), call->class->system, trace_event_name(call));
	return file && file->ei;
}

/* So that it can be added again: the id is not its own any more. */
static void foreign_event_remove(struct trace_event_call *call)
{
	lockdep_assert_held(&event_mutex);
	WARN_ON_ONCE(trace_remove_event_call(call));
	call->event.type = 0;
}

/**
 * trace_add_foreign_event - show the format of an event that others write
 * @call: The event, with a class of its own
 *
 * For those who have a buffer of their own, as a hypervisor does. The event has
 * an id that no other has and a format file in events/, where programs that
 * record traces look for it, but it can't be enabled there.
 *
 * Context: process context, may sleep; any time from fs_initcall() on.
 * Return: 0; -ENOMEM; or -ENODEV when there are no more ids, or no memory for one. Then
 * nothing has changed.
 */
int __init trace_add_foreign_event(struct trace_event_call *call)
{
	int ret;

	call->flags |= TRACE_EVENT_FL_IGNORE_ENABLE;

	/* The work that makes the others' directories would not see it */
	trace_wait_init();

	guard(mutex)(&event_mutex);
	ret = foreign_define_fields(call) ?: trace_add_event_call(call);
	if (ret) {
		trace_destroy_fields(call);
		return ret;
	}

	if (foreign_event_has_dir(call))
		return 0;

	foreign_event_remove(call);
	return -ENOMEM;
}

/**
 * trace_remove_foreign_event - undo trace_add_foreign_event()
 * @call: The event
 *
 * Context: process context, may sleep.
 */
void trace_remove_foreign_event(struct trace_event_call *call)
{
	guard(mutex)(&event_mutex);
	foreign_event_remove(call);
}
