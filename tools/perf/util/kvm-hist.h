/* SPDX-License-Identifier: GPL-2.0 */
/* How long events took: percentiles and a histogram in constant memory */
#ifndef __PERF_KVM_HIST_H
#define __PERF_KVM_HIST_H

#include <stdio.h>
#include <linux/bits.h>
#include <linux/types.h>

/* Each octave has so many buckets of one width. */
#define KVM_HIST_SUB_BITS	6
#define KVM_HIST_SUBS		BIT(KVM_HIST_SUB_BITS)
#define KVM_HIST_OCTAVES	(64 - KVM_HIST_SUB_BITS + 1)

/**
 * struct kvm_hist - how many times there were
 * @octaves:	the buckets of each octave; NULL if all are empty
 * @nr:		the times in all octaves
 */
struct kvm_hist {
	u64 *octaves[KVM_HIST_OCTAVES];
	u64 nr;
};

/**
 * struct kvm_percentile - one that is shown
 * @name:	the column, and the sorting key
 * @permille:	so much of the times are not longer
 */
struct kvm_percentile {
	const char *name;
	unsigned int permille;
};

#define KVM_NR_PERCENTILES	4

extern const struct kvm_percentile kvm_percentiles[KVM_NR_PERCENTILES];

struct kvm_hist *kvm_hist__new(void);
void kvm_hist__delete(struct kvm_hist *hist);
void kvm_hist__clear(struct kvm_hist *hist);
int kvm_hist__update(struct kvm_hist *hist, u64 time);
int kvm_hist__add(struct kvm_hist *to, const struct kvm_hist *from);
u64 kvm_hist__permille(const struct kvm_hist *hist, unsigned int permille);
int kvm_percentile__find(const char *name);

u64 kvm_hist__log2(const struct kvm_hist *hist, unsigned int bit);
void kvm_hist__fprintf(const struct kvm_hist *hist, FILE *fp);

#endif /* __PERF_KVM_HIST_H */
