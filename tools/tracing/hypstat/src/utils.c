// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "utils.h"

#define READ_TRIES	20

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

static void *checked(void *memory, size_t size)
{
	if (!memory)
		die("no memory for %zu bytes", size);
	return memory;
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
	return checked(calloc(nr, size), nr * size);
}

/**
 * xrealloc - make memory larger, or exit
 * @memory: the memory
 * @size: its new size
 *
 * Return: the memory, which may have moved.
 */
void *xrealloc(void *memory, size_t size)
{
	return checked(realloc(memory, size), size);
}

static char *read_all(int fd)
{
	size_t size = 0, room = 16384;
	char *text = xcalloc(room, 1);
	ssize_t got;

	while ((got = read(fd, text + size, room - size - 1)) > 0) {
		size += got;
		if (size + 1 < room)
			continue;
		room *= 2;
		text = xrealloc(text, room);
	}
	text[size] = '\0';
	if (!got)
		return text;
	free(text);
	return NULL;
}

/**
 * read_file - read a file of text
 * @dir: the directory, open
 * @name: the file's name in it
 *
 * Return: the text, terminated, which the caller frees, or NULL with errno.
 */
char *read_file(int dir, const char *name)
{
	int fd = openat(dir, name, O_RDONLY | O_CLOEXEC), error;
	char *text;

	if (fd < 0)
		return NULL;
	text = read_all(fd);
	error = errno;
	close(fd);
	errno = error;
	return text;
}

/**
 * write_file - write to a file
 * @dir: the directory, open
 * @name: the file's name in it
 * @text: what is written
 *
 * Return: whether it was, else errno says why not.
 */
bool write_file(int dir, const char *name, const char *text)
{
	int fd = openat(dir, name, O_WRONLY | O_CLOEXEC);
	ssize_t written;

	if (fd < 0)
		return false;
	written = write(fd, text, strlen(text));
	close(fd);
	return written >= 0;
}

/**
 * hyp_write - write to a file of the hypervisor's directory, or exit
 * @dir: the directory, open
 * @name: the file's name in it
 * @text: what is written
 */
void hyp_write(int dir, const char *name, const char *text)
{
	if (!write_file(dir, name, text))
		die("can't write %s to hypervisor/%s: %s", text, name, strerror(errno));
}

/**
 * hyp_read - read a file of the hypervisor's directory, or exit
 * @dir: the directory, open
 * @name: the file's name in it
 *
 * A CPU whose counters change all the time can be busy.
 *
 * Return: the text, terminated, which the caller frees.
 */
char *hyp_read(int dir, const char *name)
{
	int tries = READ_TRIES;
	char *text;

	do {
		text = read_file(dir, name);
	} while (!text && errno == EBUSY && --tries);
	if (!text)
		die("can't read hypervisor/%s: %s", name, strerror(errno));
	return text;
}

/**
 * now_ns - the time since the boot
 *
 * Return: the time in nanoseconds, with that in suspend.
 */
u64 now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_BOOTTIME, &now);
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
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
 * parse_duration - read the argument of -d, or exit
 * @text: the argument
 *
 * Return: seconds.
 */
long parse_duration(const char *text)
{
	long seconds = parse_seconds_duration(text);

	if (seconds < 0)
		die("-d takes a time such as 10s or 5m, not '%s'", text);
	return seconds;
}

/**
 * parse_stop - read the argument of -s, or exit
 * @text: the argument
 *
 * Return: microseconds, at least 1.
 */
u32 parse_stop(const char *text)
{
	char *end;
	u64 us;

	us = strtoull(text, &end, 10);
	if (*text < '0' || *text > '9' || *end || !us || us > UINT32_MAX)
		die("-s takes microseconds, from 1 to %u, not '%s'", UINT32_MAX, text);
	return us;
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
