/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Samples of a thread, as perf_event_open() gives them
 */
#ifndef __GUEST_CALLCHAINS_SAMPLER_H
#define __GUEST_CALLCHAINS_SAMPLER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <linux/perf_event.h>

#define MAX_CHAIN	160

struct sample {
	unsigned int	cpumode;
	uint64_t	ip, nr, chain[MAX_CHAIN];
};

/**
 * struct guest_stack - what a sample has of a guest's registers and stack
 * @abi: PERF_SAMPLE_REGS_ABI_*; without one there is nothing more
 * @fp: the frame pointer
 * @sp: the stack pointer
 * @pc: the instruction pointer
 * @size: how much room the sample has for the stack
 * @copied: how much of it is the stack's
 * @data: the stack, from @sp on
 */
struct guest_stack {
	uint64_t	abi, fp, sp, pc, size, copied;
	char		data[0x10000];
};

/* The stack is set if the event asks for it. */
struct sampler {
	int		fd;
	char		*ring;
	uint64_t	lost, samples;
	struct guest_stack *stack;
};

extern bool use_pmu;

void init_event(struct perf_event_attr *attr);
void want_host_frames(struct perf_event_attr *attr);
bool wants_host_frames(const struct perf_event_attr *attr);
void want_guest_stack(struct perf_event_attr *attr, unsigned int size);
bool open_sampler(struct sampler *sampler, struct perf_event_attr *attr, pid_t tid);
bool is_late(const struct sample *sample);
bool next_sample(struct sampler *sampler, struct sample *sample);
void close_sampler(struct sampler *sampler);
void print_chain(const struct sample *sample);
bool samples_are(pid_t tid, unsigned int nr,
		 bool (*good)(const struct sample *sample, const void *arg), const void *arg);

#endif
