// SPDX-License-Identifier: GPL-2.0-only
/*
 * Run a command with a BPF program at a raw tracepoint that reads the string of openat():
 *
 *	bpf [-b] [-n] [-c] [-m] [-t TRACEPOINT] COMMAND [ARGUMENT]...
 *
 *  -b	the program is one for the tracepoint's type in BTF, tp_btf
 *  -n	the program is not sleepable, and reads as it then has to
 *  -c	close the link while the program sleeps, or is through
 *  -m	put the program into a map of programs too
 *  -t	another tracepoint than sys_enter
 *
 * Prints what the program's helper has returned and the text that it has read.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/bpf.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "btf.h"
#include "start.h"

/* What the program leaves in its map */
struct seen {
	uint64_t entered;
	int64_t result;
	char text[64];
};

/* Where struct pt_regs has the second argument */
#if defined(__aarch64__)
#define SECOND_ARGUMENT	8
#elif defined(__x86_64__)
#define SECOND_ARGUMENT	104
#endif

#define INSN(c, d, s, o, i)	((struct bpf_insn){ c, d, s, o, i })
#define MOV(d, s)		INSN(BPF_ALU64 | BPF_MOV | BPF_X, d, s, 0, 0)
#define MOV_IMM(d, i)		INSN(BPF_ALU64 | BPF_MOV | BPF_K, d, 0, 0, i)
#define ADD_IMM(d, i)		INSN(BPF_ALU64 | BPF_ADD | BPF_K, d, 0, 0, i)
#define RSH_IMM(d, i)		INSN(BPF_ALU64 | BPF_RSH | BPF_K, d, 0, 0, i)
#define LOAD(d, s, o)		INSN(BPF_LDX | BPF_MEM | BPF_DW, d, s, o, 0)
#define STORE(d, s, o)		INSN(BPF_STX | BPF_MEM | BPF_DW, d, s, o, 0)
#define STORE_IMM(d, o, i)	INSN(BPF_ST | BPF_MEM | BPF_DW, d, 0, o, i)
#define UNLESS_IMM(d, i, o)	INSN(BPF_JMP | BPF_JNE | BPF_K, d, 0, o, i)
#define IF_IMM(d, i, o)		INSN(BPF_JMP | BPF_JEQ | BPF_K, d, 0, o, i)
#define CALL(f)			INSN(BPF_JMP | BPF_CALL, 0, 0, 0, f)
#define EXIT()			INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0)

static char log_buffer[65536];

static int bpf(int cmd, union bpf_attr *attr)
{
	return syscall(SYS_bpf, cmd, attr, sizeof(*attr));
}

static void fail(const char *what)
{
	printf("%s: %s\n", what, strerrorname_np(errno));
	if (*log_buffer)
		fprintf(stderr, "%s", log_buffer);
	exit(2);
}

static int create_map(int type, unsigned int size)
{
	union bpf_attr attr = {
		.map_type = type,
		.key_size = 4,
		.value_size = size,
		.max_entries = 1,
	};
	int fd = bpf(BPF_MAP_CREATE, &attr);

	if (fd < 0)
		fail("map");
	return fd;
}

static void read_map(int map, struct seen *seen)
{
	uint32_t key = 0;
	union bpf_attr attr = {
		.map_fd = map,
		.key = (unsigned long)&key,
		.value = (unsigned long)seen,
	};

	if (bpf(BPF_MAP_LOOKUP_ELEM, &attr))
		fail("read_map");
}

/* Another program could call it from there. */
static void put_into_map(int program)
{
	uint32_t key = 0;
	union bpf_attr attr = {
		.map_fd = create_map(BPF_MAP_TYPE_PROG_ARRAY, sizeof(program)),
		.key = (unsigned long)&key,
		.value = (unsigned long)&program,
	};

	*log_buffer = '\0';
	if (bpf(BPF_MAP_UPDATE_ELEM, &attr))
		fail("map of programs");
}

/* @btf_id: the type of the tracepoint; 0 for a program that does not know it */
static int load(int map, pid_t pid, int sleepable, unsigned int btf_id)
{
	const struct bpf_insn program[] = {
		MOV(6, 1),
		LOAD(1, 6, 8),				/* the system call's number */
		UNLESS_IMM(1, SYS_openat, 25),
		CALL(BPF_FUNC_get_current_pid_tgid),
		RSH_IMM(0, 32),
		UNLESS_IMM(0, pid, 22),
		MOV(1, 10), ADD_IMM(1, -8),		/* read its second argument */
		MOV_IMM(2, 8),
		LOAD(3, 6, 0), ADD_IMM(3, SECOND_ARGUMENT),
		CALL(BPF_FUNC_probe_read_kernel),
		STORE_IMM(10, -16, 0),			/* find the map's value */
		MOV(2, 10), ADD_IMM(2, -16),
		INSN(BPF_LD | BPF_DW | BPF_IMM, 1, BPF_PSEUDO_MAP_FD, 0, map),
		INSN(0, 0, 0, 0, 0),
		CALL(BPF_FUNC_map_lookup_elem),
		IF_IMM(0, 0, 9),
		MOV(7, 0),
		STORE_IMM(7, offsetof(struct seen, entered), 1),
		MOV(1, 7), ADD_IMM(1, offsetof(struct seen, text)),
		MOV_IMM(2, sizeof(((struct seen *)0)->text)),
		LOAD(3, 10, -8),
		CALL(sleepable ? BPF_FUNC_copy_from_user : BPF_FUNC_probe_read_user),
		STORE(7, 0, offsetof(struct seen, result)),
		STORE_IMM(7, offsetof(struct seen, entered), 2),
		MOV_IMM(0, 0),
		EXIT(),
	};
	union bpf_attr attr = {
		.prog_type = btf_id ? BPF_PROG_TYPE_TRACING : BPF_PROG_TYPE_RAW_TRACEPOINT,
		.expected_attach_type = btf_id ? BPF_TRACE_RAW_TP : 0,
		.attach_btf_id = btf_id,
		.insns = (unsigned long)program,
		.insn_cnt = sizeof(program) / sizeof(struct bpf_insn),
		.license = (unsigned long)"GPL",
		.prog_flags = sleepable ? BPF_F_SLEEPABLE : 0,
		.log_buf = (unsigned long)log_buffer,
		.log_size = sizeof(log_buffer),
		.log_level = 1,
	};
	int fd = bpf(BPF_PROG_LOAD, &attr);

	if (fd < 0)
		fail("load");
	return fd;
}

/* @tracepoint: NULL if the program knows it */
static int attach(int program, const char *tracepoint)
{
	union bpf_attr attr = {
		.raw_tracepoint.name = (unsigned long)tracepoint,
		.raw_tracepoint.prog_fd = program,
	};
	int fd = bpf(BPF_RAW_TRACEPOINT_OPEN, &attr);

	*log_buffer = '\0';
	if (fd < 0)
		fail("attach");
	return fd;
}

static void wait_until_entered(int map)
{
	struct seen seen = {};

	while (!seen.entered) {
		usleep(1000);
		read_map(map, &seen);
	}
}

int main(int argc, char **argv)
{
	const char *tracepoint = "sys_enter";
	int opt, map, program, link, go, sleepable = 1, close_early = 0, by_type = 0, mapped = 0;
	unsigned int btf_id = 0;
	struct seen seen;
	pid_t pid;

	while ((opt = getopt(argc, argv, "+bncmt:")) > 0) {
		if (opt == 'b')
			by_type = 1;
		else if (opt == 'n')
			sleepable = 0;
		else if (opt == 'c')
			close_early = 1;
		else if (opt == 'm')
			mapped = 1;
		else if (opt == 't')
			tracepoint = optarg;
		else
			return 2;
	}
	if (optind == argc)
		return 2;
	alarm(60);
	if (by_type)
		btf_id = raw_tracepoint_type(tracepoint);
	if (by_type && !btf_id) {
		printf("no type of %s\n", tracepoint);
		return 2;
	}
	map = create_map(BPF_MAP_TYPE_ARRAY, sizeof(seen));
	pid = start(argv + optind, &go);
	if (pid < 0)
		fail("fork");
	program = load(map, pid, sleepable, btf_id);
	if (mapped)
		put_into_map(program);
	link = attach(program, btf_id ? NULL : tracepoint);
	close(program);
	if (write(go, "", 1) != 1)
		fail("write");
	if (close_early) {
		wait_until_entered(map);
		close(link);
	}
	waitpid(pid, NULL, 0);
	read_map(map, &seen);
	printf("entered=%ld result=%ld text=%.64s\n", (long)seen.entered, (long)seen.result,
	       seen.text);
	return 0;
}
