// SPDX-License-Identifier: GPL-2.0
/* Events that can't sample guests: what is taken in their place, and what is said of them */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/compiler.h>
#include <linux/kernel.h>
#include "debug.h"
#include "evsel.h"
#include "kvm-no-samples.h"
#include "target.h"
#include "tests.h"
#include "util.h"

static struct target all_cpus = { .system_wide = true };

static struct evsel *new_event(u32 type, u64 config, bool host, bool guest)
{
	struct perf_event_attr attr = {
		.type		= type,
		.config		= config,
		.sample_period	= 1000,
		.exclude_host	= !host,
		.exclude_guest	= !guest,
	};

	return evsel__new(&attr);
}

/* Whether an event falls back to cpu-clock at an error, with what it excludes */
static bool becomes_clock(u64 config, bool host, bool guest, int err)
{
	struct evsel *evsel = new_event(PERF_TYPE_HARDWARE, config, host, guest);
	bool clock = false;
	char msg[256];

	if (evsel && evsel__fallback(evsel, &all_cpus, err, msg, sizeof(msg)))
		clock = evsel__match(evsel, SOFTWARE, SW_CPU_CLOCK) && strstr(msg, "cpu-clock") &&
			evsel->core.attr.exclude_host == !host &&
			evsel->core.attr.exclude_guest == !guest;
	evsel__delete(evsel);
	return clock;
}

/* An event that excludes the host can't exclude guests, too. */
static bool has_fallback(u64 config, bool host)
{
	struct evsel *evsel = new_event(PERF_TYPE_HARDWARE, config, host, true);
	char msg[256];
	bool has;

	has = evsel && evsel__fallback(evsel, &all_cpus, EOPNOTSUPP, msg, sizeof(msg));
	evsel__delete(evsel);
	return has;
}

static int check_fallback(void)
{
	const u64 cycles = PERF_COUNT_HW_CPU_CYCLES, other = PERF_COUNT_HW_INSTRUCTIONS;

	TEST_ASSERT_VAL("no PMU", becomes_clock(cycles, false, true, ENOENT));
	TEST_ASSERT_VAL("a PMU that can't sample guests",
			becomes_clock(cycles, false, true, EOPNOTSUPP));
	TEST_ASSERT_VAL("the host, too", becomes_clock(cycles, true, true, EOPNOTSUPP));
	TEST_ASSERT_VAL("only cycles", !becomes_clock(other, false, true, EOPNOTSUPP));
	TEST_ASSERT_VAL("not for the host", !becomes_clock(cycles, true, false, EOPNOTSUPP));
	TEST_ASSERT_VAL("not without either", !has_fallback(other, false));
	TEST_ASSERT_VAL("without guests", has_fallback(other, true));
	return TEST_OK;
}

static int test__fallback(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	bool guest = perf_guest;
	int ret;

	perf_guest = true;
	ret = check_fallback();
	perf_guest = false;
	if (ret == TEST_OK && becomes_clock(PERF_COUNT_HW_CPU_CYCLES, true, true, EOPNOTSUPP))
		ret = TEST_FAIL;
	perf_guest = guest;
	return ret;
}

static bool is_said(char *said, const char *expected)
{
	bool same = expected ? said && strstr(said, expected) : !*said;

	if (!same)
		pr_debug("said: %s\n", said);
	free(said);
	return same;
}

/* What is said of an event: this, or nothing */
static bool event_says(struct evsel *evsel, const u64 *count, const char *expected)
{
	char *said = NULL;
	size_t size;
	FILE *fp = open_memstream(&said, &size);

	if (!evsel || !fp)
		return false;
	kvm_no_samples__fprintf_event(evsel, count, fp);
	fclose(fp);
	evsel__delete(evsel);
	return is_said(said, expected);
}

static struct evsel *new_cycles(bool host, bool guest)
{
	return new_event(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, host, guest);
}

static struct evsel *new_software(u64 config)
{
	return new_event(PERF_TYPE_SOFTWARE, config, false, true);
}

static int test__events(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	const u64 none = 0, few = 999, enough = 1000;

	TEST_ASSERT_VAL("no guests", event_says(new_cycles(true, false), &none, "excludes guests"));
	TEST_ASSERT_VAL("nothing is known", event_says(new_cycles(false, true), NULL, NULL));
	TEST_ASSERT_VAL("it has not counted", event_says(new_cycles(false, true), &none,
							 "counted nothing in guests"));
	TEST_ASSERT_VAL("below a period", event_says(new_cycles(false, true), &few,
						     "counted 999 in guests, less"));
	TEST_ASSERT_VAL("a period", event_says(new_cycles(false, true), &enough, NULL));
	TEST_ASSERT_VAL("the host's count", event_says(new_cycles(true, true), &none, NULL));
	TEST_ASSERT_VAL("a clock", event_says(new_software(PERF_COUNT_SW_CPU_CLOCK), &few, NULL));
	TEST_ASSERT_VAL("the dummy", event_says(new_software(PERF_COUNT_SW_DUMMY), &none, NULL));
	TEST_ASSERT_VAL("software", event_says(new_software(PERF_COUNT_SW_PAGE_FAULTS), &enough,
					       "happens in the host"));
	TEST_ASSERT_VAL("a breakpoint", event_says(new_event(PERF_TYPE_BREAKPOINT, 0, false, true),
						   &enough, "happens in the host"));
	return TEST_OK;
}

static bool exits_say(const struct kvm_exits *before, const struct kvm_exits *after,
		      const char *expected)
{
	char *said = NULL;
	size_t size;
	FILE *fp = open_memstream(&said, &size);

	if (!fp)
		return false;
	kvm_no_samples__fprintf_exits(before, after, fp);
	fclose(fp);
	return is_said(said, expected);
}

static int test__exits(struct test_suite *test __maybe_unused, int subtest __maybe_unused)
{
	struct kvm_vm_exits old[] = { { 7, 3, 100 }, { 8, 3, 50 } };
	struct kvm_vm_exits new[] = { { 7, 3, 107 }, { 8, 3, 20 }, { 9, 3, 1000 } };
	const struct kvm_exits none = {}, unknown = { .err = -EACCES };
	const struct kvm_exits before = { old, 2, 0 }, after = { new, 3, 0 };

	TEST_ASSERT_VAL("it can't be read then", exits_say(&unknown, &after, NULL));
	TEST_ASSERT_VAL("it can't be read now", exits_say(&before, &unknown, NULL));
	TEST_ASSERT_VAL("no VM", exits_say(&none, &none, "no VM at the begin"));
	TEST_ASSERT_VAL("no VM any more", exits_say(&before, &none, "All VMs have ended"));
	TEST_ASSERT_VAL("none has run", exits_say(&before, &before, "No vCPU of 2 VMs"));
	/* The second has the name of one that has ended. */
	TEST_ASSERT_VAL("sum", exits_say(&before, &after,
					 "3 VMs have left their guests 1027 times"));
	return TEST_OK;
}

static struct test_case tests__kvm_no_samples[] = {
	TEST_CASE("cycles fall back to cpu-clock", fallback),
	TEST_CASE("why an event has no samples of guests", events),
	TEST_CASE("whether guests have run", exits),
	{ .name = NULL, }
};

struct test_suite suite__kvm_no_samples = {
	.desc		= "KVM: why there are no samples of guests",
	.test_cases	= tests__kvm_no_samples,
};
