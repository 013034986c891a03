// SPDX-License-Identifier: GPL-2.0-only
/*
 * bpf_get_stackid() finds the chains of a guest's kernel and of its user space, and no build IDs
 * of the latter.
 *
 * usage: bpf [cycles]
 */
#include <err.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "../kselftest.h"
#include "bpf_program.h"
#include "chain.h"
#include "vm.h"

#define DEADLINE	30	/* seconds */
#define MAX_STACKS	1024

static const struct layout plain = { 12, 48 };
static struct vm vm;
static struct vcpu vcpu;

static int create_stacks(unsigned int entry_size, unsigned int flags)
{
	return create_bpf_map(BPF_MAP_TYPE_STACK_TRACE, MAX_STACK * entry_size, MAX_STACKS, flags);
}

/* A program that puts the chain that the flags select in the map */
static int load_program(int map, unsigned int flags)
{
	struct bpf_insn insns[] = {
		{ .code = BPF_LD | BPF_DW | BPF_IMM, .dst_reg = BPF_REG_2,
		  .src_reg = BPF_PSEUDO_MAP_FD, .imm = map },
		{},
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_3, .imm = flags },
		{ .code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_get_stackid },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};

	return load_bpf_program(insns, ARRAY_SIZE(insns));
}

static bool has_next(int map, uint32_t *key, bool first)
{
	union bpf_attr attr = {
		.map_fd		= map,
		.key		= first ? 0 : (uintptr_t)key,
		.next_key	= (uintptr_t)key,
	};

	return !sys_bpf(BPF_MAP_GET_NEXT_KEY, &attr);
}

static bool read_stack(int map, uint32_t key, struct sample *sample, unsigned int cpumode)
{
	union bpf_attr attr = {
		.map_fd		= map,
		.key		= (uintptr_t)&key,
		.value		= (uintptr_t)sample->chain,
	};

	memset(sample, 0, sizeof(*sample));
	if (sys_bpf(BPF_MAP_LOOKUP_ELEM, &attr))
		return false;
	while (sample->nr < MAX_STACK && sample->chain[sample->nr])
		sample->nr++;
	sample->cpumode = cpumode;
	sample->ip = sample->chain[1];
	return true;
}

/* Returns how many stacks spin, or -1 if one is wrong. */
static int check_stacks(int map, unsigned int cpumode, bool build_ids)
{
	bool first = true;
	struct sample sample;
	uint32_t key = 0;
	int found = 0;

	while (has_next(map, &key, first)) {
		first = false;
		/* Stacks of build IDs have no room here: there must be none. */
		if (build_ids)
			return -1;
		if (!read_stack(map, key, &sample, cpumode))
			continue;
		if (!is_right(&sample, MAX_STACK)) {
			print_chain(&sample);
			return -1;
		}
		found += spins(&sample);
	}
	return found;
}

/* What the map has after a while: stops when there are stacks, or one that is wrong. */
static int run_program(unsigned int flags, unsigned int cpumode, unsigned int seconds,
		       bool build_ids)
{
	int map = create_stacks(build_ids ? sizeof(struct bpf_stack_build_id) : sizeof(uint64_t),
				build_ids ? BPF_F_STACK_BUILD_ID : 0);
	int program = load_program(map, flags), found = 0;
	time_t deadline = time(NULL) + seconds;
	struct perf_event_attr attr;
	struct sampler sampler;

	init_event(&attr);
	if (!open_sampler(&sampler, &attr, vcpu.tid))
		err(1, "perf_event_open");
	if (ioctl(sampler.fd, PERF_EVENT_IOC_SET_BPF, program))
		err(1, "PERF_EVENT_IOC_SET_BPF");
	while (!found && time(NULL) < deadline) {
		usleep(10000);
		found = check_stacks(map, cpumode, build_ids);
	}
	ksft_print_msg("%d stacks that spin\n", found);
	close_sampler(&sampler);
	close(program);
	close(map);
	return found;
}

static void start(void)
{
	if (!create_vm(&vm, &plain))
		errx(1, "no VM with pages of 4 KiB");
	create_vcpu(&vm, &vcpu, 0);
	make_calls(&vcpu, 1);
	start_vcpu(&vcpu);
}

int main(int argc, char **argv)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	use_pmu = argc > 1 && !strcmp(argv[1], "cycles");
	ksft_print_header();
	ksft_set_plan(3);
	start();
	ksft_test_result(run_program(0, PERF_RECORD_MISC_GUEST_KERNEL, DEADLINE, false) > 0,
			 "the guest's kernel\n");
	ksft_test_result(run_program(BPF_F_USER_STACK, PERF_RECORD_MISC_GUEST_USER, DEADLINE,
				     false) > 0, "the guest's user space\n");
	ksft_test_result(!run_program(BPF_F_USER_STACK, PERF_RECORD_MISC_GUEST_USER, 2, true),
			 "no build IDs of the guest's user space\n");
	stop_vcpu(&vcpu);
	close_vcpu(&vcpu);
	destroy_vm(&vm);
	ksft_finished();
}
