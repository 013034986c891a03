/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What KVM asks of arch/arm64/kvm/hyp_trace/.
 */
#ifndef __ARM64_KVM_HYPTRACE_H
#define __ARM64_KVM_HYPTRACE_H

#ifdef CONFIG_KVM_HYP_TRACING_DUMP
void hyp_trace_dump_panic(void);
#else
static inline void hyp_trace_dump_panic(void)
{
}
#endif

#endif /* __ARM64_KVM_HYPTRACE_H */
