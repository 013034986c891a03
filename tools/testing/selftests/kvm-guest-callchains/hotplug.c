// SPDX-License-Identifier: GPL-2.0-only
/*
 * VMs, vCPUs, their threads and their memory are created and destroyed while guests are sampled
 * at the highest rate: each sample is of a guest that exists.
 *
 * usage: hotplug [SEED [SECONDS [cycles]]]
 */
#include <err.h>
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <linux/kvm.h>

#include "../kselftest.h"
#include "chain.h"
#include "random.h"
#include "vm.h"

#define PERIOD		20000
#define LATE_IPA	0x70000000UL
#define LATE_VA		0x40000000UL
#define MAX_VCPUS	12

static const struct layout plain = { 12, 48 };
static struct vm vm;
static struct vcpu vcpus[MAX_VCPUS];
static unsigned int seconds = 5;

/* Records in a page of the guest's, and in the late one, lead to each other. */
static uint64_t random_record(void)
{
	if (below(4))
		return kernel_va(&vm, SCRATCH) + below(0x1000 / 8) * 8;
	return kernel_va(&vm, LATE_VA) + below(0x1000 / 8) * 8;
}

static void fill(void *page)
{
	uint64_t *words = page, i;

	for (i = 0; i < 0x1000 / sizeof(*words); i++)
		words[i] = random_record();
}

static void start_vm(void)
{
	if (!create_vm(&vm, &plain))
		errx(1, "no VM with pages of 4 KiB");
	fill(vm.memory + SCRATCH);
	map(&vm, true, kernel_va(&vm, LATE_VA), LATE_IPA, 0x1000, 3);
}

static void add_vcpu(int id)
{
	create_vcpu(&vm, &vcpus[id], id);
	set_pc(&vcpus[id], kernel_code(&vm, k_hostile), false);
	set_register(&vcpus[id], 29, random_record());
}

/* What KVM_RUN prepares is done, and the guest is not entered. */
static bool can_run(const struct vcpu *vcpu)
{
	int ret;

	vcpu->run->immediate_exit = 1;
	ret = ioctl(vcpu->fd, KVM_RUN, 0);
	vcpu->run->immediate_exit = 0;
	if (ret == 0 || (errno != EINTR && errno != EINVAL))
		err(1, "KVM_RUN");
	return errno == EINTR;
}

/* pKVM of Linux 7.3 takes no vCPU of a VM any more once one has run. */
static bool takes_late_vcpus(void)
{
	bool taken;
	int id;

	start_vm();
	for (id = 0; id < 2; id++) {
		add_vcpu(id);
		taken = can_run(&vcpus[id]);
	}
	for (id = 0; id < 2; id++)
		close_vcpu(&vcpus[id]);
	destroy_vm(&vm);
	return taken;
}

static void sample(struct sampler *sampler, const struct vcpu *vcpu)
{
	struct perf_event_attr attr;

	init_event(&attr);
	attr.sample_period = PERIOD;
	if (!open_sampler(sampler, &attr, vcpu->tid))
		err(1, "perf_event_open");
}

static bool are_harmless(struct sampler *sampler, uint64_t *callers)
{
	struct sample sample;

	while (next_sample(sampler, &sample)) {
		if (is_late(&sample))
			continue;
		if (!is_harmless(&sample))
			return false;
		*callers += sample.nr - 2;
	}
	return true;
}

static void move_to_other_cpu(pid_t tid)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(below(sysconf(_SC_NPROCESSORS_ONLN)), &set);
	if (sched_setaffinity(tid, sizeof(set), &set))
		err(1, "sched_setaffinity");
}

/* One vCPU runs on; others are created, if they are @late, run for a while and closed. */
static bool vcpus_of_one_vm(struct sampler *first, bool late, uint64_t *callers)
{
	struct sampler sampler;
	bool good = true;
	int id;

	for (id = 1; good && id < MAX_VCPUS; id++) {
		if (late)
			add_vcpu(id);
		start_vcpu(&vcpus[id]);
		sample(&sampler, &vcpus[id]);
		usleep(below(10000));
		move_to_other_cpu(vcpus[0].tid);
		stop_vcpu(&vcpus[id]);
		close_vcpu(&vcpus[id]);
		good = are_harmless(&sampler, callers) && are_harmless(first, callers);
		close_sampler(&sampler);
	}
	return good;
}

static bool vcpus_come_and_go(uint64_t *callers, unsigned int *lives)
{
	bool late = takes_late_vcpus(), good;
	struct sampler sampler;
	int id;

	start_vm();
	for (id = 0; id < (late ? 1 : MAX_VCPUS); id++)
		add_vcpu(id);
	start_vcpu(&vcpus[0]);
	sample(&sampler, &vcpus[0]);
	good = vcpus_of_one_vm(&sampler, late, callers);
	*lives += MAX_VCPUS - 1;
	close_sampler(&sampler);
	stop_vcpu(&vcpus[0]);
	close_vcpu(&vcpus[0]);
	destroy_vm(&vm);
	return good;
}

/* A vCPU runs on one thread after another, each of which is sampled beyond its end. */
static bool threads_of_a_vcpu(uint64_t *callers, unsigned int *lives)
{
	struct sampler samplers[4];
	bool good = true;
	size_t i;

	start_vm();
	add_vcpu(0);
	for (i = 0; i < ARRAY_SIZE(samplers); i++) {
		start_vcpu(&vcpus[0]);
		sample(&samplers[i], &vcpus[0]);
		usleep(below(10000));
		stop_vcpu(&vcpus[0]);
		++*lives;
	}
	for (i = 0; i < ARRAY_SIZE(samplers); i++) {
		good = are_harmless(&samplers[i], callers) && good;
		close_sampler(&samplers[i]);
	}
	close_vcpu(&vcpus[0]);
	destroy_vm(&vm);
	return good;
}

static void *map_late(void *at)
{
	void *page = mmap(at, 0x1000, PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_ANONYMOUS | (at ? MAP_FIXED : 0), -1, 0);

	if (page == MAP_FAILED)
		err(1, "mmap");
	fill(page);
	return page;
}

/* The page is changed while the memslot is there, and the memslot while the page is. */
static void change_late(void *page)
{
	add_slot(&vm, 1, LATE_IPA, page, 0x1000);
	usleep(below(1000));
	switch (below(3)) {
	case 0:
		map_late(page);
		break;
	case 1:
		if (madvise(page, 0x1000, MADV_REMOVE))
			err(1, "MADV_REMOVE");
		break;
	default:
		if (munmap(page, 0x1000))
			err(1, "munmap");
	}
	usleep(below(1000));
	add_slot(&vm, 1, LATE_IPA, page, 0);
	map_late(page);
}

static bool memory_comes_and_goes(uint64_t *callers, unsigned int *lives)
{
	void *page = map_late(NULL);
	struct sampler sampler;
	bool good = true;
	int i;

	start_vm();
	add_vcpu(0);
	start_vcpu(&vcpus[0]);
	sample(&sampler, &vcpus[0]);
	for (i = 0; good && i < 20; i++) {
		change_late(page);
		good = are_harmless(&sampler, callers);
		++*lives;
	}
	close_sampler(&sampler);
	stop_vcpu(&vcpus[0]);
	close_vcpu(&vcpus[0]);
	destroy_vm(&vm);
	munmap(page, 0x1000);
	return good;
}

/*
 * User space frees the VM's memory and closes its files while its vCPUs run. Only KVM_RUN still
 * holds references.
 */
static bool vms_end_while_they_run(uint64_t *callers, unsigned int *lives)
{
	struct sampler samplers[2];
	bool good = true;
	int i;

	start_vm();
	for (i = 0; i < 2; i++)
		add_vcpu(i);
	for (i = 0; i < 2; i++) {
		start_vcpu(&vcpus[i]);
		sample(&samplers[i], &vcpus[i]);
	}
	usleep(below(10000));
	for (i = 0; i < 2; i++) {
		__atomic_store_n(&vcpus[i].orphan, true, __ATOMIC_RELEASE);
		close(vcpus[i].fd);
	}
	destroy_vm(&vm);
	usleep(below(10000));
	for (i = 0; i < 2; i++) {
		stop_vcpu(&vcpus[i]);
		munmap(vcpus[i].run, vcpus[i].run_size);
		good = are_harmless(&samplers[i], callers) && good;
		close_sampler(&samplers[i]);
	}
	++*lives;
	return good;
}

static const struct {
	const char	*name;
	bool		(*run)(uint64_t *callers, unsigned int *lives);
} cases[] = {
	{ "vCPUs that come and go", vcpus_come_and_go },
	{ "threads of a vCPU that come and go", threads_of_a_vcpu },
	{ "memory and memslots that come and go", memory_comes_and_goes },
	{ "VMs that end while they run", vms_end_while_they_run },
};

static bool run_for_a_while(size_t n)
{
	time_t end = time(NULL) + seconds;
	unsigned int lives = 0;
	uint64_t callers = 0;
	bool good = true;

	while (good && (time(NULL) < end || !callers))
		good = cases[n].run(&callers, &lives);
	ksft_print_msg("%u came and went, %lu callers\n", lives, (unsigned long)callers);
	return good;
}

int main(int argc, char **argv)
{
	size_t i;

	setvbuf(stdout, NULL, _IOLBF, 0);
	seed_random(argc > 1 ? strtoull(argv[1], NULL, 0) : 1);
	if (argc > 2)
		seconds = atoi(argv[2]);
	use_pmu = argc > 3 && !strcmp(argv[3], "cycles");
	ksft_print_header();
	ksft_set_plan(ARRAY_SIZE(cases));
	for (i = 0; i < ARRAY_SIZE(cases); i++)
		ksft_test_result(run_for_a_while(i), "%s\n", cases[i].name);
	ksft_finished();
}
