// SPDX-License-Identifier: GPL-2.0-only
#include <err.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../kselftest.h"
#include "chain.h"
#include "run.h"

#define DEADLINE	60	/* seconds */

struct expected at_user, at_kernel;

static const struct expected *expected_of(const struct sample *sample)
{
	if (sample->cpumode == PERF_RECORD_MISC_GUEST_KERNEL)
		return &at_kernel;
	return sample->cpumode == PERF_RECORD_MISC_GUEST_USER ? &at_user : NULL;
}

bool spins(const struct sample *sample)
{
	const struct expected *expected = expected_of(sample);

	return expected && sample->ip >= expected->spin && sample->ip < expected->spin_end;
}

/* Do the callers of the sample match the expected ones, from this index on? */
static bool callers_are(const struct sample *sample, const struct expected *expected,
			uint64_t from)
{
	return !memcmp(&sample->chain[2], &expected->callers[from],
		       (sample->nr - 2) * sizeof(*sample->chain));
}

/*
 * If the innermost function spins, the chain has all callers, or as many as fit. In the prologue
 * and the epilogue of a function, its record is not linked: some of the innermost callers are
 * missing.
 */
bool is_right(const struct sample *sample, unsigned int max_stack)
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

/*
 * For any memory of the guest: the chain does not exceed its limit, and has neither marks nor data
 * from outside of the guest's memory.
 */
bool is_harmless(const struct sample *sample)
{
	uint64_t i;

	if (sample->nr < 2 || sample->nr > MAX_STACK + 1 ||
	    sample->chain[0] != PERF_CONTEXT_GUEST_KERNEL || sample->chain[1] != sample->ip) {
		print_chain(sample);
		return false;
	}
	for (i = 1; i < sample->nr; i++) {
		if (sample->chain[i] == CANARY || sample->chain[i] == (uint32_t)CANARY ||
		    sample->chain[i] == CANARY >> 32 || !sample->chain[i] ||
		    sample->chain[i] >= (uint64_t)PERF_CONTEXT_MAX) {
			ksft_print_msg("entry %lu is %#lx\n", (unsigned long)i,
				       (unsigned long)sample->chain[i]);
			return false;
		}
	}
	return true;
}

static uint64_t ioctl_begin, ioctl_end;

/* Where the host's kernel has the function of ioctl() for vCPUs */
void find_vcpu_ioctl(void)
{
	FILE *file = fopen("/proc/kallsyms", "r");
	unsigned long address;
	char name[128];

	while (file && ioctl_begin >= ioctl_end &&
	       fscanf(file, "%lx %*c %127s%*[^\n]", &address, name) == 2) {
		if (!strcmp(name, "kvm_vcpu_ioctl"))
			ioctl_begin = address;
		if (ioctl_begin)
			ioctl_end = address;
	}
	if (!file || ioctl_begin >= ioctl_end)
		errx(1, "no kvm_vcpu_ioctl in kallsyms");
	fclose(file);
}

static uint64_t find_mark(const struct sample *sample, uint64_t from, uint64_t mark)
{
	while (from < sample->nr && sample->chain[from] != mark)
		from++;
	return from;
}

/*
 * Behind the guest's part, which alone is left: the host's kernel has called kvm_vcpu_ioctl(), and
 * this program has made the system call.
 */
bool cut_host_part(struct sample *sample)
{
	uint64_t kernel = find_mark(sample, 1, PERF_CONTEXT_KERNEL);
	uint64_t user = find_mark(sample, kernel, PERF_CONTEXT_USER), i = kernel, ip;

	if (user + 1 >= sample->nr || sample->nr > MAX_STACK + 3)
		return false;
	while (i < user && (sample->chain[i] < ioctl_begin || sample->chain[i] >= ioctl_end))
		i++;
	sample->nr = kernel;
	ip = sample->chain[user + 1];
	return i < user && ip >= (uintptr_t)&__executable_start && ip < (uintptr_t)&etext;
}

/* Samples until @nr of each mode spin, and all are right */
bool sample_chains(struct perf_event_attr *attr, pid_t tid, unsigned int nr,
		   unsigned int max_stack)
{
	unsigned int found[2] = {}, all = 0, late = 0;
	time_t deadline = time(NULL) + DEADLINE;
	struct sampler sampler;
	struct sample sample;
	bool right = true;

	if (!open_sampler(&sampler, attr, tid)) {
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
		right = (!wants_host_frames(attr) || cut_host_part(&sample)) &&
			is_right(&sample, max_stack);
		if (!right)
			print_chain(&sample);
	}
	close_sampler(&sampler);
	ksft_print_msg("%u samples, %u spin in user space, %u in the kernel, %u late\n", all,
		       found[0], found[1], late);
	return right && found[0] >= nr && found[1] >= nr && late * 10 <= all;
}
