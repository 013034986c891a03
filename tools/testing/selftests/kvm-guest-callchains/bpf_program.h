/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * BPF programs of perf events, by the system call alone
 */
#ifndef __GUEST_CALLCHAINS_BPF_PROGRAM_H
#define __GUEST_CALLCHAINS_BPF_PROGRAM_H

#include <linux/bpf.h>

int sys_bpf(int cmd, union bpf_attr *attr);
int create_bpf_map(unsigned int type, unsigned int value_size, unsigned int entries,
		   unsigned int flags);
int load_bpf_program(const struct bpf_insn *insns, unsigned int nr);

#endif
