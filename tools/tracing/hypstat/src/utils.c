// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "utils.h"

static FILE *errors;	/* NULL: stderr */

static void print_error(const char *fmt, va_list args)
{
	FILE *to = errors ?: stderr;

	fputs("hypstat: ", to);
	vfprintf(to, fmt, args);
	fputc('\n', to);
	fflush(to);
}

/**
 * quiet_libraries - let nothing but err_msg() and die() write to stderr from now on
 */
void quiet_libraries(void)
{
	int none = open("/dev/null", O_WRONLY | O_CLOEXEC);
	int kept = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);

	if (none >= 0 && kept >= 0) {
		errors = fdopen(kept, "w");
		if (errors)
			dup2(none, STDERR_FILENO);
	}
	if (none >= 0)
		close(none);
}

/**
 * err_msg - say what is wrong, on stderr
 * @fmt: the text, one line without its end
 */
void err_msg(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	print_error(fmt, args);
	va_end(args);
}

/**
 * die - say what is wrong, and exit
 * @fmt: the text, one line without its end
 */
void die(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	print_error(fmt, args);
	va_end(args);
	exit(STATUS_ERROR);
}

/**
 * xcalloc - allocate memory filled with 0, or exit
 * @nr: how many elements
 * @size: the size of each
 *
 * Return: the memory.
 */
void *xcalloc(size_t nr, size_t size)
{
	void *memory = calloc(nr, size);

	if (!memory)
		die("no memory for %zu bytes", nr * size);
	return memory;
}

/**
 * parse_seconds_duration - read a time such as 10, 10s, 5m, 2h or 1d
 * @text: the time
 *
 * Return: seconds, or -1 if it is no time.
 */
long parse_seconds_duration(const char *text)
{
	static const char units[] = "smhd";
	static const long seconds[] = { 1, 60, 3600, 86400 };
	const char *unit;
	char *end;
	long value;

	errno = 0;
	value = strtol(text, &end, 10);
	if (end == text || errno || value <= 0)
		return -1;
	if (!*end)
		return value;
	unit = strchr(units, *end);
	if (!unit || end[1] || value > LONG_MAX / seconds[unit - units])
		return -1;
	return value * seconds[unit - units];
}

/**
 * usage - print the usage, and exit
 * @lines: the lines, and NULL
 * @status: the exit status; other than 0, the text goes to stderr
 */
void usage(const char * const *lines, int status)
{
	for (; *lines; lines++)
		fprintf(status ? stderr : stdout, "%s\n", *lines);
	exit(status);
}
