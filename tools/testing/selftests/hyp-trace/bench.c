// SPDX-License-Identifier: GPL-2.0-only
/*
 * bench - measure the time of writing and reading events
 *
 * Times are in ns of CLOCK_MONOTONIC_RAW. On a machine that has one instruction a
 * nanosecond (QEMU's -icount shift=0) these are instructions.
 */
#define _GNU_SOURCE
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/trace_mmap.h>
#include <poll.h>
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

#include "argument.h"

#define MAX_PAGE	65536

/* A time that exceeds the median by more than this is not due to noise. */
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

/* What is written, "1" if nothing else is asked for */
static const char *line = "1";

static void write_one(int fd)
{
	ssize_t len = strlen(line);

	if (write(fd, line, len) != len)
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

/* Each write from another CPU than the one before, if there are several. */
static void bench_rotate(const char *path, long nr)
{
	int fd = open_file(path, O_WRONLY);
	long i, nr_cpus = sysconf(_SC_NPROCESSORS_ONLN);

	for (i = 0; i < nr; i++) {
		pin(i % nr_cpus);
		write_one(fd);
	}
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

/**
 * struct source - a file that is read from
 * @take:	take what there is; false when that is nothing
 * @fd:		the file
 * @size:	bytes to read at a time
 * @pipe:	to splice to, and from
 * @null:	... and to there
 * @meta:	the ring's meta page, mapped
 */
struct source {
	bool				(*take)(struct source *source);
	int				fd;
	size_t				size;
	int				pipe[2];
	int				null;
	struct trace_buffer_meta	*meta;
};

static bool is_end(ssize_t bytes)
{
	if (bytes < 0 && errno != EAGAIN)
		err(1, "read");
	return bytes <= 0;
}

static bool take_read(struct source *source)
{
	return !is_end(read(source->fd, page, source->size));
}

static bool take_splice(struct source *source)
{
	ssize_t bytes = splice(source->fd, NULL, source->pipe[1], NULL, MAX_PAGE,
			       SPLICE_F_NONBLOCK);

	if (is_end(bytes))
		return false;
	if (splice(source->pipe[0], NULL, source->null, NULL, bytes, 0) != bytes)
		err(1, "splice");
	return true;
}

/* Pages are consumed without being parsed. */
static bool take_mapped(struct source *source)
{
	unsigned int id = source->meta->reader.id;
	unsigned long read = source->meta->read;

	if (ioctl(source->fd, TRACE_MMAP_IOCTL_GET_READER) < 0)
		err(1, "TRACE_MMAP_IOCTL_GET_READER");
	return source->meta->reader.id != id || source->meta->read != read;
}

static void map_source(struct source *source)
{
	size_t size = sysconf(_SC_PAGESIZE);

	source->meta = mmap(NULL, size, PROT_READ, MAP_SHARED, source->fd, 0);
	if (source->meta == MAP_FAILED)
		err(1, "mmap");
	if (mmap(NULL, (size_t)source->meta->subbuf_size * source->meta->nr_subbufs, PROT_READ,
		 MAP_SHARED, source->fd, source->meta->meta_page_size) == MAP_FAILED)
		err(1, "mmap of the pages");
}

static void open_source(struct source *source, const char *how, const char *path)
{
	*source = (struct source) {
		.take	= take_read,
		.fd	= open_file(path, O_RDONLY | O_NONBLOCK),
		.size	= strcmp(how, "page") ? sizeof(page) : (size_t)sysconf(_SC_PAGESIZE),
	};
	if (!strcmp(how, "splice")) {
		source->take = take_splice;
		source->null = open_file("/dev/null", O_WRONLY);
		if (pipe(source->pipe))
			err(1, "pipe");
	} else if (!strcmp(how, "mmap")) {
		source->take = take_mapped;
		map_source(source);
	}
	/* Touch the memory before it is measured. */
	memset(page, 1, sizeof(page));
}

static void bench_read(const char *how, const char *path)
{
	struct source source;
	uint64_t begin;

	open_source(&source, how, path);
	begin = now();
	while (source.take(&source))
		;
	printf("%llu\n", (unsigned long long)(now() - begin));
}

/* A writer at full speed on CPU 0, and a reader on CPU 1 */
static void bench_follow(const char *how, const char *in, const char *out, long nr)
{
	struct pollfd waiting;
	struct source source;
	pid_t writer;

	open_source(&source, how, in);
	writer = fork();
	if (!writer) {
		pin(0);
		bench_write(out, nr);
		exit(0);
	}

	pin(1);
	waiting = (struct pollfd){ .fd = source.fd, .events = POLLIN };
	while (!waitpid(writer, NULL, WNOHANG))
		if (!source.take(&source))
			poll(&waiting, 1, 1);
	while (source.take(&source))
		;
}

/* The time until a waiting reader wakes, event by event */
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
	if (argc == 5 && !strcmp(argv[1], "write"))
		line = argv[4];
	if (argc >= 4 && argc <= 5 && !strcmp(argv[1], "write"))
		bench_write(argv[2], atol(argv[3]));
	else if (argc == 4 && !strcmp(argv[1], "rotate"))
		bench_rotate(argv[2], atol(argv[3]));
	else if (argc == 4 && !strcmp(argv[1], "crossings"))
		bench_crossings(argv[2], atol(argv[3]));
	else if (argc == 4 && !strcmp(argv[1], "read"))
		bench_read(argv[2], argv[3]);
	else if (argc == 5 && !strcmp(argv[1], "wakeup"))
		bench_wakeup(argv[2], argv[3], atol(argv[4]));
	else if (argc == 6 && !strcmp(argv[1], "follow"))
		bench_follow(argv[2], argv[3], argv[4], atol(argv[5]));
	else
		errx(2, "Usage: bench write FILE COUNT [LINE]\n"
			"       bench rotate FILE COUNT\n"
			"       bench crossings FILE COUNT\n"
			"       bench read raw|page|splice|mmap|text FILE\n"
			"       bench wakeup PIPE FILE COUNT\n"
			"       bench follow HOW PIPE FILE COUNT\n"
			"Prints ns; of crossings how many, and ns.");
	return 0;
}
