// SPDX-License-Identifier: GPL-2.0-only
/*
 * raw - read and splice trace_pipe_raw, also with invalid arguments
 *
 * Prints events as trace_pipe does, and the result of an operation as one word, a number or the
 * name of the error.
 */
#define _GNU_SOURCE
#include <limits.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/wait.h>

#include "raw_page.h"

static const char *path;
static int fd;
static size_t step;			/* bytes a read, pages a splice */
static int ends[2];			/* of the pipe */
static unsigned long slots;		/* of the pipe, or pages to read */
static unsigned char *page;
static size_t space;			/* bytes there: a page, and what is read at a time */
static size_t have;			/* of the page, so far */
static unsigned long left_to_take = ULONG_MAX;	/* pages */

/* A part of a page is followed by the rest of it. */
static void take_bytes(size_t size)
{
	have += size;
	if (have < raw_page_size())
		return;
	print_page(path, (struct raw_page *)page, 0, UINT_MAX);
	have = 0;
	left_to_take--;
}

static void take_read(void)
{
	size_t left, size = raw_page_size();
	ssize_t ret = 0;

	while (left_to_take) {
		left = size - have;
		ret = read(fd, page + have, step < left ? step : left);
		if (ret <= 0)
			break;
		take_bytes(ret);
	}
	if (left_to_take && (!ret || errno != EAGAIN))
		errx(1, "%s: read: %s", path, outcome(ret));
}

static void take_pipe(size_t size)
{
	ssize_t ret;

	while (size) {
		ret = read(ends[0], page + have, raw_page_size() - have);
		if (ret <= 0)
			err(1, "pipe");
		take_bytes(ret);
		size -= ret;
	}
}

static void take_splice(void)
{
	ssize_t ret;

	while ((ret = splice(fd, NULL, ends[1], NULL, step * raw_page_size(),
			     SPLICE_F_NONBLOCK)) > 0)
		take_pipe(ret);
	if (!ret || errno != EAGAIN)
		errx(1, "%s: splice: %s", path, outcome(ret));
}

static int drain(void (*take)(void), int follows)
{
	if (follows)
		follow(fd, take);
	else
		take();
	if (have)
		errx(1, "%s: %zu bytes of a page", path, have);
	return fflush(stdout) ? 1 : 0;
}

static int op_read(void)
{
	return drain(take_read, 0);
}

/* A page that is read in pieces has no more events than the first piece has room for. */
static int op_some(void)
{
	left_to_take = slots;
	return drain(take_read, 0);
}

static int op_splice(void)
{
	return drain(take_splice, 0);
}

static int op_follow_read(void)
{
	return drain(take_read, 1);
}

static int op_follow_splice(void)
{
	return drain(take_splice, 1);
}

/* Pages as they are, to compare. */
static int op_dump(void)
{
	ssize_t ret;

	while ((ret = read(fd, page, step)) > 0)
		fwrite(page, 1, ret, stdout);
	return fflush(stdout) ? 1 : 0;
}

static int say(long ret)
{
	puts(outcome(ret));
	return 0;
}

/* One read of so many bytes, whose data is dropped */
static int op_once(void)
{
	return say(read(fd, page, step));
}

/* Read to an invalid address, then to a valid one. */
static int op_fault(void)
{
	puts(outcome(read(fd, (void *)8, step)));
	return drain(take_read, 0);
}

/* Into memory that ends after @step bytes, by a read of a page more. */
static int op_half_fault(void)
{
	size_t size = sysconf(_SC_PAGESIZE), room = (step + size - 1) / size * size, part;
	unsigned char *memory = mmap(NULL, room + size, PROT_READ | PROT_WRITE,
				     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ssize_t ret;

	munmap(memory + room, size);
	memory += room - step;
	ret = read(fd, memory, step + raw_page_size());
	puts(outcome(ret));
	for (; ret > 0; ret -= part, memory += part) {
		part = (size_t)ret < raw_page_size() ? (size_t)ret : raw_page_size();
		memcpy(page, memory, part);
		take_bytes(part);
	}
	step = raw_page_size();
	return drain(take_read, 0);
}

/* Splices of so many bytes. */
static int op_bytes(void)
{
	return say(splice(fd, NULL, ends[1], NULL, step, 0));
}

static int op_offset(void)
{
	loff_t offset = step;

	return say(splice(fd, &offset, ends[1], NULL, raw_page_size(), 0));
}

/* The pipe is full, and then it is not. */
static int op_full(void)
{
	int flags = fcntl(ends[0], F_GETFL);

	fcntl(ends[1], F_SETFL, flags | O_WRONLY | O_NONBLOCK);
	while (write(ends[1], page, space) > 0)
		;
	puts(outcome(splice(fd, NULL, ends[1], NULL, raw_page_size(), SPLICE_F_NONBLOCK)));
	fcntl(ends[0], F_SETFL, flags | O_NONBLOCK);
	while (read(ends[0], page, space) > 0)
		;
	fcntl(ends[0], F_SETFL, flags);
	return drain(take_splice, 0);
}

static int op_closed(void)
{
	signal(SIGPIPE, SIG_IGN);
	close(ends[0]);
	return say(splice(fd, NULL, ends[1], NULL, raw_page_size(), SPLICE_F_NONBLOCK));
}

static int op_killed(void)
{
	int status;

	close(ends[0]);
	if (!fork()) {
		signal(SIGPIPE, SIG_DFL);
		splice(fd, NULL, ends[1], NULL, raw_page_size(), SPLICE_F_NONBLOCK);
		_exit(0);
	}
	wait(&status);
	puts(WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : "no signal");
	return 0;
}

static int op_not_a_pipe(void)
{
	int null = open("/dev/null", O_WRONLY);

	return say(splice(fd, NULL, null, NULL, raw_page_size(), 0));
}

static int op_fcntl(void)
{
	int blocking = raw_open(path, 0);

	fcntl(blocking, F_SETFL, O_NONBLOCK);
	return say(read(blocking, page, raw_page_size()));
}

static int op_splice_block(void)
{
	int blocking = raw_open(path, 0);

	return say(splice(blocking, NULL, ends[1], NULL, raw_page_size(), 0));
}

static int op_block(void)
{
	int blocking = raw_open(path, 0);

	return say(read(blocking, page, raw_page_size()));
}

static int op_ioctl(void)
{
	return say(ioctl(fd, step, 0));
}

/* An ioctl on a descriptor wakes a task that waits in splice() on it. */
static int op_woken(void)
{
	int blocking = raw_open(path, 0);
	pid_t pid = fork();
	int status, i;

	if (!pid) {
		splice(blocking, NULL, ends[1], NULL, raw_page_size(), 0);
		_exit(0);
	}
	for (i = 0; i < 200 && !waitpid(pid, &status, WNOHANG); i++) {
		usleep(50000);
		ioctl(blocking, 0, 0);
	}
	puts(i == 0 ? "did not wait" : i < 200 ? "woken" : "asleep");
	kill(pid, SIGKILL);
	return 0;
}

static const struct op {
	const char *name;
	int (*run)(void);
	const char *help;
} ops[] = {
	{ "read", op_read, "print what there is, read N bytes at a time" },
	{ "some", op_some, "print PIPE_SLOTS pages, read N bytes at a time" },
	{ "splice", op_splice, "print what there is, N pages a splice" },
	{ "follow-read", op_follow_read, "the same, and what comes, until SIGTERM" },
	{ "follow-splice", op_follow_splice, "the same" },
	{ "dump", op_dump, "copy what there is, read N bytes at a time" },
	{ "once", op_once, "read N bytes" },
	{ "fault", op_fault, "read N bytes to where there is no memory, print all then" },
	{ "half-fault", op_half_fault, "read more than N bytes to memory of N, print all then" },
	{ "bytes", op_bytes, "splice N bytes" },
	{ "offset", op_offset, "splice a page from the offset N" },
	{ "full", op_full, "splice to a full pipe of N pages, print all then" },
	{ "closed", op_closed, "splice to a pipe without a reader" },
	{ "killed", op_killed, "the same, not ignoring SIGPIPE" },
	{ "not-a-pipe", op_not_a_pipe, "splice to a device" },
	{ "fcntl", op_fcntl, "read a page, made not to block after open" },
	{ "block", op_block, "read a page, or wait for it" },
	{ "splice-block", op_splice_block, "splice a page, or wait for it" },
	{ "ioctl", op_ioctl, "the ioctl N" },
	{ "woken", op_woken, "wait, to be woken by ioctl 0" },
};

static int usage(void)
{
	size_t i;

	fprintf(stderr, "Usage: raw OPERATION FILE N [PIPE_SLOTS]\n");
	for (i = 0; i < ARRAY_SIZE(ops); i++)
		fprintf(stderr, "    %-14s %s\n", ops[i].name, ops[i].help);
	return 2;
}

int main(int argc, char **argv)
{
	size_t i;

	if (argc < 4 || argc > 5)
		return usage();
	path = argv[2];
	step = strtoul(argv[3], NULL, 0);
	space = step > raw_page_size() ? step : raw_page_size();
	page = calloc(1, space);
	if (!page)
		err(1, "%zu bytes", space);
	fd = raw_open(path, O_NONBLOCK);
	slots = argc == 5 ? strtoul(argv[4], NULL, 0) : 0;
	if (pipe(ends) || (slots && fcntl(ends[1], F_SETPIPE_SZ,
					  slots * sysconf(_SC_PAGESIZE)) < 0))
		err(1, "pipe");
	for (i = 0; i < ARRAY_SIZE(ops); i++) {
		if (!strcmp(argv[1], ops[i].name))
			return ops[i].run();
	}
	return usage();
}
