// SPDX-License-Identifier: GPL-2.0-only
/*
 * current_tracer: whether functions are traced by a tracer, function or function_graph
 *
 * A tracer traces all functions while set_ftrace_filter is empty, as the kernel's do. The events of
 * functions (trace_remote_event.is_function) are written only while it is not empty, whatever the
 * tracer.
 *
 * Another tracer clears the buffer, and none can be chosen while a reader that consumes events has
 * a file open: both as the kernel's.
 */
#include <linux/export.h>
#include <linux/string.h>

#include "remote.h"

static const char * const remote_tracers[NR_TRACE_REMOTE_TRACERS] = {
	[TRACE_REMOTE_NOP]		= "nop",
	[TRACE_REMOTE_TRACE_FUNCTION]	= "function",
	[TRACE_REMOTE_TRACE_GRAPH]	= "function_graph",
};

/**
 * trace_remote_tracer_name - the name of a tracer
 * @tracer:	the tracer
 *
 * Return: its name.
 */
const char *trace_remote_tracer_name(enum trace_remote_tracer tracer)
{
	return remote_tracers[tracer];
}

/* @remote->function_events says what the remote has been told, also after an error. */
static int remote_allow_function_events(struct trace_remote *remote, bool allow)
{
	int ret;

	if (allow == remote->function_events)
		return 0;

	WRITE_ONCE(remote->function_events, allow);
	ret = trace_remote_apply_events(remote);
	if (ret)
		WRITE_ONCE(remote->function_events, !allow);
	return ret;
}

/* The lists are as they shall be. No event of a function comes that none of the lists selects. */
static int remote_apply_functions(struct trace_remote *remote)
{
	bool selected = trace_remote_next_function(remote, TRACE_REMOTE_FILTER, 0) >= 0;
	int ret = 0;

	lockdep_assert_held(&remote->tracer_lock);

	if (!selected)
		ret = remote_allow_function_events(remote, false);
	ret = ret ?: trace_remote_update_functions(remote);
	if (selected)
		ret = ret ?: remote_allow_function_events(remote, true);
	return ret;
}

/**
 * trace_remote_apply_functions - trace the functions that the lists select
 * @remote:	the remote
 *
 * Context: process context, may sleep.
 * Return: 0 or an errno.
 */
int trace_remote_apply_functions(struct trace_remote *remote)
{
	if (!trace_remote_has_functions(remote))
		return 0;

	guard(mutex)(&remote->tracer_lock);
	return remote_apply_functions(remote);
}
EXPORT_SYMBOL_GPL(trace_remote_apply_functions);

/**
 * trace_remote_set_graph_depth - choose how deep function_graph traces
 * @remote:	the remote
 * @depth:	how deep; 0 for no limit
 *
 * Context: process context, may sleep.
 * Return: 0 or an errno.
 */
int trace_remote_set_graph_depth(struct trace_remote *remote, unsigned int depth)
{
	unsigned int was;
	int ret;

	guard(mutex)(&remote->tracer_lock);
	was = remote->graph_depth;
	WRITE_ONCE(remote->graph_depth, depth);
	ret = trace_remote_update_functions(remote);
	if (ret)
		WRITE_ONCE(remote->graph_depth, was);
	return ret;
}
EXPORT_SYMBOL_GPL(trace_remote_set_graph_depth);

static int remote_switch_tracer(struct trace_remote *remote, enum trace_remote_tracer tracer)
{
	WRITE_ONCE(remote->tracer, tracer);
	return trace_remote_update_functions(remote) ?: trace_remote_apply_events(remote);
}

static int remote_change_tracer(struct trace_remote *remote, enum trace_remote_tracer tracer)
{
	int ret = remote_switch_tracer(remote, TRACE_REMOTE_NOP);

	if (!ret)
		ret = trace_remote_clear(remote, RING_BUFFER_ALL_CPUS);
	if (ret)
		return ret;

	ret = remote_switch_tracer(remote, tracer);
	if (ret)
		remote_switch_tracer(remote, TRACE_REMOTE_NOP);
	return ret;
}

/**
 * trace_remote_set_tracer - choose a tracer
 * @remote:	the remote
 * @name:	its name
 *
 * Context: process context, may sleep.
 * Return: 0; -EINVAL if the remote has no such tracer; -EBUSY while a consuming reader has a file
 * open; or what the remote's functions return: then there is no tracer.
 */
int trace_remote_set_tracer(struct trace_remote *remote, const char *name)
{
	int tracer = match_string(remote_tracers, NR_TRACE_REMOTE_TRACERS, name);

	if (tracer < 0 || (tracer && !trace_remote_has_functions(remote)))
		return -EINVAL;

	guard(mutex)(&remote->tracer_lock);
	if (tracer == remote->tracer)
		return 0;
	if (trace_remote_has_readers(remote))
		return -EBUSY;

	return remote_change_tracer(remote, tracer);
}
EXPORT_SYMBOL_GPL(trace_remote_set_tracer);
