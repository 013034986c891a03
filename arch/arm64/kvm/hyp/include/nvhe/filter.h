/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The filter of an event: see filter.c.
 */
#ifndef __ARM64_KVM_HYP_NVHE_FILTER_H
#define __ARM64_KVM_HYP_NVHE_FILTER_H

#include <asm/kvm_hypfilter.h>

/**
 * struct hyp_filter_prog - a program
 * @preds:	its predicates, but for
 * @vals:	... their operands
 * @nr:		how many
 */
struct hyp_filter_prog {
	u64		preds[HYP_FILTER_MAX_PREDS];
	u64		vals[HYP_FILTER_MAX_PREDS];
	unsigned int	nr;
};

/**
 * struct hyp_filter - the filter of an event
 * @progs:	the program in use, and the one being handed over
 * @prog:	the one in use, if any
 */
struct hyp_filter {
	struct hyp_filter_prog	progs[2];
	struct hyp_filter_prog	*prog;
};

int hyp_filter_add(struct hyp_filter *filter, u64 index, u64 pred, u64 val, unsigned int size);
int hyp_filter_set(struct hyp_filter *filter, u64 nr);
bool hyp_filter_match(struct hyp_filter *filter, const void *record);

#endif /* __ARM64_KVM_HYP_NVHE_FILTER_H */
