/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef __HYPTRACE_LINUX_COMPILER_H
#define __HYPTRACE_LINUX_COMPILER_H

#include <sys/cdefs.h>

#include <shim.h>

#define noinline		__attribute_noinline__
#define shim_aligned(bytes)	__aligned__(bytes)
#define __aligned(bytes)	__attribute__((shim_aligned(bytes)))
#define likely(x)		__builtin_expect(!!(x), 1)
#define unlikely(x)		__builtin_expect(!!(x), 0)
#define OPTIMIZER_HIDE_VAR(var)	({ asm ("" : "+r" (var)); })
#define shim_format(a, b)	__format__(__printf__, a, b)
#define __printf(a, b)		__attribute__((shim_format(a, b)))

#define READ_ONCE(x)		shim_load(&(x), RELAXED)
#define WRITE_ONCE(x, value)	shim_store(&(x), value, RELAXED)

#endif /* __HYPTRACE_LINUX_COMPILER_H */
