/* SPDX-License-Identifier: GPL-2.0-only */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM host_event

#if !defined(__HOST_EVENT_H) || defined(TRACE_HEADER_MULTI_READ)
#define __HOST_EVENT_H

#include <linux/tracepoint.h>

TRACE_EVENT(host_event,
	TP_PROTO(u64 id),
	TP_ARGS(id),
	TP_STRUCT__entry(
		__field(u64, id)
	),
	TP_fast_assign(
		__entry->id = id;
	),
	TP_printk("id=%llu", __entry->id)
);

#endif /* __HOST_EVENT_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE host_event
#include <trace/define_trace.h>
