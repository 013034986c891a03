/* SPDX-License-Identifier: GPL-2.0 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM faultable_atomic
#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE faultable_atomic

#if !defined(_FAULTABLE_ATOMIC_H) || defined(TRACE_HEADER_MULTI_READ)
#define _FAULTABLE_ATOMIC_H

#include <linux/tracepoint.h>

DECLARE_TRACE_SYSCALL(faultable_atomic, TP_PROTO(int value), TP_ARGS(value));

#endif /* _FAULTABLE_ATOMIC_H */

#include <trace/define_trace.h>
