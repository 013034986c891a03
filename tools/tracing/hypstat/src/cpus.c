// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>

#include "cpus.h"
#include "utils.h"

/* Read a number, and move on behind it. */
static bool parse_number(const char **text, long *number)
{
	char *end;

	if (**text < '0' || **text > '9')
		return false;
	*number = strtol(*text, &end, 10);
	*text = end;
	return *number < CPUS_MAX;
}

/* Read N or N-M, and move on behind it. */
static bool parse_range(struct cpus *cpus, const char **text)
{
	long first, last;

	if (!parse_number(text, &first))
		return false;
	last = first;
	if (**text == '-') {
		(*text)++;
		if (!parse_number(text, &last))
			return false;
	}
	if (first > last)
		return false;
	while (first <= last)
		cpus->set[first++] = true;
	return true;
}

/**
 * cpus_parse - read a list of CPUs such as 0-3,8
 * @cpus: the CPUs of the list, and those that were set before
 * @list: the list
 *
 * Return: whether it is a list.
 */
bool cpus_parse(struct cpus *cpus, const char *list)
{
	do {
		if (!parse_range(cpus, &list))
			return false;
	} while (*list++ == ',');
	return !list[-1];
}

/**
 * parse_cpus - read the argument of -c, or exit
 * @list: the argument
 *
 * Return: the CPUs, which last as long as the program.
 */
struct cpus *parse_cpus(const char *list)
{
	static struct cpus cpus;

	if (!cpus_parse(&cpus, list))
		die("-c takes a list of CPUs such as 0-3,8, not '%s'", list);
	return &cpus;
}
