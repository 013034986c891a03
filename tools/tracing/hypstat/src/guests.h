/* SPDX-License-Identifier: GPL-2.0 */
#ifndef HYPSTAT_GUESTS_H
#define HYPSTAT_GUESTS_H

#include <stdbool.h>

#include "account.h"

/**
 * struct guests - what KVM has counted for each VM, in debugfs
 * @dir: the directory kvm/
 * @vcpus: read the numbers of vCPUs in place of those of VMs
 * @vm: read this VM alone, its process or its name PID-FD; or NULL
 */
struct guests {
	int		dir;
	bool		vcpus;
	const char	*vm;
};

void guests_open(struct guests *guests);
void guests_read(const struct guests *guests, struct account *account);

#endif
