/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the races of EL2's CPUs share: each is a program, and a thread of it is a CPU.
 */
#ifndef __HYPTRACE_RACE_H
#define __HYPTRACE_RACE_H

#include <pthread.h>
#include <stdio.h>

#include <nvhe/trace.h>
#include <nvhe/trace_cpu.h>

#include "../random.h"
#include "pkvm.h"

EL2_PER_THREAD unsigned int el2_cpu;
EL2_PER_THREAD unsigned int el2_locks;
unsigned long kvm_arm_hyp_percpu_base[NR_CPUS] = { 1, 1, 1, 1 };
DEFINE_PER_CPU(struct kvm_host_data, kvm_host_data);
EL2_PER_THREAD u64 el2_esr;
u64 el2_count;
bool el2_has_panicked;

/* A thread gives up its CPU at one step out of so many. */
static void race_step(const void *addr)
{
	static __thread u64 rnd;

	if (!rnd)
		rnd = random_seed(el2_cpu + 1);
	if (!random_below(&rnd, 16))
		sched_yield();
}

static const struct shim pausing = { .step = race_step };

/* hypercall(NAME, ARGUMENT...) */
#define hypercall(name, args...)						\
({										\
	struct kvm_cpu_context __ctxt = { .regs = { 0, args } };		\
										\
	handle___hyp_trace_##name(&__ctxt);					\
	(s64)__ctxt.regs[1];							\
})

#endif /* __HYPTRACE_RACE_H */
