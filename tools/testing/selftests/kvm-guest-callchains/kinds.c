// SPDX-License-Identifier: GPL-2.0-only
/*
 * Samples of the host while a vCPU is loaded count as the host's. The guest's share of the samples
 * is its share of the time.
 *
 * usage: kinds [cycles]
 */
#include <err.h>
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../kselftest.h"
#include "sampler.h"
#include "vm.h"

#define SECONDS		20
#define TRIES		3
/* Prime to the tick's period, so that samples and ticks do not coincide */
#define PERIOD		1037333
#define MOST_APART	2	/* percent of all samples */

static const struct layout plain = { 12, 48 };
static struct vm vm;
static struct vcpu vcpu;

struct kinds {
	unsigned long	guest, host, at_trap, wrong;
};

static int last_cpu(void)
{
	return sysconf(_SC_NPROCESSORS_ONLN) - 1;
}

/* The vCPU has the last CPU for itself. */
static void pin(void)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(last_cpu(), &set);
	if (sched_setaffinity(vcpu.tid, sizeof(set), &set))
		err(1, "sched_setaffinity");
	CPU_ZERO(&set);
	CPU_SET(0, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		err(1, "sched_setaffinity");
}

/* The guest leaves for the host often, without a return to user space. */
static void start(void)
{
	if (!create_vm_and_vcpu(&vm, &vcpu, &plain))
		errx(1, "no VM with pages of 4 KiB");
	set_pc(&vcpu, kernel_code(&vm, k_trap), false);
	set_register(&vcpu, 20, 1);
	start_vcpu(&vcpu);
	pin();
}

static void stop(void)
{
	stop_vcpu(&vcpu);
	destroy_vm_and_vcpu(&vm, &vcpu);
}

static bool is_guest_code(uint64_t ip)
{
	return ip >= kernel_code(&vm, guest_begin) && ip < kernel_code(&vm, guest_end);
}

static void add(struct kinds *kinds, const struct sample *sample)
{
	bool guest = sample->cpumode == PERF_RECORD_MISC_GUEST_KERNEL;

	kinds->guest += guest;
	kinds->host += !guest;
	kinds->at_trap += guest && sample->ip == kernel_code(&vm, k_trap_mrs);
	/* The guest runs at EL1 only, in this code. */
	kinds->wrong += guest != is_guest_code(sample->ip) ||
			sample->cpumode == PERF_RECORD_MISC_GUEST_USER;
}

static bool count(struct perf_event_attr *attr, unsigned int seconds, struct kinds *kinds)
{
	time_t end = time(NULL) + seconds;
	struct sampler sampler;
	struct sample sample;

	*kinds = (struct kinds) {};
	if (!open_sampler(&sampler, attr, vcpu.tid)) {
		ksft_print_msg("perf_event_open: %s\n", strerror(errno));
		return false;
	}
	while (time(NULL) < end) {
		usleep(10000);
		while (next_sample(&sampler, &sample))
			add(kinds, &sample);
	}
	close_sampler(&sampler);
	ksft_print_msg("%lu samples of the guest, %lu at its trap, %lu of the host\n",
		       kinds->guest, kinds->at_trap, kinds->host);
	ksft_print_msg("%lu wrong, %lu lost\n", kinds->wrong, (unsigned long)sampler.lost);
	return true;
}

/* The ticks of the last CPU: all ticks, and the ticks in the guest */
static void read_ticks(unsigned long *all, unsigned long *guest)
{
	unsigned long ticks[9] = {};
	FILE *file = fopen("/proc/stat", "r");
	char line[256], name[16];
	int i;

	snprintf(name, sizeof(name), "cpu%d ", last_cpu());
	if (!file)
		err(1, "/proc/stat");
	while (fgets(line, sizeof(line), file) && strncmp(line, name, strlen(name)))
		;
	fclose(file);
	if (sscanf(line + strlen(name), "%lu %lu %lu %lu %lu %lu %lu %lu %lu", &ticks[0],
		   &ticks[1], &ticks[2], &ticks[3], &ticks[4], &ticks[5], &ticks[6], &ticks[7],
		   &ticks[8]) != 9)
		errx(1, "/proc/stat has not the ticks of %s", name);
	*guest = ticks[8];
	*all = 0;
	/* The first number includes the guests' ticks. */
	for (i = 0; i < 8; i++)
		*all += ticks[i];
}

static double percent(unsigned long part, unsigned long all)
{
	return all ? 100.0 * part / all : 0;
}

/* The share of ticks in the guest is the guest's share of the CPU's time. */
static bool shares_agree(struct kinds *kinds)
{
	unsigned long all, guest, all_end, guest_end;
	struct perf_event_attr attr;
	double sampled, ticks;

	init_event(&attr);
	attr.exclude_host = 0;
	attr.sample_period = PERIOD;
	read_ticks(&all, &guest);
	if (!count(&attr, SECONDS, kinds))
		return false;
	read_ticks(&all_end, &guest_end);
	sampled = percent(kinds->guest, kinds->guest + kinds->host);
	ticks = percent(guest_end - guest, all_end - all);
	ksft_print_msg("the guest's share: %.1f %% of the samples, %.1f %% of the ticks\n",
		       sampled, ticks);
	return sampled - ticks < MOST_APART && ticks - sampled < MOST_APART;
}

/* There are few ticks: repeat a comparison that fails, which may be due to chance. */
static void test_shares(void)
{
	struct kinds kinds;
	bool agree = false;
	int i;

	for (i = 0; i < (use_pmu ? 1 : TRIES) && !agree; i++)
		agree = shares_agree(&kinds);
	ksft_test_result(kinds.guest > 100 && kinds.host > 100 && !kinds.wrong,
			 "addresses are those of the guest, or of the host\n");
	if (use_pmu)
		ksft_test_result_skip("samples and ticks agree: cycles are no time\n");
	else
		ksft_test_result(agree, "samples and ticks agree\n");
	/* One instruction of thousands */
	ksft_test_result(kinds.at_trap * 10 < kinds.guest,
			 "the host's handler is not the guest's trap\n");
}

static int tracepoint(const char *name)
{
	char path[128];
	FILE *file;
	int id = 0;

	snprintf(path, sizeof(path), "/sys/kernel/tracing/events/%s/id", name);
	file = fopen(path, "r");
	if (!file || fscanf(file, "%d", &id) != 1)
		err(1, "%s", path);
	fclose(file);
	return id;
}

/* An event raised in the handler of the interrupt that made the guest exit */
static void test_tracepoint(void)
{
	struct perf_event_attr attr;
	struct kinds kinds;
	bool good;

	init_event(&attr);
	attr.type = PERF_TYPE_TRACEPOINT;
	attr.config = tracepoint("timer/hrtimer_expire_entry");
	attr.exclude_host = 0;
	attr.sample_period = 1;
	good = count(&attr, 2, &kinds);
	ksft_test_result(good && kinds.host > 10 && !kinds.guest && !kinds.wrong,
			 "tracepoints in interrupts are the host's\n");
}

int main(int argc, char **argv)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	use_pmu = argc > 1 && !strcmp(argv[1], "cycles");
	ksft_print_header();
	ksft_set_plan(4);
	start();
	test_shares();
	test_tracepoint();
	stop();
	ksft_finished();
}
