// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events contain no register of a protected guest, unless EL2 is built for debugging
 * (EL2_DEBUG), and no syndrome of an interrupt.
 */
#include <stdlib.h>

#include <linux/types.h>

#define CONFIG_NVHE_EL2_DEBUG	EL2_DEBUG
#define IS_ENABLED(option)	(option)

#define ARM_EXCEPTION_IRQ	0
#define ARM_EXCEPTION_TRAP	2
#define ARM_EXCEPTION_CODE(x)	((x) & 0x7fffffff)
#define SERROR_PENDING		0x80000000

#define SYS_ESR			1
#define SYS_ELR			2
#define read_sysreg_el2(reg)	(0x5e75UL + (reg))

struct kvm_vcpu {
	bool	is_protected;
	u64	esr;
};

static bool vcpu_is_protected(struct kvm_vcpu *vcpu)
{
	return vcpu->is_protected;
}

static u64 kvm_vcpu_get_esr(struct kvm_vcpu *vcpu)
{
	return vcpu->esr;
}

#include <nvhe/trace_vcpu.h>

static void expect(u64 found, u64 expected)
{
	if (found != expected)
		abort();
}

static void test(bool is_protected)
{
	struct kvm_vcpu vcpu = { is_protected, 0xec };
	bool may = !is_protected || EL2_DEBUG;

	expect(hyp_trace_exit_esr(&vcpu, ARM_EXCEPTION_TRAP), may ? read_sysreg_el2(SYS_ESR) : 0);
	expect(hyp_trace_exit_esr(&vcpu, ARM_EXCEPTION_IRQ), 0);
	expect(hyp_trace_exit_esr(&vcpu, ARM_EXCEPTION_IRQ | SERROR_PENDING), 0);
	expect(hyp_trace_exit_elr(&vcpu), may ? read_sysreg_el2(SYS_ELR) : 0);
	expect(hyp_trace_vcpu_esr(&vcpu), may ? vcpu.esr : 0);
}

int main(void)
{
	test(false);
	test(true);
	return 0;
}
