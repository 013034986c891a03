/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The filter of an event: see filter.c.
 */
#ifndef __ARM64_KVM_HYP_NVHE_FILTER_H
#define __ARM64_KVM_HYP_NVHE_FILTER_H

#include <linux/compiler.h>
#include <linux/trace_remote_filter.h>

#include <asm/barrier.h>

/**
 * struct hyp_filter_prog - a program
 * @preds:	its predicates, and two of zeroes, which are never written
 * @nr:		how many, without these two
 */
struct hyp_filter_prog {
	struct trace_remote_pred	preds[TRACE_REMOTE_PREDS_ROOM];
	unsigned int			nr;
};

/**
 * struct hyp_filter - the filter of an event
 * @prog:	the program in use, if any
 * @progs:	that one, and the next one
 * @added:	predicates of the next one
 * @quiesced:	CPUs, from 0 on, that can't be reading the next one
 *
 * With this alignment the compiler needs no more than two instructions to find the one of an
 * event in an array.
 */
struct hyp_filter {
	struct hyp_filter_prog	*prog;
	struct hyp_filter_prog	progs[2];
	unsigned int		added;
	unsigned int		quiesced;
} __aligned(64);

int hyp_filter_add(struct hyp_filter *filter, u64 index, u64 code, u64 val, unsigned int size);
int hyp_filter_set(struct hyp_filter *filter, u64 nr);
bool hyp_filter_reads(const struct hyp_filter *filter, unsigned int offset);
bool hyp_filter_match(struct hyp_filter *filter, const struct hyp_filter **reading,
		      const void *record);

/**
 * hyp_filter_reading - the place where a CPU publishes the filter that it reads
 * @cpu:	the CPU, below NR_CPUS
 *
 * Defined by the user of filter.c: trace_cpu.c at EL2.
 *
 * Return: @reading of the CPU's hyp_filter_match(); NULL if the CPU does not exist.
 */
const struct hyp_filter **hyp_filter_reading(unsigned int cpu);

/* hyp_filter_match(), inline for the path of events that is short */
static __always_inline bool __hyp_filter_match(struct hyp_filter *filter,
					       const struct hyp_filter **reading,
					       const void *record)
{
	const struct hyp_filter_prog *prog;
	bool match;

	WRITE_ONCE(*reading, filter);
	smp_mb();					/* (R) */
	prog = smp_load_acquire(&filter->prog);		/* (Q) */
	match = !prog || trace_remote_filter_match(prog->preds, prog->nr, record);
	smp_store_release(reading, NULL);		/* (R) */

	return match;
}

#endif /* __ARM64_KVM_HYP_NVHE_FILTER_H */
