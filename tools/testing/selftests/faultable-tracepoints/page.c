// SPDX-License-Identifier: GPL-2.0-only
/*
 * Make a system call whose argument is a string on a page that is not there:
 *
 *	page [-i] KIND [MS]
 *
 * KIND  missing   only comes when a handler of userfaultfd gives it, MS milliseconds after
 *                 the fault, or when standard input has a line or ends if MS is "hold";
 *                 if the line is "exit" or "exec", the process does that instead
 *       across    as missing; the string begins on the page before, which is there
 *       swapped   in the swap area
 *       file      in a file, /dev/ram0, and not yet read
 *       hole      anonymous memory that was never touched: an empty string
 *       unmapped  no memory at all
 *
 *  -i   the system call is an invalid one: it fails with EINVAL before it reads the string
 *
 * With "hold", prints that the handler waits. Then prints what became of the system call, how
 * long it took, how often the handler was asked, and how many times SIGUSR1 came. The string is
 * /page/KIND, so openat() fails with ENOENT if it can read it.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define PATIENCE_MS	10000

static long page_size;
static char text[64];
static size_t text_offset;	/* in the page that is given: what comes before is there */
static int delay_ms;		/* -1: wait for standard input */
static int uffd;
static int open_flags = O_RDONLY;
static int faults;
static int signals;

static void fail(const char *what)
{
	perror(what);
	exit(2);
}

static long now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

static char *map(long pages, int flags, int fd)
{
	char *p = mmap(NULL, pages * page_size, PROT_READ | PROT_WRITE, flags, fd, 0);

	if (p == MAP_FAILED)
		fail("mmap");
	return p;
}

static void count_signal(int unused)
{
	__atomic_fetch_add(&signals, 1, __ATOMIC_RELAXED);
}

/* The other thread sleeps in the system call meanwhile. */
static void obey(const char *line)
{
	if (!strncmp(line, "exit", 4))
		exit(0);
	if (!strncmp(line, "exec", 4)) {
		execl("/proc/self/exe", "page", "hole", NULL);
		fail("exec");
	}
}

static void wait_before_giving(void)
{
	char line[16] = "";

	if (delay_ms >= 0) {
		usleep(delay_ms * 1000);
		return;
	}
	printf("the handler waits\n");
	fflush(stdout);
	if (read(STDIN_FILENO, line, sizeof(line) - 1) < 0)
		fail("read");
	obey(line);
}

static void give(unsigned long address)
{
	char *page = map(1, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	struct uffdio_copy copy = {
		.dst = address & -page_size,
		.src = (unsigned long)page,
		.len = page_size,
	};

	memcpy(page, text + text_offset, sizeof(text) - text_offset);
	if (ioctl(uffd, UFFDIO_COPY, &copy))
		fail("UFFDIO_COPY");
}

static void *handler(void *unused)
{
	struct uffd_msg msg;

	while (read(uffd, &msg, sizeof(msg)) == sizeof(msg)) {
		if (msg.event != UFFD_EVENT_PAGEFAULT)
			continue;
		faults++;
		wait_before_giving();
		give(msg.arg.pagefault.address);
	}
	return NULL;
}

static void start_handler(char *page)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register reg = {
		.range = { .start = (unsigned long)page, .len = page_size },
		.mode = UFFDIO_REGISTER_MODE_MISSING,
	};
	pthread_t thread;

	uffd = syscall(SYS_userfaultfd, O_CLOEXEC);
	if (uffd < 0)
		fail("userfaultfd");
	if (ioctl(uffd, UFFDIO_API, &api) || ioctl(uffd, UFFDIO_REGISTER, &reg))
		fail("UFFDIO_REGISTER");
	if (pthread_create(&thread, NULL, handler, NULL))
		fail("pthread_create");
}

static char *missing(void)
{
	char *page = map(1, MAP_PRIVATE | MAP_ANONYMOUS, -1);

	start_handler(page);
	return page;
}

/* Half of the string is at the end of a page that is there. */
static char *across(void)
{
	char *pages = map(2, MAP_PRIVATE | MAP_ANONYMOUS, -1);

	text_offset = strlen(text) / 2;
	memcpy(pages + page_size - text_offset, text, text_offset);
	start_handler(pages + page_size);
	return pages + page_size - text_offset;
}

static uint64_t pagemap_entry(char *page)
{
	int fd = open("/proc/self/pagemap", O_RDONLY);
	uint64_t entry;

	if (fd < 0 || pread(fd, &entry, 8, (unsigned long)page / page_size * 8) != 8)
		fail("pagemap");
	close(fd);
	return entry;
}

static char *swapped_out(void)
{
	long end = now_ms() + PATIENCE_MS;
	char *page = map(1, MAP_PRIVATE | MAP_ANONYMOUS, -1);

	memcpy(page, text, sizeof(text));
	while (!(pagemap_entry(page) >> 62 & 1)) {
		if (now_ms() > end) {
			fprintf(stderr, "the page is not swapped out\n");
			exit(2);
		}
		if (madvise(page, page_size, MADV_PAGEOUT))
			fail("MADV_PAGEOUT");
	}
	return page;
}

static char *in_file(void)
{
	char *page = map(1, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	int fd = open("/dev/ram0", O_RDWR);
	unsigned char in_core;

	memcpy(page, text, sizeof(text));
	if (fd < 0 || pwrite(fd, page, page_size, 0) != page_size || fsync(fd))
		fail("/dev/ram0");
	if (posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED))
		fail("posix_fadvise");
	page = map(1, MAP_SHARED, fd);
	if (mincore(page, page_size, &in_core))
		fail("mincore");
	if (in_core & 1) {
		fprintf(stderr, "the file is in memory\n");
		exit(2);
	}
	return page;
}

static char *hole(void)
{
	return map(1, MAP_PRIVATE | MAP_ANONYMOUS, -1);
}

static char *unmapped(void)
{
	char *page = hole();

	munmap(page, page_size);
	return page;
}

static const struct kind {
	const char *name;
	char *(*prepare)(void);
} kinds[] = {
	{ "missing", missing }, { "across", across }, { "swapped", swapped_out },
	{ "file", in_file }, { "hole", hole }, { "unmapped", unmapped }, {}
};

static char *prepare(const char *name)
{
	for (const struct kind *kind = kinds; kind->name; kind++)
		if (!strcmp(kind->name, name))
			return kind->prepare();
	fprintf(stderr, "no kind %s of page\n", name);
	exit(2);
}

int main(int argc, char **argv)
{
	long begin;
	char *path;

	if (argc > 1 && !strcmp(argv[1], "-i")) {
		open_flags = O_TMPFILE;	/* without a right to write */
		argv++;
		argc--;
	}
	if (argc < 2 || argc > 3) {
		fprintf(stderr, "usage: page [-i] KIND [MS|hold]\n");
		return 2;
	}
	page_size = sysconf(_SC_PAGESIZE);
	snprintf(text, sizeof(text), "/page/%s", argv[1]);
	if (argc == 3)
		delay_ms = strcmp(argv[2], "hold") ? atoi(argv[2]) : -1;
	signal(SIGUSR1, count_signal);
	path = prepare(argv[1]);
	begin = now_ms();
	errno = 0;
	syscall(SYS_openat, AT_FDCWD, path, open_flags, 0);
	printf("openat=%s ms=%ld faults=%d signals=%d\n", strerrorname_np(errno), now_ms() - begin,
	       faults, signals);
	return 0;
}
