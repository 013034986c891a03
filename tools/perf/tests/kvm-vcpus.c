// SPDX-License-Identifier: GPL-2.0
/* Whose the events of a thread are, by struct kvm_vcpus */
#include <linux/compiler.h>
#include <linux/kernel.h>
#include "debug.h"
#include "env.h"
#include "kvm-vcpu-threads.h"
#include "kvm-vcpus.h"
#include "tests.h"

#define VM_PID	100	/* that of all VMs here, which differ by the file descriptor */

static struct kvm_vcpus vcpus;
static u64 now;

static void begin(void)
{
	kvm_vcpus__init(&vcpus);
	now = 0;
}

static int end(void)
{
	kvm_vcpus__exit(&vcpus);
	return TEST_OK;
}

static struct kvm_where where(u32 tid, u32 cpu)
{
	return (struct kvm_where) { .pid = VM_PID, .tid = tid, .cpu = cpu, .time = ++now };
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
static int seed(void)
{
	struct kvm_vcpu_thread threads[] = {
		{ VM_PID, 3, 0, 10 }, { VM_PID, 3, 1, 11 },
		{ VM_PID, 4, 0, 12 }, { VM_PID, 4, 1, 12 },
	};
	struct perf_env env = {
		.kvm_vcpu_threads = threads,
		.nr_kvm_vcpu_threads = ARRAY_SIZE(threads),
	};

	return kvm_vcpus__seed(&vcpus, &env);
}

static bool is(struct kvm_vcpu *vcpu, int vm_fd, int vcpu_id)
{
	vcpu = kvm_vcpu__known(vcpu);
	return vcpu->vm_pid == VM_PID && vcpu->vm_fd == vm_fd && vcpu->vcpu_id == vcpu_id;
}

static bool is_unknown(struct kvm_vcpu *vcpu)
{
	return is(vcpu, KVM_UNKNOWN, KVM_UNKNOWN);
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
		tracepoint(10, how, 3, 0);
		TEST_ASSERT_VAL("known from there on", is(event(10), 3, 0));
		if (how == KVM_VCPU_LOAD) {
			TEST_ASSERT_VAL("of another one before", is_unknown(before));
		} else {
			TEST_ASSERT_VAL("of the same before", is(before, 3, 0));
			TEST_ASSERT_VAL("the open event goes on", event(10)->start_time == 5);
			TEST_ASSERT_VAL("so does the guest", event(10)->entry_time == 6);
		}
		kvm_vcpus__exit(&vcpus);
	}
	return TEST_OK;
}

static int test__debugfs(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	struct kvm_vcpu *only, *first, *both, *none;

	begin();
	TEST_ASSERT_VAL("seeded", !seed());
	only = event(10);
	first = event(11);
	both = event(12);
	none = event(13);
	tracepoint(11, KVM_VCPU_LOAD, 3, 2);
	TEST_ASSERT_VAL("not before it is sure", is_unknown(only));
	kvm_vcpus__resolve(&vcpus);
	TEST_ASSERT_VAL("no tracepoint: that of debugfs", is(only, 3, 0));
	TEST_ASSERT_VAL("before another is loaded: that of debugfs", is(first, 3, 1));
	TEST_ASSERT_VAL("then that one", is(event(11), 3, 2));
	TEST_ASSERT_VAL("of two it may be either", is_unknown(both));
	TEST_ASSERT_VAL("not in debugfs", is_unknown(none));
	return end();
}

static int test__thread_id(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	struct kvm_vcpu *before;

	begin();
	TEST_ASSERT_VAL("seeded", !seed());
	before = event(10);
	kvm_vcpus__thread_exit(&vcpus, 10);
	TEST_ASSERT_VAL("what it did was that vCPU's", is(before, 3, 0));
	kvm_vcpus__resolve(&vcpus);
	TEST_ASSERT_VAL("another thread with its id", is_unknown(event(10)));
	return end();
}

static int test__lost(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	struct kvm_vcpu *doubtful;
	u64 then;

	begin();
	tracepoint(10, KVM_VCPU_LOAD, 3, 0);
	tracepoint(11, KVM_VCPU_LOAD, 3, 1);
	then = now;
	lose(0);
	TEST_ASSERT_VAL("lost on that CPU", kvm_vcpus__lost_since(&vcpus, then, 0));
	TEST_ASSERT_VAL("not on another", !kvm_vcpus__lost_since(&vcpus, then, 1));
	TEST_ASSERT_VAL("not later", !kvm_vcpus__lost_since(&vcpus, now, 0));
	doubtful = event(10);
	TEST_ASSERT_VAL("may be another vCPU", is_unknown(doubtful));
	TEST_ASSERT_VAL("another CPU's is known", is(event(11), 3, 1));
	tracepoint(10, KVM_VCPU_SCHED_OUT, 3, 0);
	TEST_ASSERT_VAL("it was the same", is(doubtful, 3, 0));
	lose(-1);
	TEST_ASSERT_VAL("lost on any CPU", kvm_vcpus__lost_since(&vcpus, then, 1));
	TEST_ASSERT_VAL("no vCPU is sure", is_unknown(event(10)) && is_unknown(event(11)));
	return end();
}

/* kvm_entry of some architectures has the vCPU's id, but not its VM. */
static int test__id_alone(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	struct kvm_vcpu *before;

	begin();
	TEST_ASSERT_VAL("seeded", !seed());
	before = event(13);
	TEST_ASSERT_VAL("a VM without a name", is(entry_with_id(13, 5), KVM_UNKNOWN, 5));
	TEST_ASSERT_VAL("was it before", is(before, KVM_UNKNOWN, 5));
	TEST_ASSERT_VAL("the VM of debugfs", is(entry_with_id(10, 0), 3, 0));
	TEST_ASSERT_VAL("debugfs has another id", is(entry_with_id(11, 0), KVM_UNKNOWN, 0));
	return end();
}

/* In which order the vCPUs are shown, whichever comes first */
static int test__sorted(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	static const int fds[] = { 3, 3, 4 }, ids[] = { 0, 1, 0 };
	struct kvm_vcpu *vcpu;
	unsigned int i = 0;

	begin();
	event(13);
	tracepoint(10, KVM_VCPU_LOAD, 4, 0);
	tracepoint(11, KVM_VCPU_LOAD, 3, 1);
	tracepoint(12, KVM_VCPU_LOAD, 3, 0);
	list_for_each_entry(vcpu, &vcpus.vcpus, node) {
		if (i < ARRAY_SIZE(ids))
			TEST_ASSERT_VAL("by VM and id", is(vcpu, fds[i], ids[i]));
		else
			TEST_ASSERT_VAL("not known: last", is_unknown(vcpu));
		i++;
	}
	TEST_ASSERT_VAL("one that is not known", i > ARRAY_SIZE(ids));
	return end();
}

static struct test_case tests__kvm_vcpus[] = {
	TEST_CASE("the vCPU that a thread has loaded", loaded),
	TEST_CASE("threads that are exchanged", exchanged),
	TEST_CASE("events before the first tracepoint", before),
	TEST_CASE("the threads of debugfs", debugfs),
	TEST_CASE("a thread's id that is used again", thread_id),
	TEST_CASE("lost events", lost),
	TEST_CASE("a vCPU's id without the VM", id_alone),
	TEST_CASE("vCPUs by VM and id", sorted),
	{ .name = NULL, }
};

struct test_suite suite__kvm_vcpus = {
	.desc = "KVM: which thread runs which vCPU",
	.test_cases = tests__kvm_vcpus,
};
