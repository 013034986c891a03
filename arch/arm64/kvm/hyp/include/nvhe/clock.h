/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The host's boot clock at EL2: see clock.c.
 */
#ifndef __ARM64_KVM_HYP_NVHE_CLOCK_H
#define __ARM64_KVM_HYP_NVHE_CLOCK_H

#include <linux/types.h>

u64 hyp_trace_clock(void);
int hyp_trace_clock_set(u64 mult, u64 shift, u64 epoch_ns, u64 epoch_cycles);

#endif /* __ARM64_KVM_HYP_NVHE_CLOCK_H */
