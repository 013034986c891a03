// SPDX-License-Identifier: GPL-2.0-only
/*
 * fileop - one operation on a file, and what became of it
 *
 * A shell shows an error as a sentence of its own making and reads files in
 * one way only. This prints "ok", "eof" or the name of the error, and reads
 * with O_NONBLOCK, or blocking until a signal comes.
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

static const char *outcome(ssize_t ret)
{
	if (ret < 0)
		return strerrorname_np(errno);
	return ret ? "ok" : "eof";
}

static int print_outcome(ssize_t ret)
{
	puts(outcome(ret));
	return 0;
}

static int write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);

	return print_outcome(fd < 0 ? fd : write(fd, text, strlen(text)));
}

static int read_file(const char *path, int flags)
{
	int fd = open(path, O_RDONLY | flags);
	char buf[4096];

	return print_outcome(fd < 0 ? fd : read(fd, buf, sizeof(buf)));
}

static void interrupt(int signal)
{
}

/* Again and again, in case the first comes before the read has begun. */
static int read_interrupted(const char *path)
{
	struct sigaction action = { .sa_handler = interrupt };	/* no SA_RESTART */
	struct itimerval timer = { { 0, 100000 }, { 0, 100000 } };

	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &timer, NULL);
	return read_file(path, 0);
}

/* A file that is open already is not opened again: it may have one reader. */
static int open_nonblock(const char *path)
{
	if (strcmp(path, "-"))
		return open(path, O_RDONLY | O_NONBLOCK);
	return fcntl(STDIN_FILENO, F_SETFL, O_NONBLOCK) ? -1 : STDIN_FILENO;
}

/* Copy to standard output what there is to read now. */
static int drain(const char *path)
{
	int fd = open_nonblock(path);
	char buf[65536];
	ssize_t ret;

	if (fd < 0)
		err(1, "%s", path);
	while ((ret = read(fd, buf, sizeof(buf))) > 0) {
		if (fwrite(buf, 1, ret, stdout) != (size_t)ret)
			err(1, "standard output");
	}
	if (ret < 0 && errno != EAGAIN)
		err(1, "%s", path);
	return fflush(stdout) ? 1 : 0;
}

static void usage(void)
{
	fprintf(stderr,
		"Usage: fileop write FILE TEXT  write TEXT in one go\n"
		"       fileop read FILE        read once, without blocking\n"
		"       fileop interrupt FILE   read once, blocking, with signals coming in\n"
		"       fileop drain FILE       copy to standard output what there is; of\n"
		"                               - (standard input), too\n"
		"All but the last print what came of it: ok, eof, or the error's name.\n");
	exit(2);
}

int main(int argc, char **argv)
{
	if (argc == 4 && !strcmp(argv[1], "write"))
		return write_file(argv[2], argv[3]);
	if (argc != 3)
		usage();
	if (!strcmp(argv[1], "read"))
		return read_file(argv[2], O_NONBLOCK);
	if (!strcmp(argv[1], "interrupt"))
		return read_interrupted(argv[2]);
	if (!strcmp(argv[1], "drain"))
		return drain(argv[2]);
	usage();
}
