// SPDX-License-Identifier: GPL-2.0-only
/*
 * perf reports each lost sample of a guest: the samples in the ring and those reported lost are
 * as many as the event's overflows, which a BPF program counts.
 *
 * usage: losses [SAMPLES [cycles]]
 */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "../kselftest.h"
#include "bpf_program.h"
#include "chain.h"
#include "vm.h"

#define PERIOD		20000
#define DEADLINE	60	/* seconds without a sample */
#define NR_LOADS	2
#define LOAD_SIZE	0x100000UL

static const struct layout plain = { 12, 48 };
static struct vm vm;
static struct vcpu vcpus[2];
static unsigned long nr_samples = 20000;
static bool load_ends;

struct account {
	uint64_t	overflows, samples, late, lost, records_lost;
};

static int load_counter(int map)
{
	struct bpf_insn insns[] = {
		{ .code = BPF_LD | BPF_DW | BPF_IMM, .dst_reg = BPF_REG_1,
		  .src_reg = BPF_PSEUDO_MAP_VALUE, .imm = map },
		{},
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_2, .imm = 1 },
		{ .code = BPF_STX | BPF_DW | BPF_ATOMIC, .dst_reg = BPF_REG_1,
		  .src_reg = BPF_REG_2, .imm = BPF_ADD },
		/* If the program returned 0, the event would drop the sample. */
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = 1 },
		{ .code = BPF_JMP | BPF_EXIT },
	};

	return load_bpf_program(insns, ARRAY_SIZE(insns));
}

static uint64_t read_counter(int map)
{
	uint64_t value = 0;
	uint32_t key = 0;
	union bpf_attr attr = {
		.map_fd		= map,
		.key		= (uintptr_t)&key,
		.value		= (uintptr_t)&value,
	};

	if (sys_bpf(BPF_MAP_LOOKUP_ELEM, &attr))
		err(1, "BPF_MAP_LOOKUP_ELEM");
	return value;
}

/* Change the VMM's page tables, and make the vCPUs wait for a CPU. */
static void *make_load(void *arg)
{
	char *memory = mmap(NULL, LOAD_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			    -1, 0);
	size_t i;

	(void)arg;
	if (memory == MAP_FAILED)
		err(1, "mmap");
	while (!__atomic_load_n(&load_ends, __ATOMIC_ACQUIRE)) {
		for (i = 0; i < LOAD_SIZE; i += 0x1000)
			memory[i]++;
		if (madvise(memory, LOAD_SIZE, MADV_DONTNEED))
			err(1, "MADV_DONTNEED");
	}
	munmap(memory, LOAD_SIZE);
	return NULL;
}

static void start_load(pthread_t *threads)
{
	int i;

	__atomic_store_n(&load_ends, false, __ATOMIC_RELEASE);
	for (i = 0; i < NR_LOADS; i++) {
		if (pthread_create(&threads[i], NULL, make_load, NULL))
			errx(1, "pthread_create");
	}
}

static void end_load(pthread_t *threads)
{
	int i;

	__atomic_store_n(&load_ends, true, __ATOMIC_RELEASE);
	for (i = 0; i < NR_LOADS; i++)
		pthread_join(threads[i], NULL);
}

/* Read all samples. Returns whether each chain is right. */
static bool drain(struct sampler *sampler, struct account *account)
{
	struct sample sample;

	while (next_sample(sampler, &sample)) {
		account->samples++;
		if (is_late(&sample)) {
			account->late++;
		} else if (!is_right(&sample, MAX_STACK)) {
			print_chain(&sample);
			return false;
		}
	}
	return true;
}

static uint64_t read_lost(const struct sampler *sampler)
{
	uint64_t values[2];

	if (read(sampler->fd, values, sizeof(values)) != sizeof(values))
		err(1, "read of the event");
	return values[1];
}

/* Until there are so many samples, or until some are lost */
static bool collect(struct sampler *sampler, struct account *account, bool wait_for_loss)
{
	time_t deadline = time(NULL) + DEADLINE;
	uint64_t before = 0;
	bool good = true;

	while (good && time(NULL) < deadline) {
		if (wait_for_loss ? read_lost(sampler) > 0 : account->samples >= nr_samples)
			break;
		usleep(1000);
		if (wait_for_loss)
			continue;
		good = drain(sampler, account);
		if (account->samples > before)
			deadline = time(NULL) + DEADLINE;
		before = account->samples;
	}
	return good;
}

/*
 * perf reports lost samples with the next sample. Then the event is disabled, so that the numbers
 * do not change.
 */
static bool settle(struct sampler *sampler, struct account *account, int map)
{
	time_t deadline = time(NULL) + DEADLINE;
	uint64_t samples;
	bool good = drain(sampler, account);

	samples = account->samples;
	while (good && account->samples == samples && time(NULL) < deadline)
		good = drain(sampler, account);
	if (ioctl(sampler->fd, PERF_EVENT_IOC_DISABLE, 0))
		err(1, "PERF_EVENT_IOC_DISABLE");
	good = good && drain(sampler, account);
	account->overflows = read_counter(map);
	account->lost = read_lost(sampler);
	account->records_lost = sampler->lost;
	return good;
}

static bool adds_up(bool wait_for_loss, struct account *account)
{
	int map = create_bpf_map(BPF_MAP_TYPE_ARRAY, 8, 1, 0), program = load_counter(map);
	struct perf_event_attr attr;
	struct sampler sampler;
	bool good;

	*account = (struct account) {};
	init_event(&attr);
	attr.sample_period = PERIOD;
	attr.read_format = PERF_FORMAT_LOST;
	attr.disabled = 1;
	if (!open_sampler(&sampler, &attr, vcpus[0].tid))
		err(1, "perf_event_open");
	if (ioctl(sampler.fd, PERF_EVENT_IOC_SET_BPF, program) ||
	    ioctl(sampler.fd, PERF_EVENT_IOC_ENABLE, 0))
		err(1, "ioctl of the event");
	good = collect(&sampler, account, wait_for_loss) && settle(&sampler, account, map);
	close_sampler(&sampler);
	close(program);
	close(map);
	ksft_print_msg("%lu overflows: %lu samples, %lu of them late, %lu lost, %lu in records\n",
		       (unsigned long)account->overflows, (unsigned long)account->samples,
		       (unsigned long)account->late, (unsigned long)account->lost,
		       (unsigned long)account->records_lost);
	return good && account->samples + account->lost == account->overflows &&
	       account->records_lost <= account->lost;
}

static void start_vm(void)
{
	int i;

	if (!create_vm(&vm, &plain))
		errx(1, "no VM with pages of 4 KiB");
	for (i = 0; i < 2; i++)
		create_vcpu(&vm, &vcpus[i], i);
	/* The second one uses no stack. */
	set_pc(&vcpus[1], kernel_code(&vm, k_hostile), false);
	make_calls(&vcpus[0], 1);
	for (i = 0; i < 2; i++)
		start_vcpu(&vcpus[i]);
}

static void stop_vm(void)
{
	int i;

	for (i = 0; i < 2; i++) {
		stop_vcpu(&vcpus[i]);
		close_vcpu(&vcpus[i]);
	}
	destroy_vm(&vm);
}

int main(int argc, char **argv)
{
	pthread_t threads[NR_LOADS];
	struct account account;
	bool good;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc > 1)
		nr_samples = strtoul(argv[1], NULL, 0);
	use_pmu = argc > 2 && !strcmp(argv[2], "cycles");
	ksft_print_header();
	ksft_set_plan(2);
	start_vm();
	start_load(threads);
	good = adds_up(false, &account);
	ksft_test_result(good && account.samples >= nr_samples, "%lu samples under load\n",
			 nr_samples);
	good = adds_up(true, &account);
	ksft_test_result(good && account.lost && account.records_lost,
			 "samples that have no room in the ring\n");
	end_load(threads);
	stop_vm();
	ksft_finished();
}
