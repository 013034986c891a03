// SPDX-License-Identifier: GPL-2.0-only
/*
 * faults - an operation on tracing, with each of its allocations failing once
 *
 * By the file fail-nth, the kernel fails the Nth allocation of a task, for each N until the
 * operation makes fewer. The failed operation must report ENOMEM and change nothing. The next
 * try must succeed, and at the end no more memory is allocated than before. Prints errors to
 * standard output, and the number of failed allocations to standard error.
 */
#include <err.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "argument.h"
#include "faults.h"

/* No operation makes as many allocations. */
#define MAX_NTH		10000

/* Time for deferred frees, in steps of 10 ms */
#define PATIENCE	300

static const struct op *op;
static unsigned int nth;
static int fail_nth;

void complain(const char *format, ...)
{
	va_list args;

	printf("%s, allocation %u: ", op->name, nth);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	putchar('\n');
}

/* Fail the nth allocation from now on; 0: none. */
static void arm(unsigned int n)
{
	char text[16];
	int len = snprintf(text, sizeof(text), "%u", n);

	if (pwrite(fail_nth, text, len, 0) != len)
		err(1, "fail-nth");
}

/* Has the allocation failed? Later ones do not fail. */
static bool disarm(void)
{
	char text[16] = "";

	if (pread(fail_nth, text, sizeof(text) - 1, 0) <= 0)
		err(1, "fail-nth");
	arm(0);
	return !atoi(text);
}

/* Print the first line in which two texts differ. */
static void compare(const char *what, const char *before, const char *after)
{
	size_t at, line = 0;

	if (!strcmp(before, after))
		return;
	for (at = 0; before[at] && before[at] == after[at]; at++) {
		if (before[at] == '\n')
			line = at + 1;
	}
	complain("%s: '%.*s' has become '%.*s'", what, (int)strcspn(before + line, "\n"),
		 before + line, (int)strcspn(after + line, "\n"), after + line);
}

static void try_again(void)
{
	int error = op->run(op);

	if (error)
		complain("%s when done again", strerrorname_np(error));
	else
		op->undo(op);
}

/* Run it with the nth allocation failing. Returns false if it makes fewer allocations. */
static bool run_nth(unsigned int *failed)
{
	char *before, *after;
	bool fired;
	int error;

	op->prepare(op);
	before = state_of(op);
	arm(nth);
	error = op->run(op);
	fired = disarm();
	after = state_of(op);

	*failed += !!error;
	if (error && (!fired || error != ENOMEM))
		complain("%s", strerrorname_np(error));
	if (error && !op->consumes)
		compare("state", before, after);
	if (error)
		try_again();
	else
		op->undo(op);
	op->finish(op);
	free(before);
	free(after);
	return fired;
}

/* Some memory is freed later: wait for it. */
static void compare_allocations(const char *before)
{
	char *after = allocations();
	int i;

	for (i = 0; i < PATIENCE && strcmp(before, after); i++) {
		usleep(10000);
		free(after);
		after = allocations();
	}
	compare("memory", before, after);
	free(after);
}

/* The distance to the next allocation that fails */
static unsigned int step(void)
{
	return op->step && nth > op->all ? op->step : 1;
}

/* Errors that are expected */
static unsigned int least(void)
{
	return op->loads && sysconf(_SC_NPROCESSORS_ONLN) > 1 ? 2 * op->least : op->least;
}

/* Run it once without faults, for allocations that are never freed. */
static void run_all(void)
{
	unsigned int failed = 0, tried = 0;
	char *before;

	nth = 0;
	run_nth(&failed);
	before = allocations();
	for (nth = 1; nth < MAX_NTH && run_nth(&failed); nth += step())
		tried++;
	compare_allocations(before);
	free(before);
	if (nth >= MAX_NTH)
		complain("no end of them");
	if (failed < least())
		complain("no more than %u errors, not %u", failed, least());
	fprintf(stderr, "%u of %u allocations that fail are an error\n", failed, tried);
}

int main(int argc, char **argv)
{
	if (argc != 2)
		errx(2, "usage: faults OPERATION, or faults list");
	for (op = ops; op->name; op++) {
		if (!strcmp(argv[1], "list"))
			puts(op->name);
		else if (!strcmp(argv[1], op->name))
			break;
	}
	if (!strcmp(argv[1], "list"))
		return 0;
	if (!op->name)
		errx(2, "no operation %s", argv[1]);
	fail_nth = xopen("/proc/thread-self/fail-nth", O_RDWR);
	/* Where its events are */
	pin(0);
	run_all();
	return 0;
}
