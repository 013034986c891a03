// SPDX-License-Identifier: GPL-2.0
/*
 * Read a file into a page that is not there before another file was read
 *
 * late_page FILE OTHER
 *
 * The exit status is 1 if the read of the other file waits for the page, 2 on an error.
 */
#include <err.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <linux/userfaultfd.h>

#define WAIT_MS 10000

static int check(int ret, const char *what)
{
	if (ret < 0)
		err(2, "%s", what);

	return ret;
}

/* A descriptor for the page faults of the page */
static int register_page(void *page, size_t size)
{
	struct uffdio_register reg = {
		.range	= { .start = (unsigned long)page, .len = size },
		.mode	= UFFDIO_REGISTER_MODE_MISSING,
	};
	struct uffdio_api api = { .api = UFFD_API };
	int dev, fd;

	dev = check(open("/dev/userfaultfd", O_RDWR), "/dev/userfaultfd");
	fd = check(ioctl(dev, USERFAULTFD_IOC_NEW, O_NONBLOCK), "USERFAULTFD_IOC_NEW");
	check(ioctl(fd, UFFDIO_API, &api), "UFFDIO_API");
	check(ioctl(fd, UFFDIO_REGISTER, &reg), "UFFDIO_REGISTER");

	return fd;
}

static void read_other(const char *name)
{
	char buf[256];
	int fd = check(open(name, O_RDONLY | O_NONBLOCK), name);

	/* There may be nothing */
	if (read(fd, buf, sizeof(buf)) < 0)
		warn("%s", name);
	exit(0);
}

/* Provide the page after the other file was read. Returns whether that waits. */
static int provide_page(int fd, void *page, size_t size, const char *other)
{
	struct uffdio_zeropage zero = {
		.range = { .start = (unsigned long)page, .len = size },
	};
	struct pollfd fault = { .fd = fd, .events = POLLIN }, end = {};
	int ends[2], waits;

	if (poll(&fault, 1, WAIT_MS) != 1)
		errx(2, "no page fault");

	/* The reader's end of the pipe is closed when it exits */
	check(pipe(ends), "pipe");
	if (!check(fork(), "fork"))
		read_other(other);
	close(ends[1]);

	end.fd = ends[0];
	waits = poll(&end, 1, WAIT_MS) != 1;
	check(ioctl(fd, UFFDIO_ZEROPAGE, &zero), "UFFDIO_ZEROPAGE");

	return waits;
}

int main(int argc, char **argv)
{
	size_t size = getpagesize();
	int fd, faults, status;
	void *page;

	if (argc != 3)
		errx(2, "usage: late_page FILE OTHER");

	fd = check(open(argv[1], O_RDONLY | O_NONBLOCK), argv[1]);
	page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (page == MAP_FAILED)
		err(2, "mmap");

	faults = register_page(page, size);
	if (!check(fork(), "fork"))
		exit(provide_page(faults, page, size, argv[2]));

	check(read(fd, page, size), argv[1]);
	check(wait(&status), "wait");

	return WIFEXITED(status) ? WEXITSTATUS(status) : 2;
}
