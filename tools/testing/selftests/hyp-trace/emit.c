// SPDX-License-Identifier: GPL-2.0-only
/*
 * emit - write numbered events on a CPU
 *
 * Each number goes to the file write_event in a write of its own; on which CPU
 * is where the writer runs. SIGTERM ends it early: what was written is known in
 * any case.
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int ended;

static void end(int signal)
{
	__atomic_store_n(&ended, 1, __ATOMIC_RELAXED);
}

static unsigned long long parse_number(const char *arg)
{
	char *rest;
	unsigned long long value;

	errno = 0;
	value = strtoull(arg, &rest, 10);
	if (errno || rest == arg || *rest)
		errx(2, "not a number: %s", arg);
	return value;
}

static void pin(unsigned long cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		err(1, "CPU %lu", cpu);
}

static void emit(int fd, unsigned long long id)
{
	char text[32];
	int size = snprintf(text, sizeof(text), "%llu\n", id);

	if (write(fd, text, size) != size)
		err(1, "event %llu", id);
}

int main(int argc, char **argv)
{
	struct sigaction action = { .sa_handler = end, .sa_flags = SA_RESTART };
	unsigned long long from, count, burst, i;
	int fd;

	if (argc != 5 && argc != 6) {
		fprintf(stderr,
			"Usage: emit FILE CPU FROM COUNT [BURST]\n"
			"Write COUNT numbers from FROM on to FILE, on CPU, with a rest of a ms after\n"
			"each BURST of them; prints how many were written. SIGTERM ends it early.\n");
		return 2;
	}
	sigaction(SIGTERM, &action, NULL);
	pin(parse_number(argv[2]));
	from = parse_number(argv[3]);
	count = parse_number(argv[4]);
	burst = argc > 5 ? parse_number(argv[5]) : 0;
	fd = open(argv[1], O_WRONLY);
	if (fd < 0)
		err(1, "%s", argv[1]);

	for (i = 0; i < count && !__atomic_load_n(&ended, __ATOMIC_RELAXED); i++) {
		emit(fd, from + i);
		if (burst && i % burst == burst - 1)
			usleep(1000);
	}
	printf("%llu\n", i);
	return 0;
}
