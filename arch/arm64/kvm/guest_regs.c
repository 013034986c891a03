// SPDX-License-Identifier: GPL-2.0-only
/*
 * The registers of an AArch64 guest, for virt/kvm/guest_regs.c
 */
#include <linux/kvm_host.h>
#include <linux/ptrace.h>

#include <asm/kvm_emulate.h>

/* Each exit saves SP_EL0 among the general registers. With VHE SP_EL1 is on this CPU still. */
static u64 stack_pointer(const struct kvm_vcpu *vcpu)
{
	u64 mode = *vcpu_cpsr(vcpu) & PSR_MODE_MASK;

	if (mode != PSR_MODE_EL1h)
		return vcpu_gp_regs(vcpu)->sp;

	return has_vhe() ? read_sysreg(sp_el1) : __vcpu_sys_reg(vcpu, SP_EL1);
}

void kvm_arch_vcpu_get_regs(struct kvm_vcpu *vcpu, struct pt_regs *regs)
{
	*regs = (struct pt_regs) { .user_regs = *vcpu_gp_regs(vcpu) };
	regs->sp = stack_pointer(vcpu);
}
