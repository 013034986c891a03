// SPDX-License-Identifier: GPL-2.0-only
/*
 * The records of a remote's tracers, function and function_graph
 *
 * They are the kernel's own, with its ids and formats, so programs know them. As there, they are no
 * events that can be enabled: the tracer enables them.
 *
 * The text of a line is that of the kernel's tracers. While function_graph is the tracer, all
 * records of a remote are printed in its columns, other events as comments. A file that can look at
 * the record behind passes the return of a function that called none, in trace_iterator.private.
 */
#include <linux/export.h>
#include <linux/ftrace.h>
#include <linux/math64.h>
#include <linux/trace_seq.h>

#include "../trace_output.h"
#include "remote.h"

/* Deeper functions are indented as this. The depth in a record may be any number. */
#define REMOTE_GRAPH_MAX_DEPTH	64

static struct trace_event_call *const remote_tracer_calls[NR_TRACE_REMOTE_TRACER_EVENTS] = {
	[TRACE_REMOTE_FUNCTION]		= &event_function,
	[TRACE_REMOTE_GRAPH_ENTRY]	= &event_funcgraph_entry,
	[TRACE_REMOTE_GRAPH_EXIT]	= &event_funcgraph_exit,
};

/**
 * trace_remote_tracer_id - the id that a record of a tracer has
 * @nr:		which
 *
 * Context: any.
 * Return: the id.
 */
int trace_remote_tracer_id(enum trace_remote_tracer_event nr)
{
	return remote_tracer_calls[nr]->event.type;
}
EXPORT_SYMBOL_GPL(trace_remote_tracer_id);

/**
 * trace_remote_is_leaf - do two records belong to a function that called none?
 * @entry:	the first one
 * @entry_size:	bytes of it
 * @ret:	the one behind it on the CPU
 * @ret_size:	bytes of it
 *
 * Context: any.
 * Return: whether they do.
 */
bool trace_remote_is_leaf(const void *entry, unsigned int entry_size, const void *ret,
			  unsigned int ret_size)
{
	const struct ftrace_graph_ent_entry *begin = entry;
	const struct trace_remote_graph_ret *end = ret;

	return entry_size >= sizeof(*begin) && begin->ent.type == TRACE_GRAPH_ENT &&
	       ret_size >= sizeof(*end) && end->ent.type == TRACE_GRAPH_RET &&
	       begin->graph_ent.func == end->ret.func && begin->graph_ent.depth == end->ret.depth;
}

static void remote_print_name(struct trace_iterator *iter, struct trace_event *event, u64 ip)
{
	struct trace_remote *remote = container_of(event, struct trace_remote_event,
						   call.event)->remote;

	remote->desc->functions->print(remote->priv, &iter->seq, ip);
}

static enum print_line_t remote_print_function(struct trace_iterator *iter, int flags,
					       struct trace_event *event)
{
	const struct ftrace_entry *record = (void *)iter->ent;

	if (iter->ent_size < sizeof(*record))
		return TRACE_TYPE_UNHANDLED;

	remote_print_name(iter, event, record->ip);
	trace_seq_puts(&iter->seq, " <-");
	remote_print_name(iter, event, record->parent_ip);
	trace_seq_putc(&iter->seq, '\n');
	return trace_handle_return(&iter->seq);
}

/* The column of a record without a duration */
static void remote_print_no_duration(struct trace_seq *s)
{
	trace_seq_puts(s, "              |  ");
}

/* In seven digits, if possible, with a mark if it is long */
static void remote_print_duration(struct trace_seq *s, u64 calltime, u64 rettime)
{
	u64 duration = rettime - calltime, us;
	char text[32];
	int len;
	u32 ns;

	us = div_u64_rem(duration, NSEC_PER_USEC, &ns);
	len = scnprintf(text, sizeof(text), "%llu", us);
	if (len < 7)
		scnprintf(text + len, min(5, 9 - len), ".%03u", ns);
	len = strlen(text);
	trace_seq_printf(s, "%c %s us %*s|  ", trace_find_mark(duration), text,
			 max(0, 8 - len), "");
}

static void remote_print_indent(struct trace_seq *s, int depth)
{
	trace_seq_printf(s, "%*s", 2 * clamp(depth, 0, REMOTE_GRAPH_MAX_DEPTH), "");
}

static enum print_line_t remote_print_graph_entry(struct trace_iterator *iter, int flags,
						  struct trace_event *event)
{
	const struct ftrace_graph_ent_entry *record = (void *)iter->ent;
	const struct trace_remote_graph_ret *leaf = iter->private;
	struct trace_seq *s = &iter->seq;

	if (iter->ent_size < sizeof(*record))
		return TRACE_TYPE_UNHANDLED;

	if (leaf)
		remote_print_duration(s, leaf->ret.calltime, leaf->ret.rettime);
	else
		remote_print_no_duration(s);
	remote_print_indent(s, record->graph_ent.depth);
	remote_print_name(iter, event, record->graph_ent.func);
	trace_seq_puts(s, leaf ? "();\n" : "() {\n");
	return trace_handle_return(s);
}

/* With the name, as the kernel has it with the option funcgraph-tail */
static enum print_line_t remote_print_graph_exit(struct trace_iterator *iter, int flags,
						 struct trace_event *event)
{
	const struct trace_remote_graph_ret *record = (void *)iter->ent;
	struct trace_seq *s = &iter->seq;

	if (iter->ent_size < sizeof(*record))
		return TRACE_TYPE_UNHANDLED;

	remote_print_duration(s, record->ret.calltime, record->ret.rettime);
	remote_print_indent(s, record->ret.depth);
	trace_seq_puts(s, "} /* ");
	remote_print_name(iter, event, record->ret.func);
	trace_seq_puts(s, " */\n");
	return trace_handle_return(s);
}

static struct trace_event_functions remote_tracer_funcs[NR_TRACE_REMOTE_TRACER_EVENTS] = {
	[TRACE_REMOTE_FUNCTION]		= { .trace = remote_print_function },
	[TRACE_REMOTE_GRAPH_ENTRY]	= { .trace = remote_print_graph_entry },
	[TRACE_REMOTE_GRAPH_EXIT]	= { .trace = remote_print_graph_exit },
};

/**
 * trace_remote_init_tracer_events - set up the records of a remote's tracers
 * @remote:	the remote
 */
void trace_remote_init_tracer_events(struct trace_remote *remote)
{
	struct trace_remote_event *event;
	unsigned int i;

	for (i = 0; i < NR_TRACE_REMOTE_TRACER_EVENTS; i++) {
		event = &remote->tracer_events[i];
		event->remote = remote;
		event->call.class = remote_tracer_calls[i]->class;
		event->call.name = remote_tracer_calls[i]->name;
		event->call.print_fmt = remote_tracer_calls[i]->print_fmt;
		event->call.event.type = remote_tracer_calls[i]->event.type;
		event->call.event.funcs = &remote_tracer_funcs[i];
	}
}

static enum print_line_t remote_print_comment(struct trace_iterator *iter,
					      struct trace_remote_event *event)
{
	struct trace_seq *s = &iter->seq;
	enum print_line_t ret;

	remote_print_no_duration(s);
	trace_seq_puts(s, "/* ");
	ret = event->call.event.funcs->trace(iter, 0, &event->call.event);
	if (ret != TRACE_TYPE_HANDLED)
		return ret;

	if (s->seq.len && s->buffer[s->seq.len - 1] == '\n')
		s->seq.len--;
	trace_seq_puts(s, " */\n");
	return trace_handle_return(s);
}

/**
 * trace_remote_print_graph - print a record in the columns of function_graph
 * @iter:	as for trace_remote_print_event()
 * @event:	its event
 *
 * Context: as trace_remote_print_event().
 * Return: likewise; TRACE_TYPE_UNHANDLED if it is not a whole record.
 */
enum print_line_t trace_remote_print_graph(struct trace_iterator *iter,
					   struct trace_remote_event *event)
{
	int width = snprintf(NULL, 0, "%u", nr_cpu_ids - 1);

	trace_seq_printf(&iter->seq, " %*d) ", width, iter->cpu);
	if (event->call.event.type == TRACE_GRAPH_ENT || event->call.event.type == TRACE_GRAPH_RET)
		return event->call.event.funcs->trace(iter, 0, &event->call.event);
	return remote_print_comment(iter, event);
}
