// SPDX-License-Identifier: GPL-2.0-only
/*
 * The registers of an x86 guest, for virt/kvm/guest_regs.c
 */
#include <linux/kvm_host.h>
#include <linux/ptrace.h>

#include "kvm_cache_regs.h"
#include "x86.h"

static u16 selector(struct kvm_vcpu *vcpu, int seg)
{
	struct kvm_segment segment = {};

	kvm_x86_call(get_segment)(vcpu, &segment, seg);
	return segment.selector;
}

/* Each exit saves the general ones. The others are read as needed, of the VMCS or VMCB. */
void kvm_arch_vcpu_get_regs(struct kvm_vcpu *vcpu, struct pt_regs *regs)
{
	*regs = (struct pt_regs) {
		.ax	= kvm_rax_read(vcpu),
		.bx	= kvm_rbx_read(vcpu),
		.cx	= kvm_rcx_read(vcpu),
		.dx	= kvm_rdx_read(vcpu),
		.si	= kvm_rsi_read(vcpu),
		.di	= kvm_rdi_read(vcpu),
		.bp	= kvm_rbp_read(vcpu),
		.sp	= kvm_rsp_read(vcpu),
		.ip	= kvm_rip_read(vcpu),
		.r8	= kvm_r8_read(vcpu),
		.r9	= kvm_r9_read(vcpu),
		.r10	= kvm_r10_read(vcpu),
		.r11	= kvm_r11_read(vcpu),
		.r12	= kvm_r12_read(vcpu),
		.r13	= kvm_r13_read(vcpu),
		.r14	= kvm_r14_read(vcpu),
		.r15	= kvm_r15_read(vcpu),
		.flags	= kvm_get_rflags(vcpu),
		.cs	= selector(vcpu, VCPU_SREG_CS),
		.ss	= selector(vcpu, VCPU_SREG_SS),
	};
}
