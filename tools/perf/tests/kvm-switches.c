// SPDX-License-Identifier: GPL-2.0
/* How long the threads of a vCPU are off the CPU, by struct kvm_switches */
#include <linux/compiler.h>
#include <linux/kernel.h>
#include <linux/string.h>
#include "debug.h"
#include "kvm-switches.h"
#include "tests.h"

static struct kvm_switches switches;
static struct kvm_vcpu vcpu;

static void begin(void)
{
	kvm_switches__init(&switches);
	switches.recorded = true;
	memset(&vcpu, 0, sizeof(vcpu));
}

static int end(void)
{
	kvm_switches__exit(&switches);
	return TEST_OK;
}

static void out(u32 tid, u64 time)
{
	kvm_switches__out(&switches, tid, time, false);
}

static void preempt(u32 tid, u64 time)
{
	kvm_switches__out(&switches, tid, time, true);
}

static void in(u32 tid, u64 time)
{
	kvm_switches__in(&switches, tid, time);
}

static void event_begins(u32 tid, u64 time)
{
	kvm_switches__saw(&switches, tid, time);
	vcpu.start_time = time;
	kvm_switches__begin(&switches, &vcpu, tid, time);
}

static void hand_over(u32 tid, u64 time)
{
	kvm_switches__saw(&switches, tid, time);
	kvm_switches__hand_over(&switches, &vcpu, tid, time);
}

/* The end, as it is known at once or later */
static bool was_off(u64 time, u64 preempted, u64 slept)
{
	struct kvm_off_cpu off;

	return kvm_switches__end(&switches, &vcpu, time, &off) &&
	       off.preempted == preempted && off.slept == slept;
}

static bool event_ends(u32 tid, u64 time, u64 preempted, u64 slept)
{
	kvm_switches__saw(&switches, tid, time);
	return was_off(time, preempted, slept);
}

static bool is_unknown(u32 tid, u64 time)
{
	struct kvm_off_cpu off;

	kvm_switches__saw(&switches, tid, time);
	return !kvm_switches__end(&switches, &vcpu, time, &off);
}

/* What is before the event's begin and behind its end is not counted. */
static int test__event(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	begin();
	event_begins(10, 1000);
	TEST_ASSERT_VAL("on the CPU", event_ends(10, 1100, 0, 0));
	out(10, 1200);
	in(10, 1300);
	event_begins(10, 2000);
	preempt(10, 2001);
	in(10, 2011);
	out(10, 2100);
	in(10, 2400);
	preempt(10, 2500);
	in(10, 2507);
	TEST_ASSERT_VAL("each interval of it", event_ends(10, 3000, 17, 300));
	event_begins(10, 3000);
	out(10, 3000);
	in(10, 3100);
	TEST_ASSERT_VAL("all of it", event_ends(10, 3100, 0, 100));
	preempt(11, 3200);
	in(11, 3300);
	TEST_ASSERT_VAL("another thread's is not", event_ends(10, 3400, 0, 100));
	return end();
}

/* An event may end before it is known whose it is. */
static int test__late(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	begin();
	event_begins(10, 1000);
	out(10, 1100);
	in(10, 1200);
	preempt(10, 1300);
	in(10, 1400);
	TEST_ASSERT_VAL("before the last interval", was_off(1300, 0, 100));
	TEST_ASSERT_VAL("in it", was_off(1340, 40, 100));
	TEST_ASSERT_VAL("in the one before", was_off(1150, 0, 50));
	preempt(10, 1500);
	TEST_ASSERT_VAL("in the one that has not ended", was_off(1510, 110, 100));
	TEST_ASSERT_VAL("before that", was_off(1500, 100, 100));
	in(10, 1600);
	out(10, 1700);
	in(10, 1800);
	TEST_ASSERT_VAL("the first that is kept", was_off(1100, 0, 0));
	out(10, 1900);
	in(10, 2000);
	TEST_ASSERT_VAL("the first that is kept then", was_off(1300, 0, 100));
	TEST_ASSERT_VAL("not before it", is_unknown(10, 1299));
	return end();
}

/* Nor is it known what another thread had done then. */
static int test__handed_over_late(struct test_suite *test __maybe_unused,
				  int subtest __maybe_unused)
{
	u64 time;

	begin();
	kvm_switches__saw(&switches, 11, 500);
	event_begins(10, 1000);
	for (time = 1100; time < 1500; time += 100) {
		out(11, time);
		in(11, time + 10);
	}
	hand_over(11, 1050);
	TEST_ASSERT_VAL("behind as many as are kept", event_ends(11, 1500, 0, 40));
	event_begins(10, 2000);
	for (time = 2100; time < 2600; time += 100) {
		out(11, time);
		in(11, time + 10);
	}
	hand_over(11, 2050);
	TEST_ASSERT_VAL("behind more", is_unknown(11, 2600));
	event_begins(11, 3000);
	for (time = 3100; time < 3600; time += 100) {
		out(11, time);
		in(11, time + 10);
	}
	hand_over(10, 3050);
	TEST_ASSERT_VAL("the first thread's behind more", is_unknown(10, 3600));
	return end();
}

static int test__handed_over(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	begin();
	event_begins(10, 1000);
	preempt(10, 1100);
	in(10, 1110);
	out(10, 1200);
	hand_over(11, 1300);
	TEST_ASSERT_VAL("the first thread's until then", event_ends(11, 1400, 10, 100));
	preempt(11, 1500);
	in(11, 1501);
	in(10, 1600);
	TEST_ASSERT_VAL("then the second one's", event_ends(11, 2000, 11, 100));
	hand_over(10, 2000);
	out(11, 2001);
	out(10, 2100);
	in(10, 2107);
	TEST_ASSERT_VAL("and the first one's again", event_ends(10, 2200, 11, 107));
	return end();
}

/* An event that has begun before is not known, and the next one is. */
static int test__missing(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	begin();
	event_begins(10, 1000);
	in(10, 1100);
	TEST_ASSERT_VAL("switched in twice", is_unknown(10, 1200));
	event_begins(10, 1300);
	out(10, 1400);
	TEST_ASSERT_VAL("switched out, and has an event", is_unknown(10, 1500));
	event_begins(10, 1600);
	TEST_ASSERT_VAL("the next event", event_ends(10, 1650, 0, 0));
	out(10, 1700);
	out(10, 1800);
	in(10, 1900);
	TEST_ASSERT_VAL("switched out twice", is_unknown(10, 2000));
	event_begins(10, 2100);
	out(10, 2200);
	in(10, 2300);
	TEST_ASSERT_VAL("known again", event_ends(10, 2400, 0, 100));
	kvm_switches__lost(&switches, 2450);
	event_begins(10, 2500);
	out(10, 2600);
	in(10, 2700);
	TEST_ASSERT_VAL("lost before", event_ends(10, 2800, 0, 100));
	out(10, 2900);
	kvm_switches__lost(&switches, 2950);
	in(10, 3000);
	TEST_ASSERT_VAL("lost while it was off the CPU", is_unknown(10, 3100));
	return end();
}

static int test__missing_of_one(struct test_suite *test __maybe_unused,
				int subtest __maybe_unused)
{
	begin();
	event_begins(10, 1000);
	in(10, 1100);
	hand_over(11, 1200);
	TEST_ASSERT_VAL("of the first thread", is_unknown(11, 1300));
	event_begins(10, 1400);
	hand_over(11, 1500);
	in(11, 1600);
	TEST_ASSERT_VAL("of the second one", is_unknown(11, 1700));
	event_begins(10, 1800);
	kvm_switches__thread_exit(&switches, 10);
	hand_over(11, 1900);
	TEST_ASSERT_VAL("of one that has ended", is_unknown(11, 2000));
	event_begins(11, 2100);
	kvm_switches__thread_exit(&switches, 11);
	TEST_ASSERT_VAL("of another one with the same id", is_unknown(11, 2200));
	return end();
}

static int test__not_recorded(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	begin();
	event_begins(0, 1000);
	out(0, 1100);
	in(0, 1200);
	TEST_ASSERT_VAL("perf in a PID namespace", is_unknown(0, 1300));
	switches.recorded = false;
	event_begins(10, 1400);
	TEST_ASSERT_VAL("an old recording", is_unknown(10, 1500));
	return end();
}

static struct test_case tests__kvm_switches[] = {
	TEST_CASE("the time off the CPU of an event", event),
	TEST_CASE("the time off the CPU, known later", late),
	TEST_CASE("another thread's, known later", handed_over_late),
	TEST_CASE("an event of two threads", handed_over),
	TEST_CASE("a switch that is missing", missing),
	TEST_CASE("a switch of one thread that is missing", missing_of_one),
	TEST_CASE("no switches", not_recorded),
	{ .name = NULL, }
};

struct test_suite suite__kvm_switches = {
	.desc = "KVM: how long threads were off the CPU",
	.test_cases = tests__kvm_switches,
};
