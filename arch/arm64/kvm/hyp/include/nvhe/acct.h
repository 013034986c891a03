/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Accounting for the time at EL2: what the host asks of it. See acct.c.
 */
#ifndef __ARM64_KVM_HYP_NVHE_ACCT_H
#define __ARM64_KVM_HYP_NVHE_ACCT_H

#include <linux/types.h>

struct kvm_cpu_context;

int hyp_acct_prepare(u64 cpu, u64 mult);
int hyp_acct_enable(bool on);
int hyp_acct_read(u64 cpu, u64 pfn, u64 first, bool clear);
int hyp_acct_set_threshold(u64 cycles);

void handle___hyp_acct_prepare(struct kvm_cpu_context *host_ctxt);
void handle___hyp_acct_enable(struct kvm_cpu_context *host_ctxt);
void handle___hyp_acct_read(struct kvm_cpu_context *host_ctxt);
void handle___hyp_acct_set_threshold(struct kvm_cpu_context *host_ctxt);

#endif /* __ARM64_KVM_HYP_NVHE_ACCT_H */
