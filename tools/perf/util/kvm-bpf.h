/* SPDX-License-Identifier: GPL-2.0 */
/* Counting events of KVM in the kernel, by BPF programs */
#ifndef __PERF_KVM_BPF_H
#define __PERF_KVM_BPF_H

#include <errno.h>
#include <stdbool.h>
#include <linux/compiler.h>
#include <linux/types.h>

struct event_key;
struct evsel;
struct kvm_event_stats;
struct kvm_vcpu;
struct perf_kvm_stat;
struct perf_sample;

#define KVM_BPF_MAX_RULES	5

/**
 * struct kvm_bpf_rule - what a tracepoint means to one of the values of --event
 * @tracepoint:	which one
 * @ends:	it ends an event; else it begins one
 * @when:	the rule is true if this field
 * @is:		is that; if @when is NULL, it always is
 * @key:	the field that has the event's key, if it is known here
 * @info:	the field that has more of the key; NULL if there is none
 *
 * Of several rules of a tracepoint, the first one that is true counts.
 */
struct kvm_bpf_rule {
	const char *tracepoint;
	bool ends;
	const char *when;
	u64 is;
	const char *key;
	const char *info;
};

/**
 * struct kvm_bpf_ops - where to what was counted goes
 * @get_key:	the key of a sample that begins an event, or ends it; the sample has no other fields
 * @add:	what was counted of a vCPU's key
 * @open:	a vCPU's event of that key has not ended
 *
 * They return 0, or -EINVAL if there is no key, or -ENOMEM.
 */
struct kvm_bpf_ops {
	int (*get_key)(struct perf_kvm_stat *kvm, struct evsel *evsel, struct perf_sample *sample,
		       bool ends, struct event_key *key);
	int (*add)(struct perf_kvm_stat *kvm, struct kvm_vcpu *vcpu, struct event_key *key,
		   const struct kvm_event_stats *stats);
	int (*open)(struct perf_kvm_stat *kvm, struct kvm_vcpu *vcpu, struct event_key *key,
		    u64 begin);
};

#ifdef HAVE_BPF_SKEL
const struct kvm_bpf_rule *kvm_bpf_rules(const char *arch, const char *event);
int kvm_bpf__start(struct perf_kvm_stat *kvm, const char *arch, const char *vcpu_id);
int kvm_bpf__read(struct perf_kvm_stat *kvm, const struct kvm_bpf_ops *ops);
void kvm_bpf__stop(void);
#else
static inline const struct kvm_bpf_rule *kvm_bpf_rules(const char *arch __maybe_unused,
						       const char *event __maybe_unused)
{
	return NULL;
}

static inline int kvm_bpf__start(struct perf_kvm_stat *kvm __maybe_unused,
				 const char *arch __maybe_unused,
				 const char *vcpu_id __maybe_unused)
{
	return -EOPNOTSUPP;
}

static inline int kvm_bpf__read(struct perf_kvm_stat *kvm __maybe_unused,
				const struct kvm_bpf_ops *ops __maybe_unused)
{
	return -EOPNOTSUPP;
}

static inline void kvm_bpf__stop(void)
{
}
#endif

#endif /* __PERF_KVM_BPF_H */
