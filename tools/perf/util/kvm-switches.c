// SPDX-License-Identifier: GPL-2.0
/*
 * How long threads that run vCPUs are off the CPU
 *
 * A thread is off the CPU from the record that it is switched out to the record that it is
 * switched in. The first one says whether it could have run: then it was preempted, else it
 * slept. The time off the CPU of an event is the part of these intervals between the event's
 * begin and its end. The thread that counts is the one that last had an event of the vCPU: it
 * may be another one at the end.
 *
 * An event begins and ends on the CPU. So a record is missing if a thread that has an event is
 * switched out, or if a thread is switched out or in twice. Records are missing at the end of
 * a recording, too, since a CPU stops writing them before the next one does. It is not known
 * how long the thread was off the CPU in an event that has begun before that. The same is true
 * if records were lost anywhere while it was, as it may have been switched in there.
 */
#include <errno.h>
#include <stdlib.h>
#include <linux/kernel.h>
#include <linux/string.h>
#include <linux/zalloc.h>
#include "kvm-switches.h"

/* So many intervals before the last record are known. A power of two. */
#define NR_INTERVALS	4

/**
 * struct kvm_interval - a time off the CPU
 * @out:	when it began
 * @in:		when it ended
 * @preempted:	the thread could have run
 */
struct kvm_interval {
	u64 out;
	u64 in;
	bool preempted;
};

/**
 * struct kvm_switched - a thread
 * @node:	in &struct kvm_switches
 * @tid:	its id
 * @since:	all of its records are known since then
 * @sum:	how long it was off the CPU, up to the last interval's end
 * @last:	the last intervals, at their number modulo NR_INTERVALS
 * @nr:		how many intervals there were
 * @now:	the interval that has not ended; @now.out is 0 if the thread is on the CPU
 */
struct kvm_switched {
	struct hlist_node node;
	u32 tid;
	u64 since;
	struct kvm_off_cpu sum;
	struct kvm_interval last[NR_INTERVALS];
	u64 nr;
	struct kvm_interval now;
};

void kvm_switches__init(struct kvm_switches *switches)
{
	memset(switches, 0, sizeof(*switches));
	hash_init(switches->threads);
}

static void free_thread(struct kvm_switched *thread)
{
	hash_del(&thread->node);
	free(thread);
}

void kvm_switches__exit(struct kvm_switches *switches)
{
	struct kvm_switched *thread;
	struct hlist_node *tmp;
	unsigned int bucket;

	hash_for_each_safe(switches->threads, bucket, tmp, thread, node)
		free_thread(thread);
}

static struct kvm_switched *find_thread(struct kvm_switches *switches, u32 tid)
{
	struct kvm_switched *thread;

	hash_for_each_possible(switches->threads, thread, node, tid) {
		if (thread->tid == tid)
			return thread;
	}
	return NULL;
}

static int add_thread(struct kvm_switches *switches, u32 tid, u64 time)
{
	struct kvm_switched *thread = zalloc(sizeof(*thread));

	if (!thread)
		return -ENOMEM;
	thread->tid = tid;
	thread->since = time;
	hash_add(switches->threads, &thread->node, tid);
	return 0;
}

/**
 * kvm_switches__saw - a thread has an event of KVM: it is on the CPU
 * @switches:	the context switches
 * @tid:	the thread
 * @time:	when
 *
 * kvm_vcpu_sched_out is none of these: it comes behind the record of the switch. Threads
 * outside of perf's PID namespace, which have the id 0 there, are not known.
 *
 * Return: 0, or -ENOMEM.
 */
int kvm_switches__saw(struct kvm_switches *switches, u32 tid, u64 time)
{
	struct kvm_switched *thread;

	if (!switches->recorded || !tid)
		return 0;
	thread = find_thread(switches, tid);
	if (!thread)
		return add_thread(switches, tid, time);
	if (thread->now.out) {
		thread->since = time;
		thread->now.out = 0;
	}
	return 0;
}

void kvm_switches__out(struct kvm_switches *switches, u32 tid, u64 time, bool preempted)
{
	struct kvm_switched *thread = find_thread(switches, tid);

	if (!thread)
		return;
	if (thread->now.out)
		thread->since = time;
	thread->now.out = time;
	thread->now.preempted = preempted;
}

static void add(struct kvm_off_cpu *to, const struct kvm_interval *interval, u64 time)
{
	if (interval->preempted)
		to->preempted += time;
	else
		to->slept += time;
}

void kvm_switches__in(struct kvm_switches *switches, u32 tid, u64 time)
{
	struct kvm_switched *thread = find_thread(switches, tid);

	if (!thread)
		return;
	if (!thread->now.out || switches->last_lost > thread->now.out) {
		thread->since = time;
	} else {
		thread->now.in = time;
		add(&thread->sum, &thread->now, time - thread->now.out);
		thread->last[thread->nr++ % NR_INTERVALS] = thread->now;
	}
	thread->now.out = 0;
}

void kvm_switches__lost(struct kvm_switches *switches, u64 time)
{
	switches->last_lost = time;
}

/* Its id may be another's from now on. */
void kvm_switches__thread_exit(struct kvm_switches *switches, u32 tid)
{
	struct kvm_switched *thread = find_thread(switches, tid);

	if (thread)
		free_thread(thread);
}

/* What is behind that time is not counted. False if that is more than what is known. */
static bool take_back(const struct kvm_switched *thread, u64 time, struct kvm_off_cpu *off)
{
	const struct kvm_interval *interval;
	u64 i;

	for (i = 1; i <= thread->nr; i++) {
		if (i > NR_INTERVALS)
			return false;
		interval = &thread->last[(thread->nr - i) % NR_INTERVALS];
		if (interval->in > time)
			add(off, interval, max(interval->out, time) - interval->in);
		if (interval->out <= time)
			break;
	}
	return true;
}

/* How long the thread was off the CPU up to that time; false if that is not known */
static bool off_until(const struct kvm_switched *thread, u64 time, struct kvm_off_cpu *off)
{
	if (!thread)
		return false;
	*off = thread->sum;
	if (thread->now.out && time > thread->now.out)
		add(off, &thread->now, time - thread->now.out);
	return take_back(thread, time, off);
}

/* From now on the thread counts. */
static void start(struct kvm_switches *switches, struct kvm_vcpu *vcpu, u32 tid, u64 time)
{
	struct kvm_off_cpu off;

	vcpu->off_tid = tid;
	vcpu->off_since = 0;
	if (!off_until(find_thread(switches, tid), time, &off))
		return;
	vcpu->off_since = time;
	vcpu->off.preempted -= off.preempted;
	vcpu->off.slept -= off.slept;
}

/* An event of a vCPU begins on this thread. */
void kvm_switches__begin(struct kvm_switches *switches, struct kvm_vcpu *vcpu, u32 tid, u64 time)
{
	vcpu->off = (struct kvm_off_cpu) {};
	start(switches, vcpu, tid, time);
}

/**
 * kvm_switches__end - an event of a vCPU ends
 * @switches:	the context switches
 * @vcpu:	the vCPU
 * @time:	when
 * @off:	how long its threads were off the CPU since the event began
 *
 * Return: false if that is not known.
 */
bool kvm_switches__end(struct kvm_switches *switches, const struct kvm_vcpu *vcpu, u64 time,
		       struct kvm_off_cpu *off)
{
	const struct kvm_switched *thread = find_thread(switches, vcpu->off_tid);

	if (!off_until(thread, time, off) || vcpu->off_since < thread->since)
		return false;
	off->preempted += vcpu->off.preempted;
	off->slept += vcpu->off.slept;
	return true;
}

/* The vCPU's event goes on, on this thread, if it has one. */
void kvm_switches__hand_over(struct kvm_switches *switches, struct kvm_vcpu *vcpu, u32 tid,
			     u64 time)
{
	struct kvm_off_cpu off;

	if (vcpu->off_tid == tid)
		return;
	if (kvm_switches__end(switches, vcpu, time, &off)) {
		vcpu->off = off;
		start(switches, vcpu, tid, time);
	} else {
		vcpu->off_since = 0;
	}
}
