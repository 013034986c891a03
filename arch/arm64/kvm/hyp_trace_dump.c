// SPDX-License-Identifier: GPL-2.0-only
/*
 * The hypervisor's last events on the console, when all is over
 *
 *	a panic of the hypervisor's	always, before the kernel panics for it
 *	an oops, or a panic		if ftrace_dump_on_oops= names the instance
 *
 * They are merged by time, and what they look like is as in trace. Nobody can be
 * waited for any more, on this CPU or others, and EL2 may have panicked with any
 * of its locks held: nothing here locks, allocates or makes a hypercall. Events
 * come from ring_buffer_reader_dump.c, which says what may be wrong with them
 * when a CPU was stopped at the wrong time; all that is needed to print them is
 * static.
 *
 * Only one CPU dumps, and not in the midst of a dump: a fault in here ends it.
 * After a panic of the hypervisor's nothing more is to be said, and so
 * hyp_trace_dumping stays set.
 *
 * Tracing goes on meanwhile: to turn it off would take a hypercall, and EL2 still
 * serves the host's stage-2 aborts. How many events there are is fixed when it
 * begins. What was printed once is not printed again: after an oops comes the panic
 * for it.
 *
 * Memory ordering: (U), by which the buffer stays while it is dumped, is explained in
 * kernel/trace/trace_ring.c.
 */
#include <linux/atomic.h>
#include <linux/init.h>
#include <linux/irqflags.h>
#include <linux/nmi.h>
#include <linux/percpu.h>
#include <linux/printk.h>
#include <linux/ring_buffer.h>
#include <linux/ring_buffer_writer.h>
#include <linux/trace.h>
#include <linux/trace_events.h>
#include <linux/trace_seq.h>

#include "hyp_trace.h"

#define HYP_TRACE_DUMP_EVENTS	128

/* Larger than the records of all events, which have strings of some length at most */
#define HYP_TRACE_DUMP_RECORD	1024

static atomic_t hyp_trace_dumping;

/**
 * struct hyp_trace_dump_cpu - a CPU's part in a dump
 * @dump:	its events
 * @has_event:	there is one to be printed
 * @printed:	time of the last event that was printed, ns, by whatever dump
 */
struct hyp_trace_dump_cpu {
	struct ring_buffer_reader_dump	dump;
	bool				has_event;
	u64				printed;
};

static DEFINE_PER_CPU(struct hyp_trace_dump_cpu, hyp_trace_dump_cpus);

/* The line being printed: too large for a stack. */
static struct trace_iterator hyp_trace_dump_iter;
static u8 hyp_trace_dump_record[HYP_TRACE_DUMP_RECORD] __aligned(8);

/**
 * hyp_trace_is_dumping - may somebody be reading the rings without a lock?
 *
 * Context: any, once hyp_trace_peek() gives them to nobody any more.
 * Return: whether somebody may, and whether that ends is not known.
 */
bool hyp_trace_is_dumping(void)
{
	smp_mb();						/* (U) */
	return atomic_read(&hyp_trace_dumping);
}

static void hyp_trace_dump_next(struct hyp_trace_dump_cpu *this)
{
	do {
		this->has_event = ring_buffer_reader_dump_next(&this->dump);
	} while (this->has_event && this->dump.ts <= this->printed);
}

static void hyp_trace_dump_start(struct trace_buffer *buffer, int which)
{
	struct hyp_trace_dump_cpu *this;
	int cpu;

	for_each_possible_cpu(cpu) {
		this = per_cpu_ptr(&hyp_trace_dump_cpus, cpu);
		this->has_event = false;
		if (!buffer || (which != RING_BUFFER_ALL_CPUS && which != cpu) ||
		    !ring_buffer_reader_has_cpu(buffer, cpu))
			continue;

		ring_buffer_reader_dump_start(&this->dump, buffer, cpu, HYP_TRACE_DUMP_EVENTS);
		hyp_trace_dump_next(this);
	}
}

/* The CPU with the earliest event; -1 if there is none any more. */
static int hyp_trace_dump_first(void)
{
	struct hyp_trace_dump_cpu *this, *first = NULL;
	int cpu, first_cpu = -1;

	for_each_possible_cpu(cpu) {
		this = per_cpu_ptr(&hyp_trace_dump_cpus, cpu);
		if (this->has_event && (!first || this->dump.ts < first->dump.ts)) {
			first = this;
			first_cpu = cpu;
		}
	}

	return first_cpu;
}

static void hyp_trace_dump_print(struct hyp_trace_dump_cpu *this, int cpu)
{
	struct trace_iterator *iter = &hyp_trace_dump_iter;
	struct trace_seq *s = &iter->seq;

	iter->cpu = cpu;
	iter->ts = this->dump.ts;
	iter->ent = (void *)hyp_trace_dump_record;
	iter->ent_size = ring_buffer_reader_dump_copy(&this->dump, hyp_trace_dump_record,
						      sizeof(hyp_trace_dump_record));
	if (!iter->ent_size)
		return;

	iter->lost_events = this->dump.lost ? ULONG_MAX : 0;
	this->dump.lost = false;
	this->printed = iter->ts;

	trace_seq_init(s);
	hyp_event_print(iter);
	pr_emerg("%.*s", (int)trace_seq_used(s), s->buffer);
}

static void hyp_trace_dump_lines(void)
{
	static const char line[] = "---------------------------------\n";
	struct hyp_trace_dump_cpu *this;
	unsigned int nr = 0;
	int cpu;

	while ((cpu = hyp_trace_dump_first()) >= 0) {
		if (!nr++)
			pr_emerg("%s", line);

		this = per_cpu_ptr(&hyp_trace_dump_cpus, cpu);
		hyp_trace_dump_print(this, cpu);
		hyp_trace_dump_next(this);
		touch_nmi_watchdog();
	}

	pr_emerg("%s", nr ? line : "   (ftrace buffer empty)\n");
}

/* True for the one that may dump. */
static bool hyp_trace_dump_begin(void)
{
	return !atomic_xchg(&hyp_trace_dumping, 1);		/* (U) */
}

static void hyp_trace_dump_all(int which)
{
	struct trace_buffer *buffer = hyp_trace_peek();
	unsigned long flags;

	local_irq_save(flags);
	pr_emerg("Dumping ftrace instance hypervisor buffer:\n");
	hyp_trace_dump_start(buffer, which);
	hyp_trace_dump_lines();
	local_irq_restore(flags);
}

static void hyp_trace_dump_oops(int which)
{
	if (!hyp_trace_dump_begin())
		return;

	hyp_trace_dump_all(which);
	atomic_set_release(&hyp_trace_dumping, 0);		/* (U) */
}

/**
 * hyp_trace_dump_panic - print the last events of all CPUs: EL2 has panicked
 *
 * Says nothing when no events were ever asked for.
 *
 * Context: any; the kernel panics next.
 */
void hyp_trace_dump_panic(void)
{
	if (hyp_trace_dump_begin() && hyp_trace_peek())
		hyp_trace_dump_all(RING_BUFFER_ALL_CPUS);
}

static struct trace_dumper hyp_trace_dumper = {
	.name	= "hypervisor",
	.dump	= hyp_trace_dump_oops,
};

/**
 * hyp_trace_dump_init - let ftrace_dump_on_oops= know the instance
 */
void __init hyp_trace_dump_init(void)
{
	trace_register_dumper(&hyp_trace_dumper);
}
