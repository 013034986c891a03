// SPDX-License-Identifier: GPL-2.0-only
/*
 * The frames of an AArch64 guest's stack, for virt/kvm/guest_frame.c
 *
 * A frame record is that of the AAPCS64: where x29 points to, the caller's x29 and the
 * address to return to.
 */
#include <linux/kvm_host.h>
#include <linux/sched.h>

#include <asm/kvm_emulate.h>
#include <asm/kvm_mmu.h>

#include "guest_walk.h"

bool guest_walk_read(const struct guest_walk *walk, u64 ipa, u64 *word)
{
	return kvm_vcpu_read_word(walk->vcpu, ipa, word, sizeof(*word));
}

static bool has_pie(struct kvm *kvm)
{
	return cpus_have_final_cap(ARM64_HAS_S1PIE) &&
	       kvm_has_feat(kvm, ID_AA64MMFR3_EL1, S1PIE, IMP);
}

static bool has_poe(struct kvm *kvm)
{
	return system_supports_poe() && kvm_has_feat(kvm, ID_AA64MMFR3_EL1, S1POE, IMP);
}

/*
 * With VHE the registers of EL1 are on this CPU, and vcpu_read_sys_reg() does not know that
 * of these. pKVM has TCR2_EL1 turned off for its guests, whatever they write to it.
 */
static void read_permissions(struct kvm_vcpu *vcpu, struct guest_walk *walk)
{
	u64 tcr2;

	if (!cpus_have_final_cap(ARM64_HAS_TCR2) || is_protected_kvm_enabled() ||
	    !kvm_has_feat(vcpu->kvm, ID_AA64MMFR3_EL1, TCRX, IMP))
		return;

	tcr2 = has_vhe() ? read_sysreg_s(SYS_TCR2_EL12) : __vcpu_sys_reg(vcpu, TCR2_EL1);
	if (tcr2 & TCR2_EL1x_PIE && has_pie(vcpu->kvm)) {
		walk->tcr2 |= TCR2_EL1x_PIE;
		walk->pire0 = has_vhe() ? read_sysreg_s(SYS_PIRE0_EL12) :
					  __vcpu_sys_reg(vcpu, PIRE0_EL1);
	}
	/* That of EL0 is saved at each exit. */
	if (tcr2 & TCR2_EL1x_E0POE && has_poe(vcpu->kvm)) {
		walk->tcr2 |= TCR2_EL1x_E0POE;
		walk->por_el0 = __vcpu_sys_reg(vcpu, POR_EL0);
	}
}

/*
 * Without VHE the registers were saved at the exit. With VHE those of EL1 are on this CPU,
 * which vcpu_read_sys_reg() knows.
 */
static void read_registers(struct kvm_vcpu *vcpu, struct guest_walk *walk)
{
	struct kvm *kvm = vcpu->kvm;

	*walk = (struct guest_walk) {
		.vcpu		= vcpu,
		.sctlr		= vcpu_read_sys_reg(vcpu, SCTLR_EL1),
		.tcr		= vcpu_read_sys_reg(vcpu, TCR_EL1),
		.ttbr		= { vcpu_read_sys_reg(vcpu, TTBR0_EL1),
				    vcpu_read_sys_reg(vcpu, TTBR1_EL1) },
		.pa_bits	= kvm_phys_shift(&kvm->arch.mmu),
		.el0		= !vcpu_mode_priv(vcpu),
		.small_ttst	= kvm_has_feat_enum(kvm, ID_AA64MMFR2_EL1, ST, 48_47),
		.lpa2_4k	= kvm_has_feat(kvm, ID_AA64MMFR0_EL1, TGRAN4, 52_BIT),
		.lpa2_16k	= kvm_has_feat(kvm, ID_AA64MMFR0_EL1, TGRAN16, 52_BIT),
		.lva		= kvm_has_feat(kvm, ID_AA64MMFR2_EL1, VARange, 52),
		.e0pd		= kvm_has_feat(kvm, ID_AA64MMFR2_EL1, E0PD, IMP),
		.hpds		= kvm_has_feat(kvm, ID_AA64MMFR1_EL1, HPDS, IMP),
	};
	if (walk->el0)
		read_permissions(vcpu, walk);
}

/*
 * Tags of the VMM's memory are the guest's, and not the VMM's to match. With asynchronous
 * checks a read of the wrong tag would end the VMM.
 */
static bool checks_tags(const struct task_struct *task)
{
#ifdef CONFIG_ARM64_MTE
	return system_supports_mte() && task->thread.sctlr_user & SCTLR_EL1_TCF0_MASK;
#else
	return false;
#endif
}

/* The host does not know where a protected guest is. */
unsigned long kvm_arch_vcpu_get_ip(struct kvm_vcpu *vcpu)
{
	return vcpu_is_protected(vcpu) ? 0 : *vcpu_pc(vcpu);
}

bool kvm_arch_vcpu_first_frame(struct kvm_vcpu *vcpu, struct kvm_guest_frame *frame)
{
	u64 tcr;

	if (vcpu_is_protected(vcpu) || vcpu_has_nv(vcpu) || vcpu_mode_is_32bit(vcpu) ||
	    checks_tags(current))
		return false;

	tcr = vcpu_read_sys_reg(vcpu, TCR_EL1);
	frame->ip = *vcpu_pc(vcpu);
	frame->fp = vcpu_get_reg(vcpu, 29);
	frame->lower = guest_walk_pac_mask(tcr, false);
	frame->upper = guest_walk_pac_mask(tcr, true);
	frame->word = sizeof(u64);
	frame->swap = vcpu_data_guest_to_host(vcpu, 1, sizeof(u64)) != 1;
	return true;
}

bool kvm_arch_vcpu_translate(struct kvm_vcpu *vcpu, u64 gva, gpa_t *gpa)
{
	struct guest_walk walk;

	read_registers(vcpu, &walk);
	return guest_walk_translate(&walk, gva, gpa);
}
