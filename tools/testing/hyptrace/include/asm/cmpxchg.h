/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef __HYPTRACE_ASM_CMPXCHG_H
#define __HYPTRACE_ASM_CMPXCHG_H

#include <shim.h>

#define try_cmpxchg(p, old, new)	shim_exchange(p, old, new)

#endif /* __HYPTRACE_ASM_CMPXCHG_H */
