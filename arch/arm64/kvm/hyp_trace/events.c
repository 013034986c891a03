// SPDX-License-Identifier: GPL-2.0-only
/*
 * The hypervisor's events: what the host makes of the event list
 *
 * Of each entry of asm/kvm_hypevents.h the host makes the description of its record, and a
 * function that prints one.
 */
#include <linux/ftrace.h>
#include <linux/trace_events.h>
#include <linux/trace_seq.h>

#include <asm/kvm_hypevents_defs.h>

#include "event_names.h"
#include "hyp_trace.h"
#include "printk.h"

static_assert(sizeof(struct hyp_event_header) == sizeof(struct trace_entry));
static_assert(offsetof(struct hyp_event_header, pid) == offsetof(struct trace_entry, pid));

#ifdef CONFIG_KVM_HYP_FUNCTION_TRACER
/* The records of tracers are the kernel's own, and tracing knows them. */
#define HYP_RECORD_SIZE(name)	\
	(sizeof(struct hyp_event_##name) - sizeof(struct hyp_event_header))

static_assert(HYP_RECORD_SIZE(function) == 2 * sizeof(unsigned long));
static_assert(HYP_RECORD_SIZE(funcgraph_entry) == sizeof(struct ftrace_graph_ent));
static_assert(HYP_RECORD_SIZE(funcgraph_exit) == sizeof(struct ftrace_graph_ret));
static_assert(offsetof(struct hyp_event_funcgraph_exit, rettime) -
	      sizeof(struct hyp_event_header) == offsetof(struct ftrace_graph_ret, rettime));

#undef HYP_TRACER_EVENT
#define HYP_TRACER_EVENT(name, proto, struct_fields, assign, printk)
#endif

/* Stage 1: print fmt, in the words of user space's parsers. */
#define __entry			REC
#define __print_named(field, names...)	__print_symbolic(__entry->field, names)
#define __print_function(field)		(void *)__entry->field
#define HE_FUNCTION			"%ps"
#define __get_text(fmt, buf)	REC->fmt
#define HE_PRINTK(fmt, args...)	"\"" fmt "\", " __stringify(args)
#define HYP_EVENT(name, proto, struct_fields, assign, printk)	\
static char hyp_event_print_fmt_##name[] = printk;
#include <asm/kvm_hypevents.h>
#undef __print_named
#undef __print_function
#undef HE_FUNCTION
#undef __get_text

/* Stage 2: is what stands behind the structure in the record? */
static bool hyp_event_tail_is_valid(const struct trace_iterator *iter, u32 loc)
{
	return (loc & 0xffff) + (loc >> 16) <= iter->ent_size;
}

static bool __maybe_unused hyp_event_string_is_valid(const struct trace_iterator *iter, u32 loc)
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

/*
 * Stage 3: the functions that print, with the host's own helpers. The compiler checks that the
 * text has the names of the field's description: filters have these.
 */
#include <trace/stages/stage3_trace_output.h>

#define __print_named(fname, names...)						\
({										\
	BUILD_BUG_ON(__builtin_strcmp(names_of_##fname, __stringify(names)));	\
	__print_symbolic(__entry->fname, names);				\
})
#define __print_function(fname)	hyp_func_print(p, __entry->fname)
#define HE_FUNCTION		"%s"
#define __get_text(fmt, buf)							\
	hyp_printk_text(p->buffer, HYP_EVENT_MAX_STRING, field, iter->ent_size)
#define he_named(type, fname, names...)						\
	static const char names_of_##fname[] __maybe_unused = __stringify(names);
#define he_field(type, name)
#define HE_PRINTK(fmt, args...)	fmt, ##args
#define HYP_EVENT(name, proto, struct_fields, assign, printk)			\
static enum print_line_t							\
hyp_event_print_##name(struct trace_iterator *iter, int flags,			\
		       struct trace_event *event)				\
{										\
	struct trace_seq *p __maybe_unused = &iter->tmp_seq;			\
	struct hyp_event_##name *field __maybe_unused = (void *)iter->ent;	\
	struct_fields								\
										\
	if (!hyp_event_is_valid_##name(iter))					\
		return TRACE_TYPE_UNHANDLED;					\
										\
	trace_seq_init(p);							\
	trace_seq_printf(&iter->seq, #name " " printk);			\
	trace_seq_putc(&iter->seq, '\n');				\
	return trace_handle_return(&iter->seq);					\
}										\
										\
static struct trace_event_functions hyp_event_funcs_##name = {			\
	.trace	= hyp_event_print_##name,					\
};
#include <asm/kvm_hypevents.h>

/*
 * Stage 4: the fields, as the compiler lays them out. No reg(): neither the top level's
 * events/ nor perf can enable the events.
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
#define he_printk(fmt, buf)						\
	HE_HOST_FIELD("const char *", #fmt, sizeof(u64), HE_ALIGN(u64), false, 0)	\
	HE_HOST_FIELD("u32[]", #buf, 0, HE_ALIGN(u32), false, 0)
#define HYP_EVENT(name, proto, struct_fields, assign, printk)	\
static struct trace_event_fields hyp_event_host_fields_##name[] = {	\
	struct_fields						\
	{ }							\
};								\
								\
static struct trace_event_class hyp_event_class_##name = {	\
	.system		= "hypervisor",			\
	.fields_array	= hyp_event_host_fields_##name,		\
	.fields		= LIST_HEAD_INIT(hyp_event_class_##name.fields),	\
	.raw_init	= trace_event_raw_init,			\
};
#include <asm/kvm_hypevents.h>

#define he_value(ftype, fname)						\
	HE_HOST_FIELD(#ftype, #fname, sizeof(ftype), HE_ALIGN(ftype), is_signed_type(ftype), 0)
#define HYP_EVENT(name, proto, struct_fields, assign, printk)	\
static const struct trace_event_fields hyp_event_values_##name[] = {	\
	struct_fields						\
	{ }							\
};
#include <asm/kvm_hypevents.h>

/* Stage 5: the names that numbers have in filters */
#define he_field(type, name)
#define he_named(type, fname, nrs_and_names...)					\
	{									\
		.field	= #fname,						\
		.names	= (const struct trace_print_flags[]){ nrs_and_names, { } },	\
	},
#define HYP_EVENT(name, proto, struct_fields, assign, printk)	\
static const struct trace_remote_names hyp_event_names_##name[] = {	\
	struct_fields						\
	{ }							\
};
#include <asm/kvm_hypevents.h>

/* Stage 6: the events */
#ifdef CONFIG_KVM_HYP_FUNCTION_TRACER
#define HYP_EVENT_IS_FUNCTION(nr)	((nr) == HYP_EVENT_func || (nr) == HYP_EVENT_func_ret)
#else
#define HYP_EVENT_IS_FUNCTION(nr)	false
#endif
#define HYP_EVENT(ename, proto, struct_fields, assign, printk)	\
	[HYP_EVENT_##ename] = {					\
		.call = {					\
			.class		= &hyp_event_class_##ename,	\
			.name		= #ename,		\
			.event.funcs	= &hyp_event_funcs_##ename,	\
			.print_fmt	= hyp_event_print_fmt_##ename,	\
		},						\
		.names	= hyp_event_names_##ename,		\
		.values	= hyp_event_values_##ename,		\
		.is_bprint = HYP_EVENT_##ename == HYP_EVENT_hyp_printk,	\
		.is_function = HYP_EVENT_IS_FUNCTION(HYP_EVENT_##ename),	\
	},
struct trace_remote_event hyp_events[] = {
#include <asm/kvm_hypevents.h>
};
