// SPDX-License-Identifier: GPL-2.0-only
/*
 * The hypervisor's events: what the host makes of the catalogue
 *
 * Of each entry of asm/kvm_hypevents.h the host makes the description of its
 * record, and a function that prints one. EL2 is told which are enabled only
 * while tracing is on, so that an event costs next to nothing otherwise.
 */
#include <linux/bitmap.h>
#include <linux/kvm_host.h>
#include <linux/mutex.h>
#include <linux/trace_events.h>
#include <linux/trace_seq.h>

#include <asm/kvm_asm.h>
#include <asm/kvm_hypevents_defs.h>

#include "hyp_event_names.h"
#include "hyp_trace.h"

#define HE_FIELD(record, ftype, member, fname, sign)	\
	{						\
		.type		= ftype,		\
		.name		= fname,		\
		.offset		= offsetof(record, member),	\
		.size		= sizeof_field(record, member),	\
		.is_signed	= sign,			\
	}

/* How the host spells the header, kernel/trace/trace_events.c. */
const struct hyp_event_field hyp_event_common_fields[] = {
	{ "unsigned short", "common_type", offsetof(struct hyp_event_header, type), 2, false },
	{ "unsigned char", "common_flags", offsetof(struct hyp_event_header, flags), 1, false },
	{ "unsigned char", "common_preempt_count",
	  offsetof(struct hyp_event_header, preempt_count), 1, false },
	{ "int", "common_pid", offsetof(struct hyp_event_header, pid), 4, true },
	{ }
};

static_assert(sizeof(struct hyp_event_header) == sizeof(struct trace_entry));
static_assert(offsetof(struct hyp_event_header, pid) == offsetof(struct trace_entry, pid));

/* First reading: the fields, as the compiler lays them out. */
#define he_field(ftype, fname)						\
	HE_FIELD(typeof(*record), #ftype, fname, #fname, is_signed_type(ftype)),
#define he_array(ftype, fname, len)					\
	HE_FIELD(typeof(*record), #ftype, fname, #fname "[" #len "]", is_signed_type(ftype)),
#define he_string(fname, src)						\
	HE_FIELD(typeof(*record), "__data_loc char[]", __data_loc_##fname, #fname, false),
#define he_bitmask(fname, nr_bits)					\
	HE_FIELD(typeof(*record), "__data_loc unsigned long[]", __data_loc_##fname, #fname, false),
#define HYP_EVENT(name, proto, struct_fields, assign, printk)			\
static const struct hyp_event_field *hyp_event_fields_##name(void)		\
{										\
	struct hyp_event_##name *record __maybe_unused;				\
	static const struct hyp_event_field fields[] = { struct_fields { } };	\
										\
	return fields;								\
}
#include <asm/kvm_hypevents.h>

/* Second reading: print fmt, in the words of user space's parsers. */
#define __entry			REC
#define HE_PRINTK(fmt, args...)	"\"" fmt "\", " __stringify(args)
#define HYP_EVENT(name, proto, struct_fields, assign, printk)	\
static char hyp_event_print_fmt_##name[] = printk;
#include <asm/kvm_hypevents.h>

/* Third reading: is what stands behind the structure in the record? */
static bool hyp_event_tail_is_valid(const struct trace_iterator *iter, u32 loc)
{
	return (loc & 0xffff) + (loc >> 16) <= iter->ent_size;
}

static bool hyp_event_string_is_valid(const struct trace_iterator *iter, u32 loc)
{
	const char *str = (const char *)iter->ent + (loc & 0xffff);

	return hyp_event_tail_is_valid(iter, loc) && loc >> 16 && !str[(loc >> 16) - 1];
}

/* It is printed by the long. */
static bool __maybe_unused hyp_event_bitmask_is_valid(const struct trace_iterator *iter, u32 loc)
{
	return hyp_event_tail_is_valid(iter, loc) && !((loc >> 16) % sizeof(long));
}

#define he_string(name, src)						\
	valid = valid && hyp_event_string_is_valid(iter, record->__data_loc_##name);
#define he_bitmask(name, nr_bits)					\
	valid = valid && hyp_event_bitmask_is_valid(iter, record->__data_loc_##name);
#define HYP_EVENT(name, proto, struct_fields, assign, printk)		\
static bool hyp_event_is_valid_##name(const struct trace_iterator *iter)	\
{									\
	const struct hyp_event_##name *record = (const void *)iter->ent;	\
	bool valid = iter->ent_size >= sizeof(*record);			\
									\
	struct_fields							\
	return valid;							\
}
#include <asm/kvm_hypevents.h>

/* Fourth reading: the functions that print, with the host's own helpers. */
#include <trace/stages/stage3_trace_output.h>

#define HE_PRINTK(fmt, args...)	fmt "\n", ##args
#define HYP_EVENT(name, proto, struct_fields, assign, printk)			\
static enum print_line_t							\
hyp_event_print_##name(struct trace_iterator *iter, int flags,			\
		       struct trace_event *event)				\
{										\
	struct trace_seq *p __maybe_unused = &iter->tmp_seq;			\
	struct hyp_event_##name *field __maybe_unused = (void *)iter->ent;	\
										\
	if (!hyp_event_is_valid_##name(iter))					\
		return TRACE_TYPE_UNHANDLED;					\
										\
	trace_seq_init(p);							\
	trace_seq_printf(&iter->seq, #name ": " printk);			\
	return trace_handle_return(&iter->seq);					\
}										\
										\
static struct trace_event_functions hyp_event_funcs_##name = {			\
	.trace	= hyp_event_print_##name,					\
};
#include <asm/kvm_hypevents.h>

/*
 * Fifth reading: what the host's own events/ shows. No reg(): the host can't
 * enable them, neither there nor for perf.
 */
#define HE_HOST_FIELD(ftype, fname, fsize, falign, sign, flen)	\
	{						\
		.type		= ftype,		\
		.name		= fname,		\
		.size		= fsize,		\
		.align		= falign,		\
		.is_signed	= sign,			\
		.filter_type	= FILTER_OTHER,		\
		.len		= flen,			\
	},
#define HE_ALIGN(ftype)		__alignof__(struct { ftype b; })

#define he_field(ftype, fname)						\
	HE_HOST_FIELD(#ftype, #fname, sizeof(ftype), HE_ALIGN(ftype), is_signed_type(ftype), 0)
#define he_array(ftype, fname, len)					\
	HE_HOST_FIELD(#ftype "[" #len "]", #fname, sizeof(ftype) * (len), HE_ALIGN(ftype), \
		      is_signed_type(ftype), len)
#define he_string(fname, src)						\
	HE_HOST_FIELD("__data_loc char[]", #fname, sizeof(u32), HE_ALIGN(u32), false, 0)
#define he_bitmask(fname, nr_bits)					\
	HE_HOST_FIELD("__data_loc unsigned long[]", #fname, sizeof(u32), HE_ALIGN(u32), false, 0)
#define HYP_EVENT(name, proto, struct_fields, assign, printk)	\
static struct trace_event_fields hyp_event_host_fields_##name[] = {	\
	struct_fields						\
	{ }							\
};								\
								\
static struct trace_event_class hyp_event_class_##name = {	\
	.system		= HYP_EVENT_GROUP,			\
	.fields_array	= hyp_event_host_fields_##name,		\
	.fields		= LIST_HEAD_INIT(hyp_event_class_##name.fields),	\
	.raw_init	= trace_event_raw_init,			\
};
#include <asm/kvm_hypevents.h>

/* Sixth: the events, all of them on at first. */
#define HYP_EVENT(ename, proto, struct_fields, assign, printk)	\
	[HYP_EVENT_##ename] = {					\
		.call = {					\
			.class		= &hyp_event_class_##ename,	\
			.name		= #ename,		\
			.event.funcs	= &hyp_event_funcs_##ename,	\
			.print_fmt	= hyp_event_print_fmt_##ename,	\
		},						\
		.enabled	= true,				\
	},
static struct hyp_event hyp_events[] = {
#include <asm/kvm_hypevents.h>
};

/* Seventh: what an initialiser can't hold. */
#define HYP_EVENT(name, proto, struct_fields, assign, printk)	\
	hyp_events[HYP_EVENT_##name].fields = hyp_event_fields_##name();
static void __init hyp_events_init_fields(void)
{
#include <asm/kvm_hypevents.h>
}

/* Covers hyp_event.enabled and hyp_events_on, and that EL2 agrees. */
static DEFINE_MUTEX(hyp_events_lock);
static bool hyp_events_on;

/*
 * Update EL2 in one batch, however many events have changed: a hypercall sets the state of
 * an event, and after these all stale sites are patched, each page of code once.
 *
 * A state is set also if EL2 has it: a hypercall that sets it is cheaper than to trust
 * that nothing else in the kernel has made one.
 */
static int hyp_events_update(void)
{
	DECLARE_BITMAP(on, NR_HYP_EVENTS) = { };
	int i, ret;

	lockdep_assert_held(&hyp_events_lock);

	for (i = 0; i < NR_HYP_EVENTS; i++) {
		bool is_on = hyp_events_on && hyp_events[i].enabled;

		__assign_bit(i, on, is_on);
		ret = hyp_trace_hypcall(__hyp_trace_set_event, i,
					is_on ? hyp_events[i].call.event.type : 0);
		if (ret)
			return ret;
	}

	return hyp_event_sites_patch(on);
}

/**
 * hyp_events_stop - turn all events off at EL2
 *
 * Which of them the user enabled is kept.
 *
 * Context: process context, may sleep.
 */
void hyp_events_stop(void)
{
	guard(mutex)(&hyp_events_lock);
	hyp_events_on = false;
	WARN_ON_ONCE(hyp_events_update());
}

/**
 * hyp_events_start - turn on the events that the user enabled
 *
 * Context: process context, may sleep.
 * Return: 0, or what EL2 refused with; then all are off.
 */
int hyp_events_start(void)
{
	int ret;

	scoped_guard(mutex, &hyp_events_lock) {
		hyp_events_on = true;
		ret = hyp_events_update();
	}

	if (ret)
		hyp_events_stop();
	return ret;
}

static struct hyp_event *hyp_event_find(int id)
{
	int i = id - hyp_events[0].call.event.type;

	/* They come one after the other, unless the host was short of ids. */
	if (i >= 0 && i < NR_HYP_EVENTS && hyp_events[i].call.event.type == id)
		return &hyp_events[i];

	for (i = 0; i < NR_HYP_EVENTS; i++) {
		if (hyp_events[i].call.event.type == id)
			return &hyp_events[i];
	}

	return NULL;
}

/**
 * hyp_event_get - the events, one by one
 * @nr:		which, from 0
 *
 * Return: the event; NULL when there are no more.
 */
struct hyp_event *hyp_event_get(unsigned int nr)
{
	return nr < NR_HYP_EVENTS ? &hyp_events[nr] : NULL;
}

/**
 * hyp_event_nr - which event it is
 * @event:	the event
 *
 * Return: its place in the catalogue, for hyp_event_get().
 */
unsigned int hyp_event_nr(const struct hyp_event *event)
{
	return event - hyp_events;
}

/**
 * hyp_events_mark - enable events, or disable them, from the next hyp_events_apply() on
 * @event:	the event; NULL for all
 * @enable:	which of the two
 *
 * Context: process context.
 */
void hyp_events_mark(const struct hyp_event *event, bool enable)
{
	int i;

	guard(mutex)(&hyp_events_lock);

	for (i = 0; i < NR_HYP_EVENTS; i++) {
		if (!event || event == &hyp_events[i])
			hyp_events[i].enabled = enable;
	}
}

/**
 * hyp_events_apply - have EL2 write the events that are enabled, if tracing is on
 *
 * Each CPU writes an event that was enabled from its next entry into EL2 on. One that was
 * disabled may still come from a CPU that was writing it.
 *
 * Context: process context.
 * Return: 0, or what EL2 refused with.
 */
int hyp_events_apply(void)
{
	guard(mutex)(&hyp_events_lock);

	/* EL2 has all of them off as long as tracing is. */
	return hyp_events_on ? hyp_events_update() : 0;
}

/**
 * hyp_events_enable - enable events, or disable them
 * @event:	the event; NULL for all
 * @enable:	which of the two
 *
 * Context: process context.
 * Return: as hyp_events_apply().
 */
int hyp_events_enable(const struct hyp_event *event, bool enable)
{
	hyp_events_mark(event, enable);
	return hyp_events_apply();
}

/**
 * hyp_event_is_enabled - did the user enable an event?
 * @event:	the event
 *
 * Context: process context.
 * Return: whether they did.
 */
bool hyp_event_is_enabled(const struct hyp_event *event)
{
	guard(mutex)(&hyp_events_lock);
	return event->enabled;
}

static void hyp_event_print_lost(struct trace_iterator *iter)
{
	if (iter->lost_events == ULONG_MAX)
		trace_seq_printf(&iter->seq, "CPU:%d [LOST EVENTS]\n", iter->cpu);
	else if (iter->lost_events)
		trace_seq_printf(&iter->seq, "CPU:%d [LOST %lu EVENTS]\n", iter->cpu,
				 iter->lost_events);
}

/* %0*u; returns what is behind it. */
static char *hyp_event_put_digits(char *p, unsigned int width, u32 num)
{
	char *end = p + width;

	while (width--) {
		p[width] = '0' + num % 10;
		num /= 10;
	}

	return end;
}

/* Room for "[%03d] %5llu.%06u: " with the largest numbers */
#define HYP_EVENT_CONTEXT	48

/* What a line begins with. By hand: to print it was half of what a line took. */
static void hyp_event_print_context(struct trace_iterator *iter)
{
	struct seq_buf *seq = &iter->seq.seq;
	u64 us = hyp_trace_us(iter->ts);
	u32 rem = do_div(us, USEC_PER_SEC);
	char *begin, *p;

	if (iter->seq.full || seq_buf_get_buf(seq, &begin) < HYP_EVENT_CONTEXT) {
		iter->seq.full = 1;
		return;
	}

	p = begin;
	*p++ = '[';
	if (iter->cpu < 1000)
		p = hyp_event_put_digits(p, 3, iter->cpu);
	else
		p += num_to_str(p, 10, iter->cpu, 0);
	*p++ = ']';
	*p++ = ' ';
	p += num_to_str(p, 20, us, 5);
	*p++ = '.';
	p = hyp_event_put_digits(p, 6, rem);
	*p++ = ':';
	*p++ = ' ';
	seq_buf_commit(seq, p - begin);
}

/**
 * hyp_event_print - print a line for a record, and what was lost before it
 * @iter:	where to, @iter->seq; the record is @iter->ent, of @iter->ent_size
 *		bytes, from @iter->cpu at @iter->ts; NULL for none
 *
 * Context: any in which @iter can't be used by others.
 * Return: whether the line fit, as for the host's events.
 */
enum print_line_t hyp_event_print(struct trace_iterator *iter)
{
	struct hyp_event_header *header = (void *)iter->ent;
	enum print_line_t ret = TRACE_TYPE_UNHANDLED;
	struct trace_seq *s = &iter->seq;
	struct hyp_event *event = NULL;

	hyp_event_print_lost(iter);
	if (!header)
		return trace_handle_return(s);

	hyp_event_print_context(iter);
	if (iter->ent_size >= sizeof(*header))
		event = hyp_event_find(header->type);
	if (event)
		ret = event->call.event.funcs->trace(iter, 0, &event->call.event);
	if (ret != TRACE_TYPE_UNHANDLED)
		return ret;

	/* Not a record of ours: the pages are shared, and not only with us. */
	trace_seq_printf(s, "unknown record of %d bytes\n", iter->ent_size);
	return trace_handle_return(s);
}

static void __init hyp_events_unregister(int nr)
{
	while (nr--)
		trace_remove_remote_event(&hyp_events[nr].call);
}

/**
 * hyp_events_init - make the events known to the host
 *
 * The ids come from where the host's events have theirs; and each is in the
 * host's own events/, where programs that record traces look for formats.
 *
 * Return: 0, or what trace_add_remote_event() returns.
 */
int __init hyp_events_init(void)
{
	int i, ret;

	hyp_events_init_fields();

	for (i = 0; i < NR_HYP_EVENTS; i++) {
		ret = trace_add_remote_event(&hyp_events[i].call);
		if (ret) {
			hyp_events_unregister(i);
			return ret;
		}
	}

	return 0;
}

/**
 * hyp_events_exit - undo hyp_events_init()
 */
void __init hyp_events_exit(void)
{
	hyp_events_unregister(NR_HYP_EVENTS);
}
