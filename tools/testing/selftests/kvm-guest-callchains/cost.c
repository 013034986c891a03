// SPDX-License-Identifier: GPL-2.0-only
/*
 * Measure the cost of a sample of a guest, of each frame of its chain and of a copy of its stack,
 * for tools/hyptrace/bench; and the cost of the longest chain of a guest, compared with a deep
 * stack of the host
 *
 * usage: cost
 *
 * Prints `name value unit'. Needs one CPU, on which an instruction takes a nanosecond: the time
 * that is not spent in the loop's own instructions is the kernel's.
 */
#include <err.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "chain.h"
#include "sampler.h"
#include "vm.h"

#define COUNTER		0x8000UL	/* in the user stack's 64 KiB, which is not used */
#define GUEST_INSNS	4		/* of k_count() */
#define HOST_INSNS	5		/* of host_count() */
#define PERIOD		10000000	/* ns */
#define WINDOW		350000		/* us; for so many samples at least: */
#define FEW		20
#define WINDOWS		3
#define FRAMES		100
#define PAGES		6	/* as many as a chain may have, and less than a frame more */
#define PAGE		0x1000UL
#define STACK_KIB	6

/* Where records are that end in another page, far from the guest's memory */
#define EXTRA		0x40000000UL

static const struct layout plain = { 12, 48 };
static const struct layout deep = { 12, 52, .wide = true };
static struct vm vm;
static struct vcpu vcpu;
static struct guest_stack stack;
static unsigned int stack_size;	/* bytes of the guest's that samples have; 0: nor registers */
static uint64_t host_counter, host_stop, host_records[MAX_STACK][2];

/* Counts in the word at @counter until that at @stop is set, with the frame pointer @fp */
static void host_count(uint64_t *counter, uint64_t *stop, void *fp)
{
	asm volatile("mov	x9, x29\n"
		     "	mov	x29, %2\n"
		     "1:	ldr	x3, [%0]\n"
		     "	add	x3, x3, #1\n"
		     "	str	x3, [%0]\n"
		     "	ldr	x4, [%1]\n"
		     "	cbz	x4, 1b\n"
		     "	mov	x29, x9\n"
		     : : "r"(counter), "r"(stop), "r"(fp) : "x3", "x4", "x9", "memory");
}

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1e9 + ts.tv_nsec;
}

/* A loop that counts, in a thread that is sampled */
struct loop {
	uint64_t	*counter;
	double		insns;
	pid_t		tid;
};

static double insns_of(const struct loop *loop)
{
	return loop->insns * __atomic_load_n(loop->counter, __ATOMIC_RELAXED);
}

/* How long the CPU was not in the loop */
static double kernel_time(const struct loop *loop, double *took)
{
	double begin = now(), insns = insns_of(loop);

	usleep(WINDOW);
	insns = insns_of(loop) - insns;
	*took = now() - begin;
	return *took - insns;
}

/* What share of the time that is without samples */
static double idle_share(const struct loop *loop)
{
	double took, time = kernel_time(loop, &took);

	return time / took;
}

/* Instructions of the kernel for each sample of a window */
static double window_cost(const struct loop *loop, struct perf_event_attr *attr, double idle)
{
	struct sampler sampler;
	struct sample sample;
	double took, time;

	if (!open_sampler(&sampler, attr, loop->tid))
		err(1, "perf_event_open");
	sampler.stack = stack_size ? &stack : NULL;
	time = kernel_time(loop, &took);
	/* All of them are in the ring still. */
	while (next_sample(&sampler, &sample))
		;
	if (sampler.lost || sampler.samples < FEW)
		errx(1, "%lu samples, and %lu lost", (unsigned long)sampler.samples,
		     (unsigned long)sampler.lost);
	if (stack_size && stack.copied != stack_size)
		errx(1, "%lu bytes of the stack", (unsigned long)stack.copied);
	close_sampler(&sampler);
	return (time - idle * took) / sampler.samples;
}

static double least(double a, double b)
{
	return a < b ? a : b;
}

/* The least of some windows: what else the kernel does in one adds to it. */
static double sample_cost(const struct loop *loop, bool host)
{
	double idle = 1, cost = PERIOD;
	struct perf_event_attr attr;
	unsigned int i;

	init_event(&attr);
	attr.sample_period = PERIOD;
	attr.exclude_host = !host;
	if (stack_size)
		want_guest_stack(&attr, stack_size);
	/* What begins with the loop is done then. */
	usleep(300000);
	for (i = 0; i < WINDOWS; i++)
		idle = least(idle, idle_share(loop));
	for (i = 0; i < WINDOWS; i++)
		cost = least(cost, window_cost(loop, &attr, idle));
	return cost;
}

static double guest_cost(uint64_t fp)
{
	struct loop loop = {
		.counter = (uint64_t *)(vm.memory + USER_STACK + COUNTER), .insns = GUEST_INSNS,
	};
	double cost;

	set_pc(&vcpu, kernel_code(&vm, k_count), false);
	set_register(&vcpu, 0, kernel_va(&vm, USER_STACK + COUNTER));
	set_register(&vcpu, 29, fp);
	start_vcpu(&vcpu);
	loop.tid = vcpu.tid;
	cost = sample_cost(&loop, false);
	stop_vcpu(&vcpu);
	return cost;
}

/* A chain whose records are @step bytes apart */
static double chain_cost(unsigned int frames, unsigned int step)
{
	uint64_t fp = kernel_va(&vm, SCRATCH), *record;
	unsigned int i;

	for (i = 0; i < frames; i++) {
		record = (uint64_t *)(vm.memory + SCRATCH + i * step);
		record[0] = i + 1 < frames ? fp + (i + 1) * step : 0;
		record[1] = kernel_code(&vm, k_vectors);
	}
	return guest_cost(frames ? fp : 0);
}

/*
 * As many records as there can be, each of two words in pages of their own: each word is
 * translated. The second words of all are in the same memory.
 */
static double longest_cost(void)
{
	uint64_t va = kernel_va(&vm, EXTRA), second = SCRATCH + MAX_STACK * PAGE;
	unsigned int i;

	for (i = 0; i < MAX_STACK; i++) {
		map(&vm, true, va + 2 * i * PAGE, MEMORY_IPA + SCRATCH + i * PAGE, PAGE, 3);
		map(&vm, true, va + (2 * i + 1) * PAGE, MEMORY_IPA + second, PAGE, 3);
		*(uint64_t *)(vm.memory + SCRATCH + (i + 1) * PAGE - 8) =
			va + (2 * i + 3) * PAGE - 8;
	}
	*(uint64_t *)(vm.memory + second) = kernel_code(&vm, k_vectors);
	return guest_cost(va + PAGE - 8);
}

static void *run_host(void *arg)
{
	__atomic_store_n((pid_t *)arg, syscall(SYS_gettid), __ATOMIC_RELEASE);
	host_count(&host_counter, &host_stop, host_records);
	return NULL;
}

/* So many frames of a program of the host */
static double host_cost(unsigned int frames)
{
	struct loop loop = { .counter = &host_counter, .insns = HOST_INSNS };
	pthread_t thread;
	unsigned int i;
	double cost;

	for (i = 0; i < frames; i++) {
		host_records[i][0] = i + 1 < frames ? (uintptr_t)host_records[i + 1] : 0;
		host_records[i][1] = (uintptr_t)host_count;
	}
	host_stop = 0;
	if (pthread_create(&thread, NULL, run_host, &loop.tid))
		errx(1, "pthread_create");
	while (!__atomic_load_n(&loop.tid, __ATOMIC_ACQUIRE))
		usleep(100);
	cost = sample_cost(&loop, true);
	__atomic_store_n(&host_stop, 1, __ATOMIC_RELEASE);
	pthread_join(thread, NULL);
	return cost;
}

/* A sample without callers, but with so many bytes of the stack */
static double stack_cost(unsigned int bytes)
{
	double cost;

	stack_size = bytes;
	cost = chain_cost(0, 0);
	stack_size = 0;
	return cost;
}

static void create(const struct layout *layout)
{
	if (!create_vm_and_vcpu(&vm, &vcpu, layout))
		errx(1, "no VM");
}

static void destroy(void)
{
	destroy_vm_and_vcpu(&vm, &vcpu);
}

int main(void)
{
	double sample, frames, pages, full, word, kibs, longest, host;

	create(&plain);
	sample = chain_cost(0, 0);
	frames = chain_cost(FRAMES, 16);
	/* The records are in as many pages as there are frames. */
	pages = chain_cost(PAGES, PAGE);
	full = chain_cost(MAX_STACK, 16);
	word = stack_cost(8);
	kibs = stack_cost(STACK_KIB * 1024 + 8);
	destroy();
	create(&deep);
	longest = longest_cost();
	destroy();
	host = host_cost(MAX_STACK) - host_cost(1);
	printf("guest_sample_insns %.0f insns\n", sample);
	printf("guest_frame_insns.same_page %.0f insns\n", (frames - sample) / FRAMES);
	printf("guest_frame_insns.other_page %.0f insns\n", (pages - sample) / PAGES);
	printf("guest_stack_insns.word %.0f insns\n", word - sample);
	printf("guest_stack_insns.kib %.0f insns\n", (kibs - word) / STACK_KIB);
	/* Without what any sample costs: a chain as deep, or as far apart, as it may be */
	printf("guest_chain_insns.deep %.0f insns\n", full - sample);
	printf("guest_chain_insns.pages %.0f insns\n", longest - sample);
	printf("host_chain_insns %.0f insns\n", host);
	printf("guest_chain_share %.0f percent\n",
	       100 * ((full > longest ? full : longest) - sample) / host);
	return 0;
}
