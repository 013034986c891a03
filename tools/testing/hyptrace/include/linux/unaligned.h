/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef __HYPTRACE_LINUX_UNALIGNED_H
#define __HYPTRACE_LINUX_UNALIGNED_H

#include <string.h>

#include <linux/types.h>

static inline u64 get_unaligned_u64(const void *from)
{
	u64 value;

	memcpy(&value, from, sizeof(value));
	return value;
}

/* Of 64-bit numbers alone, which is all that is needed here */
#define get_unaligned(from)	get_unaligned_u64(from)

#endif /* __HYPTRACE_LINUX_UNALIGNED_H */
