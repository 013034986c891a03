// SPDX-License-Identifier: GPL-2.0-only
/*
 * What arm64's KVM gives of a guest's frames: which guests are refused, with which registers
 * the tables are walked, and what a record is. Linux 6.12 makes neither protected guests nor
 * those with nested virtualization.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <linux/kvm_host.h>

#include "../check.h"
#include "guest_walk.h"

#define PC		0xffff800012345678UL
#define FP		0xffff800087654320UL
#define VA		0xffff8000aaaabbb0UL

static struct task_struct task;
struct task_struct *current = &task;
bool has_mte, cpu_has_vhe, is_pkvm;
unsigned int cpu_caps;

static struct kvm kvm;
static struct kvm_vcpu vcpu;
static struct guest_walk walked;
static u64 cpu_registers[NR_SYSREGS];
static unsigned int word_size;

bool guest_walk_translate(const struct guest_walk *walk, u64 va, u64 *ipa)
{
	walked = *walk;
	*ipa = va - VA;
	return va == VA;
}

u64 guest_walk_pac_mask(u64 tcr, bool upper)
{
	return tcr + upper;
}

bool kvm_vcpu_read_word(struct kvm_vcpu *of, gpa_t gpa, u64 *word, unsigned int size)
{
	word_size = size;
	*word = gpa + 1;
	return of == &vcpu;
}

u64 read_cpu_register(enum sysreg reg)
{
	enum cap cap = reg == TCR2_EL1 ? ARM64_HAS_TCR2 : ARM64_HAS_S1PIE;

	if (!cpu_has_vhe || !(cpu_caps & cap)) {
		printf("Bail out! a read of register %d, which is undefined\n", reg);
		exit(1);
	}
	return cpu_registers[reg];
}

static void set_up(void)
{
	int i;

	task = (struct task_struct) {};
	has_mte = false;
	cpu_has_vhe = false;
	is_pkvm = false;
	cpu_caps = 0;
	kvm = (struct kvm) { .arch.mmu.phys_shift = 44 };
	vcpu = (struct kvm_vcpu) { .kvm = &kvm, .pc = PC, .is_privileged = true };
	for (i = 0; i < 31; i++)
		vcpu.regs[i] = i;
	vcpu.regs[29] = FP;
	for (i = 0; i < NR_SYSREGS; i++)
		vcpu.sysregs[i] = 0x1000 + i;
}

static bool has_frame(void)
{
	struct kvm_guest_frame frame = {};

	return kvm_arch_vcpu_first_frame(&vcpu, &frame) && frame.ip == PC && frame.fp == FP &&
	       frame.word == 8;
}

static void test_guests(void)
{
	set_up();
	CHECK(has_frame());
	CHECK(kvm_arch_vcpu_get_ip(&vcpu) == PC);
	vcpu.is_privileged = false;
	CHECK(has_frame());
	set_up();
	kvm.arch.is_protected = true;
	CHECK(!has_frame());
	CHECK(!kvm_arch_vcpu_get_ip(&vcpu));
	set_up();
	vcpu.has_nv = true;
	CHECK(!has_frame());
	set_up();
	vcpu.is_32bit = true;
	CHECK(!has_frame());
}

static void test_tags(void)
{
	set_up();
	has_mte = true;
	CHECK(has_frame());
	task.thread.sctlr_user = SCTLR_EL1_TCF0_MASK;
	CHECK(!has_frame());
	task.thread.sctlr_user = 1UL << 39;
	CHECK(!has_frame());
	has_mte = false;
	CHECK(has_frame());
}

static bool walks(void)
{
	u64 gpa = -1UL;

	memset(&walked, 0, sizeof(walked));
	return kvm_arch_vcpu_translate(&vcpu, VA, &gpa) && !gpa && walked.vcpu == &vcpu;
}

static void test_registers(void)
{
	u64 gpa;

	set_up();
	CHECK(walks());
	CHECK(!kvm_arch_vcpu_translate(&vcpu, VA + 8, &gpa));
	CHECK(walked.sctlr == vcpu.sysregs[SCTLR_EL1] && walked.tcr == vcpu.sysregs[TCR_EL1]);
	CHECK(walked.ttbr[0] == vcpu.sysregs[TTBR0_EL1] &&
	      walked.ttbr[1] == vcpu.sysregs[TTBR1_EL1]);
	CHECK(walked.pa_bits == 44 && !walked.el0);
	vcpu.is_privileged = false;
	CHECK(walks() && walked.el0);
}

/* Each feature alone sets what it is named after. */
static void test_features(void)
{
	set_up();
	CHECK(walks());
	CHECK(!walked.small_ttst && !walked.lpa2_4k && !walked.lpa2_16k && !walked.lva &&
	      !walked.e0pd && !walked.hpds);
	kvm.arch.features = "ID_AA64MMFR2_EL1 ST 48_47";
	CHECK(walks() && walked.small_ttst && !walked.lpa2_4k);
	set_up();
	kvm.arch.features = "ID_AA64MMFR0_EL1 TGRAN4 52_BIT";
	CHECK(walks() && walked.lpa2_4k && !walked.lpa2_16k);
	set_up();
	kvm.arch.features = "ID_AA64MMFR0_EL1 TGRAN16 52_BIT";
	CHECK(walks() && walked.lpa2_16k && !walked.lva);
	set_up();
	kvm.arch.features = "ID_AA64MMFR2_EL1 VARange 52";
	CHECK(walks() && walked.lva && !walked.e0pd);
	set_up();
	kvm.arch.features = "ID_AA64MMFR2_EL1 E0PD IMP";
	CHECK(walks() && walked.e0pd && !walked.small_ttst);
	set_up();
	kvm.arch.features = "ID_AA64MMFR1_EL1 HPDS IMP";
	CHECK(walks() && walked.hpds && !walked.e0pd);
}

#define TCRX	"ID_AA64MMFR3_EL1 TCRX IMP"
#define S1PIE	"ID_AA64MMFR3_EL1 S1PIE IMP"
#define S1POE	"ID_AA64MMFR3_EL1 S1POE IMP"

/* At EL0, with all that the CPU can have, and registers with different bits in each place */
static void set_up_permissions(bool vhe)
{
	set_up();
	vcpu.is_privileged = false;
	kvm.arch.features = TCRX " " S1PIE " " S1POE;
	cpu_caps = ARM64_HAS_TCR2 | ARM64_HAS_S1PIE | HAS_S1POE;
	cpu_has_vhe = vhe;
	vcpu.sysregs[TCR2_EL1] = vhe ? 0 : -1UL;
	vcpu.sysregs[PIRE0_EL1] = 11;
	vcpu.sysregs[POR_EL0] = 12;
	cpu_registers[TCR2_EL1] = vhe ? -1UL : 0;
	cpu_registers[PIRE0_EL1] = 13;
	cpu_registers[POR_EL0] = 14;
}

static bool walks_with(u64 tcr2, u64 pire0, u64 por_el0)
{
	return walks() && walked.tcr2 == tcr2 && walked.pire0 == pire0 && walked.por_el0 == por_el0;
}

/* The registers of permissions, and what hides each of them */
static void check_permissions(bool vhe)
{
	u64 pire0 = vhe ? 13 : 11;

	set_up_permissions(vhe);
	CHECK(walks_with(6, pire0, 12));
	vcpu.is_privileged = true;
	CHECK(walks_with(0, 0, 0));
	set_up_permissions(vhe);
	is_pkvm = true;
	CHECK(walks_with(0, 0, 0));
	set_up_permissions(vhe);
	kvm.arch.features = S1PIE " " S1POE;
	CHECK(walks_with(0, 0, 0));
	kvm.arch.features = TCRX " " S1POE;
	CHECK(walks_with(4, 0, 12));
	kvm.arch.features = TCRX " " S1PIE;
	CHECK(walks_with(2, pire0, 0));
	/* What the CPU does not have is undefined. */
	set_up_permissions(vhe);
	cpu_caps = ARM64_HAS_S1PIE | HAS_S1POE;
	CHECK(walks_with(0, 0, 0));
	cpu_caps = ARM64_HAS_TCR2 | HAS_S1POE;
	CHECK(walks_with(4, 0, 12));
	cpu_caps = ARM64_HAS_TCR2 | ARM64_HAS_S1PIE;
	CHECK(walks_with(2, pire0, 0));
	/* What the guest does not turn on is not read. */
	set_up_permissions(vhe);
	(vhe ? cpu_registers : vcpu.sysregs)[TCR2_EL1] = ~6UL;
	CHECK(walks_with(0, 0, 0));
}

static void test_permissions(void)
{
	check_permissions(false);
	check_permissions(true);
}

static void test_records(void)
{
	struct kvm_guest_frame frame = {};
	u64 word;

	set_up();
	CHECK(kvm_arch_vcpu_first_frame(&vcpu, &frame) && !frame.swap);
	CHECK(frame.lower == vcpu.sysregs[TCR_EL1] && frame.upper == vcpu.sysregs[TCR_EL1] + 1);
	vcpu.is_big_endian = true;
	CHECK(kvm_arch_vcpu_first_frame(&vcpu, &frame) && frame.swap);
	CHECK(guest_walk_read(&(struct guest_walk) { .vcpu = &vcpu }, 0x40, &word) &&
	      word == 0x41 && word_size == 8);
}

static const struct test tests[] = {
	{ "protected guests, nested virtualization, AArch32", test_guests },
	{ "VMMs that check the tags of their memory", test_tags },
	{ "the registers of a walk", test_registers },
	{ "the features of a walk", test_features },
	{ "the registers of EL0's permissions", test_permissions },
	{ "records, of both byte orders", test_records },
};

int main(int argc, char **argv)
{
	return run_tests(tests, sizeof(tests) / sizeof(*tests), argc, argv);
}
