// SPDX-License-Identifier: GPL-2.0-only
/*
 * A remote's last events on the console
 *
 *	a panic of the remote	if the remote says so, before the kernel panics for it
 *	an oops, or a panic	if ftrace_dump_on_oops= names the instance
 *
 * The events are merged by time and printed as in trace. A dump can't wait for this CPU or
 * another one, and the remote may have panicked with any of its locks held. The dumper takes
 * no locks, allocates nothing and does not call the remote. Events come from
 * ring_buffer_reader_dump.c, which says what may be wrong with them when a CPU was stopped
 * amid an event. All that printing needs was allocated before.
 *
 * One CPU dumps at a time. A fault during a dump ends it: it does not begin another one.
 * A dump after the panic of a remote has no end, and nothing else is dumped.
 *
 * Tracing goes on during a dump, since to turn it off would take a call of the remote. The
 * number of events is fixed when the dump begins. No event is printed twice: the panic after
 * an oops prints what is later than the last event that the oops printed.
 *
 * The buffer stays from trace_remote_dump_begin() to trace_remote_dump_end(), see instance.c.
 */
#include <linux/init.h>
#include <linux/irqflags.h>
#include <linux/nmi.h>
#include <linux/percpu.h>
#include <linux/printk.h>
#include <linux/slab.h>
#include <linux/ring_buffer.h>
#include <linux/trace.h>
#include <linux/trace_events.h>
#include <linux/trace_seq.h>

#include "remote.h"

#define REMOTE_DUMP_EVENTS	128

/* Larger than the records of all events, which have strings of some length at most */
#define REMOTE_DUMP_RECORD	1024

/* The line being printed: too large for a stack. */
static struct trace_iterator trace_remote_dump_iter;
static u8 trace_remote_dump_record[REMOTE_DUMP_RECORD] __aligned(8);

static void remote_dump_next(struct trace_remote_dump *this)
{
	this->has_event = ring_buffer_reader_dump_next(&this->dump);
}

static void remote_dump_skip_printed(struct trace_remote_dump *this)
{
	while (this->has_event && this->dump.ts <= this->printed)
		remote_dump_next(this);
}

static void remote_dump_start(struct trace_remote *remote, struct trace_buffer *buffer,
			      int which)
{
	struct trace_remote_dump *this;
	int cpu;

	for_each_possible_cpu(cpu) {
		this = &trace_remote_cpu(remote, cpu)->dump;
		this->has_event = false;
		if (!buffer || (which != RING_BUFFER_ALL_CPUS && which != cpu) ||
		    !ring_buffer_reader_has_cpu(buffer, cpu))
			continue;

		ring_buffer_reader_dump_start(&this->dump, buffer, cpu, REMOTE_DUMP_EVENTS);
		remote_dump_next(this);
		remote_dump_skip_printed(this);
	}
}

/* The CPU with the earliest event; -1 if there is none any more. */
static int remote_dump_first(struct trace_remote *remote)
{
	struct trace_remote_dump *this, *first = NULL;
	int cpu, first_cpu = -1;

	for_each_possible_cpu(cpu) {
		this = &trace_remote_cpu(remote, cpu)->dump;
		if (this->has_event && (!first || this->dump.ts < first->dump.ts)) {
			first = this;
			first_cpu = cpu;
		}
	}

	return first_cpu;
}

static void remote_dump_print(struct trace_remote *remote, int cpu)
{
	struct trace_remote_dump *this = &trace_remote_cpu(remote, cpu)->dump;
	struct trace_iterator *iter = &trace_remote_dump_iter;
	struct trace_seq *s = &iter->seq;

	iter->cpu = cpu;
	iter->iter_flags = TRACE_REMOTE_DUMPS;
	iter->ts = this->dump.ts;
	iter->ent = (void *)trace_remote_dump_record;
	iter->ent_size = ring_buffer_reader_dump_copy(&this->dump, trace_remote_dump_record,
						      sizeof(trace_remote_dump_record));
	if (!iter->ent_size)
		return;

	iter->lost_events = this->dump.lost ? ULONG_MAX : 0;
	this->dump.lost = false;
	this->printed = iter->ts;

	trace_seq_init(s);
	trace_remote_print_event(remote, iter);
	pr_emerg("%.*s", (int)trace_seq_used(s), s->buffer);
}

static void remote_dump_lines(struct trace_remote *remote)
{
	static const char line[] = "---------------------------------\n";
	unsigned int nr = 0;
	int cpu;

	while ((cpu = remote_dump_first(remote)) >= 0) {
		if (!nr++)
			pr_emerg("%s", line);

		remote_dump_print(remote, cpu);
		remote_dump_next(&trace_remote_cpu(remote, cpu)->dump);
		touch_nmi_watchdog();
	}

	pr_emerg("%s", nr ? line : "   (ftrace buffer empty)\n");
}

static void remote_dump_all(struct trace_remote *remote, int which)
{
	struct trace_buffer *buffer = trace_remote_peek(remote);
	unsigned long flags;

	local_irq_save(flags);
	pr_emerg("Dumping ftrace instance %s buffer:\n", trace_remote_name(remote));
	remote_dump_start(remote, buffer, which);
	remote_dump_lines(remote);
	local_irq_restore(flags);
}

/**
 * struct trace_remote_dumper - a remote's name for ftrace_dump_on_oops=
 * @dumper:	the name
 * @remote:	the remote; NULL once it is unregistered
 *
 * It is never freed, since an oops finds it without a lock.
 */
struct trace_remote_dumper {
	struct trace_dumper	dumper;
	struct trace_remote	*remote;
};

static void remote_dump_oops(struct trace_dumper *dumper, int which)
{
	struct trace_remote *remote = READ_ONCE(container_of(dumper, struct trace_remote_dumper,
							     dumper)->remote);

	if (!remote || !trace_remote_dump_begin())
		return;

	remote_dump_all(remote, which);
	trace_remote_dump_end();
}

/**
 * trace_remote_dump_panic - print the last events of all CPUs: the remote has panicked
 * @remote:	the remote; NULL if it is not registered
 *
 * Prints nothing while the rings are not loaded.
 *
 * Context: any; the kernel panics next.
 */
void trace_remote_dump_panic(struct trace_remote *remote)
{
	if (remote && trace_remote_dump_begin() && trace_remote_peek(remote))
		remote_dump_all(remote, RING_BUFFER_ALL_CPUS);
}

/**
 * trace_remote_dump_register - let ftrace_dump_on_oops= accept the name of a remote
 * @remote:	the remote, which is built in
 *
 * Without memory the name is not accepted.
 *
 * Context: process context, may sleep; while booting.
 */
void trace_remote_dump_register(struct trace_remote *remote)
{
	struct trace_remote_dumper *this = kzalloc(sizeof(*this), GFP_KERNEL);

	if (!this)
		return;

	this->dumper.name = trace_remote_name(remote);
	this->dumper.dump = remote_dump_oops;
	this->remote = remote;
	remote->dumper = this;
	trace_register_dumper(&this->dumper);
}

/**
 * trace_remote_dump_unregister - undo trace_remote_dump_register(), if it was called
 * @remote:	the remote
 *
 * Context: any; while booting.
 */
void trace_remote_dump_unregister(struct trace_remote *remote)
{
	if (remote->dumper)
		WRITE_ONCE(remote->dumper->remote, NULL);
}
