// SPDX-License-Identifier: GPL-2.0
/*
 * Replaying events that were not written by this kernel, for the histograms of the kernel
 *
 * Triggers of the kind hist (Documentation/trace/histogram.rst) belong to an event of a trace
 * array. A struct trace_replay is a trace array that user space does not see: it has no directory,
 * and nothing is written to its buffer, which is as small as can be. It has files of the events
 * that are replayed, and no others. So variables and synthetic events join replayed events only.
 *
 * The caller has the records, and calls trace_replay_event() for each. The engine of histograms
 * then sees the record, the time of the record as common_timestamp, and its CPU as common_cpu. All
 * else that the engine could ask the kernel for, as the task's name or its stack, is of the caller
 * and not of the record: the caller refuses commands that do.
 *
 * Locking: event_mutex covers all that is not said to be the caller's.
 */
#include <linux/err.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/trace_events.h>

#include "trace.h"
#include "trace_replay.h"

/**
 * struct trace_replay_call - an event that is replayed
 * @replay:	whose
 * @of:		the event; it has the fields
 * @class:	of @call: it can be enabled, which @of can't
 * @call:	what the engine takes for the event
 * @file:	has the triggers
 */
struct trace_replay_call {
	struct trace_replay		*replay;
	struct trace_event_call		*of;
	struct trace_event_class	class;
	struct trace_event_call		call;
	struct trace_event_file		file;
};

/**
 * struct trace_replay - a trace array whose events are replayed
 * @tr:		the trace array
 * @cpu:	the CPU of the record that is replayed; the caller's
 * @use:	is called when an event is used, and when it is not any more
 * @priv:	for @use
 * @nr_events:	how many events there are
 * @events:	these
 */
struct trace_replay {
	struct trace_array		tr;
	int				cpu;
	trace_replay_use_fn		use;
	void				*priv;
	unsigned int			nr_events;
	struct trace_replay_call	events[] __counted_by(nr_events);
};

/* An event of the ring buffer that is nothing but an absolute time. It is two words long. */
union trace_replay_stamp {
	struct ring_buffer_event	event;
	u32				words[2];
};

/* Bits of the time in the first word: TS_SHIFT of ring_buffer.c */
#define REPLAY_TS_SHIFT	27

static struct trace_replay_call *replay_call_of(struct trace_event_call *call)
{
	return container_of(call, struct trace_replay_call, call);
}

static struct list_head *replay_fields(struct trace_event_call *call)
{
	return trace_get_fields(replay_call_of(call)->of);
}

/* The first trigger was set, or the last one removed. */
static int replay_reg(struct trace_event_call *call, enum trace_reg type, void *data)
{
	struct trace_replay *replay = replay_call_of(call)->replay;

	lockdep_assert_held(&event_mutex);

	switch (type) {
	case TRACE_REG_REGISTER:
		return replay->use(replay->priv, true);
	case TRACE_REG_UNREGISTER:
		return replay->use(replay->priv, false);
	default:
		return -EOPNOTSUPP;
	}
}

/**
 * trace_replay_set_event - have an event replayed
 * @replay:	the trace array
 * @nr:		the event's number in it
 * @call:	the event, which stays until trace_replay_destroy()
 *
 * Context: before the first trigger is written.
 */
void trace_replay_set_event(struct trace_replay *replay, unsigned int nr,
			    struct trace_event_call *call)
{
	struct trace_replay_call *event = &replay->events[nr];

	event->replay = replay;
	event->of = call;
	event->class.system = call->class->system;
	event->class.reg = replay_reg;
	event->class.get_fields = replay_fields;
	event->call.class = &event->class;
	event->call.name = (char *)trace_event_name(call);
	event->call.event.type = call->event.type;
	event->file.event_call = &event->call;
	event->file.tr = &replay->tr;
	INIT_LIST_HEAD(&event->file.triggers);
	refcount_set(&event->file.ref, 1);

	guard(mutex)(&event_mutex);
	list_add(&event->file.list, &replay->tr.events);
}

/* No event of the kernel is of a system with this name. */
#define REPLAY_NO_SYSTEM	" "

static void replay_init_array(struct trace_replay *replay)
{
	struct trace_array *tr = &replay->tr;

	tr->system_names = REPLAY_NO_SYSTEM;
	tr->replay_cpu = &replay->cpu;
	tr->current_trace = &nop_trace;
	tr->ref = 1;
	raw_spin_lock_init(&tr->start_lock);
	INIT_LIST_HEAD(&tr->systems);
	INIT_LIST_HEAD(&tr->events);
	INIT_LIST_HEAD(&tr->hist_vars);
	INIT_LIST_HEAD(&tr->err_log);
	ftrace_init_trace_array(tr);
}

/**
 * trace_replay_create - make a trace array for events that are replayed
 * @use:	is called when an event gets its first trigger, and when it has lost its last one
 * @priv:	for @use
 * @nr_events:	how many events there are; trace_replay_set_event() has to be called for each
 *
 * Context: process context, may sleep.
 * Return: the trace array, for trace_replay_destroy(); an ERR_PTR() of -ENOMEM.
 */
struct trace_replay *trace_replay_create(trace_replay_use_fn use, void *priv,
					 unsigned int nr_events)
{
	struct trace_replay *replay = kvzalloc(struct_size(replay, events, nr_events), GFP_KERNEL);
	struct trace_array *tr;

	if (!replay)
		return ERR_PTR(-ENOMEM);

	replay->use = use;
	replay->priv = priv;
	replay->nr_events = nr_events;
	replay_init_array(replay);

	tr = &replay->tr;
	tr->array_buffer.tr = tr;
	/* The engine sets its clock, and takes times from it. */
	tr->array_buffer.buffer = ring_buffer_alloc(1, 0);
	if (!tr->array_buffer.buffer) {
		kvfree(replay);
		return ERR_PTR(-ENOMEM);
	}

	guard(mutex)(&event_mutex);
	guard(mutex)(&trace_types_lock);
	list_add(&tr->list, &ftrace_trace_arrays);
	return replay;
}

/**
 * trace_replay_destroy - undo trace_replay_create()
 * @replay:	the trace array, which has no triggers; NULL will do
 *
 * Context: process context, may sleep.
 */
void trace_replay_destroy(struct trace_replay *replay)
{
	if (!replay)
		return;

	scoped_guard(mutex, &event_mutex) {
		guard(mutex)(&trace_types_lock);
		list_del(&replay->tr.list);
		WARN_ON_ONCE(replay->tr.ref > 1);
	}

	kfree(tracing_take_err(&replay->tr));
	ring_buffer_free(replay->tr.array_buffer.buffer);
	kvfree(replay);
}

/**
 * trace_replay_write_trigger - set or remove a trigger of an event
 * @replay:	the trace array
 * @nr:		the event's number
 * @command:	what user space wrote; is changed
 * @error:	after an error, the text that error_log shows but for the time, for kfree(); NULL if
 *		there is none
 *
 * Context: process context, may sleep.
 * Return: 0, or what a write to the file trigger of the kernel's events returns.
 */
int trace_replay_write_trigger(struct trace_replay *replay, unsigned int nr, char *command,
			       char **error)
{
	int ret;

	guard(mutex)(&event_mutex);

	ret = trigger_process_regex(&replay->events[nr].file, command);
	*error = ret ? tracing_take_err(&replay->tr) : NULL;
	return ret;
}

/**
 * trace_replay_remove_hists - remove all histograms of an event
 * @replay:	the trace array
 * @nr:		the event's number
 *
 * Those with variables that others use stay.
 *
 * Context: process context, may sleep.
 */
void trace_replay_remove_hists(struct trace_replay *replay, unsigned int nr)
{
	guard(mutex)(&event_mutex);
	event_triggers_unreg_all(&replay->events[nr].file);
}

/**
 * trace_replay_show_triggers - show the triggers of an event
 * @m:		where
 * @replay:	the trace array
 * @nr:		the event's number
 *
 * Context: process context, may sleep.
 * Return: whether there are any.
 */
bool trace_replay_show_triggers(struct seq_file *m, struct trace_replay *replay, unsigned int nr)
{
	struct event_trigger_data *data;

	guard(mutex)(&event_mutex);

	list_for_each_entry(data, &replay->events[nr].file.triggers, list)
		data->cmd_ops->print(m, data);

	return !list_empty(&replay->events[nr].file.triggers);
}

/**
 * trace_replay_show_hists - show the histograms of an event
 * @m:		where
 * @replay:	the trace array
 * @nr:		the event's number
 *
 * Context: process context, may sleep.
 * Return: as trace_replay_hits(), of what was shown.
 */
u64 trace_replay_show_hists(struct seq_file *m, struct trace_replay *replay, unsigned int nr)
{
	guard(mutex)(&event_mutex);
	return event_hist_show(m, &replay->events[nr].file);
}

/**
 * trace_replay_hits - how many events the histograms of an event have counted
 * @replay:	the trace array
 * @nr:		the event's number
 *
 * Context: process context, may sleep.
 * Return: how many.
 */
u64 trace_replay_hits(struct trace_replay *replay, unsigned int nr)
{
	guard(mutex)(&event_mutex);
	return event_hist_hits(&replay->events[nr].file);
}

/* As the ring buffer stores absolute times */
static void replay_set_stamp(union trace_replay_stamp *stamp, u64 ts)
{
	stamp->event.type_len = RINGBUF_TYPE_TIME_STAMP;
	stamp->event.time_delta = ts & GENMASK_ULL(REPLAY_TS_SHIFT - 1, 0);
	stamp->words[1] = ts >> REPLAY_TS_SHIFT;
}

/**
 * trace_replay_event - replay an event
 * @replay:	the trace array
 * @nr:		the event's number
 * @cpu:	the CPU that wrote it
 * @ts:		its time, ns
 * @record:	the record, which nothing else changes: its fields are in it as a whole
 *
 * Context: process context; calls for @replay are serialised.
 */
void trace_replay_event(struct trace_replay *replay, unsigned int nr, int cpu, u64 ts,
			void *record)
{
	struct trace_event_file *file = &replay->events[nr].file;
	struct trace_buffer *buffer = replay->tr.array_buffer.buffer;
	union trace_replay_stamp stamp;

	if (list_empty(&file->triggers))
		return;

	replay_set_stamp(&stamp, ts);
	replay->cpu = cpu;

	/* What a tracepoint's function may rely on */
	guard(preempt_notrace)();
	event_triggers_call(file, buffer, record, &stamp.event);
}
