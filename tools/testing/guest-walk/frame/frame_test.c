// SPDX-License-Identifier: GPL-2.0-only
/*
 * KVM's reads of a guest's frames: who is refused, what is not read, which addresses are in a
 * chain, what it may cost, and that SRCU is held.
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
#define IP		0xffff800000001000UL
#define MAX		127
#define HOST_PKRU	0x55555554U
#define GUEST_PKRU	0xfffffffcU

/* As guest_frame.c has it: a page costs as much as so many frames, and the first one is free. */
#define PAGE_COST	24

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
static bool interrupted, nmi, first, no_copy, has_private;
static int cpu, levels, translations, lookups, reads, unlocked, locks, open_reads, no_faults;
static u64 hole;
static gfn_t private_gfn;
static u32 pkru;
static u8 word;
static bool swap;
static u64 pac;
static u64 first_ip, first_fp;

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

/* The tables are walked from the first level on, each time. */
struct entry *next_level(int level, unsigned long hva)
{
	unlocked += !is_locked() || (level && level != levels);
	unlocked += hva < (unsigned long)memory.bytes ||
		    hva >= (unsigned long)memory.bytes + MEMORY;
	lookups += !level;
	levels = level + 1;
	return &vmm_tables[level];
}

bool pfn_valid(unsigned long pfn)
{
	return pfn == GOOD_PFN;
}

void pagefault_disable(void)
{
	no_faults++;
}

void pagefault_enable(void)
{
	no_faults--;
}

bool user_read_access_begin(const void *from, size_t size)
{
	unlocked += !is_locked() || !levels || no_faults != 1 || open_reads || pkru != HOST_PKRU;
	open_reads++;
	return true;
}

void user_read_access_end(void)
{
	open_reads--;
}

bool can_read(const void *from)
{
	unlocked += !open_reads;
	reads++;
	return !no_copy;
}

u32 kvm_arch_begin_guest_reads(struct kvm_vcpu *of)
{
	u32 state = pkru;

	unlocked += of != &vcpu;
	pkru = HOST_PKRU;
	return state;
}

void kvm_arch_end_guest_reads(u32 state)
{
	pkru = state;
}

bool kvm_arch_has_private_mem(struct kvm *of)
{
	unlocked += of != &kvm;
	return has_private;
}

/* What is private is not looked up in a VM that has no such memory. */
bool kvm_mem_is_private(struct kvm *of, gfn_t gfn)
{
	unlocked += of != &kvm || !has_private || !is_locked();
	return gfn == private_gfn;
}

bool kvm_arch_vcpu_first_frame(struct kvm_vcpu *of, struct kvm_guest_frame *frame)
{
	unlocked += of != &vcpu;
	frame->ip = first_ip;
	frame->fp = first_fp;
	frame->word = word;
	frame->swap = swap;
	frame->lower = pac;
	frame->upper = pac;
	return first;
}

bool kvm_arch_vcpu_translate(struct kvm_vcpu *of, u64 gva, gpa_t *gpa)
{
	unlocked += of != &vcpu || gva & 0xfff || !is_locked();
	translations++;
	*gpa = BASE + (gva - VA) % MEMORY;
	return gva != hole && gva >= VA;
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
	has_private = false;
	private_gfn = 0;
	cpu = 3;
	hole = 0;
	levels = 0;
	translations = 0;
	lookups = 0;
	reads = 0;
	locks = 0;
	pkru = GUEST_PKRU;
	word = 8;
	swap = false;
	pac = 0;
	first_ip = IP;
	first_fp = 0;
	for (i = 0; i < NR_LEVELS; i++)
		vmm_tables[i] = (struct entry) { .present = true, .pfn = GOOD_PFN };
	for (i = 0; i < MEMORY / 8; i++)
		memory.words[i] = 0x0101010101010101UL * (i & 0x7f);
}

static u64 ips[MAX + 1];

/* The chain from a frame pointer at @offset on; all that was taken is given back. */
static unsigned int chain_from(u64 offset, unsigned int max)
{
	unsigned int nr;

	first_fp = VA + offset;
	memset(ips, 0, sizeof(ips));
	nr = kvm_guest_get_callchain(ips, max);
	CHECK(!kvm.srcu.readers && !kvm.srcu.nmi_readers && !unlocked && !open_reads &&
	      !no_faults && pkru == GUEST_PKRU);
	CHECK(!ips[nr]);
	return nr;
}

static void set_record(u64 offset, u64 fp, u64 ip)
{
	memcpy(memory.bytes + offset, &fp, word);
	memcpy(memory.bytes + offset + word, &ip, word);
}

/* One caller, whose record is at @offset, is in the chain, or it is not. */
static bool reads_record(u64 offset)
{
	set_record(offset, 0, 0x1234);
	return chain_from(offset, MAX) == 2 && ips[0] == IP && ips[1] == 0x1234;
}

static bool ends_at(u64 offset)
{
	return chain_from(offset, MAX) == 1 && ips[0] == IP;
}

static bool refused(void)
{
	return !chain_from(64, MAX) && !reads && !locks;
}

static void test_records(void)
{
	set_up();
	CHECK(reads_record(0) && reads == 2 && translations == 1);
	CHECK(reads_record(0xff0));
	set_up();
	word = 4;
	CHECK(reads_record(0x20) && reads_record(0x24));
	set_up();
	CHECK(reads_record(0xff8) && reads == 2 && translations == 2);
	set_up();
	word = 4;
	CHECK(reads_record(0x1ffc) && translations == 2);
	/* Of four bytes no others are read. */
	set_up();
	word = 4;
	memory.words[8] = 0x1234UL << 32;
	memory.words[9] = 0x5678;
	CHECK(chain_from(0x40, MAX) == 2 && ips[1] == 0x1234);
}

/* Records of the other byte order, and signed addresses of both halves */
static void test_decoding(void)
{
	set_up();
	swap = true;
	set_record(0x40, __builtin_bswap64(VA + 0x80), __builtin_bswap64(0x1234));
	set_record(0x80, 0, __builtin_bswap64(0x5678));
	CHECK(chain_from(0x40, MAX) == 3 && ips[1] == 0x1234 && ips[2] == 0x5678);
	set_up();
	pac = 0xff7f000000000000UL;
	set_record(0x40, VA + 0x80, 0x5a2a000000001234UL);
	set_record(0x80, 0, 0x5aaa800000005678UL);
	CHECK(chain_from(0x40, MAX) == 3 && ips[1] == 0x1234 && ips[2] == 0xffff800000005678UL);
}

/* Records of one page share its translation and its place in the VMM. */
static void test_pages(void)
{
	set_up();
	set_record(0x10, VA + 0x20, 1);
	set_record(0x20, VA + 0x1020, 2);
	set_record(0x1020, VA + 0x1030, 3);
	set_record(0x1030, VA + 0x30, 4);
	set_record(0x30, 0, 5);
	CHECK(chain_from(0x10, MAX) == 6 && ips[5] == 5);
	CHECK(reads == 10 && translations == 3 && lookups == 3);
	/* The first page of the address space is not taken for one that is translated. */
	set_up();
	CHECK(ends_at(-VA + 8) && translations == 1);
	/* The chain ends at a page that can't be translated. */
	set_up();
	set_record(0x10, VA + 0x1000, 1);
	hole = VA + 0x1000;
	CHECK(chain_from(0x10, MAX) == 2 && reads == 2);
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
	set_up();
	CHECK(!chain_from(64, 0));
}

static void test_slots(void)
{
	set_up();
	slot.flags = KVM_MEMSLOT_INVALID;
	CHECK(ends_at(64) && !reads);
	set_up();
	slot.npages = 0;
	CHECK(ends_at(64) && !reads);
	set_up();
	slot.npages = 1;
	CHECK(ends_at(0xff8) && reads == 1);
	CHECK(ends_at(0x1000) && reads == 1);
	set_up();
	CHECK(ends_at(0x14));
	word = 4;
	CHECK(ends_at(0x12) && !reads);
	set_up();
	hole = VA;
	CHECK(ends_at(64) && !reads);
	set_up();
	hole = VA + 0x1000;
	CHECK(ends_at(0xff8) && reads == 1);
	set_up();
	no_copy = true;
	CHECK(ends_at(0) && reads == 1);
	word = 4;
	CHECK(ends_at(0));
}

/* The VMM has other memory at the addresses of private memory. */
static void test_private(void)
{
	set_up();
	has_private = true;
	CHECK(reads_record(64));
	private_gfn = BASE >> 12;
	reads = 0;
	CHECK(ends_at(64) && !reads);
	private_gfn++;
	CHECK(reads_record(64));
	CHECK(ends_at(0xff8));
	CHECK(ends_at(0x1040));
	/* Another VM of that host, without such memory */
	set_up();
	private_gfn = BASE >> 12;
	CHECK(reads_record(64));
}

/* Each level of the VMM's tables: a page, or nothing, or what is not memory */
static void test_tables(void)
{
	int level;

	for (level = 0; level < NR_LEVELS; level++) {
		set_up();
		vmm_tables[level].present = false;
		CHECK(ends_at(64) && !reads);
		set_up();
		vmm_tables[level].leaf = true;
		if (level < 2) {
			CHECK(ends_at(64) && !reads);
			continue;
		}
		CHECK(reads_record(64));
		vmm_tables[level].special = true;
		reads = 0;
		CHECK(ends_at(64) && !reads);
		vmm_tables[level].special = false;
		vmm_tables[level].devmap = true;
		CHECK(ends_at(64) && !reads);
		vmm_tables[level].devmap = false;
		vmm_tables[level].pfn = 0;
		CHECK(ends_at(64) && !reads);
	}
}

/* The words of a guest's tables, which its own translation reads */
static void test_words(void)
{
	u64 entry = 0;

	set_up();
	kvm.srcu.readers++;
	pagefault_disable();
	pkru = HOST_PKRU;
	memory.words[1] = 0x123456789abcdef0UL;
	CHECK(kvm_vcpu_read_word(&vcpu, BASE + 8, &entry, 8) && entry == 0x123456789abcdef0UL);
	CHECK(kvm_vcpu_read_word(&vcpu, BASE + 12, &entry, 4) && entry == 0x12345678);
	CHECK(reads == 2);
	CHECK(!kvm_vcpu_read_word(&vcpu, BASE + 12, &entry, 8));
	CHECK(!kvm_vcpu_read_word(&vcpu, BASE + 10, &entry, 4));
	CHECK(!kvm_vcpu_read_word(&vcpu, BASE + MEMORY, &entry, 8));
	has_private = true;
	private_gfn = BASE >> 12;
	CHECK(!kvm_vcpu_read_word(&vcpu, BASE + 8, &entry, 8));
	has_private = false;
	vmm_tables[4].special = true;
	CHECK(!kvm_vcpu_read_word(&vcpu, BASE + 8, &entry, 8) && reads == 2);
	pagefault_enable();
	kvm.srcu.readers--;
	CHECK(!unlocked);
}

static void test_nmi(void)
{
	set_up();
	nmi = true;
	CHECK(reads_record(0) && locks == 1);
	CHECK(reads_record(0xff8) && locks == 2);
	hole = VA;
	CHECK(ends_at(0));
}

/* Addresses that are none, and what perf takes for a mark */
static void test_addresses(void)
{
	static const u64 none[] = { 0, PERF_CONTEXT_MAX, PERF_CONTEXT_KERNEL, -1UL };
	size_t i;

	for (i = 0; i < sizeof(none) / sizeof(*none); i++) {
		set_up();
		set_record(0x40, VA + 0x80, none[i]);
		set_record(0x80, 0, 1);
		CHECK(ends_at(0x40));
		first_ip = none[i];
		CHECK(!chain_from(0x80, MAX));
	}
	set_up();
	set_record(0x40, 0, PERF_CONTEXT_MAX - 1);
	CHECK(chain_from(0x40, MAX) == 2);
}

/* Stacks that go down, and that go nowhere */
static void test_stacks(void)
{
	unsigned int i;

	set_up();
	set_record(0x40, VA + 0x40, 1);
	CHECK(chain_from(0x40, MAX) == 2);
	set_record(0x40, 0, 1);
	CHECK(chain_from(0x40, MAX) == 2);
	CHECK(chain_from(-VA, MAX) == 1 && !translations - 1);
	set_record(0x40, VA + 0x51, 1);
	CHECK(chain_from(0x40, MAX) == 2);
	/* Down three times, and one address more */
	for (i = 0; i < 20; i++)
		set_record(0x800 - i * 16, VA + 0x800 - (i + 1) * 16, i + 1);
	CHECK(chain_from(0x800, MAX) == 5);
	/* Up in between */
	for (i = 0; i < 20; i++)
		set_record(0x800 + i * 16, VA + 0x800 + (i + 1) * 16, i + 1);
	set_record(0x800 + 20 * 16, 0, 21);
	set_record(0x400, VA + 0x800, 1);
	set_record(0xc00, VA + 0x400, 1);
	CHECK(chain_from(0xc00, MAX) == 24);
}

/* Where a record is whose page has no other one */
static u64 record_of(unsigned int i)
{
	return i * 0x1000 + i / PAGES * 16;
}

/* As many frames as there is room for, each of which is paid */
static void test_costs(void)
{
	unsigned int i, max, pages;

	set_up();
	for (i = 0; i < 200; i++)
		set_record(i * 16, VA + (i + 1) * 16, i + 1);
	CHECK(chain_from(0, MAX) == MAX && reads == 2 * (MAX - 1) && translations == 1);
	CHECK(chain_from(0, 3) == 3 && ips[2] == 2);
	CHECK(chain_from(0, 1) == 1);
	/* Each record in a page of its own: the memory is mapped again and again. */
	for (max = 1; max <= MAX; max++) {
		set_up();
		for (i = 0; i < MAX; i++)
			set_record(record_of(i) % MEMORY, VA + record_of(i + 1), i + 1);
		pages = (max + PAGE_COST) / (PAGE_COST + 1);
		if (pages > max - 1)
			pages = max - 1;
		CHECK(chain_from(0, max) == pages + 1 && translations == pages);
	}
}

static const struct test tests[] = {
	{ "records of words of 4 and 8 bytes", test_records },
	{ "records of the other byte order, and signed addresses", test_decoding },
	{ "records of one page, and of others", test_pages },
	{ "no vCPU, another CPU's, another process'", test_vcpus },
	{ "memslots, alignment, and pages that are not mapped", test_slots },
	{ "private memory", test_private },
	{ "what is not ordinary memory of the VMM", test_tables },
	{ "words of the guest's own tables", test_words },
	{ "SRCU in an NMI", test_nmi },
	{ "addresses that are none", test_addresses },
	{ "stacks that go down, or nowhere", test_stacks },
	{ "what a chain may cost", test_costs },
};

int main(int argc, char **argv)
{
	return run_tests(tests, sizeof(tests) / sizeof(*tests), argc, argv);
}
