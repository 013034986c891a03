/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Accounting for the time at EL2: the statistics of a vCPU. See hyp_trace/vcpu_acct.c.
 */
#ifndef __ARM64_KVM_HYPACCT_VCPU_H
#define __ARM64_KVM_HYPACCT_VCPU_H

#include <linux/arm-smccc.h>
#include <linux/compiler.h>
#include <linux/percpu.h>
#include <linux/types.h>

#include <asm/kvm_asm.h>

struct kvm_vcpu;

#ifdef CONFIG_KVM_HYP_ACCOUNTING

/**
 * struct hyp_acct_run - the last exit on a CPU
 * @hyp:	its time at EL2, cycles, and HYP_STAY_RUN; 0 if EL2 has not accounted for it
 * @guest:	the time in the guest before it, cycles
 */
struct hyp_acct_run {
	u64	hyp;
	u64	guest;
};

DECLARE_PER_CPU(struct hyp_acct_run, hyp_acct_run);

void __kvm_hyp_acct_exit(struct kvm_vcpu *vcpu);

/**
 * kvm_hyp_acct_result - keep what a hypercall has returned beside its result
 * @func:	the hypercall, a constant: one that runs a vCPU returns the times in X2 and X3
 * @res:	what it has returned
 *
 * Context: any; for a vCPU with interrupts disabled, and not instrumented.
 */
static __always_inline void kvm_hyp_acct_result(u32 func, const struct arm_smccc_res *res)
{
	if (func != KVM_HOST_SMCCC_FUNC(__kvm_vcpu_run))
		return;

	raw_cpu_write(hyp_acct_run.hyp, res->a2);
	raw_cpu_write(hyp_acct_run.guest, res->a3);
}

/**
 * kvm_hyp_acct_exit - count an exit
 * @vcpu:	the vCPU that has exited on this CPU
 *
 * Context: the vCPU's thread, preemption disabled since the vCPU was run.
 */
static inline void kvm_hyp_acct_exit(struct kvm_vcpu *vcpu)
{
	if (__this_cpu_read(hyp_acct_run.hyp))
		__kvm_hyp_acct_exit(vcpu);
}

#else

static __always_inline void kvm_hyp_acct_result(u32 func, const struct arm_smccc_res *res) { }
static inline void kvm_hyp_acct_exit(struct kvm_vcpu *vcpu) { }

#endif /* CONFIG_KVM_HYP_ACCOUNTING */

#endif /* __ARM64_KVM_HYPACCT_VCPU_H */
