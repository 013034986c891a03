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
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../kselftest.h"
#include "chain.h"
#include "sampler.h"
#include "vm.h"

#define SAMPLES		200
#define NOBODY		65534

static struct vm vm;
static struct vcpu vcpu;

static bool start(const struct layout *layout, unsigned int depth)
{
	if (!create_vm_and_vcpu(&vm, &vcpu, layout))
		return false;
	make_calls(&vcpu, depth);
	start_vcpu(&vcpu);
	return true;
}

static void stop(void)
{
	stop_vcpu(&vcpu);
	destroy_vm_and_vcpu(&vm, &vcpu);
}

static void test_layout(const char *name, const struct layout *layout)
{
	struct perf_event_attr attr;

	if (!start(layout, 2)) {
		ksft_test_result_skip("%s: the CPU does not have it\n", name);
		return;
	}
	init_event(&attr);
	ksft_test_result(sample_chains(&attr, vcpu.tid, SAMPLES, 127), "%s\n", name);
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
	ksft_test_result(sample_chains(&attr, vcpu.tid, SAMPLES, 127), "perf_event_max_stack\n");
	attr.sample_max_stack = 3;
	ksft_test_result(sample_chains(&attr, vcpu.tid, SAMPLES, 3), "the event's own limit\n");
	stop();
}

/* The event asks for them: no other test's samples have marks within the chain. */
static void test_host_frames(void)
{
	struct perf_event_attr attr;
	struct sampler sampler;

	find_vcpu_ioctl();
	start(&plain, 2);
	init_event(&attr);
	want_host_frames(&attr);
	ksft_test_result(sample_chains(&attr, vcpu.tid, SAMPLES, MAX_STACK),
			 "the host's frames below the guest's\n");
	attr.sample_type &= ~PERF_SAMPLE_CALLCHAIN;
	ksft_test_result(!open_sampler(&sampler, &attr, vcpu.tid) && errno == EINVAL,
			 "the host's frames without a chain are refused\n");
	stop();
}

struct below_counts {
	unsigned int	samples, kernel, user;
};

/* How many of 100 samples have a part of the host's kernel, and of this program */
static struct below_counts count_below(struct perf_event_attr *attr)
{
	time_t deadline = time(NULL) + 10;
	struct below_counts n = {};
	struct sampler sampler;
	struct sample sample;
	uint64_t i;

	want_host_frames(attr);
	if (!open_sampler(&sampler, attr, vcpu.tid))
		err(1, "perf_event_open");
	while (n.samples < 100 && time(NULL) < deadline) {
		if (!next_sample(&sampler, &sample)) {
			usleep(1000);
			continue;
		}
		if (is_late(&sample))
			continue;
		n.samples++;
		for (i = 0; i < sample.nr; i++) {
			n.kernel += sample.chain[i] == PERF_CONTEXT_KERNEL;
			n.user += sample.chain[i] == PERF_CONTEXT_USER;
		}
	}
	close_sampler(&sampler);
	ksft_print_msg("%u samples, below them the kernel %u times, the program %u times\n",
		       n.samples, n.kernel, n.user);
	return n;
}

/* What is excluded of the guest is excluded of the host. */
static void test_host_excluded(void)
{
	struct perf_event_attr attr;
	struct below_counts n;

	start(&plain, 2);
	init_event(&attr);
	attr.exclude_callchain_kernel = 1;
	n = count_below(&attr);
	ksft_test_result(n.samples && !n.kernel && n.user == n.samples,
			 "exclude_callchain_kernel, with the host's frames\n");
	init_event(&attr);
	attr.exclude_callchain_user = 1;
	n = count_below(&attr);
	ksft_test_result(n.samples && !n.user && n.kernel == n.samples,
			 "exclude_callchain_user, with the host's frames\n");
	stop();
}

struct counts {
	unsigned int	el0, el1, host, el0_chains, el1_chains, host_chains;
};

/* Checks 200 samples, or the samples of two seconds */
static bool count(struct perf_event_attr *attr, struct counts *counts)
{
	time_t deadline = time(NULL) + 3;
	struct sampler sampler;
	struct sample sample;
	unsigned int n = 0;

	*counts = (struct counts) {};
	if (!open_sampler(&sampler, attr, vcpu.tid)) {
		ksft_print_msg("perf_event_open: %s\n", strerror(errno));
		return false;
	}
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

/* Check the samples that a user gets of a VM of his own. Returns 0 if they are right. */
static int unprivileged(void)
{
	struct perf_event_attr attr;
	struct sampler sampler;
	struct counts n;
	int wrong = 1;

	if (setgid(NOBODY) || setuid(NOBODY))
		err(1, "setuid");
	start(&plain, 2);
	init_event(&attr);
	if (open_sampler(&sampler, &attr, vcpu.tid)) {
		ksft_print_msg("the kernel of the guest may be sampled\n");
	} else if (errno != EACCES) {
		ksft_print_msg("perf_event_open: %s\n", strerror(errno));
	} else {
		attr.exclude_kernel = 1;
		attr.exclude_callchain_kernel = 1;
		wrong = !count(&attr, &n) || !n.el0 || n.el0_chains != n.el0 || n.el1_chains ||
			n.host_chains || (!use_pmu && n.el1);
	}
	stop();
	return wrong;
}

static void set_paranoid(const char *value)
{
	FILE *file = fopen("/proc/sys/kernel/perf_event_paranoid", "w");

	if (!file || fputs(value, file) == EOF || fclose(file))
		err(1, "perf_event_paranoid");
}

static void test_paranoid(void)
{
	int status = -1;
	pid_t pid;

	set_paranoid("2");
	if (chmod("/dev/kvm", 0666))
		err(1, "chmod of /dev/kvm");
	fflush(stdout);
	pid = fork();
	if (!pid)
		_exit(unprivileged());
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		err(1, "fork");
	ksft_test_result(!status, "perf_event_paranoid\n");
}

int main(int argc, char **argv)
{
	size_t i;

	setvbuf(stdout, NULL, _IOLBF, 0);
	use_pmu = argc > 1 && !strcmp(argv[1], "cycles");
	ksft_print_header();
	ksft_set_plan(ARRAY_SIZE(layouts) + 12);
	for (i = 0; i < ARRAY_SIZE(layouts); i++)
		test_layout(layouts[i].name, &layouts[i].layout);
	test_limits();
	test_exclude();
	test_host_frames();
	test_host_excluded();
	test_paranoid();
	ksft_finished();
}
