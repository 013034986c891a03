// SPDX-License-Identifier: GPL-2.0
/*
 * Print the error of a system call that a file refuses
 *
 * refuse write|mmap|ioctl FILE
 *
 *	write	from a page that user space may not read
 *	mmap	a page, to read
 *	ioctl	TRACE_MMAP_IOCTL_GET_READER
 *
 * The exit status is 1 if the file does not refuse it.
 */
#define _GNU_SOURCE
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#define GET_READER	_IO('R', 0x20)

/* The kernel refuses an address that no user has before the file sees it */
static bool write_bad_page(int fd)
{
	void *page = mmap(NULL, getpagesize(), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (page == MAP_FAILED)
		err(2, "mmap");

	return write(fd, page, 1) >= 0;
}

int main(int argc, char **argv)
{
	bool done;
	int fd;

	if (argc != 3)
		errx(2, "usage: refuse write|mmap|ioctl FILE");

	fd = open(argv[2], strcmp(argv[1], "write") ? O_RDONLY | O_NONBLOCK : O_WRONLY);
	if (fd < 0)
		err(2, "%s", argv[2]);

	if (!strcmp(argv[1], "write"))
		done = write_bad_page(fd);
	else if (!strcmp(argv[1], "mmap"))
		done = mmap(NULL, getpagesize(), PROT_READ, MAP_SHARED, fd, 0) != MAP_FAILED;
	else
		done = ioctl(fd, GET_READER) >= 0;

	puts(done ? "none" : strerror(errno));

	return done;
}
