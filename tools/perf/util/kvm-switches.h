/* SPDX-License-Identifier: GPL-2.0 */
/* How long threads that run vCPUs are off the CPU */
#ifndef __PERF_KVM_SWITCHES_H
#define __PERF_KVM_SWITCHES_H

#include <stdbool.h>
#include <linux/hashtable.h>
#include <linux/types.h>
#include "kvm-vcpus.h"

/**
 * struct kvm_switches - the context switches of threads
 * @recorded:	the recording has them; without them, nothing is known
 * @threads:	those that have had an event of KVM, by their id in perf's PID namespace
 * @last_lost:	when records were last lost anywhere
 */
struct kvm_switches {
	bool recorded;
	DECLARE_HASHTABLE(threads, 8);
	u64 last_lost;
};

void kvm_switches__init(struct kvm_switches *switches);
void kvm_switches__exit(struct kvm_switches *switches);

int kvm_switches__saw(struct kvm_switches *switches, u32 tid, u64 time);
void kvm_switches__out(struct kvm_switches *switches, u32 tid, u64 time, bool preempted);
void kvm_switches__in(struct kvm_switches *switches, u32 tid, u64 time);
void kvm_switches__lost(struct kvm_switches *switches, u64 time);
void kvm_switches__thread_exit(struct kvm_switches *switches, u32 tid);

void kvm_switches__begin(struct kvm_switches *switches, struct kvm_vcpu *vcpu, u32 tid, u64 time);
void kvm_switches__hand_over(struct kvm_switches *switches, struct kvm_vcpu *vcpu, u32 tid,
			     u64 time);
bool kvm_switches__end(struct kvm_switches *switches, const struct kvm_vcpu *vcpu, u64 time,
		       struct kvm_off_cpu *off);

#endif /* __PERF_KVM_SWITCHES_H */
