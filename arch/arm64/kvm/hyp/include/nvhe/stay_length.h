/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How long the stay took that hyp_exit ends: see stay_length.c.
 */
#ifndef __ARM64_KVM_HYP_NVHE_STAY_LENGTH_H
#define __ARM64_KVM_HYP_NVHE_STAY_LENGTH_H

#include <linux/types.h>

#include <asm/kvm_hypevents_defs.h>

struct hyp_trace_cpu;

bool hyp_stay_length_is_used(void);
void hyp_stay_length_start(void);
const void *hyp_stay_length_add(struct hyp_trace_cpu *cpu, unsigned long nr, const void *record,
				u64 count, struct hyp_event_values_hyp_exit *values);

#endif /* __ARM64_KVM_HYP_NVHE_STAY_LENGTH_H */
