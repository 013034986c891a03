/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _KERNEL_TRACE_SYSCALLS_TEXT_H
#define _KERNEL_TRACE_SYSCALLS_TEXT_H

#include <linux/init.h>
#include <linux/types.h>

struct syscall_metadata;
struct syscall_trace_enter;

/* All that the kernel has, until it has booted */
extern struct syscall_metadata *__start_syscalls_metadata[];
extern struct syscall_metadata *__stop_syscalls_metadata[];

/* No system call has more strings than that. */
#define SYSCALL_TEXTS		3

/* Bytes of each text, with the NUL at its end: see syscall_user_buf_size. */
#define SYSCALL_TEXT_MIN	16
#define SYSCALL_TEXT_MAX	256
#define SYSCALL_TEXT_DEFAULT	128

/*
 * The texts of a system call's arguments, on their way from user memory to an event. Reading
 * them may sleep, so no buffer of a CPU can hold them. The stack can: at the entry of a
 * system call little of it is used.
 */
struct syscall_texts {
	unsigned int nr;
	unsigned int len[SYSCALL_TEXTS];	/* with the NUL */
	char text[SYSCALL_TEXTS][SYSCALL_TEXT_MAX];
};

void __init syscall_find_texts(struct syscall_metadata *meta);
void syscall_read_texts(struct syscall_texts *texts, const struct syscall_metadata *meta,
			const unsigned long *args, unsigned int size);
unsigned int syscall_texts_size(const struct syscall_texts *texts);
void syscall_store_texts(struct syscall_trace_enter *entry, int nb_args,
			 const struct syscall_texts *texts);
const char *syscall_text(const struct syscall_trace_enter *entry, int nb_args, int nr);

#endif
