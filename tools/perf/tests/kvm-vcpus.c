// SPDX-License-Identifier: GPL-2.0
/* Whose the events of a thread are, by struct kvm_vcpus */
#include <linux/compiler.h>
#include <linux/kernel.h>
#include <linux/string.h>
#include "debug.h"
#include "event.h"
#include "kvm-vcpu-threads.h"
#include "kvm-vcpus.h"
#include "tests.h"

#define VM_PID	100	/* that of all VMs here, which differ by the file descriptor */

static struct kvm_vcpus vcpus;
static u64 now;

static void begin(void)
{
	kvm_vcpus__init(&vcpus);
	vcpus.has_switches = true;
	now = 0;
}

static int end(void)
{
	kvm_vcpus__exit(&vcpus);
	return TEST_OK;
}

static struct kvm_where where(u32 tid, u32 cpu)
{
	return (struct kvm_where) {
		.pid = VM_PID, .tid = tid, .perf_tid = tid, .cpu = cpu, .time = ++now
	};
}

/* Threads with an even id run on CPU 0, the others on CPU 1. */
static struct kvm_vcpu *event(u32 tid)
{
	struct kvm_where here = where(tid, tid % 2);

	return kvm_vcpus__find(&vcpus, &here);
}

static struct kvm_vcpu *tracepoint(u32 tid, enum kvm_vcpu_switch how, int vm_fd, int vcpu_id)
{
	struct kvm_where here = where(tid, tid % 2);

	return kvm_vcpus__switch(&vcpus, &here, how, VM_PID, vm_fd, vcpu_id);
}

static struct kvm_vcpu *entry_with_id(u32 tid, int vcpu_id)
{
	struct kvm_where here = where(tid, tid % 2);

	return kvm_vcpus__set_id(&vcpus, &here, vcpu_id);
}

static void lose(u32 cpu)
{
	struct kvm_where here = where(-1, cpu);

	kvm_vcpus__lost(&vcpus, &here);
}

/* debugfs has vCPU 0 and 1 of VM 3 run by threads 10 and 11, and both of VM 4 by thread 12. */
static const struct kvm_vcpu_thread seeds[] = {
	{ VM_PID, 3, 0, 10 }, { VM_PID, 3, 1, 11 },
	{ VM_PID, 4, 0, 12 }, { VM_PID, 4, 1, 12 },
};

static int seed(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(seeds); i++) {
		if (kvm_vcpus__seed(&vcpus, &seeds[i], !i))
			return -1;
	}
	return 0;
}

static bool is(const struct kvm_vcpu *vcpu, int vm_fd, int vcpu_id)
{
	return vcpu->vm_pid == VM_PID && vcpu->vm_fd == vm_fd && vcpu->vcpu_id == vcpu_id;
}

static bool is_unknown(struct kvm_vcpu *vcpu)
{
	return is(vcpu, KVM_UNKNOWN, KVM_UNKNOWN);
}

/* Let a guest run for that long, by a thread whose vCPU may turn out later. */
static void count(u32 tid, u64 guest_time)
{
	event(tid)->guest_time += guest_time;
}

static u64 counted(int vm_fd, int vcpu_id)
{
	struct kvm_vcpu *vcpu;
	u64 sum = 0;

	list_for_each_entry(vcpu, &vcpus.vcpus, node) {
		if (is(vcpu, vm_fd, vcpu_id))
			sum += vcpu->guest_time;
	}
	return sum;
}

static u64 counted_unknown(void)
{
	return counted(KVM_UNKNOWN, KVM_UNKNOWN);
}

static int test__loaded(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	begin();
	tracepoint(10, KVM_VCPU_LOAD, 3, 0);
	tracepoint(11, KVM_VCPU_LOAD, 4, 0);
	TEST_ASSERT_VAL("the loaded vCPU", is(event(10), 3, 0));
	TEST_ASSERT_VAL("the same id of another VM", is(event(11), 4, 0));
	TEST_ASSERT_VAL("not put", !kvm_vcpus__is_put(&vcpus, 10));
	tracepoint(10, KVM_VCPU_PUT, 3, 0);
	TEST_ASSERT_VAL("put", kvm_vcpus__is_put(&vcpus, 10));
	kvm_vcpus__set_early(&vcpus, 10, 7);
	tracepoint(10, KVM_VCPU_LOAD, 3, 1);
	TEST_ASSERT_VAL("an end before the load", kvm_vcpus__take_early(&vcpus, 10) == 7);
	TEST_ASSERT_VAL("taken once", kvm_vcpus__take_early(&vcpus, 10) == 0);
	TEST_ASSERT_VAL("the vCPU loaded next", is(event(10), 3, 1));
	return end();
}

static int test__exchanged(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	struct kvm_vcpu *vcpu;

	begin();
	tracepoint(10, KVM_VCPU_LOAD, 3, 0);
	vcpu = event(10);
	tracepoint(10, KVM_VCPU_PUT, 3, 0);
	tracepoint(11, KVM_VCPU_LOAD, 3, 0);
	TEST_ASSERT_VAL("the same vCPU by another thread", event(11) == vcpu);
	return end();
}

/* The vCPU was loaded before, unless the first tracepoint says that it is now. */
static int test__before(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	enum kvm_vcpu_switch how;
	struct kvm_vcpu *before;

	for (how = KVM_VCPU_LOAD; how <= KVM_VCPU_SCHED_OUT; how++) {
		begin();
		before = event(10);
		TEST_ASSERT_VAL("not known yet", is_unknown(before));
		before->start_time = 5;
		before->entry_time = 6;
		count(10, 7);
		tracepoint(10, how, 3, 0);
		TEST_ASSERT_VAL("known from there on", is(event(10), 3, 0));
		if (how == KVM_VCPU_LOAD) {
			TEST_ASSERT_VAL("of another one before", counted_unknown() == 7);
			TEST_ASSERT_VAL("its event does not go on", !event(10)->start_time);
		} else {
			TEST_ASSERT_VAL("of the same before", counted(3, 0) == 7);
			TEST_ASSERT_VAL("the open event goes on", event(10)->start_time == 5);
			TEST_ASSERT_VAL("so does the guest", event(10)->entry_time == 6);
		}
		kvm_vcpus__exit(&vcpus);
	}
	return TEST_OK;
}

static int test__debugfs(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	begin();
	TEST_ASSERT_VAL("seeded", !seed());
	count(10, 1);
	count(11, 2);
	count(12, 4);
	count(13, 8);
	tracepoint(11, KVM_VCPU_LOAD, 3, 2);
	TEST_ASSERT_VAL("not before it is sure", is_unknown(event(10)));
	kvm_vcpus__resolve(&vcpus);
	TEST_ASSERT_VAL("no tracepoint: that of debugfs", counted(3, 0) == 1);
	TEST_ASSERT_VAL("and it still is", is(event(10), 3, 0));
	TEST_ASSERT_VAL("before another is loaded: that of debugfs", counted(3, 1) == 2);
	TEST_ASSERT_VAL("then that one", is(event(11), 3, 2));
	TEST_ASSERT_VAL("of two it may be either; not in debugfs", counted_unknown() == 12);
	return end();
}

/* debugfs is read again: only what it had the last time holds. */
static int test__debugfs_again(struct test_suite *test __maybe_unused,
			       int subtest __maybe_unused)
{
	struct kvm_vcpu_thread again = { VM_PID, 4, 1, 12 };

	begin();
	TEST_ASSERT_VAL("seeded", !seed());
	TEST_ASSERT_VAL("seeded again", !kvm_vcpus__seed(&vcpus, &again, true));
	count(10, 1);
	count(12, 2);
	kvm_vcpus__resolve(&vcpus);
	TEST_ASSERT_VAL("the only vCPU of a thread", counted(4, 1) == 2);
	TEST_ASSERT_VAL("no longer in debugfs", counted_unknown() == 1);
	return end();
}

static int test__thread_id(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	begin();
	TEST_ASSERT_VAL("seeded", !seed());
	count(10, 1);
	kvm_vcpus__thread_exit(&vcpus, 10);
	TEST_ASSERT_VAL("what it did was that vCPU's", counted(3, 0) == 1);
	kvm_vcpus__resolve(&vcpus);
	TEST_ASSERT_VAL("another thread with its id", is_unknown(event(10)));
	return end();
}

/*
 * perf in a PID namespace: thread 10 has the id 2 there, thread 11 has none. Thread 2 of the
 * first namespace is another one.
 */
static int test__namespace(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	struct kvm_where inside = where(10, 0), outside = where(11, 1), other = where(2, 0);

	begin();
	inside.perf_tid = 2;
	outside.perf_tid = 0;
	other.perf_tid = 0;
	TEST_ASSERT_VAL("seeded", !seed());
	kvm_vcpus__find(&vcpus, &inside)->guest_time = 1;
	kvm_vcpus__find(&vcpus, &outside)->guest_time = 2;
	kvm_vcpus__find(&vcpus, &other)->guest_time = 4;
	kvm_vcpus__thread_exit(&vcpus, 0);
	TEST_ASSERT_VAL("no thread has the id 0", is_unknown(kvm_vcpus__find(&vcpus, &outside)));
	kvm_vcpus__thread_exit(&vcpus, 2);
	TEST_ASSERT_VAL("the exit is that of thread 10", counted(3, 0) == 1);
	kvm_vcpus__resolve(&vcpus);
	TEST_ASSERT_VAL("debugfs has the ids of the first", counted(3, 1) == 2);
	TEST_ASSERT_VAL("not those of perf's", counted_unknown() == 4);
	return end();
}

static int test__lost(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	begin();
	tracepoint(10, KVM_VCPU_LOAD, 3, 0);
	tracepoint(11, KVM_VCPU_LOAD, 3, 1);
	lose(0);
	count(10, 1);
	TEST_ASSERT_VAL("may be another vCPU", is_unknown(event(10)));
	TEST_ASSERT_VAL("another CPU's is known", is(event(11), 3, 1));
	lose(0);
	count(10, 2);
	tracepoint(10, KVM_VCPU_SCHED_OUT, 3, 0);
	TEST_ASSERT_VAL("it was the same since the last loss", counted(3, 0) == 2);
	TEST_ASSERT_VAL("which hides what it was before", counted_unknown() == 1);
	lose(-1);
	TEST_ASSERT_VAL("no vCPU is sure", is_unknown(event(10)) && is_unknown(event(11)));
	return end();
}

/* What a vCPU has begun at some time is whole, on CPU 0. */
static bool whole_since(u64 begun)
{
	return kvm_vcpu__is_whole(tracepoint(10, KVM_VCPU_SCHED_OUT, 3, 0), begun);
}

/* Events were lost while others were open. */
static int test__whole(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	struct kvm_where there;
	u64 begun;

	begin();
	tracepoint(10, KVM_VCPU_LOAD, 3, 0);
	begun = now;
	lose(1);
	TEST_ASSERT_VAL("on a CPU where it was not", whole_since(begun));
	begun = now;
	lose(1);
	tracepoint(10, KVM_VCPU_SCHED_IN, 3, 0);
	TEST_ASSERT_VAL("while it may have been there", !whole_since(begun));
	tracepoint(10, KVM_VCPU_SCHED_IN, 3, 0);
	begun = now;
	tracepoint(10, KVM_VCPU_SCHED_OUT, 3, 0);
	there = where(10, 1);
	kvm_vcpus__switch(&vcpus, &there, KVM_VCPU_SCHED_IN, VM_PID, 3, 0);
	lose(1);
	there = where(10, 1);
	kvm_vcpus__switch(&vcpus, &there, KVM_VCPU_SCHED_OUT, VM_PID, 3, 0);
	tracepoint(10, KVM_VCPU_SCHED_IN, 3, 0);
	TEST_ASSERT_VAL("neither on the first CPU nor on the last", !whole_since(begun));
	tracepoint(10, KVM_VCPU_SCHED_IN, 3, 0);
	begun = now;
	lose(0);
	TEST_ASSERT_VAL("on its CPU", !whole_since(begun));
	TEST_ASSERT_VAL("before it began", whole_since(now));
	begun = now;
	lose(1);
	event(10);
	TEST_ASSERT_VAL("after it was scheduled out", !whole_since(begun));
	return end();
}

/* Each loss makes a vCPU that is not known; none of them stays. */
#define NR_LOSSES	100000

static int test__many_lost(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	int i, resolved = 0;

	begin();
	for (i = 0; i < NR_LOSSES; i++) {
		lose(0);
		count(10, 1);
		tracepoint(10, i % 4, 3, 0);
		resolved += i % 4 != KVM_VCPU_LOAD;
	}
	TEST_ASSERT_VAL("the vCPU, what is not known, and a pending one", vcpus.nr <= 3);
	TEST_ASSERT_VAL("all that is known is counted", counted(3, 0) == (u64)resolved);
	TEST_ASSERT_VAL("so is the rest", counted_unknown() == (u64)NR_LOSSES - resolved);
	return end();
}

/* kvm_entry of some architectures has the vCPU's id, but not its VM. */
static int test__id_alone(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	begin();
	TEST_ASSERT_VAL("seeded", !seed());
	count(13, 1);
	TEST_ASSERT_VAL("a VM without a name", is(entry_with_id(13, 5), KVM_UNKNOWN, 5));
	TEST_ASSERT_VAL("was it before", counted(KVM_UNKNOWN, 5) == 1);
	TEST_ASSERT_VAL("the VM of debugfs", is(entry_with_id(10, 0), 3, 0));
	TEST_ASSERT_VAL("debugfs has another id", is(entry_with_id(11, 0), KVM_UNKNOWN, 0));
	tracepoint(13, KVM_VCPU_SCHED_OUT, 7, 5);
	TEST_ASSERT_VAL("until a tracepoint names the VM", counted(7, 5) == 1);
	return end();
}

/* After a loss such a kvm_entry names the vCPU; the VM comes later. */
static int test__id_lost(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	begin();
	tracepoint(10, KVM_VCPU_LOAD, 3, 0);
	lose(0);
	count(10, 1);
	entry_with_id(10, 0);
	count(10, 2);
	TEST_ASSERT_VAL("not before it is sure", is(event(10), KVM_UNKNOWN, 0));
	tracepoint(10, KVM_VCPU_SCHED_OUT, 3, 0);
	TEST_ASSERT_VAL("all is that VM's", counted(3, 0) == 3);
	lose(0);
	entry_with_id(10, 1);
	count(10, 4);
	tracepoint(10, KVM_VCPU_SCHED_OUT, 3, 0);
	TEST_ASSERT_VAL("but for another vCPU's", counted(KVM_UNKNOWN, 1) == 4);
	return end();
}

/* Without the tracepoints of vCPUs there is nothing but debugfs, whatever is lost. */
static int test__no_switches(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	begin();
	vcpus.has_switches = false;
	TEST_ASSERT_VAL("seeded", !seed());
	TEST_ASSERT_VAL("the VM of debugfs", is(entry_with_id(10, 0), 3, 0));
	lose(0);
	count(10, 1);
	TEST_ASSERT_VAL("so it is after a loss", is(entry_with_id(10, 0), 3, 0));
	TEST_ASSERT_VAL("from there on", counted(3, 0) == 1);
	TEST_ASSERT_VAL("a VM without a name", is(entry_with_id(13, 5), KVM_UNKNOWN, 5));
	TEST_ASSERT_VAL("of each thread the same", entry_with_id(14, 5) == entry_with_id(13, 5));
	return end();
}

static int test__record(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	struct kvm_vcpu_thread most = { -1, -1, -1, -1 }, thread;
	union perf_event event = { };
	char *name = event.event_type.event_type.name;
	const size_t size = sizeof(event.event_type.event_type.name);

	kvm_vcpu_thread__to_event(&most, 5, &event);
	TEST_ASSERT_VAL("an old perf's", event.header.type == PERF_RECORD_HEADER_EVENT_TYPE &&
			event.header.size == sizeof(event.event_type));
	TEST_ASSERT_VAL("number", event.event_type.event_type.event_id == 5);
	TEST_ASSERT_VAL("read", kvm_vcpu_thread__from_event(&thread, &event));
	TEST_ASSERT_VAL("the same", !memcmp(&thread, &most, sizeof(most)));
	memset(name + strlen(name), '0', size - strlen(name));
	TEST_ASSERT_VAL("no end", !kvm_vcpu_thread__from_event(&thread, &event));
	scnprintf(name, size, "kvm vm=1-2 vcpu=3 tid=4 5");
	TEST_ASSERT_VAL("more", !kvm_vcpu_thread__from_event(&thread, &event));
	scnprintf(name, size, "kvm:kvm_entry");
	TEST_ASSERT_VAL("an old perf's event", !kvm_vcpu_thread__from_event(&thread, &event));
	kvm_vcpu_thread__to_event(&most, 0, &event);
	event.header.size -= 8;
	TEST_ASSERT_VAL("too short", !kvm_vcpu_thread__from_event(&thread, &event));
	return TEST_OK;
}

/* In which order the vCPUs are shown, whichever comes first */
static int test__sorted(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	static const struct kvm_vcpu_thread sorted[] = {
		{ VM_PID, 3, 0, 12 }, { VM_PID, 3, 1, 11 },
		{ VM_PID, 4, 0, 10 }, { VM_PID + 1, 2, 0, 14 },
	};
	struct kvm_where other_vm = where(14, 0);
	struct kvm_vcpu *vcpu;
	unsigned int i = 0;

	begin();
	event(13);
	kvm_vcpus__switch(&vcpus, &other_vm, KVM_VCPU_LOAD, VM_PID + 1, 2, 0);
	tracepoint(10, KVM_VCPU_LOAD, 4, 0);
	tracepoint(11, KVM_VCPU_LOAD, 3, 1);
	tracepoint(12, KVM_VCPU_LOAD, 3, 0);
	list_for_each_entry(vcpu, &vcpus.vcpus, node) {
		if (i < ARRAY_SIZE(sorted))
			TEST_ASSERT_VAL("by VM and id", vcpu->vm_pid == (int)sorted[i].vm_pid &&
					vcpu->vm_fd == (int)sorted[i].vm_fd &&
					vcpu->vcpu_id == (int)sorted[i].vcpu_id &&
					vcpu->tid == sorted[i].tid);
		else
			TEST_ASSERT_VAL("not known: last", is_unknown(vcpu));
		i++;
	}
	TEST_ASSERT_VAL("one that is not known", i > ARRAY_SIZE(sorted));
	return end();
}

static struct test_case tests__kvm_vcpus[] = {
	TEST_CASE("the vCPU that a thread has loaded", loaded),
	TEST_CASE("threads that are exchanged", exchanged),
	TEST_CASE("events before the first tracepoint", before),
	TEST_CASE("the threads of debugfs", debugfs),
	TEST_CASE("the threads of debugfs, read again", debugfs_again),
	TEST_CASE("a thread's id that is used again", thread_id),
	TEST_CASE("perf in a PID namespace", namespace),
	TEST_CASE("lost events", lost),
	TEST_CASE("events during which others were lost", whole),
	TEST_CASE("events lost very often", many_lost),
	TEST_CASE("a vCPU's id without the VM", id_alone),
	TEST_CASE("a vCPU's id after lost events", id_lost),
	TEST_CASE("no tracepoint of vCPUs", no_switches),
	TEST_CASE("vCPUs by VM and id", sorted),
	TEST_CASE("the record of a thread", record),
	{ .name = NULL, }
};

struct test_suite suite__kvm_vcpus = {
	.desc = "KVM: which thread runs which vCPU",
	.test_cases = tests__kvm_vcpus,
};
