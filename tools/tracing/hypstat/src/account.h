/* SPDX-License-Identifier: GPL-2.0 */
#ifndef HYPSTAT_ACCOUNT_H
#define HYPSTAT_ACCOUNT_H

#include "loghist.h"

#define ACCOUNT_ENTRIES	1024
#define ENTRY_NAME	64
#define NO_CPU		(-1)

/**
 * struct entry - the times of one reason, or of one VM or vCPU
 * @name: its name, such as hcall:__kvm_vcpu_run
 * @guest: time in the guest in nanoseconds, of a VM or vCPU
 * @hist: the times at EL2
 */
struct entry {
	char		name[ENTRY_NAME];
	u64		guest;
	struct loghist	hist;
};

/**
 * struct account - what EL2 has counted
 * @cpu: of this CPU, or NO_CPU
 * @nr_cpus: of so many CPUs
 * @on: it counts
 * @line: the line of the text that was parsed last
 * @nr: how many entries there are
 * @entries: them
 */
struct account {
	int		cpu;
	unsigned int	nr_cpus;
	bool		on;
	unsigned int	line;
	unsigned int	nr;
	struct entry	entries[ACCOUNT_ENTRIES];
};

void account_clear(struct account *account);
void account_copy(struct account *account, const struct account *from);
const char *account_parse(struct account *account, const char *text);
struct entry *account_entry(struct account *account, const char *name, unsigned int hint);
const struct entry *account_find(const struct account *account, const char *name,
				 unsigned int hint);
void account_add(struct account *account, const struct account *other);
bool entry_since(struct entry *entry, const struct account *before, unsigned int hint);
void account_remove_idle(struct account *account);
bool account_since(struct account *account, const struct account *before);

#endif
