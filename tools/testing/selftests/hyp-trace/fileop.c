// SPDX-License-Identifier: GPL-2.0-only
/*
 * fileop - make one operation on a file and print its result
 *
 * A shell has its own texts for errors, and few ways to open, to read and to wait for a file.
 * This program has the other ways. It prints the result as one word, such as the name of the
 * error, or copies the data that it read.
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

static int print_outcome(ssize_t ret, const char *none)
{
	puts(ret < 0 ? strerrorname_np(errno) : ret ? "ok" : none);
	return 0;
}

/* Do not open a file again, since it may allow one reader only. */
static int open_file(const char *path, int flags)
{
	return strcmp(path, "-") ? open(path, flags) : STDIN_FILENO;
}

static int xopen(const char *path, int flags)
{
	int fd = open_file(path, flags);

	if (fd < 0)
		err(1, "%s", path);
	return fd;
}

static int op_open(char **arg)
{
	static const struct {
		const char *name;
		int flags;
	} mode[] = {
		{ "r",	O_RDONLY },
		{ "w",	O_WRONLY },
		{ "wt",	O_WRONLY | O_TRUNC },
		{ "wa",	O_WRONLY | O_APPEND },
		{ "rw",	O_RDWR },
		{ "rwt", O_RDWR | O_TRUNC },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(mode); i++) {
		if (!strcmp(arg[1], mode[i].name))
			return print_outcome(open(arg[0], mode[i].flags) < 0 ? -1 : 1, "");
	}
	errx(2, "no mode %s", arg[1]);
}

static int op_mkdir(char **arg)
{
	return print_outcome(mkdir(arg[0], 0700) ? -1 : 1, "");
}

static int op_rmdir(char **arg)
{
	return print_outcome(rmdir(arg[0]) ? -1 : 1, "");
}

static int op_unlink(char **arg)
{
	return print_outcome(unlink(arg[0]) ? -1 : 1, "");
}

static int op_rename(char **arg)
{
	return print_outcome(rename(arg[0], arg[1]) ? -1 : 1, "");
}

/* All of it, as a shell does. */
static ssize_t write_all(int fd, const char *text)
{
	size_t size = strlen(text), done = 0;
	ssize_t ret;

	do {
		ret = write(fd, text + done, size - done);
		done += ret > 0 ? ret : 0;
	} while (ret > 0 && done < size);

	return ret;
}

static int op_write(char **arg)
{
	int fd = open(arg[0], O_WRONLY);

	return print_outcome(fd < 0 ? fd : write_all(fd, arg[1]), "nothing");
}

static int read_once(const char *path, int flags)
{
	int fd = open(path, O_RDONLY | flags);
	char buf[4096];

	return print_outcome(fd < 0 ? fd : read(fd, buf, sizeof(buf)), "eof");
}

static int op_read(char **arg)
{
	return read_once(arg[0], O_NONBLOCK);
}

static void xpipe(int fds[2])
{
	if (pipe(fds))
		err(1, "pipe");
}

static int splice_once(const char *path, int flags)
{
	int fd = open(path, O_RDONLY | flags), fds[2];

	xpipe(fds);
	return print_outcome(fd < 0 ? fd : splice(fd, NULL, fds[1], NULL, 65536, 0), "eof");
}

static int op_splice(char **arg)
{
	return splice_once(arg[0], O_NONBLOCK);
}

static void interrupt(int signal)
{
}

/* Repeat the signal, since the first one may come before the wait. */
static void send_signals(void)
{
	struct sigaction action = { .sa_handler = interrupt };	/* no SA_RESTART */
	struct itimerval timer = { { 0, 100000 }, { 0, 100000 } };

	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &timer, NULL);
}

static int op_interrupt(char **arg)
{
	send_signals();
	return read_once(arg[0], 0);
}

static int op_interrupt_splice(char **arg)
{
	send_signals();
	return splice_once(arg[0], 0);
}

static void put(const char *buf, size_t size)
{
	if (fwrite(buf, 1, size, stdout) != size)
		err(1, "standard output");
}

/* Up to the end, or to where a read would block; to standard output or nowhere. */
static void read_all(int fd, void (*to)(const char *buf, size_t size))
{
	char buf[65536];
	ssize_t ret;

	while ((ret = read(fd, buf, sizeof(buf))) > 0) {
		if (to)
			to(buf, ret);
	}
	if (ret < 0 && errno != EAGAIN)
		err(1, "read");
}

static int xsetfl(int fd, const char *path, int flags)
{
	if (fcntl(fd, F_SETFL, flags))
		err(1, "%s", path);
	return fd;
}

static int op_drain(char **arg)
{
	int fd = xsetfl(xopen(arg[0], O_RDONLY), arg[0], O_NONBLOCK);

	read_all(fd, put);
	return fflush(stdout) ? 1 : 0;
}

/* Copy what is in a pipe that is not to block. Returns whether there was something. */
static int empty_pipe(int fd)
{
	char buf[65536];
	ssize_t ret, size = 0;

	while ((ret = read(fd, buf, sizeof(buf))) > 0) {
		put(buf, ret);
		size += ret;
	}
	if (fflush(stdout))
		err(1, "standard output");
	return size > 0;
}

/*
 * By splice() into a pipe that is emptied when it has no room left, and at the end: there
 * is room for less and less. To the end of the file, or to where it would block.
 */
static void splice_all(int fd, size_t size, int each)
{
	ssize_t ret;
	int fds[2];

	xpipe(fds);
	xsetfl(fds[0], "pipe", O_NONBLOCK);
	do {
		do {
			ret = splice(fd, NULL, fds[1], NULL, size, SPLICE_F_NONBLOCK);
		} while (ret > 0 && !each);
		if (ret < 0 && errno != EAGAIN)
			err(1, "splice");
	} while (empty_pipe(fds[0]));
}

static int op_spliced(char **arg)
{
	int fd = xsetfl(xopen(arg[0], O_RDONLY), arg[0], O_NONBLOCK);

	splice_all(fd, strtoul(arg[1], NULL, 0), 0);
	return 0;
}

/* Waiting for more, up to the end of the file. */
static int op_stream(char **arg)
{
	splice_all(xopen(arg[0], O_RDONLY), 65536, 1);
	return 0;
}

static int op_sendfile(char **arg)
{
	size_t size = strtoul(arg[1], NULL, 0);
	int fd = xopen(arg[0], O_RDONLY);
	ssize_t ret;

	while ((ret = sendfile(STDOUT_FILENO, fd, NULL, size)) > 0)
		;
	if (ret)
		errx(1, "%s", strerrorname_np(errno));
	return 0;
}

static int op_again(char **arg)
{
	int fd = xopen(arg[0], O_RDONLY);

	read_all(fd, NULL);
	if (lseek(fd, 0, SEEK_SET))
		err(1, "%s: lseek", arg[0]);
	read_all(fd, put);
	return fflush(stdout) ? 1 : 0;
}

static int op_pread(char **arg)
{
	size_t size = strtoul(arg[2], NULL, 0);
	int fd = xopen(arg[0], O_RDONLY);
	char *buf = malloc(size);
	ssize_t ret;

	if (!buf)
		err(1, "malloc");
	ret = pread(fd, buf, size, strtol(arg[1], NULL, 0));
	if (ret < 0)
		err(1, "%s: pread", arg[0]);
	put(buf, ret);
	return fflush(stdout) ? 1 : 0;
}

static int op_poll(char **arg)
{
	struct pollfd wait = { .fd = xopen(arg[0], O_RDONLY), .events = POLLIN };
	int ret = poll(&wait, 1, atoi(arg[1]));

	if (ret > 0 && wait.revents != POLLIN)
		errx(1, "%s: poll has %#x", arg[0], wait.revents);
	return print_outcome(ret, "timeout");
}

static int op_select(char **arg)
{
	long ms = atol(arg[1]);
	struct timeval limit = { ms / 1000, ms % 1000 * 1000 };
	int fd = xopen(arg[0], O_RDONLY);
	fd_set set;

	FD_ZERO(&set);
	FD_SET(fd, &set);
	return print_outcome(select(fd + 1, &set, NULL, NULL, &limit), "timeout");
}

static int op_epoll(char **arg)
{
	struct epoll_event event = { .events = EPOLLIN };
	int epoll = epoll_create1(0);

	if (epoll_ctl(epoll, EPOLL_CTL_ADD, xopen(arg[0], O_RDONLY), &event))
		err(1, "%s: epoll_ctl", arg[0]);
	return print_outcome(epoll_wait(epoll, &event, 1, atoi(arg[1])), "timeout");
}

static const struct op {
	const char *name, *args;
	int nr_args;
	int (*run)(char **arg);
	const char *help;
} ops[] = {
	{ "open", "FILE MODE", 2, op_open, "r, w or rw, with t for O_TRUNC, wa for O_APPEND" },
	{ "mkdir", "DIRECTORY", 1, op_mkdir, "" },
	{ "rmdir", "DIRECTORY", 1, op_rmdir, "" },
	{ "unlink", "FILE", 1, op_unlink, "" },
	{ "rename", "FILE NAME", 2, op_rename, "" },
	{ "write", "FILE TEXT", 2, op_write, "as often as it takes for all of TEXT" },
	{ "read", "FILE", 1, op_read, "once, without blocking" },
	{ "interrupt", "FILE", 1, op_interrupt, "read once, blocking, with signals coming in" },
	{ "splice", "FILE", 1, op_splice, "once, without blocking" },
	{ "interrupt_splice", "FILE", 1, op_interrupt_splice,
	  "splice once, blocking, with signals coming in" },
	{ "poll", "FILE MS", 2, op_poll, "until it can be read: ok, or timeout" },
	{ "select", "FILE MS", 2, op_select, "the same" },
	{ "epoll", "FILE MS", 2, op_epoll, "the same" },
	{ "drain", "FILE", 1, op_drain, "copy what there is now" },
	{ "spliced", "FILE SIZE", 2, op_spliced, "the same by splice(), SIZE bytes at a time" },
	{ "stream", "FILE", 1, op_stream, "the same by splice(), and wait for more" },
	{ "sendfile", "FILE SIZE", 2, op_sendfile, "copy all by sendfile()" },
	{ "again", "FILE", 1, op_again, "read all, then seek to the start and copy all" },
	{ "pread", "FILE OFFSET SIZE", 3, op_pread, "copy this part" },
};

static void usage(void)
{
	const struct op *op;

	fprintf(stderr, "Usage: fileop OPERATION FILE [ARGUMENT]...\n"
		"Prints what came of it: ok, eof, or the error's name; or copies to standard\n"
		"output. FILE may be - for standard input, but with open, write, read, splice and\n"
		"interrupt. After `as UID GID\', as that user, in that group alone.\n");
	for (op = ops; op < ops + ARRAY_SIZE(ops); op++)
		fprintf(stderr, "    %-16s %-16s  %s\n", op->name, op->args, op->help);
	exit(2);
}

static void become(const char *uid, const char *gid)
{
	if (setgroups(0, NULL) || setgid(atoi(gid)) || setuid(atoi(uid)))
		err(1, "as %s %s", uid, gid);
}

int main(int argc, char **argv)
{
	const struct op *op;

	if (argc > 4 && !strcmp(argv[1], "as")) {
		become(argv[2], argv[3]);
		argc -= 3;
		argv += 3;
	}

	for (op = ops; op < ops + ARRAY_SIZE(ops); op++) {
		if (argc == 2 + op->nr_args && !strcmp(argv[1], op->name))
			return op->run(argv + 2);
	}
	usage();
}
