/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * bstr_printf() in user space: see bstr.c.
 */
#ifndef __HYPTRACE_BSTR_H
#define __HYPTRACE_BSTR_H

int bstr_printf(char *buf, size_t size, const char *fmt, const u32 *args);

#endif /* __HYPTRACE_BSTR_H */
