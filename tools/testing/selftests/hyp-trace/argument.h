/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Arguments of the programs: numbers, and the CPU to run on
 */
#ifndef _HYP_TRACE_ARGUMENT_H
#define _HYP_TRACE_ARGUMENT_H

#include <err.h>
#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <stdlib.h>

static inline unsigned long parse_number(const char *arg, unsigned long min, unsigned long max)
{
	unsigned long value;
	char *end;

	errno = 0;
	value = strtoul(arg, &end, 0);
	if (errno || end == arg || *end || *arg == '-' || value < min || value > max)
		errx(2, "%s: not a number from %lu to %lu", arg, min, max);
	return value;
}

static inline void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		err(1, "CPU %d", cpu);
}

#endif /* _HYP_TRACE_ARGUMENT_H */
