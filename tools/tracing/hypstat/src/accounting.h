/* SPDX-License-Identifier: GPL-2.0 */
#ifndef HYPSTAT_ACCOUNTING_H
#define HYPSTAT_ACCOUNTING_H

#include "account.h"

struct cpus;

/**
 * struct accounting - the files of EL2's accounting
 * @dir: the hypervisor's directory
 * @cpus: the CPUs that are read, or NULL for all
 * @nr_cpus: the CPUs that have a file, from 0 on
 */
struct accounting {
	int			dir;
	const struct cpus	*cpus;
	int			nr_cpus;
};

void accounting_open(struct accounting *accounting, const struct cpus *cpus);
void accounting_turn_on(struct accounting *accounting);
void accounting_reset(const struct accounting *accounting);
void accounting_read(const struct accounting *accounting, struct account *account);
void accounting_read_cpu(const struct accounting *accounting, int cpu, struct account *account);

#endif
