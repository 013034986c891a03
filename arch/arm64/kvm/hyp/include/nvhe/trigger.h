/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Events that turn tracing off or on: see trigger.c.
 */
#ifndef __ARM64_KVM_HYP_NVHE_TRIGGER_H
#define __ARM64_KVM_HYP_NVHE_TRIGGER_H

#include <linux/types.h>

struct hyp_trace_cpu;

int hyp_trigger_set(unsigned long nr, u64 action, u64 count, u64 nr_preds);
u64 hyp_trigger_count(unsigned long nr);
bool hyp_trigger_fire(struct hyp_trace_cpu *cpu, unsigned long nr, u32 action, const void *values);

#endif /* __ARM64_KVM_HYP_NVHE_TRIGGER_H */
