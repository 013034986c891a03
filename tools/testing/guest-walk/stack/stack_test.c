// SPDX-License-Identifier: GPL-2.0-only
/*
 * What arm64's KVM gives of a guest's frames: which guests are refused, with which registers
 * the tables are walked, and what a record is. Linux 6.12 makes neither protected guests nor
 * those with nested virtualization.
 */
#include <string.h>

#include <linux/kvm_host.h>

#include "../check.h"
#include "guest_walk.h"

#define PC		0xffff800012345678UL
#define FP		0xffff800087654320UL
#define VA		0xffff8000aaaabbb0UL
#define PAC		0x0055000000000000UL

static struct task_struct task;
struct task_struct *current = &task;
bool has_mte;

static struct kvm kvm;
static struct kvm_vcpu vcpu;
static struct guest_walk walked;
static u64 stripped_by;
static unsigned int word_size;

bool guest_walk_translate(const struct guest_walk *walk, u64 va, u64 *ipa)
{
	walked = *walk;
	*ipa = va - VA;
	return va == VA;
}

u64 guest_walk_strip_pac(u64 tcr, u64 pointer)
{
	stripped_by = tcr;
	return pointer & ~PAC;
}

bool kvm_vcpu_read_word(struct kvm_vcpu *of, gpa_t gpa, u64 *word, unsigned int size)
{
	word_size = size;
	*word = gpa + 1;
	return of == &vcpu;
}

static void set_up(void)
{
	int i;

	task = (struct task_struct) {};
	has_mte = false;
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
	struct perf_guest_frame frame = {};

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
	      !walked.e0pd);
	kvm.arch.feature = "ID_AA64MMFR2_EL1 ST 48_47";
	CHECK(walks() && walked.small_ttst && !walked.lpa2_4k);
	set_up();
	kvm.arch.feature = "ID_AA64MMFR0_EL1 TGRAN4 52_BIT";
	CHECK(walks() && walked.lpa2_4k && !walked.lpa2_16k);
	set_up();
	kvm.arch.feature = "ID_AA64MMFR0_EL1 TGRAN16 52_BIT";
	CHECK(walks() && walked.lpa2_16k && !walked.lva);
	set_up();
	kvm.arch.feature = "ID_AA64MMFR2_EL1 VARange 52";
	CHECK(walks() && walked.lva && !walked.e0pd);
	set_up();
	kvm.arch.feature = "ID_AA64MMFR2_EL1 E0PD IMP";
	CHECK(walks() && walked.e0pd && !walked.small_ttst);
}

static void test_records(void)
{
	u64 record[2] = { FP, PC | PAC }, swapped[2];
	struct perf_guest_frame frame = {};
	u64 word;

	set_up();
	kvm_arch_vcpu_next_frame(&vcpu, &frame, record);
	CHECK(frame.fp == FP && frame.ip == (PC & ~PAC) && stripped_by == vcpu.sysregs[TCR_EL1]);
	vcpu.is_big_endian = true;
	swapped[0] = __builtin_bswap64(record[0]);
	swapped[1] = __builtin_bswap64(record[1]);
	frame = (struct perf_guest_frame) {};
	kvm_arch_vcpu_next_frame(&vcpu, &frame, swapped);
	CHECK(frame.fp == FP && frame.ip == (PC & ~PAC));
	CHECK(guest_walk_read(&(struct guest_walk) { .vcpu = &vcpu }, 0x40, &word) &&
	      word == 0x41 && word_size == 8);
}

static const struct test tests[] = {
	{ "protected guests, nested virtualization, AArch32", test_guests },
	{ "VMMs that check the tags of their memory", test_tags },
	{ "the registers of a walk", test_registers },
	{ "the features of a walk", test_features },
	{ "records, of both byte orders", test_records },
};

int main(int argc, char **argv)
{
	return run_tests(tests, sizeof(tests) / sizeof(*tests), argc, argv);
}
