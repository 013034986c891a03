/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The records of EL2's function tracers, the last part of the event list in asm/kvm_hypevents.h.
 * They are laid out as those of the kernel's own tracers, and have the ids of these. To EL2 each is
 * an event as any other. User space has no files of them, but for their formats.
 */

#ifndef HYP_TRACER_EVENT
#define HYP_TRACER_EVENT	HYP_EVENT
#endif

/* The tracer function: a function is entered. struct ftrace_entry */
HYP_TRACER_EVENT(function,
	HE_PROTO(u64 ip, u64 parent_ip),
	HE_STRUCT(
		he_field(u64, ip)
		he_field(u64, parent_ip)
	),
	HE_ASSIGN(
		__entry->ip = ip;
		__entry->parent_ip = parent_ip;
	),
	HE_PRINTK("")
)

/* The tracer function_graph: a function is entered. struct ftrace_graph_ent_entry is packed. */
HYP_TRACER_EVENT(funcgraph_entry,
	HE_PROTO(u64 func, s32 depth),
	HE_STRUCT(
		he_array(u32, func, 2)
		he_field(s32, depth)
	),
	HE_ASSIGN(
		__entry->func[0] = func;
		__entry->func[1] = func >> 32;
		__entry->depth = depth;
	),
	HE_PRINTK("")
)

/*
 * The tracer function_graph: a function returns. struct ftrace_graph_ret. What it returns may be an
 * address of EL2: 0 in place of it.
 */
#ifdef CONFIG_FUNCTION_GRAPH_RETVAL
#define HYP_GRAPH_RETVAL	he_field(u64, retval)
#else
#define HYP_GRAPH_RETVAL
#endif
HYP_TRACER_EVENT(funcgraph_exit,
	HE_PROTO(u64 func, s32 depth, u32 overrun, u64 calltime, u64 rettime),
	HE_STRUCT(
		he_field(u64, func)
		HYP_GRAPH_RETVAL
		he_field(s32, depth)
		he_field(u32, overrun)
		he_field(u64, calltime)
		he_field(u64, rettime)
	),
	HE_ASSIGN(
		__entry->func = func;
		__entry->depth = depth;
		__entry->overrun = overrun;
		__entry->calltime = calltime;
		__entry->rettime = rettime;
	),
	HE_PRINTK("")
)
#undef HYP_GRAPH_RETVAL
