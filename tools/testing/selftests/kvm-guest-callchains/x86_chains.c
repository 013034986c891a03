// SPDX-License-Identifier: GPL-2.0-only
/*
 * Each sample of an x86 guest has exactly the chain of calls that the guest has made, in
 * 64-bit and in 32-bit code and in compatibility mode; and where the guest misleads, what
 * the rules of Documentation/virt/kvm/guest-callchains.rst make of its memory.
 */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <linux/kvm.h>

#include "../kselftest.h"
#include "chain.h"
#include "random.h"
#include "x86_vm.h"

#define SAMPLES		100
#define FEW_SAMPLES	20
#define PERIOD		20000
#define SECONDS		5
#define DEADLINE	60	/* seconds, until which there must be so many samples */
#define MANY_SAMPLES	50

/* In the guest's memory: what its second vCPU writes, and where */
#define WRITES		0x50000UL

static const struct spins work = { 20000, 20000, 2 };
static struct vm vm;
static struct vcpu vcpu;

#define KERNEL_CHAIN(n)								\
	((struct expected) {							\
		.mark = PERF_CONTEXT_GUEST_KERNEL,				\
		.spin = kernel_code(&vm, k##n##_spin),				\
		.spin_end = kernel_code(&vm, k##n##_spin_end),			\
		.callers = { kernel_code(&vm, k##n##_middle_ret),		\
			     kernel_code(&vm, k##n##_outer_ret),		\
			     kernel_code(&vm, k##n##_entry_ret) },		\
		.nr = 3,							\
	})

#define USER_CHAIN(n)								\
	((struct expected) {							\
		.mark = PERF_CONTEXT_GUEST_USER,				\
		.spin = user_code(&vm, u##n##_spin),				\
		.spin_end = user_code(&vm, u##n##_spin_end),			\
		.callers = { user_code(&vm, u##n##_last_ret),			\
			     user_code(&vm, u##n##_deep_ret),			\
			     user_code(&vm, u##n##_deep_ret),			\
			     user_code(&vm, u##n##_outer_ret),			\
			     user_code(&vm, u##n##_start_ret) },		\
		.nr = 5,							\
	})

static void expect(void)
{
	at_kernel = vm.layout->kernel_bits == 64 ? KERNEL_CHAIN(64) : KERNEL_CHAIN(32);
	at_user = vm.layout->user_bits == 64 ? USER_CHAIN(64) : USER_CHAIN(32);
}

static const struct {
	const char	*name;
	struct layout	layout;
} layouts[] = {
	{ "64-bit", { 64, 64, 4 } },
	{ "64-bit, pages of 2 MiB", { 64, 64, 4, 21 } },
	{ "64-bit, pages of 1 GiB", { 64, 64, 4, 30 } },
	{ "64-bit, five levels", { 64, 64, 5 } },
	{ "compatibility mode", { 64, 32, 4 } },
	{ "32-bit", { 32, 32, 2 } },
	{ "32-bit, pages of 4 MiB", { 32, 32, 2, 22 } },
	{ "32-bit, PAE", { 32, 32, 3 } },
	{ "32-bit, PAE, pages of 2 MiB", { 32, 32, 3, 21 } },
	{ "32-bit, no paging", { 32, 32, 0 } },
};

static void test_layout(const char *name, const struct layout *layout)
{
	struct perf_event_attr attr;

	if (!create_vm_and_vcpu(&vm, &vcpu, layout)) {
		ksft_test_result_skip("%s: the CPU does not have it\n", name);
		return;
	}
	expect();
	run_program(&vcpu, &work);
	start_vcpu(&vcpu);
	init_event(&attr);
	ksft_test_result(sample_chains(&attr, vcpu.tid, SAMPLES, MAX_STACK), "%s\n", name);
	stop_vcpu(&vcpu);
	destroy_vm_and_vcpu(&vm, &vcpu);
}

/* The host's frames below the guest's */
static void test_host_frames(const struct layout *layout)
{
	struct perf_event_attr attr;

	find_vcpu_ioctl();
	create_vm_and_vcpu(&vm, &vcpu, layout);
	expect();
	run_program(&vcpu, &work);
	start_vcpu(&vcpu);
	init_event(&attr);
	want_host_frames(&attr);
	ksft_test_result(sample_chains(&attr, vcpu.tid, SAMPLES, MAX_STACK),
			 "the host's frames below the guest's\n");
	stop_vcpu(&vcpu);
	destroy_vm_and_vcpu(&vm, &vcpu);
}

/* The scratch page, and records in it of the words that the kernel has */
static uint64_t scratch(uint64_t offset)
{
	return kernel_va(&vm, SCRATCH) + offset;
}

static void set_record(uint64_t offset, uint64_t fp, uint64_t ip)
{
	size_t word = vm.layout->kernel_bits / 8;

	memcpy(vm.memory + SCRATCH + offset, &fp, word);
	memcpy(vm.memory + SCRATCH + offset + word, &ip, word);
}

static uint64_t pc(void)
{
	return kernel_code(&vm, vm.layout->kernel_bits == 64 ? k64_hostile : k32_hostile);
}

static bool is_chain(const struct sample *sample, const void *arg)
{
	const struct expected *expected = arg;

	if (sample->nr == expected->nr + 2 && sample->chain[0] == expected->mark &&
	    sample->chain[1] == expected->spin &&
	    !memcmp(&sample->chain[2], expected->callers, expected->nr * sizeof(*sample->chain)))
		return true;
	ksft_print_msg("%lu callers expected\n", (unsigned long)expected->nr);
	print_chain(sample);
	return false;
}

/* With this frame pointer each chain has these callers. */
static bool has_callers(uint64_t fp, const uint64_t *callers, unsigned int nr)
{
	struct expected expected = { .mark = PERF_CONTEXT_GUEST_KERNEL, .spin = pc(), .nr = nr };
	bool good;

	if (nr)
		memcpy(expected.callers, callers, nr * sizeof(*callers));
	run_kernel(&vcpu, pc(), fp);
	start_vcpu(&vcpu);
	good = samples_are(vcpu.tid, FEW_SAMPLES, is_chain, &expected);
	stop_vcpu(&vcpu);
	return good;
}

#define HAS_CALLERS(fp, ...)							\
	has_callers(fp, (const uint64_t[]) { __VA_ARGS__ },			\
		    sizeof((const uint64_t[]) { __VA_ARGS__ }) / sizeof(uint64_t))

/* A frame record that leads to @fp has one caller, which is all of the chain. */
static bool ends_at(uint64_t fp)
{
	set_record(0, fp, 0x1234);
	return HAS_CALLERS(scratch(0), 0x1234);
}

static bool loop(void)
{
	set_record(0, scratch(64), 1);
	set_record(64, scratch(0), 2);
	return HAS_CALLERS(scratch(0), 1, 2, 1, 2, 1, 2, 1, 2);
}

static bool no_frame(void)
{
	return has_callers(0, NULL, 0);
}

static bool misaligned(void)
{
	return ends_at(scratch(vm.layout->kernel_bits / 8 + 2));
}

static bool not_mapped(void)
{
	return ends_at(kernel_va(&vm, MEMORY_SIZE + 0x400000));
}

/* The second word is in a page that is not mapped, or beyond the address space. */
static bool across_pages(void)
{
	uint64_t last = kernel_va(&vm, MEMORY_SIZE) - vm.layout->kernel_bits / 8;

	if (vm.layout->kernel_bits == 64)
		return ends_at(last);
	map(&vm, 0xfffff000, MEMORY_IPA + SCRATCH, 12, 0);
	return ends_at(last) && ends_at(0xfffffffc);
}

static bool not_canonical(void)
{
	return ends_at(0x00ff800000000000) && ends_at(0x0000800000000000);
}

/* Memory of the VMM next to the guest's */
static bool canaries(void)
{
	map(&vm, kernel_va(&vm, MEMORY_SIZE), MEMORY_IPA + MEMORY_SIZE, 12, 0);
	map(&vm, kernel_va(&vm, MEMORY_SIZE + 0x1000), MEMORY_IPA - 0x1000, 12, 0);
	return ends_at(kernel_va(&vm, MEMORY_SIZE)) &&
	       ends_at(kernel_va(&vm, MEMORY_SIZE + 0x1000));
}

/* Bits of an address that no CPU of this guest has, in a page and in a table */
static bool too_large(void)
{
	uint64_t *entry = map(&vm, scratch(0x1000), MEMORY_IPA + SCRATCH + 0x1000, 12, 0);
	uint64_t kept = *entry;
	bool good;

	set_record(0x1000, 0, 2);
	set_record(0, scratch(0x1000), 1);
	good = HAS_CALLERS(scratch(0), 1, 2);
	*entry |= 1UL << 51;
	good = good && HAS_CALLERS(scratch(0), 1);
	*entry = kept;
	return good;
}

/* The table is one of its own entries: the last level reads it as a page. */
static bool recursive_tables(void)
{
	uint64_t *top = (uint64_t *)(vm.memory + vm.ttbr[0]), va = 0xffffa00000000000UL;

	/* That address is in entry 320. It is no frame pointer; the next one maps nothing. */
	top[320] = (MEMORY_IPA + vm.ttbr[0]) | 0x63;
	top[321] = 0x5000;
	set_record(0, va | 320UL << 30 | 320UL << 21 | 320UL << 12 | 320 * 8, 1);
	return HAS_CALLERS(scratch(0), 1, 0x5000);
}

#define PRIVATE_GPA	0x60000000UL

/* A record in memory that is shared or private, and what the VMM has at its address */
static bool private_memory(void)
{
	uint64_t va = kernel_va(&vm, MEMORY_SIZE), *memory;
	bool good;

	memory = mmap(NULL, PAGE_64K, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		err(1, "mmap");
	memory[1] = 0x1234;
	add_private_slot(&vm, 1, PRIVATE_GPA, memory, PAGE_64K);
	map(&vm, va, PRIVATE_GPA, 12, 0);
	good = HAS_CALLERS(va, 0x1234);
	set_private(&vm, PRIVATE_GPA, PAGE_64K, true);
	good = good && ends_at(va) && has_callers(va, NULL, 0);
	set_private(&vm, PRIVATE_GPA, PAGE_64K, false);
	good = good && HAS_CALLERS(va, 0x1234);
	munmap(memory, PAGE_64K);
	return good;
}

/* A value that perf regards as a mark: it would count later addresses as the host's. */
static bool marks(void)
{
	set_record(64, 0, 2);
	set_record(0, scratch(64), PERF_CONTEXT_KERNEL);
	return has_callers(scratch(0), NULL, 0);
}

/* In user mode, with this frame pointer, each chain has this caller, or none if it is 0. */
static bool program_has(uint64_t fp, uint64_t caller)
{
	uint64_t pc = user_code(&vm, vm.layout->user_bits == 64 ? k64_hostile : k32_hostile);
	struct expected expected = {
		.mark = PERF_CONTEXT_GUEST_USER, .spin = pc, .callers = { caller },
		.nr = caller != 0,
	};
	bool good;

	run_user(&vcpu, pc, fp);
	start_vcpu(&vcpu);
	good = samples_are(vcpu.tid, FEW_SAMPLES, is_chain, &expected);
	stop_vcpu(&vcpu);
	return good;
}

static void set_user_record(uint64_t fp, uint64_t ip)
{
	size_t word = vm.layout->user_bits / 8;

	memcpy(vm.memory + USER_STACK, &fp, word);
	memcpy(vm.memory + USER_STACK + word, &ip, word);
}

/* Samples of a program never have memory of the guest's kernel. */
static bool program_in_kernel(void)
{
	set_record(0, 0, 0x1234);
	set_user_record(scratch(0), 0x5678);
	return program_has(scratch(0), 0) && program_has(USER_STACK_VA, 0x5678);
}

/* A page of the program's that is the kernel's alone, and a table of such pages */
static bool program_closed(void)
{
	unsigned int level;
	uint64_t *entry;
	bool good;

	set_user_record(0, 0x1234);
	good = program_has(USER_STACK_VA, 0x1234);
	for (level = 1; level <= 2; level++) {
		entry = entry_at(&vm, USER_STACK_VA, level);
		*entry &= ~4UL;
		good = good && program_has(USER_STACK_VA, 0);
		*entry |= 4UL;
	}
	return good;
}

#define ALIAS_VA	0x20000000UL
#define NR_WRITES	1024UL
#define NR_PAGES	16

static uint64_t random_record(void)
{
	switch (below(40)) {
	case 0:
		return next_random();
	case 1:
		return -below(5000);
	default:
		return scratch(below(PAGE_64K / 8) * 8);
	}
}

static void set_write(uint64_t n, uint64_t va, uint64_t value)
{
	size_t word = vm.layout->kernel_bits / 8;

	memcpy(vm.memory + WRITES + 2 * n * word, &va, word);
	memcpy(vm.memory + WRITES + (2 * n + 1) * word, &value, word);
}

/* The low word of an entry is all that 32-bit code writes of it. */
static void start_writer(struct vcpu *writer)
{
	size_t word = vm.layout->kernel_bits / 8;
	uint64_t i, page, *entries[NR_PAGES];

	for (i = 0; i < NR_PAGES; i++) {
		page = i * 0x1000;
		entries[i] = map(&vm, scratch(page), MEMORY_IPA + SCRATCH + page, 12, 0);
		map(&vm, ALIAS_VA + page, MEMORY_IPA + SCRATCH + page, 12, 0);
	}
	for (i = 0; i < NR_WRITES; i++) {
		if (below(4))
			set_write(i, ALIAS_VA + below(PAGE_64K / word) * word, random_record());
		else
			set_write(i, kernel_va(&vm, (char *)entries[below(NR_PAGES)] - vm.memory),
				  random_entry(0x63));
	}
	create_vcpu(&vm, writer, 1);
	run_writer(writer, kernel_va(&vm, WRITES), NR_WRITES);
	start_vcpu(writer);
}

static bool harmless_samples(uint64_t *samples, uint64_t *callers)
{
	time_t begin = time(NULL), now = begin;
	struct perf_event_attr attr;
	struct sampler sampler;
	struct sample sample;
	bool good = true;

	init_event(&attr);
	attr.sample_period = PERIOD;
	if (!open_sampler(&sampler, &attr, vcpu.tid))
		err(1, "perf_event_open");
	while (good && (now < begin + SECONDS || sampler.samples <= MANY_SAMPLES) &&
	       now < begin + DEADLINE) {
		usleep(1000);
		now = time(NULL);
		while (good && next_sample(&sampler, &sample)) {
			good = is_harmless(&sample);
			*callers += sample.nr - 2;
		}
	}
	*samples = sampler.samples;
	close_sampler(&sampler);
	return good;
}

/* Another vCPU writes the records and the tables that lead to them. */
static bool changing_memory(void)
{
	size_t word = vm.layout->kernel_bits / 8, i;
	uint64_t samples, callers = 0, value;
	struct vcpu writer;
	bool good;

	for (i = 0; i < PAGE_64K; i += word) {
		value = random_record();
		memcpy(vm.memory + SCRATCH + i, &value, word);
	}
	start_writer(&writer);
	run_kernel(&vcpu, pc(), scratch(below(PAGE_64K / 8) * 8));
	start_vcpu(&vcpu);
	good = harmless_samples(&samples, &callers);
	ksft_print_msg("%lu samples with %lu callers\n", (unsigned long)samples,
		       (unsigned long)callers);
	stop_vcpu(&vcpu);
	stop_vcpu(&writer);
	close_vcpu(&writer);
	return good && samples > MANY_SAMPLES && callers * 5 > samples;
}

static const struct layout wide = { 64, 64, 4 }, narrow = { 32, 32, 3 };
static const struct layout guarded = { 64, 64, 4, .type = KVM_X86_SW_PROTECTED_VM };

static const struct {
	const char		*name;
	const struct layout	*layout;
	bool			(*run)(void);
} cases[] = {
	{ "64-bit: a loop", &wide, loop },
	{ "64-bit: no frame pointer", &wide, no_frame },
	{ "64-bit: a frame pointer that is not aligned", &wide, misaligned },
	{ "64-bit: a page that is not mapped", &wide, not_mapped },
	{ "64-bit: a record that ends in another page", &wide, across_pages },
	{ "64-bit: addresses that are not canonical", &wide, not_canonical },
	{ "64-bit: the VMM's memory beside the guest's", &wide, canaries },
	{ "64-bit: an address that is too large", &wide, too_large },
	{ "64-bit: tables that are their own entries", &wide, recursive_tables },
	{ "64-bit: an address that perf takes for a mark", &wide, marks },
	{ "64-bit: a program that points into its kernel", &wide, program_in_kernel },
	{ "64-bit: a program that points to what is closed to it", &wide, program_closed },
	{ "64-bit: records and tables that change", &wide, changing_memory },
	{ "64-bit: private memory", &guarded, private_memory },
	{ "32-bit: a loop", &narrow, loop },
	{ "32-bit: a frame pointer that is not aligned", &narrow, misaligned },
	{ "32-bit: a page that is not mapped", &narrow, not_mapped },
	{ "32-bit: a record that ends in another page", &narrow, across_pages },
	{ "32-bit: the VMM's memory beside the guest's", &narrow, canaries },
	{ "32-bit: an address that is too large", &narrow, too_large },
	{ "32-bit: a program that points into its kernel", &narrow, program_in_kernel },
	{ "32-bit: a program that points to what is closed to it", &narrow, program_closed },
	{ "32-bit: records and tables that change", &narrow, changing_memory },
};

int main(void)
{
	size_t i;

	setvbuf(stdout, NULL, _IOLBF, 0);
	seed_random(1);
	ksft_print_header();
	ksft_set_plan(ARRAY_SIZE(layouts) + 1 + ARRAY_SIZE(cases));
	for (i = 0; i < ARRAY_SIZE(layouts); i++)
		test_layout(layouts[i].name, &layouts[i].layout);
	test_host_frames(&wide);
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		if (!create_vm_and_vcpu(&vm, &vcpu, cases[i].layout)) {
			ksft_test_result_skip("%s: KVM does not have it\n", cases[i].name);
			continue;
		}
		ksft_test_result(cases[i].run(), "%s\n", cases[i].name);
		destroy_vm_and_vcpu(&vm, &vcpu);
	}
	ksft_finished();
}
