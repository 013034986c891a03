// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writing an event
 *
 * trace_<event>() fills in a record's fields and calls a function here, if the event may be
 * on. There are three paths from here into the ring:
 *
 *	the fast path	 for an event that has no filter and a record of a common size,
 *			 whose fields come in registers; on a CPU whose copy of the
 *			 configuration is the latest; of a task that is not ignored; if
 *			 trace_ring_try_reserve() succeeds. It has no call and needs no stack
 *	the filter's	 for an event that has a filter and is otherwise as these: the record is
 *			 on the stack, and there is no call until it matches
 *	the slow path	 for all other events
 *
 * Each CPU writes to its own ring, and nothing interrupts it. So there are no locks.
 *
 * The host keeps the task of each CPU in the meta page of the CPU's ring, which stays pinned while
 * the CPU is HYP_TRACE_ON. An event loads it once on each path. A hostile host can change it at any
 * time. Then a record has a wrong pid, or an event is not written.
 */
#include <linux/build_bug.h>
#include <linux/string.h>

#include <nvhe/stay_length.h>
#include <nvhe/trace.h>
#include <nvhe/trace_cpu.h>
#include <nvhe/trigger.h>

static __always_inline void hyp_event_put_part(void **to, const void **from, unsigned long size,
					       unsigned long part)
{
	if (!(size & part))
		return;

	memcpy(*to, *from, part);
	*to += part;
	*from += part;
}

/*
 * Copy words, 60 bytes at the most: a test for each bit of the size is shorter than a loop, and
 * than a call.
 */
static __always_inline void hyp_event_put_words(void *to, const void *from, unsigned long size)
{
	hyp_event_put_part(&to, &from, size, 32);
	hyp_event_put_part(&to, &from, size, 16);
	hyp_event_put_part(&to, &from, size, 8);
	hyp_event_put_part(&to, &from, size, 4);
}

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
static __always_inline void hyp_event_put(struct hyp_trace_cpu *cpu, const void *record,
					  unsigned int size, u64 count)
{
	u64 ts = hyp_clock_ns(&cpu->clock, count);
	struct trace_ring_event event;

	BUILD_BUG_ON(RB_WRITER_MAX_SHORT >= 128);

	if (size > RB_WRITER_MAX_SHORT || !trace_ring_try_reserve(&cpu->ring, size, ts, &event))
		return hyp_event_put_slow(cpu, record, size, ts);

	hyp_event_put_part(&event.data, &record, size, 64);
	hyp_event_put_words(event.data, record, size);
	trace_ring_commit(&cpu->ring, &event);
}

/* The header in two stores: all that comes before the pid is hyp_event_type(). */
static __always_inline void hyp_event_set_header(void *record, u32 type, s32 pid)
{
	struct {
		u32 type;
		s32 pid;
	} *header = record;

	BUILD_BUG_ON(offsetof(struct hyp_event_header, pid) != offsetof(typeof(*header), pid));
	BUILD_BUG_ON(sizeof(struct hyp_event_header) != sizeof(*header));
	header->type = type;
	header->pid = pid;
}

/* Fill in the header. False if the events of the task are ignored. */
static __always_inline bool hyp_event_begin(const struct hyp_trace_cpu *cpu, u32 type,
					    struct hyp_event_header *record)
{
	u64 task = trace_ring_task(&cpu->ring);

	if (task & RB_WRITER_TASK_IGNORED)
		return false;

	hyp_event_set_header(record, type, task);
	return true;
}

static __always_inline bool hyp_event_matches(struct hyp_trace_cpu *cpu, unsigned long nr,
					      u32 state, const void *values)
{
	return !(state & HYP_EVENT_FILTERED) ||
	       hyp_filter_match(&hyp_event_filters[nr], &cpu->filter, values);
}

/*
 * An event that has a trigger, or a filter of the stay's length; it need not be on. One that turns
 * tracing on is the first of its CPU; one that turns it off is the last.
 */
static noinline void hyp_event_watch(struct hyp_trace_cpu *cpu, unsigned long nr,
				     struct hyp_event_header *record, unsigned int size, u64 count)
{
	struct hyp_event_values_hyp_exit timed __uninitialized;
	u32 state = READ_ONCE(hyp_event_states[nr]);
	const void *values;
	bool on;

	if (atomic_read(&cpu->writer) != HYP_TRACE_ON)
		return;

	on = hyp_trace_cpu_is_ready(cpu) || hyp_trace_cpu_prepare(cpu);
	if (!hyp_event_begin(cpu, hyp_event_type(state), record))
		return;

	values = hyp_stay_length_add(cpu, nr, record, count, &timed);
	if (!on && (!hyp_trigger_fire(cpu, nr, HYP_TRIGGER_ON, values) ||
		    !hyp_trace_cpu_prepare(cpu)))
		return;

	if (state & HYP_EVENT_ID && hyp_event_matches(cpu, nr, state, values))
		hyp_event_put(cpu, record, size, count);
	hyp_trigger_fire(cpu, nr, HYP_TRIGGER_OFF, values);
}

/**
 * hyp_event_write - write an event on the slow path
 * @nr:		its number in the event list
 * @record:	its record, without the header
 * @size:	bytes of the record, with the header
 * @count:	its time, hyp_clock_count()
 *
 * Context: any at EL2, as all here.
 */
void hyp_event_write(unsigned long nr, struct hyp_event_header *record, unsigned int size,
		     u64 count)
{
	struct hyp_trace_cpu *cpu = this_cpu_ptr(&hyp_trace_cpu);
	u32 state = READ_ONCE(hyp_event_states[nr]);

	/* Keep the compiler from saving the parts of the address, too. */
	OPTIMIZER_HIDE_VAR(cpu);
	if (unlikely(state & HYP_EVENT_WATCHED))
		return hyp_event_watch(cpu, nr, record, size, count);
	if (!(state & HYP_EVENT_ID) || atomic_read(&cpu->writer) != HYP_TRACE_ON)
		return;
	if (!hyp_trace_cpu_is_ready(cpu) && !hyp_trace_cpu_prepare(cpu))
		return;
	if (!hyp_event_begin(cpu, hyp_event_type(state), record) ||
	    !hyp_event_matches(cpu, nr, state, record))
		return;

	/* An event that the filter refuses does not save the ring's address, either. */
	OPTIMIZER_HIDE_VAR(cpu);
	hyp_event_put(cpu, record, size, count);
}

/* A record whose fields come in registers */
struct hyp_event_fast_record {
	struct hyp_event_header	header;
	u64			fields[6];
};

static_assert(offsetof(struct hyp_event_fast_record, fields) == sizeof(struct hyp_event_header));
static_assert(sizeof(struct hyp_event_fast_record) <= RB_WRITER_MAX_SHORT);

static __always_inline bool __hyp_event_try_reserve(struct hyp_trace_cpu *cpu, u32 type,
						    unsigned int size, u64 count,
						    struct trace_ring_event *event)
{
	u64 task;

	if (unlikely(!hyp_trace_cpu_is_ready(cpu) || !type))
		return false;

	task = trace_ring_task(&cpu->ring);
	if (!trace_ring_try_reserve_unless(&cpu->ring, sizeof(struct hyp_event_header) + size,
					   hyp_clock_ns(&cpu->clock, count),
					   task & RB_WRITER_TASK_IGNORED, event))
		return false;

	hyp_event_set_header(event->data, type, task);
	event->data += sizeof(struct hyp_event_header);
	return true;
}

/*
 * Begin an event with so many bytes of fields on the fast path. False if the event has to
 * go on the slow path.
 */
#define hyp_event_try_reserve(cpu, type, size, count, event)			\
({										\
	enum { __size = (size) };						\
										\
	BUILD_BUG_ON(__size > sizeof_field(struct hyp_event_fast_record, fields)); \
	BUILD_BUG_ON(__size % sizeof(u32));					\
	__hyp_event_try_reserve(cpu, type, __size, count, event);		\
})

/* Out of line, so that an event that the filter refuses saves no register */
static noinline void hyp_event_put_matching(struct hyp_trace_cpu *cpu, const void *record,
					    unsigned int size, u64 count)
{
	hyp_event_put(cpu, record, size, count);
}

/* The filter's path, if @type is not 0 */
static __always_inline void hyp_event_write_filtered(unsigned long nr,
						     struct hyp_event_header *record,
						     unsigned int size, u64 count,
						     struct hyp_trace_cpu *cpu, u32 type)
{
	if (!type || !hyp_trace_cpu_is_ready(cpu))
		return hyp_event_write(nr, record, size, count);

	if (hyp_event_begin(cpu, type, record) &&
	    __hyp_filter_match(&hyp_event_filters[nr], &cpu->filter, record))
		hyp_event_put_matching(cpu, record, size, count);
}

/* The other two paths for fields that came in registers */
static __always_inline void hyp_event_write_fields(unsigned long nr, const void *fields,
						   unsigned int size, u64 count,
						   struct hyp_trace_cpu *cpu, u64 types)
{
	struct hyp_event_fast_record record __uninitialized; /* All that is written is set now. */

	memcpy(record.fields, fields, size);
	hyp_event_write_filtered(nr, &record.header, sizeof(record.header) + size, count, cpu,
				 types >> HYP_EVENT_TYPE_FILTERED);
}

/*
 * hyp_event_write_<bytes of fields>(): the other paths are out of line, and take the fields where
 * they are. So the fast path needs no stack, and moves no field. Entries and exits have their time
 * from stay.c.
 */
#define HYP_EVENT_WRITE(size, type, params, args, time, fields...)		\
struct hyp_event_words_##size {							\
	type	words[(size) / sizeof(type)];					\
} __packed;									\
										\
static noinline void hyp_event_write_##size##_slow(unsigned long nr, params, u64 __count, \
						    struct hyp_trace_cpu *cpu, u64 types) \
{										\
	const type from[] = { fields };						\
										\
	BUILD_BUG_ON(sizeof(from) != (size));					\
	hyp_event_write_fields(nr, from, sizeof(from), __count, cpu, types);	\
}										\
										\
void hyp_event_write_##size(unsigned long nr, params)				\
{										\
	struct hyp_trace_cpu *cpu = this_cpu_ptr(&hyp_trace_cpu);		\
	/* Read at once, or the address of each half has to be computed. */	\
	u64 types = READ_ONCE(cpu->types[nr]), __count = (time);		\
	struct hyp_event_words_##size *to;					\
	struct trace_ring_event event;						\
										\
	if (!hyp_event_try_reserve(cpu, types, size, __count, &event))		\
		return hyp_event_write_##size##_slow(nr, args, __count, cpu, types); \
										\
	to = event.data;							\
	*to = (struct hyp_event_words_##size) {{ fields }};			\
	/* Keep the compiler from saving the ring's address, too. */		\
	OPTIMIZER_HIDE_VAR(cpu);						\
	trace_ring_commit(&cpu->ring, &event);					\
}

HYP_EVENT_WRITE(4, u32, HE_PROTO(u64 a, u64 count), HE_ASSIGN(a, count), count, a)
HYP_EVENT_WRITE(8, u64, HE_PROTO(u64 a), HE_ASSIGN(a), hyp_clock_count(), a)
HYP_EVENT_WRITE(12, u32, HE_PROTO(u64 a, u64 b), HE_ASSIGN(a, b), hyp_clock_count(),
		a, a >> 32, b)
HYP_EVENT_WRITE(16, u64, HE_PROTO(u64 a, u64 b), HE_ASSIGN(a, b), hyp_clock_count(), a, b)
HYP_EVENT_WRITE(24, u64, HE_PROTO(u64 a, u64 b, u64 c), HE_ASSIGN(a, b, c), hyp_clock_count(),
		a, b, c)
HYP_EVENT_WRITE(48, u64, HE_PROTO(u64 a, u64 b, u64 c, u64 d, u64 e, u64 f),
		HE_ASSIGN(a, b, c, d, e, f), hyp_clock_count(), a, b, c, d, e, f)

/* From an address of EL2's image to that of the kernel's symbol; the host sets it at boot. */
u64 hyp_kimg_offset __ro_after_init;

static noinline void hyp_event_printk_slow(u64 ip, u64 fmt, struct hyp_event_hyp_printk *record,
					   unsigned long size, u64 count)
{
	record->ip = ip;
	record->fmt = fmt;
	hyp_event_write(HYP_EVENT_hyp_printk, &record->header, size, count);
}

/**
 * hyp_event_printk - write a hyp_trace_printk(), on the fast path if possible
 * @ip:		where it is, _THIS_IP_
 * @fmt:	the format, a hyp_printk_format.fmt
 * @record:	the record, of which only the arguments behind the structure are set
 * @size:	bytes of the record
 */
void hyp_event_printk(unsigned long ip, const char *fmt, struct hyp_event_hyp_printk *record,
		      unsigned long size)
{
	struct hyp_trace_cpu *cpu = this_cpu_ptr(&hyp_trace_cpu);
	u64 kimg_ip = ip + hyp_kimg_offset, kimg_fmt = (u64)fmt + hyp_kimg_offset;
	u64 count = hyp_clock_count(), *to;
	u32 type = cpu->types[HYP_EVENT_hyp_printk];
	struct trace_ring_event event;

	if (!__hyp_event_try_reserve(cpu, type, size - sizeof(record->header), count, &event))
		return hyp_event_printk_slow(kimg_ip, kimg_fmt, record, size, count);

	to = event.data;
	*to++ = kimg_ip;
	*to++ = kimg_fmt;
	BUILD_BUG_ON(sizeof_field(struct hyp_printk_record, words) >= 64);
	hyp_event_put_words(to, record + 1, size - sizeof(*record));
	trace_ring_commit(&cpu->ring, &event);
}

#ifdef CONFIG_KVM_HYP_FUNCTION_TRACER
/* The times in the record are those of the CPU's clock, which has to be the latest. */
static noinline void hyp_event_funcgraph_exit_slow(u64 func, s32 depth, u32 overrun, u64 entered,
						   u64 count)
{
	struct hyp_trace_cpu *cpu = this_cpu_ptr(&hyp_trace_cpu);

	if (atomic_read(&cpu->writer) != HYP_TRACE_ON)
		return;
	if (!hyp_trace_cpu_is_ready(cpu) && !hyp_trace_cpu_prepare(cpu))
		return;

	trace_funcgraph_exit(func, depth, overrun, hyp_clock_ns(&cpu->clock, entered),
			     hyp_clock_ns(&cpu->clock, count));
}

/**
 * hyp_event_funcgraph_exit - write that a function returns, on the fast path if possible
 * @func:	the function
 * @depth:	how deep it is
 * @overrun:	functions that were deeper than can be traced
 * @entered:	when it was entered, hyp_clock_count()
 */
void hyp_event_funcgraph_exit(u64 func, s32 depth, u32 overrun, u64 entered)
{
	struct hyp_trace_cpu *cpu = this_cpu_ptr(&hyp_trace_cpu);
	u64 count = hyp_clock_count(), rettime = hyp_clock_ns(&cpu->clock, count);
	u64 calltime = hyp_clock_ns(&cpu->clock, entered);
	struct hyp_event_funcgraph_exit *record;
	struct trace_ring_event event;

	if (!__hyp_event_try_reserve(cpu, cpu->types[HYP_EVENT_funcgraph_exit],
				     sizeof(*record) - sizeof(record->header), count, &event))
		return hyp_event_funcgraph_exit_slow(func, depth, overrun, entered, count);

	record = event.data - sizeof(record->header);
	record->func = func;
#ifdef CONFIG_FUNCTION_GRAPH_RETVAL
	record->retval = 0;
#endif
	record->depth = depth;
	record->overrun = overrun;
	record->calltime = calltime;
	record->rettime = rettime;
	trace_ring_commit(&cpu->ring, &event);
}
#endif
