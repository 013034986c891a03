/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a guest's events show of its vCPU: no register of a protected guest's, except with
 * CONFIG_NVHE_EL2_DEBUG, which is not for production.
 */
#ifndef __ARM64_KVM_HYP_NVHE_TRACE_VCPU_H
#define __ARM64_KVM_HYP_NVHE_TRACE_VCPU_H

#include <linux/kvm_host.h>

#include <asm/kvm_asm.h>
#include <asm/kvm_emulate.h>
#include <asm/kvm_hyp.h>

#include <hyp/fault.h>

#include <nvhe/trace.h>
#include <nvhe/trace_name.h>

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

/* An abort of the guest by its stage 2: not an external one, and none without a known address */
static inline bool hyp_trace_is_stage2_fault(u64 esr)
{
	u64 ec = ESR_ELx_EC(esr);

	return (ec == ESR_ELx_EC_IABT_LOW || ec == ESR_ELx_EC_DABT_LOW) &&
	       (esr_fsc_is_translation_fault(esr) || esr_fsc_is_access_flag_fault(esr) ||
		esr_fsc_is_permission_fault(esr));
}

/*
 * __get_fault_info(), which translates the guest's virtual address where HPFAR_EL2 may be
 * invalid. An external abort of the translation overwrites the syndrome and the address, which
 * KVM still has to read.
 */
static inline bool hyp_trace_get_fault(u64 esr, struct kvm_vcpu_fault_info *fault)
{
	u64 far = read_sysreg_el2(SYS_FAR);

	if (__get_fault_info(esr, fault))
		return true;

	write_sysreg_el2(esr, SYS_ESR);
	write_sysreg_el2(far, SYS_FAR);
	return false;
}

/* The guest's physical address of a stage-2 fault; 0 if it is none, or if it is not known */
static inline u64 hyp_trace_exit_ipa(u64 esr)
{
	struct kvm_vcpu_fault_info fault;
	u64 ipa;

	if (!hyp_trace_is_stage2_fault(esr) || !hyp_trace_get_fault(esr, &fault))
		return 0;

	ipa = (fault.hpfar_el2 & HPFAR_MASK) << 8;
	/* In a walk of the guest's tables it is a table's, and FAR_EL2 is not of that. */
	if (!(esr & ESR_ELx_S1PTW))
		ipa |= fault.far_el2 & GENMASK_ULL(11, 0);
	return ipa;
}

static inline void hyp_trace_guest_enter(struct kvm_vcpu *vcpu)
{
	struct kvm_trace_name name = hyp_trace_name(vcpu);

	trace_guest_enter(vcpu->vcpu_id, name.pid, name.fd);
}

static __always_inline void hyp_trace_guest_exit(struct kvm_vcpu *vcpu, u64 exit_code)
{
	struct kvm_trace_name name = hyp_trace_name(vcpu);
	u64 esr = hyp_trace_exit_esr(vcpu, exit_code);

	trace_guest_exit(vcpu->vcpu_id, ARM_EXCEPTION_CODE(exit_code), esr,
			 hyp_trace_exit_elr(vcpu), hyp_trace_exit_ipa(esr), name.pid, name.fd,
			 ARM_SERROR_PENDING(exit_code));
}

/* The trap is the one that KVM handles. */
static inline void hyp_trace_vcpu_illegal_trap(struct kvm_vcpu *vcpu)
{
	struct kvm_trace_name name = hyp_trace_name(vcpu);

	trace_vcpu_illegal_trap(hyp_trace_may_see(vcpu) ? kvm_vcpu_get_esr(vcpu) : 0,
				vcpu->vcpu_id, name.pid, name.fd);
}

#endif /* __ARM64_KVM_HYP_NVHE_TRACE_VCPU_H */
