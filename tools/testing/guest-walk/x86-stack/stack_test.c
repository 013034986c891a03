// SPDX-License-Identifier: GPL-2.0-only
/*
 * What x86's KVM gives of a guest's frames: which guests are refused, how large a word is, and
 * with which registers the tables are walked.
 */
#include <linux/kvm_host.h>

#include "../check.h"
#include "guest_walk.h"

#define RIP		0xffff800012345678UL
#define RBP		0xffff800087654320UL
#define VA		0xffff8000aaaabbb0UL

static struct kvm kvm;
static struct kvm_vcpu vcpu;
static struct guest_walk walked;
u32 cpu_pkru;

bool guest_walk_translate(const struct guest_walk *walk, u64 va, u64 *gpa)
{
	walked = *walk;
	*gpa = va - VA;
	return va == VA;
}

bool kvm_vcpu_read_word(struct kvm_vcpu *of, gpa_t gpa, u64 *word, unsigned int size)
{
	*word = gpa + size;
	return of == &vcpu;
}

/* A guest in 64-bit code */
static void set_up(void)
{
	kvm = (struct kvm) {};
	vcpu = (struct kvm_vcpu) {
		.kvm = &kvm, .rip = RIP, .rbp = RBP, .cr0 = 1, .cr3 = 2, .cr4 = 3,
		.arch.efer = 4, .l = 1, .is_long = true, .pa_bits = 43,
	};
}

static void set_up_32bit(void)
{
	set_up();
	vcpu.l = 0;
	vcpu.db = 1;
}

static bool has_frame(u8 word)
{
	u64 mask = word == 8 ? U64_MAX : U32_MAX;
	struct kvm_guest_frame frame = {};

	/* Addresses are not signed. */
	return kvm_arch_vcpu_first_frame(&vcpu, &frame) && !frame.lower && !frame.upper &&
	       !frame.swap && frame.ip == (RIP & mask) &&
	       frame.fp == (RBP & mask) && frame.word == word;
}

static void test_guests(void)
{
	set_up();
	CHECK(has_frame(8));
	vcpu.is_nested = true;
	CHECK(!has_frame(8));
	set_up();
	vcpu.arch.guest_state_protected = true;
	CHECK(!has_frame(8));
	set_up();
	kvm.is_encrypted = true;
	CHECK(!has_frame(8));
}

static void test_code(void)
{
	/* In 64-bit code segments begin at 0, whatever their registers say. */
	set_up();
	vcpu.bases[VCPU_SREG_CS] = 16;
	CHECK(has_frame(8));
	set_up_32bit();
	CHECK(has_frame(4));
	vcpu.bases[VCPU_SREG_CS] = 16;
	CHECK(!has_frame(4));
	set_up_32bit();
	vcpu.bases[VCPU_SREG_SS] = 16;
	CHECK(!has_frame(4));
	set_up_32bit();
	vcpu.is_long = false;
	CHECK(has_frame(4));
	/* That bit means nothing to a CPU that is not in long mode. */
	vcpu.l = 1;
	CHECK(has_frame(4));
	vcpu.db = 0;
	CHECK(!has_frame(2) && !has_frame(4) && !has_frame(8));
}

static void test_walk(void)
{
	u64 gpa = -1UL, word;

	set_up();
	CHECK(kvm_arch_vcpu_translate(&vcpu, VA, &gpa) && !gpa);
	CHECK(!kvm_arch_vcpu_translate(&vcpu, VA + 8, &gpa));
	CHECK(walked.vcpu == &vcpu && walked.cr0 == 1 && walked.cr3 == 2 && walked.cr4 == 3 &&
	      walked.efer == 4 && walked.pa_bits == 43 && walked.user);
	vcpu.in_kernel = true;
	CHECK(kvm_arch_vcpu_translate(&vcpu, VA, &gpa) && !walked.user);
	CHECK(guest_walk_read(&walked, 0x40, &word, 4) && word == 0x44);
}

/* What the guest forbids itself does not count for the VMM's memory, and stays for the guest. */
static void test_pkru(void)
{
	u32 state;

	set_up();
	vcpu.arch.host_pkru = 0x55555554;
	vcpu.arch.pkru = 0x33333333;
	cpu_pkru = 0xffffffff;
	state = kvm_arch_begin_guest_reads(&vcpu);
	CHECK(cpu_pkru == 0x55555554);
	kvm_arch_end_guest_reads(state);
	CHECK(cpu_pkru == 0xffffffff);
}

static const struct test tests[] = {
	{ "nested guests, and those that are encrypted", test_guests },
	{ "64-bit, 32-bit and 16-bit code, and segments", test_code },
	{ "the registers of a walk", test_walk },
	{ "the host's PKRU", test_pkru },
};

int main(int argc, char **argv)
{
	return run_tests(tests, sizeof(tests) / sizeof(*tests), argc, argv);
}
