// SPDX-License-Identifier: GPL-2.0-only
/*
 * emit - write numbered events on a CPU
 *
 * Each number is written to the file write_event by a separate write(), on the given CPU. SIGTERM
 * ends it early. Prints the number of events written.
 */
#include <err.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "argument.h"

static int ended;

static void end(int signal)
{
	__atomic_store_n(&ended, 1, __ATOMIC_RELAXED);
}

static void emit(int fd, unsigned long id)
{
	char text[32];
	int size = snprintf(text, sizeof(text), "%lu\n", id);

	if (write(fd, text, size) != size)
		err(1, "event %lu", id);
}

int main(int argc, char **argv)
{
	struct sigaction action = { .sa_handler = end, .sa_flags = SA_RESTART };
	unsigned long from, count, burst, i;
	int fd;

	if (argc != 5 && argc != 6) {
		fprintf(stderr,
			"Usage: emit FILE CPU FROM COUNT [BURST]\n"
			"Write COUNT numbers from FROM on to FILE, on CPU, with a rest of a ms after\n"
			"each BURST of them; prints how many were written. SIGTERM ends it early.\n");
		return 2;
	}
	sigaction(SIGTERM, &action, NULL);
	pin(parse_number(argv[2], 0, INT_MAX));
	from = parse_number(argv[3], 0, ULONG_MAX);
	count = parse_number(argv[4], 0, ULONG_MAX);
	burst = argc > 5 ? parse_number(argv[5], 0, ULONG_MAX) : 0;
	fd = open(argv[1], O_WRONLY);
	if (fd < 0)
		err(1, "%s", argv[1]);

	for (i = 0; i < count && !__atomic_load_n(&ended, __ATOMIC_RELAXED); i++) {
		emit(fd, from + i);
		if (burst && i % burst == burst - 1)
			usleep(1000);
	}
	printf("%lu\n", i);
	return 0;
}
