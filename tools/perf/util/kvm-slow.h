/* SPDX-License-Identifier: GPL-2.0 */
/* Exits that took longer than was asked for, with what the host recorded meanwhile */
#ifndef __PERF_KVM_SLOW_H
#define __PERF_KVM_SLOW_H

#include <stdbool.h>
#include <stdio.h>
#include <linux/list.h>
#include <linux/types.h>
#include "kvm-vcpus.h"

struct evsel;
struct perf_sample;

/* As many events of the host are kept. A power of two. */
#define KVM_SLOW_KEPT	65536

/**
 * struct kvm_slow_line - what the host recorded meanwhile
 * @time:	when
 * @cpu:	on this CPU
 * @tid:	of this thread
 * @name:	which event
 * @text:	its fields
 */
struct kvm_slow_line {
	u64 time;
	u32 cpu;
	u32 tid;
	char *name;
	char *text;
};

/**
 * struct kvm_slow_event - an event that took long
 * @node:	in &struct kvm_slow, by @end
 * @vcpu:	whose it is
 * @name:	what it is called
 * @begin:	when it began
 * @end:	when it ended
 * @pc:	where the guest was left; 0 if that is not known
 * @off_known:	@off is known
 * @off:	how long the vCPU's threads were off the CPU
 * @lines:	what the host recorded from @begin to @end
 * @nr_lines:	how many these are
 * @is_cut:	some before @lines were not kept
 */
struct kvm_slow_event {
	struct list_head node;
	struct kvm_vcpu *vcpu;
	char *name;
	u64 begin;
	u64 end;
	u64 pc;
	bool off_known;
	struct kvm_off_cpu off;
	struct kvm_slow_line *lines;
	u32 nr_lines;
	bool is_cut;
};

/**
 * struct kvm_slow - the events of a recording that took long
 * @events:	they
 * @kept:	the last events of the host, at their number modulo KVM_SLOW_KEPT
 * @nr:		how many of these there were
 */
struct kvm_slow {
	struct list_head events;
	struct kvm_host_event *kept;
	u64 nr;
};

void kvm_slow__init(struct kvm_slow *slow);
void kvm_slow__exit(struct kvm_slow *slow);
int kvm_slow__keep(struct kvm_slow *slow, struct evsel *evsel, const struct perf_sample *sample);
int kvm_slow__add(struct kvm_slow *slow, const struct kvm_slow_event *event,
		  const struct perf_sample *end);
void kvm_slow_line__fprintf(const struct kvm_slow_line *line, u64 begin, FILE *fp);
void kvm_slow__merge(struct kvm_slow *slow, struct kvm_vcpu *from, struct kvm_vcpu *to);
u64 kvm_slow__pc(struct evsel *evsel, struct perf_sample *sample);

#endif /* __PERF_KVM_SLOW_H */
