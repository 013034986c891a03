/* SPDX-License-Identifier: GPL-2.0 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM trace_remote

#if !defined(_TRACE_TRACE_REMOTE_H) || defined(TRACE_HEADER_MULTI_READ)
#define _TRACE_TRACE_REMOTE_H

#include <linux/tracepoint.h>

int trace_remote_record_reg(void);
void trace_remote_record_unreg(void);

/*
 * A record of a remote. It comes some time after the remote wrote it, from a work of the kernel:
 * @time, @cpu and @data are the remote's, all else is of that work. @data is a copy that the remote
 * can't change, as long as its format says at the least: offsets in it are those of the format
 * file of @event.
 */
TRACE_EVENT_FN(trace_remote_record,

	TP_PROTO(const char *remote, int cpu, u64 time, unsigned long lost, unsigned int id,
		 const char *event, const void *data, unsigned int size),

	TP_ARGS(remote, cpu, time, lost, id, event, data, size),

	TP_STRUCT__entry(
		__field(__u64,		time)
		__field(unsigned long,	lost)
		__field(int,		cpu)
		__field(unsigned int,	id)
		__string(remote,	remote)
		__string(event,		event)
		__dynamic_array(__u8,	data,	size)
	),

	TP_fast_assign(
		__entry->time	= time;
		__entry->lost	= lost;
		__entry->cpu	= cpu;
		__entry->id	= id;
		__assign_str(remote);
		__assign_str(event);
		memcpy(__get_dynamic_array(data), data, size);
	),

	TP_printk("remote=%s cpu=%d time=%llu lost=%lu id=%u event=%s data=%s", __get_str(remote),
		  __entry->cpu, __entry->time, __entry->lost, __entry->id, __get_str(event),
		  __print_hex_str(__get_dynamic_array(data), __get_dynamic_array_len(data))),

	trace_remote_record_reg, trace_remote_record_unreg
);

#endif /* _TRACE_TRACE_REMOTE_H */

/* This part must be outside protection */
#include <trace/define_trace.h>
