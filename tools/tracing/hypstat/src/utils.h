/* SPDX-License-Identifier: GPL-2.0 */
#ifndef HYPSTAT_UTILS_H
#define HYPSTAT_UTILS_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/compiler.h>
#include <linux/types.h>

/* The exit status of a command that could not do its work, as rtla has it */
#define STATUS_ERROR	1

void __printf(1, 2) err_msg(const char *fmt, ...);
void __printf(1, 2) __noreturn die(const char *fmt, ...);
void quiet_libraries(void);
void *xcalloc(size_t nr, size_t size);
void *xrealloc(void *memory, size_t size);
char *read_file(int dir, const char *name);
bool write_file(int dir, const char *name, const char *text);
void hyp_write(int dir, const char *name, const char *text);
char *hyp_read(int dir, const char *name);
u64 now_ns(void);
long parse_seconds_duration(const char *text);
long parse_duration(const char *text);
u32 parse_stop(const char *text);
void __noreturn usage(const char * const *lines, int status);

#endif
