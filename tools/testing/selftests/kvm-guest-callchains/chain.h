/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The chains that the samples of a guest must have
 */
#ifndef __GUEST_CALLCHAINS_CHAIN_H
#define __GUEST_CALLCHAINS_CHAIN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "sampler.h"

#define MAX_CALLERS	MAX_CHAIN

/* As perf_event_max_stack has it */
#define MAX_STACK	127

/**
 * struct expected - the chain of one of the guest's modes
 * @mark: what it begins with
 * @spin: where the innermost function spins
 * @spin_end: the end of that
 * @callers: the addresses to return to, from the innermost on
 * @nr: how many
 */
struct expected {
	uint64_t	mark, spin, spin_end;
	uint64_t	callers[MAX_CALLERS];
	uint64_t	nr;
};

extern struct expected at_user, at_kernel;

/* The linker's names for the bounds of this program's code */
extern const char __executable_start, etext;

bool spins(const struct sample *sample);
bool is_right(const struct sample *sample, unsigned int max_stack);
bool is_harmless(const struct sample *sample);
void find_vcpu_ioctl(void);
bool cut_host_part(struct sample *sample);
bool sample_chains(struct perf_event_attr *attr, pid_t tid, unsigned int nr,
		   unsigned int max_stack);

#endif
