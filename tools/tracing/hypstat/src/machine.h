/* SPDX-License-Identifier: GPL-2.0 */
#ifndef HYPSTAT_MACHINE_H
#define HYPSTAT_MACHINE_H

#include <stdbool.h>

#define MACHINE_TEXT	128

/**
 * struct machine - what figures depend on
 * @model: the board, or the machine
 * @cpu: the CPU's identification (MIDR_EL1)
 * @mode: KVM's mode, as in the kernel's log
 * @kernel: the kernel's release
 * @clock: the frequency of the counter that times are made of, in MHz
 * @is_virtual: the machine is emulated, or is a guest
 */
struct machine {
	char	model[MACHINE_TEXT];
	char	cpu[MACHINE_TEXT];
	char	mode[MACHINE_TEXT];
	char	kernel[MACHINE_TEXT];
	double	clock;
	bool	is_virtual;
};

void machine_find(struct machine *machine, int cpu);

#endif
