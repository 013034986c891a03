// SPDX-License-Identifier: GPL-2.0-only
/*
 * Each sample of a guest has exactly the chain of calls that the guest has made.
 *
 * usage: chains [cycles]
 *
 * The clock event samples, or the PMU's cycles.
 */
#include <err.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../kselftest.h"
#include "sampler.h"
#include "vm.h"

#define DEADLINE	60	/* seconds */
#define SAMPLES		200
#define SPINS		20000

struct expected {
	uint64_t	mark, spin, spin_end;
	uint64_t	callers[MAX_CHAIN];
	uint64_t	nr;
};

static struct vm vm;
static struct vcpu vcpu;
static struct expected at_el0, at_el1;
static unsigned int depth;

static void expect_kernel(void)
{
	at_el1 = (struct expected) {
		.mark		= PERF_CONTEXT_GUEST_KERNEL,
		.spin		= kernel_code(&vm, k_spin),
		.spin_end	= kernel_code(&vm, k_spin_end),
		.callers	= { kernel_code(&vm, k_middle_ret), kernel_code(&vm, k_outer_ret),
				    kernel_code(&vm, k_entry_ret) },
		.nr		= 3,
	};
}

static void expect_user(void)
{
	unsigned int i;

	at_el0 = (struct expected) {
		.mark		= PERF_CONTEXT_GUEST_USER,
		.spin		= (uintptr_t)u_spin,
		.spin_end	= (uintptr_t)u_spin_end,
	};
	at_el0.callers[at_el0.nr++] = (uintptr_t)u_last_ret;
	for (i = 0; i < depth && at_el0.nr < MAX_CHAIN - 2; i++)
		at_el0.callers[at_el0.nr++] = (uintptr_t)u_deep_ret;
	at_el0.callers[at_el0.nr++] = (uintptr_t)u_outer_ret;
	at_el0.callers[at_el0.nr++] = (uintptr_t)u_start_ret;
}

static bool start(const struct layout *layout, unsigned int recursion)
{
	depth = recursion;
	if (!create_vm(&vm, layout))
		return false;
	create_vcpu(&vm, &vcpu, 0);
	set_register(&vcpu, 19, SPINS);
	set_register(&vcpu, 20, SPINS);
	set_register(&vcpu, 21, depth);
	expect_kernel();
	expect_user();
	start_vcpu(&vcpu);
	return true;
}

static void stop(void)
{
	stop_vcpu(&vcpu);
	close_vcpu(&vcpu);
	destroy_vm(&vm);
}

static void print_chain(const struct sample *sample)
{
	uint64_t i;

	ksft_print_msg("mode %u, ip %#lx, chain of %lu:", sample->cpumode,
		       (unsigned long)sample->ip, (unsigned long)sample->nr);
	for (i = 0; i < sample->nr; i++)
		printf(" %#lx", (unsigned long)sample->chain[i]);
	printf("\n");
}

static const struct expected *expected_of(const struct sample *sample)
{
	if (sample->cpumode == PERF_RECORD_MISC_GUEST_KERNEL)
		return &at_el1;
	return sample->cpumode == PERF_RECORD_MISC_GUEST_USER ? &at_el0 : NULL;
}

static bool spins(const struct sample *sample)
{
	const struct expected *expected = expected_of(sample);

	return expected && sample->ip >= expected->spin && sample->ip < expected->spin_end;
}

/* The callers of the sample are those expected, from the one with this index on. */
static bool callers_are(const struct sample *sample, const struct expected *expected,
			uint64_t from)
{
	return !memcmp(&sample->chain[2], &expected->callers[from],
		       (sample->nr - 2) * sizeof(*sample->chain));
}

/*
 * Where the innermost function spins, the chain has all callers, or as many as there is room
 * for. In what a function begins and ends with, its record is not linked: some of the
 * innermost are missing.
 */
static bool is_right(const struct sample *sample, unsigned int max_stack)
{
	const struct expected *expected = expected_of(sample);
	uint64_t callers, from;

	if (!expected || sample->nr < 2 || sample->nr > max_stack + 1 ||
	    sample->chain[0] != expected->mark || sample->chain[1] != sample->ip)
		return false;
	callers = sample->nr - 2;
	if (callers > expected->nr)
		return false;
	if (spins(sample))
		return (callers == expected->nr || callers + 1 == max_stack) &&
		       callers_are(sample, expected, 0);
	if (callers + 1 < max_stack)
		return callers_are(sample, expected, expected->nr - callers);
	for (from = 0; from <= expected->nr - callers; from++) {
		if (callers_are(sample, expected, from))
			return true;
	}
	return false;
}

/* Samples until @nr of each mode spin, and all are right */
static bool sample_chains(struct perf_event_attr *attr, unsigned int nr, unsigned int max_stack)
{
	unsigned int found[2] = {}, all = 0, late = 0;
	time_t deadline = time(NULL) + DEADLINE;
	struct sampler sampler;
	struct sample sample;
	bool right = true;

	if (!open_sampler(&sampler, attr, vcpu.tid)) {
		ksft_print_msg("perf_event_open: %s\n", strerror(errno));
		return false;
	}
	while (right && (found[0] < nr || found[1] < nr) && time(NULL) < deadline) {
		if (!next_sample(&sampler, &sample)) {
			usleep(1000);
			continue;
		}
		all++;
		if (is_late(&sample)) {
			late++;
			continue;
		}
		if (spins(&sample))
			found[sample.cpumode == PERF_RECORD_MISC_GUEST_KERNEL]++;
		right = is_right(&sample, max_stack);
		if (!right)
			print_chain(&sample);
	}
	close_sampler(&sampler);
	ksft_print_msg("%u samples, %u spin at EL0, %u at EL1, %u late\n", all, found[0], found[1],
		       late);
	return right && found[0] >= nr && found[1] >= nr && late * 10 <= all;
}

static void test_layout(const char *name, const struct layout *layout)
{
	struct perf_event_attr attr;

	if (!start(layout, 2)) {
		ksft_test_result_skip("%s: the CPU does not have it\n", name);
		return;
	}
	init_event(&attr);
	ksft_test_result(sample_chains(&attr, SAMPLES, 127), "%s\n", name);
	stop();
}

static const struct {
	const char	*name;
	struct layout	layout;
} layouts[] = {
	{ "pages of 4 KiB, 48 bits", { 12, 48 } },
	{ "pages of 4 KiB, 39 bits", { 12, 39 } },
	{ "pages of 4 KiB, blocks", { 12, 48, .block = true } },
	{ "pages of 4 KiB, 52 bits", { 12, 52, .wide = true } },
	{ "pages of 16 KiB, 47 bits", { 14, 47 } },
	{ "pages of 16 KiB, 36 bits, blocks", { 14, 36, .block = true } },
	{ "pages of 16 KiB, 52 bits", { 14, 52, .wide = true } },
	{ "pages of 64 KiB, 48 bits", { 16, 48 } },
	{ "pages of 64 KiB, 42 bits", { 16, 42 } },
	{ "pages of 64 KiB, 52 bits", { 16, 52, .wide = true } },
	{ "a tagged stack pointer", { 12, 48, .tag = 0x5a } },
	{ "signed addresses to return to", { 12, 48, .pauth = true } },
	{ "signed addresses to return to, 39 bits", { 12, 39, .pauth = true } },
};

static const struct layout plain = { 12, 48 };

/* As many frames as the event, or perf_event_max_stack, allows */
static void test_limits(void)
{
	struct perf_event_attr attr;

	start(&plain, 140);
	init_event(&attr);
	ksft_test_result(sample_chains(&attr, SAMPLES, 127), "perf_event_max_stack\n");
	attr.sample_max_stack = 3;
	ksft_test_result(sample_chains(&attr, SAMPLES, 3), "the event's own limit\n");
	stop();
}

struct counts {
	unsigned int	el0, el1, host, el0_chains, el1_chains, host_chains;
};

/* What 200 samples are of, or those of two seconds */
static bool count(struct perf_event_attr *attr, struct counts *counts)
{
	time_t deadline = time(NULL) + 3;
	struct sampler sampler;
	struct sample sample;
	unsigned int n = 0;

	*counts = (struct counts) {};
	if (!open_sampler(&sampler, attr, vcpu.tid))
		return false;
	while (n < 200 && time(NULL) < deadline) {
		if (!next_sample(&sampler, &sample)) {
			usleep(1000);
			continue;
		}
		n++;
		switch (sample.cpumode) {
		case PERF_RECORD_MISC_GUEST_USER:
			counts->el0++;
			counts->el0_chains += sample.nr > 0;
			break;
		case PERF_RECORD_MISC_GUEST_KERNEL:
			counts->el1++;
			counts->el1_chains += sample.nr > 0;
			break;
		default:
			counts->host++;
			counts->host_chains += sample.nr > 0;
		}
	}
	close_sampler(&sampler);
	ksft_print_msg("EL0 %u, with chains %u; EL1 %u, %u; host %u, %u\n", counts->el0,
		       counts->el0_chains, counts->el1, counts->el1_chains, counts->host,
		       counts->host_chains);
	return true;
}

static void test_exclude(void)
{
	struct perf_event_attr attr;
	struct counts n;
	bool good;

	start(&plain, 2);
	init_event(&attr);
	attr.exclude_callchain_kernel = 1;
	good = count(&attr, &n) && n.el0 && n.el1 && (use_pmu || !n.host);
	ksft_test_result(good && n.el0_chains == n.el0 && !n.el1_chains,
			 "exclude_callchain_kernel\n");
	init_event(&attr);
	attr.exclude_callchain_user = 1;
	good = count(&attr, &n) && n.el0 && n.el1 && (use_pmu || !n.host);
	ksft_test_result(good && n.el1_chains == n.el1 && !n.el0_chains,
			 "exclude_callchain_user\n");
	init_event(&attr);
	attr.exclude_kernel = 1;
	good = count(&attr, &n);
	ksft_test_result(good && n.el0 && n.el0_chains == n.el0 && !n.el1_chains,
			 "exclude_kernel\n");
	init_event(&attr);
	attr.exclude_user = 1;
	good = count(&attr, &n);
	ksft_test_result(good && n.el1 && n.el1_chains == n.el1 && !n.el0_chains,
			 "exclude_user\n");
	init_event(&attr);
	attr.exclude_host = 0;
	attr.exclude_guest = 1;
	good = count(&attr, &n);
	ksft_test_result(good && !n.el0_chains && !n.el1_chains && (use_pmu || !n.el0),
			 "exclude_guest\n");
	stop();
}

int main(int argc, char **argv)
{
	size_t i;

	setvbuf(stdout, NULL, _IOLBF, 0);
	use_pmu = argc > 1 && !strcmp(argv[1], "cycles");
	ksft_print_header();
	ksft_set_plan(ARRAY_SIZE(layouts) + 7);
	for (i = 0; i < ARRAY_SIZE(layouts); i++)
		test_layout(layouts[i].name, &layouts[i].layout);
	test_limits();
	test_exclude();
	ksft_finished();
}
