/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef __HYPTRACE_LINUX_UNALIGNED_H
#define __HYPTRACE_LINUX_UNALIGNED_H

#include <string.h>

#define get_unaligned(p) ({						\
	__typeof__(*(p) + 0) __value;					\
									\
	memcpy(&__value, p, sizeof(*(p)));				\
	__value;							\
})

#endif /* __HYPTRACE_LINUX_UNALIGNED_H */
