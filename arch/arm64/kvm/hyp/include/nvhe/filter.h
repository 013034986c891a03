/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The filter of an event: see filter.c.
 */
#ifndef __ARM64_KVM_HYP_NVHE_FILTER_H
#define __ARM64_KVM_HYP_NVHE_FILTER_H

#include <linux/trace_remote_filter.h>

/**
 * struct hyp_filter_prog - a program
 * @preds:	its predicates
 * @nr:		how many
 */
struct hyp_filter_prog {
	struct trace_remote_pred	preds[TRACE_REMOTE_MAX_PREDS];
	unsigned int			nr;
};

/**
 * struct hyp_filter - the filter of an event
 * @prog:	the program in use, if any
 * @progs:	that one, and the one being handed over
 * @added:	predicates of the one being handed over
 * @quiesced:	CPUs, from 0 on, that can't read the one being handed over
 */
struct hyp_filter {
	struct hyp_filter_prog	*prog;
	struct hyp_filter_prog	progs[2];
	unsigned int		added;
	unsigned int		quiesced;
};

int hyp_filter_add(struct hyp_filter *filter, u64 index, u64 code, u64 val, unsigned int size);
int hyp_filter_set(struct hyp_filter *filter, u64 nr);
bool hyp_filter_match(struct hyp_filter *filter, const struct hyp_filter **reading,
		      const void *record);

/**
 * hyp_filter_reading - the place where a CPU publishes the filter that it reads
 * @cpu:	the CPU, below NR_CPUS
 *
 * Defined by the user of filter.c: events.c at EL2.
 *
 * Return: what is @reading of its hyp_filter_match(); NULL when there is no such CPU.
 */
const struct hyp_filter **hyp_filter_reading(unsigned int cpu);

#endif /* __ARM64_KVM_HYP_NVHE_FILTER_H */
