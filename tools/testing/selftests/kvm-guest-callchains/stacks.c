// SPDX-License-Identifier: GPL-2.0-only
/*
 * A sample of a guest has the guest's registers and its stack if the event asks for them: the
 * chain of frames in the copy is that which the kernel has found, and the copy is the guest's
 * memory, up to the first page that the guest can't read.
 *
 * usage: stacks [cycles]
 */
#include <err.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../kselftest.h"
#include "sampler.h"
#include "stacks.h"

#define SAMPLES		200
#define FEW_SAMPLES	20
#define DEADLINE	60	/* seconds */
#define SIZE		4096

/* As much as an event may ask for: a sample with it has more than 64 KiB. */
#define LARGEST		65528

static struct vm vm;
static struct vcpu vcpu;
static struct guest_stack stack;

/* Run the vCPU until so many samples of each of the modes are good. */
static bool stacks_are(unsigned int nr, unsigned int size, unsigned int modes,
		       bool (*good)(const struct sample *sample, const void *arg), const void *arg)
{
	time_t deadline = time(NULL) + DEADLINE;
	unsigned int left[8] = {}, mode, *kernel = &left[PERF_RECORD_MISC_GUEST_KERNEL],
		     *user = &left[PERF_RECORD_MISC_GUEST_USER];
	struct perf_event_attr attr;
	struct sampler sampler;
	struct sample sample;
	bool right = true;

	for (mode = 0; mode < 8; mode++)
		left[mode] = modes & 1 << mode ? nr : 0;
	start_vcpu(&vcpu);
	init_event(&attr);
	want_guest_stack(&attr, size);
	if (!open_sampler(&sampler, &attr, vcpu.tid))
		err(1, "perf_event_open");
	sampler.stack = &stack;
	while (right && (*kernel || *user) && time(NULL) < deadline) {
		if (!next_sample(&sampler, &sample)) {
			usleep(1000);
			continue;
		}
		if (is_late(&sample))
			continue;
		right = good(&sample, arg);
		if (left[sample.cpumode])
			left[sample.cpumode]--;
	}
	close_sampler(&sampler);
	stop_vcpu(&vcpu);
	if (!right) {
		ksft_print_msg("abi %lu, fp %#lx, sp %#lx, pc %#lx, %lu of %lu bytes\n",
			       (unsigned long)stack.abi, (unsigned long)stack.fp,
			       (unsigned long)stack.sp, (unsigned long)stack.pc,
			       (unsigned long)stack.copied, (unsigned long)stack.size);
		print_chain(&sample);
	}
	return right && !*kernel && !*user;
}

#define KERNEL	(1 << PERF_RECORD_MISC_GUEST_KERNEL)
#define USER	(1 << PERF_RECORD_MISC_GUEST_USER)

static uint64_t word_at(uint64_t va, unsigned int word)
{
	uint64_t value = 0;

	if (va < stack.sp || va + word > stack.sp + stack.copied)
		return 0;
	memcpy(&value, &stack.data[va - stack.sp], word);
	return value;
}

/* The chain by the registers and the copy */
static bool has_chain(const struct sample *sample, const void *arg)
{
	unsigned int word = stack.abi == PERF_SAMPLE_REGS_ABI_64 ? 8 : 4, i;
	bool user = sample->cpumode == PERF_RECORD_MISC_GUEST_USER;
	uint64_t fp = stack.fp;

	(void)arg;
	if (!stack.abi || stack.size != SIZE || sample->nr < 2 || stack.pc != sample->ip ||
	    sample->chain[1] != stack.pc)
		return false;
	if (stack.copied != (user ? USER_STACK_VA + PAGE_64K - stack.sp : SIZE))
		return false;
	for (i = 2; i < sample->nr; i++) {
		if (word_at(fp + word, word) != sample->chain[i])
			return false;
		fp = word_at(fp, word);
	}
	return !fp || !word_at(fp + word, word);
}

static void test_calls(const struct guest *guest)
{
	if (!create_vm_and_vcpu(&vm, &vcpu, guest->layout)) {
		ksft_test_result_skip("%s: the CPU does not have it\n", guest->name);
		return;
	}
	make_known_calls(&vcpu);
	ksft_test_result(stacks_are(SAMPLES, SIZE, KERNEL | USER, has_chain, NULL), "%s\n",
			 guest->name);
	destroy_vm_and_vcpu(&vm, &vcpu);
}

struct copy {
	uint64_t	sp, size, copied;
	const char	*from;
};

static bool is_copy(const struct sample *sample, const void *arg)
{
	const struct copy *copy = arg;

	(void)sample;
	return stack.abi && stack.sp == copy->sp && stack.size == copy->size &&
	       stack.copied == copy->copied && !memcmp(stack.data, copy->from, copy->copied);
}

/* The kernel's memory from an offset on, which is mapped so far */
static bool copies(uint64_t offset, uint64_t copied)
{
	struct copy copy = { kernel_va(&vm, offset), SIZE, copied, vm.memory + offset };

	spin_in_kernel(&vcpu, copy.sp);
	return stacks_are(FEW_SAMPLES, SIZE, KERNEL, is_copy, &copy);
}

/* The kernel's stack pointer leads to nothing. */
static bool copies_nothing(uint64_t sp)
{
	struct copy copy = { .sp = sp, .size = SIZE };

	spin_in_kernel(&vcpu, sp);
	return stacks_are(FEW_SAMPLES, SIZE, KERNEL, is_copy, &copy);
}

static void fill(void)
{
	uint64_t i;

	for (i = USER_STACK; i < USER_STACK + 2 * PAGE_64K; i += 8)
		memcpy(vm.memory + i, &(uint64_t) { i * 0x9e3779b97f4a7c15UL }, 8);
}

static bool aligned(void)
{
	return copies(SCRATCH, SIZE);
}

static bool misaligned(void)
{
	return copies(SCRATCH + 0x1003, SIZE);
}

/* It ends with the last page. */
static bool at_the_end(void)
{
	return copies(MEMORY_SIZE - 24, 24) && copies(MEMORY_SIZE - SIZE, SIZE);
}

static bool not_mapped(void)
{
	return copies_nothing(kernel_va(&vm, 2 * MEMORY_SIZE)) && copies_nothing(0) &&
	       copies_nothing(-8UL) && copies_nothing(0x00ff800000000000);
}

/* The guest's tables lead to memory of the VMM that is no memslot's. */
static bool canaries(void)
{
	map_kernel_page(&vm, kernel_va(&vm, MEMORY_SIZE), MEMORY_IPA + MEMORY_SIZE);
	map_kernel_page(&vm, kernel_va(&vm, MEMORY_SIZE + 0x1000), MEMORY_IPA - 0x1000);
	return copies(MEMORY_SIZE - 64, 64) &&
	       copies_nothing(kernel_va(&vm, MEMORY_SIZE)) &&
	       copies_nothing(kernel_va(&vm, MEMORY_SIZE + 0x1000));
}

/* A program has its own memory, and none of the kernel's. */
static bool program(void)
{
	struct copy own = { USER_STACK_VA, SIZE, SIZE, vm.memory + USER_STACK };
	struct copy kernels = { kernel_va(&vm, SCRATCH), SIZE, 0, vm.memory };

	spin_in_program(&vcpu, own.sp);
	if (!stacks_are(FEW_SAMPLES, SIZE, USER, is_copy, &own))
		return false;
	spin_in_program(&vcpu, kernels.sp);
	return stacks_are(FEW_SAMPLES, SIZE, USER, is_copy, &kernels);
}

/* As much as a sample may have, which is its header, the address, a chain of two, and these */
static bool largest(void)
{
	uint64_t size = 65528 - 8 - 8 - 3 * 8 - 4 * 8 - 2 * 8;
	struct copy copy = { kernel_va(&vm, USER_STACK + 8), size, size,
			     vm.memory + USER_STACK + 8 };

	spin_in_kernel(&vcpu, copy.sp);
	return stacks_are(FEW_SAMPLES, LARGEST, KERNEL, is_copy, &copy);
}

/* No room for the stack: the registers alone */
static bool registers_alone(void)
{
	struct copy copy = { .sp = kernel_va(&vm, SCRATCH) };

	spin_in_kernel(&vcpu, copy.sp);
	return stacks_are(FEW_SAMPLES, 0, KERNEL, is_copy, &copy);
}

static bool refused(void)
{
	struct perf_event_attr attr;
	struct sampler sampler;

	init_event(&attr);
	want_guest_stack(&attr, SIZE);
	attr.sample_type &= ~(PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER);
	return !open_sampler(&sampler, &attr, 0) && errno == EINVAL;
}

static const struct {
	const char	*name;
	bool		(*run)(void);
} cases[] = {
	{ "a stack pointer that is aligned", aligned },
	{ "one that is not", misaligned },
	{ "the end of what is mapped", at_the_end },
	{ "a stack pointer that leads to nothing", not_mapped },
	{ "the VMM's memory beside the guest's", canaries },
	{ "a program", program },
	{ "the largest sample", largest },
	{ "a size of 0", registers_alone },
	{ "the bit without registers and stack", refused },
};

int main(int argc, char **argv)
{
	size_t i;

	setvbuf(stdout, NULL, _IOLBF, 0);
	use_pmu = argc > 1 && !strcmp(argv[1], "cycles");
	ksft_print_header();
	ksft_set_plan(nr_guests + ARRAY_SIZE(cases));
	for (i = 0; i < nr_guests; i++)
		test_calls(&guests[i]);
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		create_vm_and_vcpu(&vm, &vcpu, guests[0].layout);
		fill();
		ksft_test_result(cases[i].run(), "%s\n", cases[i].name);
		destroy_vm_and_vcpu(&vm, &vcpu);
	}
	ksft_finished();
}
