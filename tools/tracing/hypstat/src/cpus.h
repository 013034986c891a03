/* SPDX-License-Identifier: GPL-2.0 */
#ifndef HYPSTAT_CPUS_H
#define HYPSTAT_CPUS_H

#include <stdbool.h>

#define CPUS_MAX	4096

/**
 * struct cpus - some CPUs
 * @set: which ones
 */
struct cpus {
	bool	set[CPUS_MAX];
};

struct cpus *parse_cpus(const char *list);
bool cpus_parse(struct cpus *cpus, const char *list);

/* Without a list, it is all CPUs. */
static inline bool cpus_has(const struct cpus *cpus, int cpu)
{
	return !cpus || (cpu >= 0 && cpu < CPUS_MAX && cpus->set[cpu]);
}

#endif
