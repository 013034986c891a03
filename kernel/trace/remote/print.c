// SPDX-License-Identifier: GPL-2.0-only
/*
 * A remote's event as a line of text
 *
 *	[cpu] seconds.microseconds: event fields
 *
 * With the option record-cmd, the task's name and pid stand before that, in the columns of the
 * kernel's instances. A dump, which may take no lock, does not look up names.
 *
 * The event's own function prints what follows the time. The record may hold anything, since
 * the remote shares its pages: that function must validate it.
 */
#include <linux/kernel.h>
#include <linux/seq_buf.h>
#include <linux/trace_seq.h>

#include "remote.h"

static void remote_print_lost(struct trace_iterator *iter)
{
	if (iter->lost_events == ULONG_MAX)
		trace_seq_printf(&iter->seq, "CPU:%d [LOST EVENTS]\n", iter->cpu);
	else if (iter->lost_events)
		trace_seq_printf(&iter->seq, "CPU:%d [LOST %lu EVENTS]\n", iter->cpu,
				 iter->lost_events);
}

/* Two digits of a number below 100; returns what is behind them. */
static char *remote_put_pair(char *p, u32 num)
{
	*p++ = '0' + num / 10;
	*p++ = '0' + num % 10;
	return p;
}

/* The task's name is that of saved_cmdlines, which record-cmd fills. */
static void remote_print_task(struct trace_remote *remote, struct trace_iterator *iter)
{
	const struct trace_entry *header = (void *)iter->ent;
	char comm[TASK_COMM_LEN];

	if (iter->iter_flags & TRACE_REMOTE_DUMPS || iter->ent_size < sizeof(*header) ||
	    !trace_remote_has_task_option(remote, TRACE_REMOTE_RECORD_CMD))
		return;

	trace_find_cmdline(header->pid, comm);
	trace_seq_printf(&iter->seq, "%16s-%-7d ", comm, header->pid);
}

/* Room for "[%03d] %5llu.%06u: " with the largest numbers */
#define REMOTE_CONTEXT	48

/* The begin of a line. Not by printf: that took half of a line's time. */
static void remote_print_context(struct trace_iterator *iter)
{
	struct seq_buf *seq = &iter->seq.seq;
	u64 us = trace_remote_us(iter->ts);
	u32 rem = do_div(us, USEC_PER_SEC);
	char *begin, *p;

	if (iter->seq.full || seq_buf_get_buf(seq, &begin) < REMOTE_CONTEXT) {
		iter->seq.full = 1;
		return;
	}

	p = begin;
	*p++ = '[';
	if (iter->cpu < 100) {
		*p++ = '0';
		p = remote_put_pair(p, iter->cpu);
	} else {
		p += num_to_str(p, 10, iter->cpu, 0);
	}
	*p++ = ']';
	*p++ = ' ';
	p += num_to_str(p, 20, us, 5);
	*p++ = '.';
	p = remote_put_pair(p, rem / 10000);
	p = remote_put_pair(p, rem / 100 % 100);
	p = remote_put_pair(p, rem % 100);
	*p++ = ':';
	*p++ = ' ';
	seq_buf_commit(seq, p - begin);
}

/**
 * trace_remote_print_event - print a line for a record, and what was lost before it
 * @remote:	the remote
 * @iter:	where to, @iter->seq; the record is @iter->ent, of @iter->ent_size
 *		bytes, from @iter->cpu at @iter->ts; NULL for none
 *
 * Context: any in which @iter can't be used by others.
 * Return: whether the line fit, as for the kernel's events.
 */
enum print_line_t trace_remote_print_event(struct trace_remote *remote,
					   struct trace_iterator *iter)
{
	struct trace_entry *header = (void *)iter->ent;
	enum print_line_t ret = TRACE_TYPE_UNHANDLED;
	struct trace_seq *s = &iter->seq;
	struct trace_remote_event *event = NULL;

	remote_print_lost(iter);
	if (!header)
		return trace_handle_return(s);

	if (iter->ent_size >= sizeof(*header))
		event = trace_remote_find_event(remote, header->type);
	if (event && trace_remote_tracer(remote) == TRACE_REMOTE_TRACE_GRAPH) {
		ret = trace_remote_print_graph(iter, event);
		event = NULL;
	} else {
		remote_print_task(remote, iter);
		remote_print_context(iter);
	}
	if (event)
		ret = event->call.event.funcs->trace(iter, 0, &event->call.event);
	if (ret != TRACE_TYPE_UNHANDLED)
		return ret;

	/* No record of this remote: the pages are shared, and may hold anything. */
	trace_seq_printf(s, "unknown record of %d bytes\n", iter->ent_size);
	return trace_handle_return(s);
}
