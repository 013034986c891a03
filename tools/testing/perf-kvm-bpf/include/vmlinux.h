/* SPDX-License-Identifier: GPL-2.0 */
/* In place of the kernel's types, for BPF programs in user space */
#ifndef __VMLINUX_H
#define __VMLINUX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uint8_t u8;
typedef uint16_t u16, __u16;
typedef uint32_t u32;
typedef int32_t s32;
typedef uint64_t u64;

#undef __always_inline
#define __always_inline	inline __attribute__((always_inline))

enum {
	BPF_MAP_TYPE_HASH = 1,
	BPF_MAP_TYPE_LRU_HASH = 9,
	BPF_MAP_TYPE_ARRAY_OF_MAPS = 12,
};

enum {
	BPF_ANY,
	BPF_NOEXIST,
};

#endif /* __VMLINUX_H */
