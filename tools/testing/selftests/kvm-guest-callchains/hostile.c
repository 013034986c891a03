// SPDX-License-Identifier: GPL-2.0-only
/*
 * Guests that write misleading frame records and tables. Each chain must follow from the guest's
 * memory by the rules of Documentation/virt/kvm/guest-callchains.rst, and contain no data from
 * outside of it.
 *
 * usage: hostile [SEED [SECONDS [cycles]]]
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "../kselftest.h"
#include "chain.h"
#include "random.h"
#include "sampler.h"
#include "vm.h"

#define SAMPLES		30
#define MAX_SWITCHES	3

/* Virtual addresses for what the cases map, far from the guest's memory */
#define EXTRA		0x40000000UL
#define ALIAS		0x10000000UL
#define NO_SLOT_IPA	0x60000000UL
#define DEVICE_IPA	0x50000000UL
#define LATE_IPA	0x70000000UL

static const struct layout plain = { 12, 48 };
static struct vm vm;
static struct vcpu vcpu, writer;
static unsigned int seconds = 5;
static const char *missing;	/* what the machine lacks for a case */

/* An address of the scratch page at EL1, and what is there */
static uint64_t scratch(uint64_t offset)
{
	return kernel_va(&vm, SCRATCH) + offset;
}

static uint64_t *word_at(uint64_t va)
{
	uint64_t offset = va - kernel_va(&vm, 0);

	if (offset >= MEMORY_SIZE)
		return NULL;
	return (uint64_t *)(vm.memory + offset);
}

static void set_record(uint64_t offset, uint64_t fp, uint64_t lr)
{
	*word_at(scratch(offset)) = fp;
	*word_at(scratch(offset) + 8) = lr;
}

/* The rules, implemented again. Addresses of 48 bits are not signed. */
static void expect(uint64_t ip, uint64_t fp, struct sample *sample)
{
	unsigned int switches = 0;
	uint64_t *next_fp, *lr;

	sample->nr = 0;
	sample->chain[sample->nr++] = PERF_CONTEXT_GUEST_KERNEL;
	sample->chain[sample->nr++] = ip;
	while (sample->nr <= MAX_STACK && fp && !(fp & 7)) {
		next_fp = word_at(fp);
		lr = word_at(fp + 8);
		if (!next_fp || !lr || !*lr || *lr >= (uint64_t)PERF_CONTEXT_MAX)
			break;
		sample->chain[sample->nr++] = *lr;
		if (*next_fp == fp || (*next_fp < fp && ++switches > MAX_SWITCHES))
			break;
		fp = *next_fp;
	}
}

static bool is_expected(const struct sample *sample, const void *arg)
{
	const struct sample *expected = arg;

	if (sample->nr == expected->nr &&
	    !memcmp(sample->chain, expected->chain, sample->nr * sizeof(*sample->chain)))
		return true;
	ksft_print_msg("%lu entries expected\n", (unsigned long)expected->nr);
	print_chain(sample);
	return false;
}

/* Run the guest with this frame pointer. */
static bool runs_with(uint64_t fp, const struct sample *expected)
{
	bool good;

	set_pc(&vcpu, kernel_code(&vm, k_hostile), false);
	set_register(&vcpu, 29, fp);
	start_vcpu(&vcpu);
	good = samples_are(vcpu.tid, SAMPLES, is_expected, expected);
	stop_vcpu(&vcpu);
	return good;
}

static bool chain_of(uint64_t fp)
{
	struct sample expected;

	expect(kernel_code(&vm, k_hostile), fp, &expected);
	return runs_with(fp, &expected);
}

static uint64_t code(unsigned int n)
{
	return kernel_code(&vm, k_vectors) + 4 * n;
}

static bool points_to_itself(void)
{
	set_record(0, scratch(0), code(1));
	return chain_of(scratch(0));
}

static bool loop_of_two(void)
{
	set_record(0, scratch(64), code(1));
	set_record(64, scratch(0), code(2));
	return chain_of(scratch(0));
}

static bool loop_of_many(void)
{
	unsigned int i;

	for (i = 0; i < 1000; i++)
		set_record(i * 16, scratch((i + 1) % 1000 * 16), code(i));
	return chain_of(scratch(0));
}

static bool goes_down(void)
{
	unsigned int i;

	for (i = 0; i < 20; i++)
		set_record(1024 - i * 16, scratch(1024 - (i + 1) * 16), code(i));
	return chain_of(scratch(1024));
}

static bool no_frame(void)
{
	return chain_of(0);
}

static bool misaligned(void)
{
	set_record(0, 0, code(1));
	return chain_of(scratch(4));
}

static bool misaligned_caller(void)
{
	set_record(0, scratch(65), code(1));
	set_record(64, 0, code(2));
	return chain_of(scratch(0));
}

static bool not_mapped(void)
{
	set_record(0, kernel_va(&vm, EXTRA), code(1));
	return chain_of(scratch(0));
}

static bool not_canonical(void)
{
	set_record(0, 0x00ff800000000000UL, code(1));
	return chain_of(scratch(0));
}

/* The second word is in another page, which is not mapped. */
static bool across_pages(void)
{
	*word_at(kernel_va(&vm, MEMORY_SIZE) - 8) = scratch(0);
	return chain_of(kernel_va(&vm, MEMORY_SIZE) - 8);
}

static bool null_return(void)
{
	set_record(0, scratch(64), 0);
	set_record(64, 0, code(1));
	return chain_of(scratch(0));
}

/* A value that perf regards as a mark: it would count later addresses as the host's. */
static bool marks(void)
{
	static const uint64_t values[] = {
		PERF_CONTEXT_HV, PERF_CONTEXT_KERNEL, PERF_CONTEXT_USER, PERF_CONTEXT_GUEST_USER,
		PERF_CONTEXT_MAX, -1UL,
	};
	bool good = true;
	size_t i;

	for (i = 0; good && i < ARRAY_SIZE(values); i++) {
		set_record(0, scratch(64), code(1));
		set_record(64, scratch(128), values[i]);
		set_record(128, 0, code(2));
		good = chain_of(scratch(0));
	}
	return good;
}

/* Memory of the VMM next to the guest's */
static bool canaries(void)
{
	map(&vm, true, kernel_va(&vm, EXTRA), MEMORY_IPA + MEMORY_SIZE, 0x1000, 3);
	map(&vm, true, kernel_va(&vm, EXTRA + 0x1000), MEMORY_IPA - 0x1000, 0x1000, 3);
	set_record(0, kernel_va(&vm, EXTRA), code(1));
	set_record(64, kernel_va(&vm, EXTRA + 0x1000), code(2));
	return chain_of(scratch(below(2) * 64));
}

static bool no_memslot(void)
{
	map(&vm, true, kernel_va(&vm, EXTRA), NO_SLOT_IPA, 0x1000, 3);
	set_record(0, kernel_va(&vm, EXTRA), code(1));
	return chain_of(scratch(0));
}

/* The registers of the host's UART: a memslot may have them, like those of an assigned device */
static bool device(void)
{
	int fd = open("/dev/mem", O_RDWR | O_SYNC);
	void *registers;

	if (fd < 0)
		err(1, "/dev/mem");
	registers = mmap(NULL, 0x1000, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0x09000000);
	if (registers == MAP_FAILED)
		err(1, "mmap of /dev/mem");
	close(fd);
	add_slot(&vm, 1, DEVICE_IPA, registers, 0x1000);
	map(&vm, true, kernel_va(&vm, EXTRA), DEVICE_IPA, 0x1000, 3);
	/* The identification registers are 0x11 at 0xfe0 and 0x10 at 0xfe4. */
	set_record(0, kernel_va(&vm, EXTRA + 0xfe0), code(1));
	return chain_of(scratch(0));
}

/* A page that is not in memory is not faulted in. */
static bool not_in_core(void)
{
	unsigned char state = 1;
	char *page = vm.memory + SCRATCH + 0x8000;
	struct sample expected = {
		.nr	= 3,
		.chain	= { PERF_CONTEXT_GUEST_KERNEL, kernel_code(&vm, k_hostile), code(1) },
	};
	bool good;

	if (madvise(page, 0x1000, MADV_REMOVE))
		err(1, "MADV_REMOVE");
	set_record(0, scratch(0x8000), code(1));
	good = runs_with(scratch(0), &expected);
	if (mincore(page, 0x1000, &state))
		err(1, "mincore");
	return good && !(state & 1);
}

/*
 * The first table is one of its own entries, so that the last one is read as a page: its first
 * two descriptors are a record, and the first is no frame pointer.
 */
static bool recursive_tables(void)
{
	uint64_t va = kernel_va(&vm, EXTRA << 10);
	struct sample expected = {
		.nr	= 4,
		.chain	= { PERF_CONTEXT_GUEST_KERNEL, kernel_code(&vm, k_hostile), code(1),
			    *descriptor_of(&vm, true, kernel_va(&vm, 0x1000), 3) },
	};

	*descriptor_of(&vm, true, va, 0) = (MEMORY_IPA + vm.ttbr[1]) | 3;
	set_record(0, va, code(1));
	return runs_with(scratch(0), &expected);
}

/* A table that is not in the guest's memory */
static bool tables_elsewhere(void)
{
	uint64_t va = kernel_va(&vm, EXTRA << 10);

	*descriptor_of(&vm, true, va, 0) = (MEMORY_IPA + MEMORY_SIZE) | 3;
	set_record(0, va, code(1));
	return chain_of(scratch(0));
}

static uint64_t random_word(void)
{
	switch (below(40)) {
	case 0:
		return next_random();
	case 1:
		return scratch(below(PAGE_64K));
	case 2:
		return -below(5000);
	default:
		return scratch(below(PAGE_64K / 8) * 8);
	}
}

#define NR_WRITES	1024UL

/* The other vCPU writes the records, and the descriptors of their pages, in this order. */
static void start_writer(void)
{
	uint64_t *writes = (uint64_t *)(vm.memory + SCRATCH + 0x20000), i, page;

	for (i = 0; i < NR_WRITES; i++) {
		page = kernel_va(&vm, SCRATCH) + below(15) * 0x1000;
		if (below(4)) {
			writes[2 * i] = kernel_va(&vm, ALIAS) + below(PAGE_64K / 8) * 8;
			writes[2 * i + 1] = random_word();
		} else {
			writes[2 * i] = kernel_va(&vm, (char *)descriptor_of(&vm, true, page, 3) -
						  vm.memory);
			writes[2 * i + 1] = random_entry(1 << 10 | 3 << 8 | 3);
		}
	}
	map(&vm, true, kernel_va(&vm, ALIAS), MEMORY_IPA + SCRATCH, PAGE_64K, 3);
	create_vcpu(&vm, &writer, 1);
	set_pc(&writer, kernel_code(&vm, k_writer), false);
	set_register(&writer, 0, kernel_va(&vm, SCRATCH + 0x20000));
	set_register(&writer, 1, NR_WRITES);
}

/* A memslot that frame pointers refer to is created and deleted. */
static void change_slots(void *memory)
{
	add_slot(&vm, 1, LATE_IPA, memory, PAGE_64K);
	usleep(below(1000));
	add_slot(&vm, 1, LATE_IPA, memory, 0);
}

static bool harmless_samples(struct sampler *sampler, void *memory, uint64_t *entries)
{
	time_t end = time(NULL) + seconds;
	struct sample sample;
	bool good = true;

	while (good && time(NULL) < end) {
		change_slots(memory);
		while (good && next_sample(sampler, &sample)) {
			good = is_late(&sample) || is_harmless(&sample);
			*entries += sample.nr;
		}
	}
	return good;
}

static bool changing_memory(void)
{
	uint64_t *late, i, entries = 0;
	struct perf_event_attr attr;
	struct sampler sampler;
	bool good;

	late = mmap(NULL, PAGE_64K, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (late == MAP_FAILED)
		err(1, "mmap");
	for (i = 0; i < PAGE_64K / 8; i++)
		late[i] = random_word();
	for (i = 0; i < PAGE_64K / 8; i++)
		*word_at(scratch(i * 8)) = random_word();
	map(&vm, true, kernel_va(&vm, SCRATCH + 0xf000), LATE_IPA, 0x1000, 3);
	start_writer();
	set_pc(&vcpu, kernel_code(&vm, k_hostile), false);
	/* Not in the last page, where there is memory at times only */
	set_register(&vcpu, 29, scratch(below(0xf000 / 8) * 8));
	start_vcpu(&vcpu);
	start_vcpu(&writer);
	init_event(&attr);
	attr.sample_period = 20000;
	if (!open_sampler(&sampler, &attr, vcpu.tid))
		err(1, "perf_event_open");
	good = harmless_samples(&sampler, late, &entries);
	ksft_print_msg("%lu samples with %lu entries, %lu lost\n", (unsigned long)sampler.samples,
		       (unsigned long)entries, (unsigned long)sampler.lost);
	close_sampler(&sampler);
	stop_vcpu(&writer);
	stop_vcpu(&vcpu);
	close_vcpu(&writer);
	munmap(late, PAGE_64K);
	/* Without callers a sample has two entries. */
	return good && sampler.samples > 10 * seconds && entries * 10 > sampler.samples * 22;
}

/* At EL0, with this frame pointer, each chain has this caller, or none if it is 0. */
static bool program_has(uint64_t fp, uint64_t caller)
{
	struct sample expected = {
		.nr	= caller ? 3 : 2,
		.chain	= { PERF_CONTEXT_GUEST_USER, (uintptr_t)u_hostile, caller },
	};
	bool good;

	set_pc(&vcpu, (uintptr_t)u_hostile, true);
	set_register(&vcpu, 29, fp);
	start_vcpu(&vcpu);
	good = samples_are(vcpu.tid, SAMPLES, is_expected, &expected);
	stop_vcpu(&vcpu);
	return good;
}

static void set_user_record(uint64_t fp, uint64_t lr)
{
	uint64_t *record = (uint64_t *)(vm.memory + USER_STACK);

	record[0] = fp;
	record[1] = lr;
}

/* Samples of a program never have memory of the guest's kernel. */
static bool program_in_kernel(void)
{
	set_record(0, 0, code(1));
	set_user_record(scratch(0), code(2));
	return program_has(scratch(0), 0) && program_has(USER_STACK_VA, code(2));
}

/* A page of the program's half that is the kernel's alone, and a table of such pages */
static bool program_closed(void)
{
	uint64_t *page = descriptor_of(&vm, false, USER_STACK_VA, 3);
	uint64_t *table = descriptor_of(&vm, false, USER_STACK_VA, 2);
	bool good;

	set_user_record(0, code(1));
	good = program_has(USER_STACK_VA, code(1));
	*page &= ~(1UL << 6);
	good = good && program_has(USER_STACK_VA, 0);
	*page |= 1UL << 6;
	*table |= 1UL << 61;
	return good && program_has(USER_STACK_VA, 0);
}

/* The kernel may read what its programs may. */
static bool kernel_in_program(void)
{
	struct sample expected = {
		.nr	= 3,
		.chain	= { PERF_CONTEXT_GUEST_KERNEL, kernel_code(&vm, k_hostile), code(1) },
	};

	set_user_record(0, code(1));
	return runs_with(USER_STACK_VA, &expected);
}

#define AARCH32_USER	0x10
#define AARCH32_SVC	0x13

static bool chain_is_empty(const struct sample *sample, const void *arg)
{
	const struct sample *expected = arg;

	if (!sample->nr && sample->ip == expected->ip && sample->cpumode == expected->cpumode)
		return true;
	print_chain(sample);
	return false;
}

/* A branch to itself, and R11 and R7 that point to a record; samples have no chain then. */
static bool has_no_chain(uint64_t pc, uint64_t mode, uint64_t record)
{
	struct sample expected = {
		.cpumode = mode == AARCH32_USER ? PERF_RECORD_MISC_GUEST_USER :
						  PERF_RECORD_MISC_GUEST_KERNEL,
		.ip = pc,
	};
	bool good;

	*(uint32_t *)(vm.memory + USER_STACK) = 0xeafffffe;
	if (!set_aarch32(&vcpu, pc, mode)) {
		missing = "AArch32 in that mode";
		return true;
	}
	set_register(&vcpu, 7, record);
	set_register(&vcpu, 11, record);
	set_register(&vcpu, 29, record);
	start_vcpu(&vcpu);
	good = samples_are(vcpu.tid, SAMPLES, chain_is_empty, &expected);
	stop_vcpu(&vcpu);
	return good;
}

static bool aarch32_user(void)
{
	return has_no_chain(USER_STACK_VA, AARCH32_USER, USER_STACK_VA + 64);
}

static bool aarch32_kernel(void)
{
	static const struct layout aarch32 = { 12, 48, .aarch32 = true };

	destroy_vm_and_vcpu(&vm, &vcpu);
	if (!create_vm_and_vcpu(&vm, &vcpu, &aarch32)) {
		missing = "AArch32 at EL1";
		if (!create_vm_and_vcpu(&vm, &vcpu, &plain))
			err(1, "no VM");
	}
	return missing ||
	       has_no_chain(MEMORY_IPA + USER_STACK, AARCH32_SVC, MEMORY_IPA + SCRATCH);
}

static const struct {
	const char	*name;
	bool		(*run)(void);
} cases[] = {
	{ "a program in AArch32 state", aarch32_user },
	{ "a kernel in AArch32 state", aarch32_kernel },
	{ "a record that points to itself", points_to_itself },
	{ "a loop of two records", loop_of_two },
	{ "a loop of a thousand records", loop_of_many },
	{ "records at ever lower addresses", goes_down },
	{ "no frame pointer", no_frame },
	{ "a frame pointer that is not aligned", misaligned },
	{ "a caller's that is not aligned", misaligned_caller },
	{ "a page that is not mapped", not_mapped },
	{ "an address that is not canonical", not_canonical },
	{ "a record that ends in another page", across_pages },
	{ "an address to return to of 0", null_return },
	{ "addresses that perf takes for marks", marks },
	{ "the VMM's memory beside the guest's", canaries },
	{ "an address without memory", no_memslot },
	{ "the registers of a device", device },
	{ "a page that is not in core", not_in_core },
	{ "tables that are their own entries", recursive_tables },
	{ "tables that are not in memory", tables_elsewhere },
	{ "a program that points into its kernel", program_in_kernel },
	{ "a program that points to a page or table closed to it", program_closed },
	{ "a kernel that points into its program", kernel_in_program },
	{ "records and tables that change, memslots that come and go", changing_memory },
};

int main(int argc, char **argv)
{
	bool good;
	size_t i;

	setvbuf(stdout, NULL, _IOLBF, 0);
	seed_random(argc > 1 ? strtoull(argv[1], NULL, 0) : 1);
	if (argc > 2)
		seconds = atoi(argv[2]);
	use_pmu = argc > 3 && !strcmp(argv[3], "cycles");
	ksft_print_header();
	ksft_set_plan(ARRAY_SIZE(cases));
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		if (!create_vm_and_vcpu(&vm, &vcpu, &plain))
			err(1, "no VM");
		missing = NULL;
		good = cases[i].run();
		if (missing)
			ksft_test_result_skip("%s: no %s\n", cases[i].name, missing);
		else
			ksft_test_result(good, "%s\n", cases[i].name);
		destroy_vm_and_vcpu(&vm, &vcpu);
	}
	ksft_finished();
}
