/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The table of arguments of system calls that point to characters: for trace_syscalls_table.c
 * and its test. It is there until the kernel has booted.
 */
#ifndef _KERNEL_TRACE_SYSCALLS_TABLE_H
#define _KERNEL_TRACE_SYSCALLS_TABLE_H

#include <linux/init.h>
#include <linux/kconfig.h>
#include <linux/types.h>

struct syscall_metadata;

enum syscall_arg_kind {
	STRING,		/* ends in a NUL */
	STRING_SIZED,	/* ends in a NUL, or after as many bytes as another argument says */
	STRING_ARRAY,	/* strings, up to a NULL */
	DATA,		/* is no string; or an environment, which may have secrets */
	OUTPUT,		/* is written by the system call */
	ADDRESS,	/* is not accessed */
};

struct syscall_arg {
	const char *call;	/* NULL ends the table */
	const char *arg;
	enum syscall_arg_kind kind;
	const char *length;	/* of STRING_SIZED: the argument that has its length */
};

#if IS_ENABLED(CONFIG_KUNIT)
extern const struct syscall_arg syscall_args[];

bool __init syscall_is_call(const struct syscall_metadata *meta, const char *call);
const struct syscall_arg * __init syscall_find_arg(const struct syscall_metadata *meta,
						   const char *arg);
#endif

#endif
