// SPDX-License-Identifier: GPL-2.0-only
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "tap.h"

/* A test that hangs is killed, and the program with it. */
#define TAP_TIMEOUT	300

/* What one broken invariant prints before it is enough. */
#define TAP_MAX_DIAGNOSES	3

static unsigned int failures;
static char where[128];

/* Say what a loop is at, for the diagnosis should a check fail. */
void tap_at(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(where, sizeof(where), format, args);
	va_end(args);
}

void tap_note(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	printf("# ");
	vprintf(format, args);
	printf("\n");
	va_end(args);
}

bool tap_failed(void)
{
	return failures;
}

bool tap_check(bool held, const char *condition, const char *file, int line)
{
	if (!held && ++failures <= TAP_MAX_DIAGNOSES)
		tap_note("%s:%d: %s: %s", file, line, condition, where);

	return held;
}

static bool tap_one(const struct tap_test *test, size_t number)
{
	failures = 0;
	where[0] = '\0';
	test->run();
	printf("%sok %zu - %s\n", failures ? "not " : "", number, test->name);
	return !failures;
}

/* Returns the exit status of the program. */
int tap_run(const struct tap_test *tests, size_t nr)
{
	bool passed = true;
	size_t i;

	setvbuf(stdout, NULL, _IOLBF, 0);
	alarm(TAP_TIMEOUT);
	printf("TAP version 13\n1..%zu\n", nr);
	for (i = 0; i < nr; i++)
		passed &= tap_one(&tests[i], i + 1);

	return passed ? EXIT_SUCCESS : EXIT_FAILURE;
}
