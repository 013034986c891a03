// SPDX-License-Identifier: GPL-2.0-only
#include <err.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bpf_program.h"

int sys_bpf(int cmd, union bpf_attr *attr)
{
	return syscall(SYS_bpf, cmd, attr, sizeof(*attr));
}

/* The keys are of four bytes. */
int create_bpf_map(unsigned int type, unsigned int value_size, unsigned int entries,
		   unsigned int flags)
{
	union bpf_attr attr = {
		.map_type	= type,
		.key_size	= 4,
		.value_size	= value_size,
		.max_entries	= entries,
		.map_flags	= flags,
	};
	int fd = sys_bpf(BPF_MAP_CREATE, &attr);

	if (fd < 0)
		err(1, "BPF_MAP_CREATE");
	return fd;
}

int load_bpf_program(const struct bpf_insn *insns, unsigned int nr)
{
	static char log[4096];
	union bpf_attr attr = {
		.prog_type	= BPF_PROG_TYPE_PERF_EVENT,
		.insns		= (uintptr_t)insns,
		.insn_cnt	= nr,
		.license	= (uintptr_t)"GPL",
		.log_buf	= (uintptr_t)log,
		.log_size	= sizeof(log),
		.log_level	= 4,	/* What is wrong, but not each instruction */
	};
	int fd = sys_bpf(BPF_PROG_LOAD, &attr);

	if (fd < 0)
		err(1, "BPF_PROG_LOAD: %s", log);
	return fd;
}
