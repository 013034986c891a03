// SPDX-License-Identifier: GPL-2.0-only
/*
 * KVM's reads of a guest's frames: who is refused, what is not read, and that SRCU is held.
 */
#include <stdio.h>
#include <stdlib.h>

#include <linux/kvm_host.h>

#include "../check.h"

#define BASE		0x40000000UL
#define PAGES		4
#define MEMORY		(PAGES * 0x1000UL)
#define VA		0xffff000000000000UL
#define GOOD_PFN	0x1234

static union {
	char	bytes[MEMORY];
	u64	words[MEMORY / 8];
} memory;

static struct mm_struct vmm = { 1 }, other = { 2 };
static struct task_struct task;
struct task_struct *current = &task;
struct entry vmm_tables[NR_LEVELS];

static struct kvm kvm;
static struct kvm_vcpu vcpu;
static struct kvm_memory_slot slot;
static struct kvm_vcpu *running;
static bool interrupted, nmi, first, no_copy;
static int cpu, levels, translations, reads, unlocked, locks;
static u64 hole;

static bool is_locked(void)
{
	return nmi ? kvm.srcu.nmi_readers : kvm.srcu.readers;
}

struct kvm_vcpu *kvm_get_running_vcpu(void)
{
	return running;
}

bool kvm_arch_pmi_in_guest(struct kvm_vcpu *of)
{
	return of && interrupted;
}

int smp_processor_id(void)
{
	return cpu;
}

bool in_nmi(void)
{
	return nmi;
}

int srcu_read_lock(struct srcu_struct *srcu)
{
	locks++;
	srcu->readers++;
	return 1;
}

void srcu_read_unlock(struct srcu_struct *srcu, int idx)
{
	srcu->readers -= idx;
}

int __srcu_read_lock(struct srcu_struct *srcu)
{
	locks++;
	srcu->nmi_readers++;
	return 1;
}

void __srcu_read_unlock(struct srcu_struct *srcu, int idx)
{
	srcu->nmi_readers -= idx;
}

struct kvm_memslots *kvm_vcpu_memslots(struct kvm_vcpu *of)
{
	unlocked += of != &vcpu || !is_locked();
	return NULL;
}

struct kvm_memory_slot *search_memslots(struct kvm_memslots *slots, gfn_t gfn, bool approx)
{
	unlocked += slots || approx;
	return gfn >= slot.base_gfn && gfn < slot.base_gfn + slot.npages ? &slot : NULL;
}

struct entry *next_level(int level, unsigned long hva)
{
	unlocked += !is_locked() || level != levels;
	unlocked += hva < (unsigned long)memory.bytes ||
		    hva >= (unsigned long)memory.bytes + MEMORY;
	levels = level + 1;
	return &vmm_tables[level];
}

bool pfn_valid(unsigned long pfn)
{
	return pfn == GOOD_PFN;
}

long copy_from_user_nofault(void *dst, const void *src, size_t size)
{
	unlocked += !is_locked() || !levels;
	levels = 0;
	reads++;
	if (no_copy)
		return -1;
	memcpy(dst, src, size);
	return 0;
}

bool kvm_arch_vcpu_first_frame(struct kvm_vcpu *of, struct perf_guest_frame *frame)
{
	unlocked += of != &vcpu;
	frame->fp = VA;
	return first;
}

bool kvm_arch_vcpu_translate(struct kvm_vcpu *of, u64 gva, gpa_t *gpa)
{
	unlocked += of != &vcpu || gva & 0xfff || !is_locked();
	translations++;
	*gpa = gva - VA + BASE;
	return gva != hole;
}

void kvm_arch_vcpu_next_frame(struct kvm_vcpu *of, struct perf_guest_frame *frame,
			      const u64 record[2])
{
	unlocked += of != &vcpu;
	frame->fp = record[0];
	frame->ip = record[1];
}

/* All is well: the guest is interrupted, and its memory is the VMM's ordinary one. */
static void set_up(void)
{
	size_t i;

	kvm = (struct kvm) { .mm = &vmm };
	vcpu = (struct kvm_vcpu) { &kvm, 3 };
	slot = (struct kvm_memory_slot) { BASE >> 12, PAGES, (unsigned long)memory.bytes, 0 };
	task.mm = &vmm;
	running = &vcpu;
	interrupted = true;
	first = true;
	nmi = false;
	no_copy = false;
	cpu = 3;
	hole = 0;
	levels = 0;
	translations = 0;
	reads = 0;
	locks = 0;
	for (i = 0; i < NR_LEVELS; i++)
		vmm_tables[i] = (struct entry) { .present = true, .pfn = GOOD_PFN };
	for (i = 0; i < MEMORY / 8; i++)
		memory.words[i] = 0x0101010101010101UL * (i & 0x7f);
}

/* Words of @word bytes at @offset are read, or nothing is. */
static bool next_frame(u64 offset, u8 word, struct perf_guest_frame *frame)
{
	bool good;

	*frame = (struct perf_guest_frame) {};
	if (!kvm_guest_first_frame(frame))
		return false;
	frame->fp = VA + offset;
	frame->word = word;
	good = kvm_guest_next_frame(frame);
	CHECK(!kvm.srcu.readers && !kvm.srcu.nmi_readers && !unlocked);
	return good;
}

static bool reads_record(u64 offset, u8 word)
{
	struct perf_guest_frame frame;
	u64 fp = 0, ip = 0;

	memcpy(&fp, memory.bytes + offset, word);
	memcpy(&ip, memory.bytes + offset + word, word);
	return next_frame(offset, word, &frame) && frame.fp == fp && frame.ip == ip;
}

static bool refused(void)
{
	struct perf_guest_frame frame;
	bool good = next_frame(64, 8, &frame);

	return !good && !reads;
}

static void test_records(void)
{
	struct perf_guest_frame frame;

	set_up();
	CHECK(reads_record(0, 8) && reads == 2 && translations == 1);
	CHECK(reads_record(0xff0, 8));
	CHECK(reads_record(0x20, 4) && reads_record(0x24, 4));
	set_up();
	CHECK(reads_record(0xff8, 8) && reads == 2 && translations == 2);
	set_up();
	CHECK(reads_record(0x1ffc, 4) && translations == 2);
	/* Records of one page share its translation. */
	set_up();
	CHECK(next_frame(0x10, 8, &frame) && translations == 1);
	frame.fp = VA + 0x20;
	CHECK(kvm_guest_next_frame(&frame) && translations == 1);
	frame.fp = VA + 0x1020;
	CHECK(kvm_guest_next_frame(&frame) && translations == 2);
	frame.fp = VA + 0x20;
	CHECK(kvm_guest_next_frame(&frame) && translations == 3);
	/* The first page of the address space is not taken for one that is translated. */
	set_up();
	CHECK(next_frame(-VA, 8, &frame) == false && translations == 1);
}

static void test_vcpus(void)
{
	set_up();
	running = NULL;
	CHECK(refused());
	set_up();
	interrupted = false;
	CHECK(refused());
	set_up();
	cpu = 2;
	CHECK(refused());
	set_up();
	task.mm = &other;
	CHECK(refused());
	set_up();
	task.mm = NULL;
	CHECK(refused());
	set_up();
	first = false;
	CHECK(refused());
}

/* The vCPU goes between two frames. */
static void test_later(void)
{
	struct perf_guest_frame frame;

	set_up();
	CHECK(next_frame(0x10, 8, &frame));
	reads = 0;
	frame.fp = VA;
	cpu = 2;
	CHECK(!kvm_guest_next_frame(&frame) && !reads);
	cpu = 3;
	CHECK(kvm_guest_next_frame(&frame) && reads == 2);
}

static void test_slots(void)
{
	struct perf_guest_frame frame;

	set_up();
	slot.flags = KVM_MEMSLOT_INVALID;
	CHECK(refused());
	set_up();
	slot.npages = 0;
	CHECK(refused());
	set_up();
	slot.npages = 1;
	CHECK(!next_frame(0xff8, 8, &frame) && reads == 1);
	CHECK(!next_frame(0x1000, 8, &frame) && reads == 1);
	set_up();
	CHECK(!next_frame(0x14, 8, &frame) && !next_frame(0x12, 4, &frame) && !reads);
	set_up();
	hole = VA;
	CHECK(refused());
	set_up();
	hole = VA + 0x1000;
	CHECK(!next_frame(0xff8, 8, &frame) && reads == 1);
	set_up();
	no_copy = true;
	CHECK(!next_frame(0, 8, &frame) && reads == 1);
	CHECK(!next_frame(0, 4, &frame));
}

/* Each level of the VMM's tables: a page, or nothing, or what is not memory */
static void test_tables(void)
{
	int level;

	for (level = 0; level < NR_LEVELS; level++) {
		set_up();
		vmm_tables[level].present = false;
		CHECK(refused());
		set_up();
		vmm_tables[level].leaf = true;
		if (level < 2) {
			CHECK(refused());
			continue;
		}
		CHECK(reads_record(0, 8));
		vmm_tables[level].special = true;
		reads = 0;
		levels = 0;
		CHECK(refused());
		vmm_tables[level].special = false;
		vmm_tables[level].devmap = true;
		levels = 0;
		CHECK(refused());
		vmm_tables[level].devmap = false;
		vmm_tables[level].pfn = 0;
		levels = 0;
		CHECK(refused());
	}
}

static void test_nmi(void)
{
	set_up();
	nmi = true;
	CHECK(reads_record(0, 8) && locks == 1);
	CHECK(reads_record(0xff8, 8) && locks == 2);
	hole = VA;
	CHECK(!reads_record(0, 8));
}

static const struct test tests[] = {
	{ "records of words of 4 and 8 bytes", test_records },
	{ "no vCPU, another CPU's, another process'", test_vcpus },
	{ "a vCPU that is gone at the second frame", test_later },
	{ "memslots, alignment, and pages that are not mapped", test_slots },
	{ "what is not ordinary memory of the VMM", test_tables },
	{ "SRCU in an NMI", test_nmi },
};

int main(int argc, char **argv)
{
	return run_tests(tests, sizeof(tests) / sizeof(*tests), argc, argv);
}
