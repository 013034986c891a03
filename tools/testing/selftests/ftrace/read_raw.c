// SPDX-License-Identifier: GPL-2.0
/*
 * Read trace_pipe_raw until it has nothing more, and write it to standard output.
 *
 * read_raw [-s] [-w] [-p] [-b BYTES] FILE
 *
 *	-s	by splice()
 *	-w	wait, and read once
 *	-p	read as long as poll() says that there is something
 *	-b	so many bytes at once, a page by default
 *
 * The exit status is 1 if there was nothing, 2 on an error. After 20 s the program
 * ends by SIGALRM.
 */
#define _GNU_SOURCE
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

static bool is_readable(int fd)
{
	struct pollfd pfd = { .fd = fd, .events = POLLIN };

	return poll(&pfd, 1, 0) == 1;
}

static ssize_t read_copy(int fd, size_t bytes, void *buf)
{
	ssize_t len = read(fd, buf, bytes);

	if (len > 0 && write(STDOUT_FILENO, buf, len) != len)
		err(2, "write");

	return len;
}

static ssize_t read_splice(int fd, size_t bytes, bool waits, const int *ends, void *buf)
{
	ssize_t len = splice(fd, NULL, ends[1], NULL, bytes, waits ? 0 : SPLICE_F_NONBLOCK);

	if (len <= 0)
		return len;
	if (read(ends[0], buf, len) != len || write(STDOUT_FILENO, buf, len) != len)
		err(2, "write");

	return len;
}

int main(int argc, char **argv)
{
	size_t bytes = sysconf(_SC_PAGESIZE);
	bool by_splice = false, waits = false, polls = false;
	int fd, opt, ends[2], status = 1;
	ssize_t len = 0;
	void *buf;

	while ((opt = getopt(argc, argv, "swpb:")) != -1) {
		switch (opt) {
		case 's':
			by_splice = true;
			break;
		case 'w':
			waits = true;
			break;
		case 'p':
			polls = true;
			break;
		case 'b':
			bytes = strtoul(optarg, NULL, 0);
			break;
		default:
			errx(2, "usage: read_raw [-s] [-w] [-p] [-b BYTES] FILE");
		}
	}
	if (optind + 1 != argc)
		errx(2, "which file?");

	alarm(20);

	/* splice() has a flag of its own */
	fd = open(argv[optind], O_RDONLY | (waits || by_splice ? 0 : O_NONBLOCK));
	buf = malloc(bytes);
	if (fd < 0 || !buf || pipe(ends))
		err(2, "%s", argv[optind]);

	while (!polls || is_readable(fd)) {
		len = by_splice ? read_splice(fd, bytes, waits, ends, buf) :
				  read_copy(fd, bytes, buf);
		if (len > 0)
			status = 0;
		if (len <= 0 || waits)
			break;
	}

	if (len < 0 && errno != EAGAIN)
		err(2, "%s", argv[optind]);

	return status;
}
