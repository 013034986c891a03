// SPDX-License-Identifier: GPL-2.0-only
/*
 * bracket - write events, and print a time before and after each
 *
 * On a CPU, numbers go to the file write_event, and the boot clock is read just
 * before each and just after it: the hypervisor's event has a time between
 * the two. Prints a line for each. SIGTERM ends it early.
 */
#include <err.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "argument.h"

static int ended;

static void end(int signal)
{
	__atomic_store_n(&ended, 1, __ATOMIC_RELAXED);
}

static void bracket(int fd, unsigned long cpu, unsigned long id)
{
	struct timespec from, to;
	char text[32];
	int size = snprintf(text, sizeof(text), "%lu\n", id);

	clock_gettime(CLOCK_BOOTTIME, &from);
	if (write(fd, text, size) != size)
		err(1, "event %lu", id);
	clock_gettime(CLOCK_BOOTTIME, &to);
	printf("id=%lu cpu=%lu from=%ld.%09ld to=%ld.%09ld\n", id, cpu, from.tv_sec,
	       from.tv_nsec, to.tv_sec, to.tv_nsec);
}

int main(int argc, char **argv)
{
	struct sigaction action = { .sa_handler = end, .sa_flags = SA_RESTART };
	unsigned long cpu, count, pause, from, i;
	int fd;

	if (argc < 5 || argc > 6) {
		fprintf(stderr,
			"Usage: bracket FILE CPU COUNT PAUSE [FROM]\n"
			"Write COUNT numbers to FILE, on CPU, with PAUSE microseconds in between.\n"
			"The numbers, from FROM on, distinguish CPUs, the lines the times before and\n"
			"after.\n");
		return 2;
	}
	cpu = parse_number(argv[2], 0, INT_MAX);
	count = parse_number(argv[3], 0, ULONG_MAX);
	pause = parse_number(argv[4], 0, ULONG_MAX);
	from = cpu * 1000000000 + (argc == 6 ? parse_number(argv[5], 0, ULONG_MAX) : 0);
	sigaction(SIGTERM, &action, NULL);
	pin(cpu);
	setlinebuf(stdout);
	fd = open(argv[1], O_WRONLY);
	if (fd < 0)
		err(1, "%s", argv[1]);

	for (i = 0; i < count && !__atomic_load_n(&ended, __ATOMIC_RELAXED); i++) {
		bracket(fd, cpu, from + i);
		usleep(pause);
	}
	return 0;
}
