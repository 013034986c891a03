/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef __HYPTRACE_LINUX_ATOMIC_H
#define __HYPTRACE_LINUX_ATOMIC_H

#include <asm/barrier.h>
#include <asm/cmpxchg.h>

#endif /* __HYPTRACE_LINUX_ATOMIC_H */
