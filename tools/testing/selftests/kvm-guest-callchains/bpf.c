// SPDX-License-Identifier: GPL-2.0-only
/*
 * bpf_get_stackid() and bpf_get_stack() find the chains of a guest's kernel and of its user space
 * if a flag asks for them, and no build IDs of the latter. Without the flag they find none of a
 * guest, and with it none of the host.
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
#define SAMPLES		20

/* BPF_F_GUEST_STACK, which older headers lack */
#define GUEST_STACK	(0x67667374ULL << 32)

static const struct layout plain = { 12, 48 };
static struct vm vm;
static struct vcpu vcpu;

static int create_stacks(unsigned int entry_size, unsigned int flags)
{
	return create_bpf_map(BPF_MAP_TYPE_STACK_TRACE, MAX_STACK * entry_size, MAX_STACKS, flags);
}

#define FOUND		1
#define BUFFER_SIZE	400

#define INSN(op, to, from, offset, value)					\
	((struct bpf_insn) { .code = (op), .dst_reg = (to), .src_reg = (from),	\
			     .off = (offset), .imm = (value) })
#define LOAD(to, value)		INSN(BPF_LD | BPF_DW | BPF_IMM, to, 0, 0, (uint32_t)(value))
#define LOAD_MAP(to, map)	INSN(BPF_LD | BPF_DW | BPF_IMM, to, BPF_PSEUDO_MAP_FD, 0, map)
#define HIGH(value)		INSN(0, 0, 0, 0, (uint64_t)(value) >> 32)
#define MOVE(to, from)		INSN(BPF_ALU64 | BPF_MOV | BPF_X, to, from, 0, 0)
#define SET(to, value)		INSN(BPF_ALU64 | BPF_MOV | BPF_K, to, 0, 0, value)
#define ADD(to, value)		INSN(BPF_ALU64 | BPF_ADD | BPF_K, to, 0, 0, value)
#define CALL(function)		INSN(BPF_JMP | BPF_CALL, 0, 0, 0, function)
#define SKIP_IF(condition)	INSN(BPF_JMP | (condition) | BPF_K, BPF_REG_0, 0, 1, 0)

#define MAX_INSNS	2048

/* A program that makes calls; what they returned are the keys of a map. */
static struct program {
	struct bpf_insn	insns[MAX_INSNS];
	size_t		nr;
	int		results;
} calls;

static void add_insns(struct program *program, const struct bpf_insn *insns, size_t nr)
{
	if (program->nr + nr > MAX_INSNS)
		errx(1, "a program of more than %d instructions", MAX_INSNS);
	memcpy(program->insns + program->nr, insns, nr * sizeof(*insns));
	program->nr += nr;
}

static void init_program(struct program *program, int results)
{
	const struct bpf_insn context = MOVE(BPF_REG_6, BPF_REG_1);

	program->nr = 0;
	program->results = results;
	add_insns(program, &context, 1);
}

/* A call, whose result is noted */
static void add_call(struct program *program, const struct bpf_insn *call, size_t nr)
{
	const struct bpf_insn context = MOVE(BPF_REG_1, BPF_REG_6);
	const struct bpf_insn note[] = {
		INSN(BPF_STX | BPF_MEM | BPF_W, BPF_REG_10, BPF_REG_0, -4, 0),
		LOAD_MAP(BPF_REG_1, program->results), HIGH(0),
		MOVE(BPF_REG_2, BPF_REG_10), ADD(BPF_REG_2, -4),
		MOVE(BPF_REG_3, BPF_REG_2),
		SET(BPF_REG_4, 0),
		CALL(BPF_FUNC_map_update_elem),
	};

	add_insns(program, &context, 1);
	add_insns(program, call, nr);
	add_insns(program, note, ARRAY_SIZE(note));
}

/* One that puts the chain that the flags select in the map */
static void add_stackid(struct program *program, int map, uint64_t flags)
{
	const struct bpf_insn call[] = {
		LOAD_MAP(BPF_REG_2, map), HIGH(0),
		LOAD(BPF_REG_3, flags), HIGH(flags),
		CALL(BPF_FUNC_get_stackid),
		/* A stack's number counts as FOUND. */
		SKIP_IF(BPF_JSLT), SET(BPF_REG_0, FOUND),
	};

	add_call(program, call, ARRAY_SIZE(call));
}

/* One that reads the chain, which is shorter: bpf_get_stack() shortens that of the sample, too. */
static void add_stack(struct program *program, uint64_t flags)
{
	const struct bpf_insn call[] = {
		MOVE(BPF_REG_2, BPF_REG_10), ADD(BPF_REG_2, -8 - BUFFER_SIZE),
		SET(BPF_REG_3, BUFFER_SIZE),
		LOAD(BPF_REG_4, flags), HIGH(flags),
		CALL(BPF_FUNC_get_stack),
		/* So does the length of one. */
		SKIP_IF(BPF_JSLE), SET(BPF_REG_0, FOUND),
	};

	add_call(program, call, ARRAY_SIZE(call));
}

/* The program keeps the sample. */
static int load_program(struct program *program)
{
	const struct bpf_insn end[] = {
		SET(BPF_REG_0, 1),
		INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0),
	};

	add_insns(program, end, ARRAY_SIZE(end));
	return load_bpf_program(program->insns, program->nr);
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
static int check_stacks(int map, unsigned int cpumode)
{
	bool first = true;
	struct sample sample;
	uint32_t key = 0;
	int found = 0;

	while (has_next(map, &key, first)) {
		first = false;
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

static int create_results(void)
{
	return create_bpf_map(BPF_MAP_TYPE_HASH, sizeof(int32_t), 16, 0);
}

/*
 * Of a program that runs: each call returned this. With the PMU an overflow may be late, and
 * its sample the host's.
 */
static bool results_are(int results, int32_t expected)
{
	bool first = true, found = false;
	int32_t result;

	while (has_next(results, (uint32_t *)&result, first)) {
		first = false;
		found |= result == expected;
		if (result != expected && !(use_pmu && result == -EFAULT)) {
			ksft_print_msg("a call returned %d\n", result);
			return false;
		}
	}
	return found;
}

static void attach(struct sampler *sampler, struct perf_event_attr *attr, pid_t tid, int program)
{
	if (!open_sampler(sampler, attr, tid))
		err(1, "perf_event_open");
	if (ioctl(sampler->fd, PERF_EVENT_IOC_SET_BPF, program))
		err(1, "PERF_EVENT_IOC_SET_BPF");
}

/* Wait until a spinning stack of the guest is found. Returns false if one is wrong. */
static bool finds_stacks(uint64_t flags, unsigned int cpumode)
{
	int map = create_stacks(sizeof(uint64_t), 0), results = create_results();
	time_t deadline = time(NULL) + DEADLINE;
	struct perf_event_attr attr;
	struct sampler sampler;
	int program, found = 0;

	init_program(&calls, results);
	add_stackid(&calls, map, flags);
	program = load_program(&calls);
	init_event(&attr);
	attach(&sampler, &attr, vcpu.tid, program);
	while (!found && time(NULL) < deadline) {
		usleep(10000);
		found = check_stacks(map, cpumode);
	}
	ksft_print_msg("%d stacks that spin\n", found);
	close_sampler(&sampler);
	close(program);
	close(results);
	close(map);
	return found > 0;
}

/* Returns whether there are that many, each within the deadline after the one before. */
static bool takes_samples(struct sampler *sampler, uint64_t nr)
{
	time_t deadline = time(NULL) + DEADLINE;
	struct sample sample;

	/* This thread may be the one that is sampled. */
	while (sampler->samples < nr && time(NULL) < deadline) {
		if (next_sample(sampler, &sample))
			deadline = time(NULL) + DEADLINE;
	}
	if (sampler->samples < nr)
		ksft_print_msg("%lu samples, and none for %d s\n",
			       (unsigned long)sampler->samples, DEADLINE);
	return sampler->samples >= nr;
}

/* Whether all of the program's calls return this, in so many samples */
static bool returns(struct program *program, struct perf_event_attr *attr, pid_t tid,
		    int32_t expected)
{
	struct sampler sampler;
	int fd = load_program(program);
	bool good;

	attach(&sampler, attr, tid, fd);
	good = takes_samples(&sampler, SAMPLES);
	close_sampler(&sampler);
	close(fd);
	return good && results_are(program->results, expected);
}

static bool stackid_returns(uint64_t flags, unsigned int map_flags, struct perf_event_attr *attr,
			    pid_t tid, int32_t expected)
{
	size_t entry = map_flags ? sizeof(struct bpf_stack_build_id) : sizeof(uint64_t);
	int map = create_stacks(entry, map_flags), results = create_results();
	bool good;

	init_program(&calls, results);
	add_stackid(&calls, map, flags | BPF_F_REUSE_STACKID);
	good = returns(&calls, attr, tid, expected);
	close(results);
	close(map);
	return good;
}

static bool stack_returns(uint64_t flags, struct perf_event_attr *attr, pid_t tid,
			  int32_t expected)
{
	int results = create_results();
	bool good;

	init_program(&calls, results);
	add_stack(&calls, flags);
	good = returns(&calls, attr, tid, expected);
	close(results);
	return good;
}

static bool both_return(uint64_t flags, struct perf_event_attr *attr, pid_t tid, int32_t expected)
{
	return stackid_returns(flags, 0, attr, tid, expected) &&
	       stack_returns(flags, attr, tid, expected);
}

static void init_guest_event(struct perf_event_attr *attr, bool user)
{
	init_event(attr);
	attr->exclude_user = !user;
	attr->exclude_kernel = user;
}

/* A program that does not ask for a guest's stacks gets none. */
static bool not_asked(void)
{
	struct perf_event_attr kernel, user;

	init_guest_event(&kernel, false);
	init_guest_event(&user, true);
	return both_return(0, &kernel, vcpu.tid, -EFAULT) &&
	       both_return(BPF_F_USER_STACK, &user, vcpu.tid, -EFAULT);
}

static bool asked(void)
{
	struct perf_event_attr kernel, user;

	init_guest_event(&kernel, false);
	init_guest_event(&user, true);
	return both_return(GUEST_STACK, &kernel, vcpu.tid, FOUND) &&
	       both_return(GUEST_STACK | BPF_F_USER_STACK, &user, vcpu.tid, FOUND);
}

/* A program that asks for a guest's stacks gets none for samples of the host. */
static bool host(void)
{
	struct perf_event_attr attr;

	init_event(&attr);
	attr.exclude_host = 0;
	attr.exclude_guest = 1;
	attr.exclude_kernel = 1;
	return both_return(BPF_F_USER_STACK, &attr, getpid(), FOUND) &&
	       both_return(GUEST_STACK | BPF_F_USER_STACK, &attr, getpid(), -EFAULT);
}

/*
 * Undefined flags, and parts of this one, do not select a guest's stacks. One program tries all
 * of them: samples of the guest's kernel are slow to come where the host is slow.
 */
static bool other_flags(void)
{
	int map = create_stacks(sizeof(uint64_t), 0), results = create_results();
	struct perf_event_attr attr;
	unsigned int bit;
	bool good;

	init_guest_event(&attr, false);
	init_program(&calls, results);
	for (bit = 32; bit < 64; bit++) {
		add_stack(&calls, 1UL << bit);
		add_stackid(&calls, map, (GUEST_STACK ^ 1UL << bit) | BPF_F_REUSE_STACKID);
	}
	good = returns(&calls, &attr, vcpu.tid, -EINVAL);
	close(results);
	close(map);
	return good;
}

static bool no_build_ids(void)
{
	uint64_t flags = GUEST_STACK | BPF_F_USER_STACK;
	struct perf_event_attr attr;

	init_guest_event(&attr, true);
	return stackid_returns(flags, BPF_F_STACK_BUILD_ID, &attr, vcpu.tid, -EOPNOTSUPP) &&
	       stack_returns(flags | BPF_F_USER_BUILD_ID, &attr, vcpu.tid, -EOPNOTSUPP);
}

static void start(void)
{
	if (!create_vm_and_vcpu(&vm, &vcpu, &plain))
		errx(1, "no VM with pages of 4 KiB");
	make_calls(&vcpu, 1);
	start_vcpu(&vcpu);
}

int main(int argc, char **argv)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	use_pmu = argc > 1 && !strcmp(argv[1], "cycles");
	ksft_print_header();
	ksft_set_plan(7);
	start();
	ksft_test_result(finds_stacks(GUEST_STACK, PERF_RECORD_MISC_GUEST_KERNEL),
			 "the guest's kernel\n");
	ksft_test_result(finds_stacks(GUEST_STACK | BPF_F_USER_STACK,
				      PERF_RECORD_MISC_GUEST_USER), "the guest's user space\n");
	ksft_test_result(not_asked(), "no guest without the flag\n");
	ksft_test_result(asked(), "both calls with the flag\n");
	ksft_test_result(host(), "no host with the flag\n");
	ksft_test_result(other_flags(), "other flags\n");
	ksft_test_result(no_build_ids(), "no build IDs of the guest's user space\n");
	stop_vcpu(&vcpu);
	destroy_vm_and_vcpu(&vm, &vcpu);
	ksft_finished();
}
