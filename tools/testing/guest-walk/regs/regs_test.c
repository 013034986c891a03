// SPDX-License-Identifier: GPL-2.0-only
/*
 * KVM's copies of a guest's registers and stack: who is refused, where a copy ends, and how often
 * the guest's tables are walked for it.
 */
#include <string.h>

#include <linux/kvm_host.h>

#include "../check.h"
#include "guest_frame.h"

#define PAGES	20
#define MEMORY	(PAGES * 0x1000UL)
#define VA	0xffff000000000000UL
#define GPA	0x40000000UL

static char memory[MEMORY], copy[MEMORY];
static struct kvm_vcpu vcpu, *readable;
static bool known, swap, refused, fault, anywhere;
static u8 word;
static u64 hole, absent;
static unsigned int translations, wrong;

struct kvm_vcpu *kvm_guest_readable_vcpu(void)
{
	return readable;
}

bool kvm_arch_vcpu_first_frame(struct kvm_vcpu *of, struct kvm_guest_frame *frame)
{
	wrong += of != &vcpu;
	frame->word = word;
	frame->swap = swap;
	return known;
}

void kvm_arch_vcpu_get_regs(struct kvm_vcpu *of, struct pt_regs *regs)
{
	regs->of = of;
}

void kvm_guest_begin_reads(struct kvm_vcpu *of, struct kvm_guest_reads *reads)
{
	reads->idx = 5;
	wrong += of->reads;
	of->reads = true;
}

void kvm_guest_end_reads(struct kvm_vcpu *of, const struct kvm_guest_reads *reads)
{
	wrong += !of->reads || reads->idx != 5;
	of->reads = false;
}

/* The guest has its pages in the opposite order. */
bool kvm_arch_vcpu_translate(struct kvm_vcpu *of, u64 gva, gpa_t *gpa)
{
	wrong += !of->reads || gva & 0xfff;
	translations++;
	*gpa = anywhere ? GPA : GPA + MEMORY - 0x1000 - (gva - VA);
	if (anywhere)
		return true;
	return gva >= VA && gva < VA + MEMORY && gva != hole;
}

unsigned long kvm_guest_find_memory(struct kvm_vcpu *of, gpa_t gpa)
{
	wrong += !of->reads || gpa & 0xfff;
	return gpa == absent ? 0 : (unsigned long)memory + gpa - GPA;
}

bool access_ok(const void *from, size_t size)
{
	wrong += size > 0x1000 || from < (void *)memory || from + size > (void *)memory + MEMORY;
	return !refused;
}

unsigned long __copy_from_user_inatomic(void *to, const void *from, size_t size)
{
	wrong += !vcpu.reads;
	if (fault)
		return 1;
	memcpy(to, from, size);
	return 0;
}

static char byte_at(u64 va)
{
	return va * 7 + va / 256;
}

static void set_up(void)
{
	u64 at;

	readable = &vcpu;
	known = true;
	swap = false;
	refused = false;
	fault = false;
	anywhere = false;
	word = 8;
	hole = 1;
	absent = 1;
	translations = 0;
	wrong = 0;
	for (at = 0; at < MEMORY; at++)
		memory[MEMORY - 0x1000 - (at & ~0xfffUL) + (at & 0xfff)] = byte_at(VA + at);
}

/* So much is copied, of the right memory, and nothing else is written. */
static bool copies(u64 offset, unsigned int size, unsigned int expected)
{
	unsigned int i, done;

	memset(copy, 0x55, sizeof(copy));
	translations = 0;
	done = kvm_guest_copy_stack(copy, VA + offset, size);
	for (i = 0; i < done; i++)
		wrong += copy[i] != byte_at(VA + offset + i);
	for (i = done; i < MEMORY; i++)
		wrong += copy[i] != 0x55;
	return done == expected && !wrong && !vcpu.reads;
}

static void test_copies(void)
{
	set_up();
	CHECK(copies(0, 64, 64) && translations == 1);
	CHECK(copies(0, 0x1000, 0x1000) && translations == 1);
	CHECK(copies(8, 0x1000, 0x1000) && translations == 2);
	CHECK(copies(0x1ffd, 6, 6) && translations == 2);
	CHECK(copies(3, 0xffff, 0xffff) && translations == 17);
	CHECK(copies(0, 0, 0) && !translations);
}

static void test_ends(void)
{
	set_up();
	CHECK(copies(MEMORY - 24, 0x1000, 24));
	CHECK(copies(MEMORY, 0x1000, 0));
	hole = VA + 0x3000;
	CHECK(copies(0x1010, 0x8000, 0x1ff0));
	CHECK(copies(0x3000, 8, 0));
	hole = 1;
	absent = GPA + MEMORY - 0x1000 - 0x2000;
	CHECK(copies(0x1010, 0x8000, 0xff0));
	set_up();
	fault = true;
	CHECK(copies(0, 64, 0));
	set_up();
	refused = true;
	CHECK(copies(0, 64, 0));
}

/* Past the last address there is none. */
static void test_wrap(void)
{
	set_up();
	anywhere = true;
	CHECK(kvm_guest_copy_stack(copy, -8UL, 64) == 8 && translations == 1 && !wrong);
}

static void test_refused(void)
{
	struct pt_regs regs = {};

	set_up();
	CHECK(kvm_guest_get_regs(&regs) == PERF_SAMPLE_REGS_ABI_64 && regs.of == &vcpu);
	word = 4;
	CHECK(kvm_guest_get_regs(&regs) == PERF_SAMPLE_REGS_ABI_32);
	regs.of = NULL;
	swap = true;
	CHECK(kvm_guest_get_regs(&regs) == PERF_SAMPLE_REGS_ABI_NONE && copies(0, 64, 0));
	set_up();
	known = false;
	CHECK(kvm_guest_get_regs(&regs) == PERF_SAMPLE_REGS_ABI_NONE && copies(0, 64, 0));
	set_up();
	readable = NULL;
	CHECK(kvm_guest_get_regs(&regs) == PERF_SAMPLE_REGS_ABI_NONE && copies(0, 64, 0));
	CHECK(!regs.of && !translations && !wrong);
}

static const struct test tests[] = {
	{ "copies, and how many pages are translated", test_copies },
	{ "where a copy ends", test_ends },
	{ "the last address", test_wrap },
	{ "guests that are refused", test_refused },
};

int main(int argc, char **argv)
{
	return run_tests(tests, sizeof(tests) / sizeof(*tests), argc, argv);
}
