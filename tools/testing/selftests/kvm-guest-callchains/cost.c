// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a sample of a guest costs, and each frame of its chain, for tools/hyptrace/bench
 *
 * usage: cost
 *
 * Prints `name value unit'. To be run where an instruction takes a nanosecond, on one CPU: what
 * the guest's own instructions leave of the time was the host's.
 */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "sampler.h"
#include "vm.h"

#define COUNTER		0x8000UL	/* in the user stack's 64 KiB, which is not used */
#define GUEST_INSNS	4		/* of k_count() */
#define PERIOD		10000000	/* ns */
#define FRAMES		100

static const struct layout plain = { 12, 48 };
static struct vm vm;
static struct vcpu vcpu;

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1e9 + ts.tv_nsec;
}

static double guest_insns(void)
{
	return GUEST_INSNS * __atomic_load_n((uint64_t *)(vm.memory + USER_STACK + COUNTER),
					     __ATOMIC_RELAXED);
}

/* What share of the time is not the guest's, and how many samples were taken */
static double host_share(struct perf_event_attr *attr, uint64_t *samples)
{
	double begin, insns, took;
	struct sampler sampler;
	struct sample sample;

	if (attr && !open_sampler(&sampler, attr, vcpu.tid))
		err(1, "perf_event_open");
	begin = now();
	insns = guest_insns();
	sleep(1);
	insns = guest_insns() - insns;
	took = now() - begin;
	if (attr) {
		/* All of them are in the ring still. */
		while (next_sample(&sampler, &sample))
			;
		*samples = sampler.samples;
		if (sampler.lost)
			errx(1, "samples were lost");
		close_sampler(&sampler);
	}
	return (took - insns) / took;
}

/* Instructions of the host for each sample of a chain whose records are @step bytes apart */
static double sample_cost(unsigned int frames, unsigned int step)
{
	uint64_t fp = kernel_va(&vm, SCRATCH), *record, samples = 0;
	struct perf_event_attr attr;
	double idle, busy;
	unsigned int i;

	for (i = 0; i < frames; i++) {
		record = (uint64_t *)(vm.memory + SCRATCH + i * step);
		record[0] = i + 1 < frames ? fp + (i + 1) * step : 0;
		record[1] = kernel_code(&vm, k_vectors);
	}
	set_pc(&vcpu, kernel_code(&vm, k_count), false);
	set_register(&vcpu, 0, kernel_va(&vm, USER_STACK + COUNTER));
	set_register(&vcpu, 29, frames ? fp : 0);
	start_vcpu(&vcpu);
	init_event(&attr);
	attr.sample_period = PERIOD;
	/* What begins with the vCPU is done then. */
	usleep(300000);
	idle = host_share(NULL, NULL);
	busy = host_share(&attr, &samples);
	stop_vcpu(&vcpu);
	if (samples < 50)
		errx(1, "%lu samples", (unsigned long)samples);
	return (busy - idle) * PERIOD;
}

int main(void)
{
	double sample, frames, pages;

	if (!create_vm(&vm, &plain))
		errx(1, "no VM");
	create_vcpu(&vm, &vcpu, 0);
	sample = sample_cost(0, 0);
	frames = sample_cost(FRAMES, 16);
	/* The records are in as many pages as there are frames. */
	pages = sample_cost(FRAMES, 0x1000);
	printf("guest_sample_insns %.0f insns\n", sample);
	printf("guest_frame_insns.same_page %.0f insns\n", (frames - sample) / FRAMES);
	printf("guest_frame_insns.other_page %.0f insns\n", (pages - sample) / FRAMES);
	return 0;
}
