// SPDX-License-Identifier: GPL-2.0
/* Arguments: durations, and lists of CPUs */
#include <string.h>

#include "../src/cpus.h"
#include "../src/utils.h"
#include "tap.h"

static const struct {
	const char	*text;
	long		seconds;
} durations[] = {
	{ "1", 1 }, { "10s", 10 }, { "5m", 300 }, { "2h", 7200 }, { "1d", 86400 },
	{ "", -1 }, { "s", -1 }, { "0", -1 }, { "-1", -1 }, { "1x", -1 }, { "1ss", -1 },
	{ "1 s", -1 }, { "99999999999999999999", -1 }, { "9223372036854775807d", -1 },
};

static const struct {
	const char	*text;
	int		cpus;	/* how many; -1: it is no list */
} lists[] = {
	{ "0", 1 }, { "0-3", 4 }, { "0-3,8", 5 }, { "1,1", 1 }, { "4095", 1 }, { "0-4095", 4096 },
	{ "", -1 }, { "-1", -1 }, { "1,", -1 }, { ",1", -1 }, { "3-1", -1 }, { "1-", -1 },
	{ "4096", -1 }, { "1 ", -1 }, { "a", -1 }, { "99999999999999999999", -1 },
};

static int count_cpus(const char *text)
{
	static struct cpus cpus;
	int cpu, nr = 0;

	memset(&cpus, 0, sizeof(cpus));
	if (!cpus_parse(&cpus, text))
		return -1;
	for (cpu = -1; cpu <= CPUS_MAX; cpu++)
		nr += cpus_has(&cpus, cpu);
	return nr;
}

int main(void)
{
	unsigned int i;

	for (i = 0; i < sizeof(durations) / sizeof(*durations); i++)
		equals(*durations[i].text ? durations[i].text : "(empty)",
		       parse_seconds_duration(durations[i].text), durations[i].seconds);
	for (i = 0; i < sizeof(lists) / sizeof(*lists); i++)
		equals(*lists[i].text ? lists[i].text : "(empty)", count_cpus(lists[i].text),
		       lists[i].cpus);
	return tap_end();
}
