// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writing an event
 *
 * trace_<event>() puts a record's fields together and comes here, when the event is on.
 * There are two ways from here into the ring:
 *
 *	the short one	 for an event that has no filter and a record of common
 *			 size, which comes in registers; on a CPU whose copy of the
 *			 configuration is the latest; if trace_ring_try_reserve() finds it
 *			 simple. No call, no stack
 *	the long one	 for all else
 *
 * Each CPU writes to its own ring, and nothing interrupts it: no locks.
 */
#include <linux/build_bug.h>
#include <linux/string.h>
#include <linux/unaligned.h>

#include <nvhe/trace.h>
#include <nvhe/trace_cpu.h>

static noinline void hyp_event_put_slow(struct hyp_trace_cpu *cpu, const void *record,
					unsigned int size, u64 ts)
{
	struct trace_ring_event event;

	if (!trace_ring_reserve(&cpu->ring, size, ts, &event))
		return;

	memcpy(event.data, record, size);
	trace_ring_commit(&cpu->ring, &event);
}

/* Write a record to the ring, on the ring's fast path if possible. */
static void hyp_event_put(struct hyp_trace_cpu *cpu, const void *record, unsigned int size)
{
	u64 ts = hyp_clock_ns(&cpu->clock, hyp_clock_count());
	struct trace_ring_event event;

	if (size > RB_WRITER_MAX_SHORT || !trace_ring_try_reserve(&cpu->ring, size, ts, &event))
		return hyp_event_put_slow(cpu, record, size, ts);

	memcpy(event.data, record, size);
	trace_ring_commit(&cpu->ring, &event);
}

/**
 * hyp_event_write - write an event, the long way
 * @nr:		its place in the catalogue
 * @record:	its record, all but the header
 * @size:	bytes of that
 *
 * Context: any at EL2, as all here.
 */
void hyp_event_write(unsigned long nr, struct hyp_event_header *record, unsigned int size)
{
	struct hyp_trace_cpu *cpu = this_cpu_ptr(&hyp_trace_cpu);
	u32 state = READ_ONCE(hyp_event_states[nr]);

	if (!(state & HYP_EVENT_ID) || !cpu->on)
		return;
	if (!hyp_trace_cpu_is_ready(cpu))
		hyp_trace_cpu_prepare(cpu);

	*record = (struct hyp_event_header) {
		.type	= state,
		.pid	= hyp_trace_cpu_pid(cpu),
	};
	if (state & HYP_EVENT_FILTERED &&
	    !hyp_filter_match(&hyp_event_filters[nr], &cpu->filter, record))
		return;

	hyp_event_put(cpu, record, size);
}

/* The short way to begin. False if it is not for this event. */
static __always_inline bool hyp_event_open(struct hyp_trace_cpu *cpu, unsigned long nr,
					   unsigned int size, struct trace_ring_event *event)
{
	u32 type = cpu->types[nr];
	struct {
		u32 type;
		s32 pid;
	} *header;

	BUILD_BUG_ON(offsetof(struct hyp_event_header, pid) != offsetof(typeof(*header), pid));

	if (unlikely(!hyp_trace_cpu_is_ready(cpu) || !type))
		return false;
	if (!trace_ring_try_reserve(&cpu->ring, sizeof(*header) + size,
			     hyp_clock_ns(&cpu->clock, hyp_clock_count()), event))
		return false;

	header = event->data;
	header->type = type;
	header->pid = hyp_trace_cpu_pid(cpu);
	event->data = header + 1;
	return true;
}

/* The long way for fields that came in registers */
static void hyp_event_write_fields(unsigned long nr, const void *fields, unsigned int size)
{
	struct {
		struct hyp_event_header header;
		u64 fields[3];
	} record __uninitialized;	/* all that is handed on comes now */

	memcpy(record.fields, fields, size);
	hyp_event_write(nr, &record.header, sizeof(record.header) + size);
}

/*
 * hyp_event_write_<bytes of fields>(): the long way is out of line, and in its place a
 * jump, so that the short one has no use for a stack.
 */
static noinline void hyp_event_write_4_long(unsigned long nr, u64 a)
{
	u32 field = a;

	hyp_event_write_fields(nr, &field, sizeof(field));
}

void hyp_event_write_4(unsigned long nr, u64 a)
{
	struct hyp_trace_cpu *cpu = this_cpu_ptr(&hyp_trace_cpu);
	struct trace_ring_event event;

	if (!hyp_event_open(cpu, nr, 4, &event))
		return hyp_event_write_4_long(nr, a);

	*(u32 *)event.data = a;
	trace_ring_commit(&cpu->ring, &event);
}

static noinline void hyp_event_write_8_long(unsigned long nr, u64 a)
{
	hyp_event_write_fields(nr, &a, sizeof(a));
}

void hyp_event_write_8(unsigned long nr, u64 a)
{
	struct hyp_trace_cpu *cpu = this_cpu_ptr(&hyp_trace_cpu);
	struct trace_ring_event event;

	if (!hyp_event_open(cpu, nr, 8, &event))
		return hyp_event_write_8_long(nr, a);

	put_unaligned(a, (u64 *)event.data);
	trace_ring_commit(&cpu->ring, &event);
}

static noinline void hyp_event_write_16_long(unsigned long nr, u64 a, u64 b)
{
	hyp_event_write_fields(nr, (const u64 []){ a, b }, 16);
}

void hyp_event_write_16(unsigned long nr, u64 a, u64 b)
{
	struct hyp_trace_cpu *cpu = this_cpu_ptr(&hyp_trace_cpu);
	struct trace_ring_event event;

	if (!hyp_event_open(cpu, nr, 16, &event))
		return hyp_event_write_16_long(nr, a, b);

	put_unaligned(a, (u64 *)event.data);
	put_unaligned(b, (u64 *)event.data + 1);
	trace_ring_commit(&cpu->ring, &event);
}

static noinline void hyp_event_write_24_long(unsigned long nr, u64 a, u64 b, u64 c)
{
	hyp_event_write_fields(nr, (const u64 []){ a, b, c }, 24);
}

void hyp_event_write_24(unsigned long nr, u64 a, u64 b, u64 c)
{
	struct hyp_trace_cpu *cpu = this_cpu_ptr(&hyp_trace_cpu);
	struct trace_ring_event event;

	if (!hyp_event_open(cpu, nr, 24, &event))
		return hyp_event_write_24_long(nr, a, b, c);

	put_unaligned(a, (u64 *)event.data);
	put_unaligned(b, (u64 *)event.data + 1);
	put_unaligned(c, (u64 *)event.data + 2);
	trace_ring_commit(&cpu->ring, &event);
}

/**
 * hyp_event_printk - write an event of a text
 * @fmt:	for hyp_format()
 * @args:	likewise
 * @nr_args:	likewise
 */
void hyp_event_printk(const char *fmt, const u64 *args, unsigned int nr_args)
{
	char text[HYP_EVENT_MAX_STRING];

	hyp_format(text, sizeof(text), fmt, args, nr_args);
	(trace_hyp_printk)(text);	/* the event, not the macro */
}
