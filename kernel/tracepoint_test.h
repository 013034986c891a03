/* SPDX-License-Identifier: GPL-2.0 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM tracepoint_test
#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH ../../kernel
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE tracepoint_test

#if !defined(_TRACEPOINT_TEST_H) || defined(TRACE_HEADER_MULTI_READ)
#define _TRACEPOINT_TEST_H

#include <linux/tracepoint.h>

DECLARE_TRACE(tp_test_plain, TP_PROTO(int value), TP_ARGS(value));

DECLARE_TRACE_SYSCALL(tp_test_faultable, TP_PROTO(int value), TP_ARGS(value));

#endif /* _TRACEPOINT_TEST_H */

#include <trace/define_trace.h>
