/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The registers of a guest that an event may show: none of a protected guest's, except with
 * CONFIG_NVHE_EL2_DEBUG, which is not for production.
 */
#ifndef __ARM64_KVM_HYP_NVHE_TRACE_VCPU_H
#define __ARM64_KVM_HYP_NVHE_TRACE_VCPU_H

#include <linux/kvm_host.h>

#include <asm/kvm_asm.h>
#include <asm/kvm_emulate.h>
#include <asm/kvm_hyp.h>

static inline bool hyp_trace_may_see(struct kvm_vcpu *vcpu)
{
	return IS_ENABLED(CONFIG_NVHE_EL2_DEBUG) || !vcpu_is_protected(vcpu);
}

/* The syndrome of an exit that has just happened; an interrupt has none. */
static inline u64 hyp_trace_exit_esr(struct kvm_vcpu *vcpu, u64 exit_code)
{
	if (ARM_EXCEPTION_CODE(exit_code) == ARM_EXCEPTION_IRQ || !hyp_trace_may_see(vcpu))
		return 0;

	return read_sysreg_el2(SYS_ESR);
}

static inline u64 hyp_trace_exit_elr(struct kvm_vcpu *vcpu)
{
	return hyp_trace_may_see(vcpu) ? read_sysreg_el2(SYS_ELR) : 0;
}

/* The syndrome of the exit that KVM handles */
static inline u64 hyp_trace_vcpu_esr(struct kvm_vcpu *vcpu)
{
	return hyp_trace_may_see(vcpu) ? kvm_vcpu_get_esr(vcpu) : 0;
}

#endif /* __ARM64_KVM_HYP_NVHE_TRACE_VCPU_H */
