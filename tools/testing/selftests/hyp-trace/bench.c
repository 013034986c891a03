// SPDX-License-Identifier: GPL-2.0-only
/*
 * bench - how long it takes to write events, and to read them
 *
 * Times are in ns of CLOCK_MONOTONIC_RAW. On a machine that has one instruction a
 * nanosecond (QEMU's -icount shift=0) these are instructions.
 */
#define _GNU_SOURCE
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/trace_mmap.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MAX_PAGE	65536

/* What is more than this above the median is more than chance. */
#define BENCH_NOISE	100

static char page[MAX_PAGE];

static uint64_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC_RAW, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

static int open_file(const char *path, int flags)
{
	int fd = open(path, flags);

	if (fd < 0)
		err(1, "%s", path);
	return fd;
}

static void write_one(int fd)
{
	if (write(fd, "1\n", 2) != 2)
		err(1, "write");
}

/* Each write is an event, or none. */
static void bench_write(const char *path, long nr)
{
	int fd = open_file(path, O_WRONLY);
	uint64_t begin = now();
	long i;

	for (i = 0; i < nr; i++)
		write_one(fd);
	printf("%llu\n", (unsigned long long)(now() - begin));
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* How many writes took longer than usual, and how much so on average: page crossings. */
static void bench_crossings(const char *path, long nr)
{
	uint64_t *times = calloc(nr, sizeof(*times)), median, sum = 0;
	int fd = open_file(path, O_WRONLY);
	long i, slow = 0;

	if (!times)
		err(1, "calloc");
	for (i = 0; i < nr; i++) {
		times[i] = now();
		write_one(fd);
		times[i] = now() - times[i];
	}
	qsort(times, nr, sizeof(*times), compare);
	median = times[nr / 2];
	for (i = 0; i < nr; i++) {
		/* Interrupts take longer by far. */
		if (times[i] <= median + BENCH_NOISE || times[i] > 2 * median)
			continue;
		sum += times[i] - median;
		slow++;
	}
	printf("%ld %llu\n", slow, (unsigned long long)(slow ? sum / slow : 0));
}

static bool is_end(ssize_t bytes)
{
	if (bytes < 0 && errno != EAGAIN)
		err(1, "read");
	return bytes <= 0;
}

static void read_all(int fd)
{
	while (!is_end(read(fd, page, sizeof(page))))
		;
}

static void splice_all(int fd)
{
	int null = open_file("/dev/null", O_WRONLY), ends[2];
	ssize_t bytes;

	if (pipe(ends))
		err(1, "pipe");
	while (!is_end(bytes = splice(fd, NULL, ends[1], NULL, MAX_PAGE, SPLICE_F_NONBLOCK)))
		if (splice(ends[0], NULL, null, NULL, bytes, 0) != bytes)
			err(1, "splice");
}

/* Pages are taken, and not looked at. */
static void map_all(int fd)
{
	size_t size = sysconf(_SC_PAGESIZE);
	struct trace_buffer_meta *meta = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
	unsigned int id;
	void *data;

	if (meta == MAP_FAILED)
		err(1, "mmap");
	data = mmap(NULL, (size_t)meta->subbuf_size * meta->nr_subbufs, PROT_READ, MAP_SHARED, fd,
		    meta->meta_page_size);
	if (data == MAP_FAILED)
		err(1, "mmap of the pages");
	do {
		id = meta->reader.id;
		if (ioctl(fd, TRACE_MMAP_IOCTL_GET_READER) < 0)
			err(1, "TRACE_MMAP_IOCTL_GET_READER");
	} while (meta->reader.id != id);
}

static void bench_read(const char *how, const char *path)
{
	int fd = open_file(path, O_RDONLY | O_NONBLOCK);
	uint64_t begin = now();

	if (!strcmp(how, "splice"))
		splice_all(fd);
	else if (!strcmp(how, "mmap"))
		map_all(fd);
	else
		read_all(fd);
	printf("%llu\n", (unsigned long long)(now() - begin));
}

/* A reader that waits: when is it awake? Then the next event. */
static void wait_for_events(int fd, uint64_t *awake, long nr)
{
	while (nr--) {
		if (read(fd, page, sizeof(page)) <= 0)
			err(1, "read");
		__atomic_store_n(awake, now(), __ATOMIC_RELEASE);
	}
	exit(0);
}

static void bench_wakeup(const char *pipe_path, const char *path, long nr)
{
	uint64_t *awake = mmap(NULL, sizeof(*awake), PROT_READ | PROT_WRITE,
			       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int in = open_file(pipe_path, O_RDONLY), out = open_file(path, O_WRONLY);
	uint64_t *times = calloc(nr, sizeof(*times));
	uint64_t begin;
	long i;

	if (awake == MAP_FAILED || !times)
		err(1, "memory");
	if (!fork())
		wait_for_events(in, awake, nr);
	for (i = 0; i < nr; i++) {
		__atomic_store_n(awake, 0, __ATOMIC_RELAXED);
		usleep(20000);	/* It waits again. */
		begin = now();
		write_one(out);
		while (!__atomic_load_n(awake, __ATOMIC_ACQUIRE))
			usleep(100);
		times[i] = *awake - begin;
	}
	wait(NULL);
	qsort(times, nr, sizeof(*times), compare);
	printf("%llu\n", (unsigned long long)times[nr / 2]);
}

int main(int argc, char **argv)
{
	if (argc == 4 && !strcmp(argv[1], "write"))
		bench_write(argv[2], atol(argv[3]));
	else if (argc == 4 && !strcmp(argv[1], "crossings"))
		bench_crossings(argv[2], atol(argv[3]));
	else if (argc == 4 && !strcmp(argv[1], "read"))
		bench_read(argv[2], argv[3]);
	else if (argc == 5 && !strcmp(argv[1], "wakeup"))
		bench_wakeup(argv[2], argv[3], atol(argv[4]));
	else
		errx(2, "Usage: bench write|crossings FILE COUNT\n"
			"       bench read raw|splice|mmap|text FILE\n"
			"       bench wakeup PIPE FILE COUNT\n"
			"Prints ns; of crossings how many, and ns.");
	return 0;
}
