// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events of guests name the VM, and have the physical address of a stage-2 fault and the
 * pending SError of an exit. They contain no register of a protected guest, unless EL2 is
 * built for debugging (EL2_DEBUG), and no syndrome of an interrupt. A translation that fails
 * leaves the registers as they were. While a vCPU of a protected guest is loaded, no function is
 * traced, again unless EL2 is built for debugging.
 */
#include <stdbool.h>
#include <stdlib.h>

#include <linux/types.h>

#define CONFIG_NVHE_EL2_DEBUG	EL2_DEBUG
#define CONFIG_KVM_HYP_TRACING	1
#define CONFIG_KVM_HYP_FUNCTION_TRACER	1
#define IS_ENABLED(option)	(option)

#define ARM_EXCEPTION_IRQ	0
#define ARM_EXCEPTION_TRAP	2
#define ARM_EXCEPTION_CODE(x)	((x) & 0x7fffffff)
#define ARM_SERROR_PENDING(x)	(!!((x) & SERROR_PENDING))
#define SERROR_PENDING		0x80000000

#define GENMASK_ULL(high, low)	((~0ULL >> (63 - (high))) & (~0ULL << (low)))
#define HPFAR_MASK		(~0xfUL)
#define READ_ONCE(x)		(x)

/* Exception classes and status codes, as the architecture has them */
#define ESR_ELx_EC(esr)		((esr) >> 26 & 0x3f)
#define ESR_ELx_EC_HVC64	0x16
#define ESR_ELx_EC_IABT_LOW	0x20
#define ESR_ELx_EC_DABT_LOW	0x24
#define ESR_ELx_S1PTW		0x80UL
#define ESR(ec, fsc)		((u64)(ec) << 26 | (fsc))
#define TRANSLATION		0x07
#define ACCESS_FLAG		0x0b
#define PERMISSION		0x0f
#define EXTERNAL		0x10

static bool esr_fsc_is_translation_fault(u64 esr)
{
	return (esr & 0x3c) == 0x04 || (esr & 0x3f) == 0x2b;
}

static bool esr_fsc_is_access_flag_fault(u64 esr)
{
	return (esr & 0x3c) == 0x08;
}

static bool esr_fsc_is_permission_fault(u64 esr)
{
	return (esr & 0x3c) == 0x0c;
}

enum { SYS_ESR, SYS_ELR, SYS_FAR, NR_REGS };

static u64 regs[NR_REGS];

#define read_sysreg_el2(reg)		(regs[reg])
#define write_sysreg_el2(value, reg)	(regs[reg] = (value))

struct kvm_vcpu_fault_info {
	u64	far_el2, hpfar_el2;
};

#define HPFAR		0x400120UL	/* of 0x40012000 */
#define TRANSLATED	0x500340UL	/* of 0x50034000 */

/* A translation by AT can fail, and may then be an external abort at EL2. */
static bool translation_fails;

static bool __get_fault_info(u64 esr, struct kvm_vcpu_fault_info *fault)
{
	bool translate = !(esr & ESR_ELx_S1PTW) && esr_fsc_is_permission_fault(esr);

	fault->far_el2 = regs[SYS_FAR];
	fault->hpfar_el2 = translate ? TRANSLATED : HPFAR;
	if (!translate || !translation_fails)
		return true;
	regs[SYS_ESR] = 0xbad;
	regs[SYS_FAR] = 0xbad;
	return false;
}

struct kvm_trace_name {
	int	pid, fd;
};

struct kvm {
	struct {
		struct kvm_trace_name trace_name;
	} arch;
};

struct kvm_vcpu {
	struct kvm	*kvm;
	u32		vcpu_id;
	bool		is_protected;
	u64		esr;
};

#define kern_hyp_va(addr)	(addr)

static bool vcpu_is_protected(struct kvm_vcpu *vcpu)
{
	return vcpu->is_protected;
}

static u64 kvm_vcpu_get_esr(struct kvm_vcpu *vcpu)
{
	return vcpu->esr;
}

/* What the last event had; not nvhe/trace.h */
#define __ARM64_KVM_HYP_NVHE_TRACE_H

static struct {
	u32	vcpu, exit_code;
	u64	esr, elr, ipa;
	s32	vm_pid, vm_fd;
	bool	serror;
} event;

static void trace_guest_enter(u32 vcpu, s32 vm_pid, s32 vm_fd)
{
	event = (typeof(event)) { .vcpu = vcpu, .vm_pid = vm_pid, .vm_fd = vm_fd };
}

static void trace_guest_exit(u32 vcpu, u32 exit_code, u64 esr, u64 elr, u64 ipa, s32 vm_pid,
			     s32 vm_fd, bool serror)
{
	event = (typeof(event)) { vcpu, exit_code, esr, elr, ipa, vm_pid, vm_fd, serror };
}

static void trace_vcpu_illegal_trap(u64 esr, u32 vcpu, s32 vm_pid, s32 vm_fd)
{
	event = (typeof(event)) { .vcpu = vcpu, .esr = esr, .vm_pid = vm_pid, .vm_fd = vm_fd };
}

#include <nvhe/func.h>
#include <nvhe/trace_vcpu.h>

/* How often no function was to be traced from then on */
static unsigned int nr_pauses;

void hyp_func_pause(void)
{
	nr_pauses++;
}

static void expect(u64 found, u64 expected)
{
	if (found != expected)
		abort();
}

static void expect_name(void)
{
	expect(event.vcpu, 3);
	expect(event.vm_pid, 77);
	expect(event.vm_fd, 5);
}

/* An exit for this syndrome is shown so. */
static void expect_exit(struct kvm_vcpu *vcpu, u64 exit_code, u64 esr, u64 shown, u64 ipa)
{
	bool may = !vcpu->is_protected || EL2_DEBUG;

	regs[SYS_ESR] = esr;
	regs[SYS_ELR] = 0xe1;
	regs[SYS_FAR] = 0xffff00000abcUL;
	hyp_trace_guest_exit(vcpu, exit_code);

	expect_name();
	expect(event.exit_code, exit_code & 0xff);
	expect(event.serror, exit_code >> 31);
	expect(event.esr, may ? shown : 0);
	expect(event.elr, may ? 0xe1 : 0);
	expect(event.ipa, may ? ipa : 0);

	expect(regs[SYS_ESR], esr);
	expect(regs[SYS_FAR], 0xffff00000abcUL);
}

static void test_faults(struct kvm_vcpu *vcpu, u64 ec)
{
	u64 esr = ESR(ec, PERMISSION);

	expect_exit(vcpu, ARM_EXCEPTION_TRAP, ESR(ec, TRANSLATION), ESR(ec, TRANSLATION),
		    0x40012abc);
	expect_exit(vcpu, ARM_EXCEPTION_TRAP, ESR(ec, ACCESS_FLAG), ESR(ec, ACCESS_FLAG),
		    0x40012abc);
	expect_exit(vcpu, ARM_EXCEPTION_TRAP, ESR(ec, EXTERNAL), ESR(ec, EXTERNAL), 0);
	expect_exit(vcpu, ARM_EXCEPTION_TRAP, esr, esr, 0x50034abc);
	/* Of the table: its page alone is known. */
	expect_exit(vcpu, ARM_EXCEPTION_TRAP, esr | ESR_ELx_S1PTW, esr | ESR_ELx_S1PTW, 0x40012000);

	translation_fails = true;
	expect_exit(vcpu, ARM_EXCEPTION_TRAP, esr, esr, 0);
	translation_fails = false;
}

static void test(bool is_protected)
{
	struct kvm host = { .arch.trace_name = { 77, 5 } };
	struct kvm kvm = { };
	struct kvm_vcpu vcpu = { &kvm, 3, is_protected, 0xec };
	u64 hvc = ESR(ESR_ELx_EC_HVC64, TRANSLATION), fault = ESR(ESR_ELx_EC_DABT_LOW, TRANSLATION);

	hyp_trace_copy_name(&kvm, &host);
	hyp_trace_guest_enter(&vcpu);
	expect_name();

	test_faults(&vcpu, ESR_ELx_EC_DABT_LOW);
	test_faults(&vcpu, ESR_ELx_EC_IABT_LOW);
	expect_exit(&vcpu, ARM_EXCEPTION_TRAP, hvc, hvc, 0);
	expect_exit(&vcpu, ARM_EXCEPTION_TRAP | SERROR_PENDING, hvc, hvc, 0);
	expect_exit(&vcpu, ARM_EXCEPTION_IRQ, fault, 0, 0);
	expect_exit(&vcpu, ARM_EXCEPTION_IRQ | SERROR_PENDING, fault, 0, 0);

	hyp_trace_vcpu_illegal_trap(&vcpu);
	expect_name();
	expect(event.esr, !is_protected || EL2_DEBUG ? vcpu.esr : 0);

	nr_pauses = 0;
	hyp_func_load_vcpu(&vcpu);
	expect(nr_pauses, is_protected && !EL2_DEBUG);
}

int main(void)
{
	test(false);
	test(true);
	return 0;
}
