// SPDX-License-Identifier: GPL-2.0-only
/*
 * readers - several threads that read a file of lines, by one descriptor or more
 *
 * They block in read() until they have the given number of lines together. Then the lines of each
 * thread are printed, one thread after the other.
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define MAX_READERS	64
#define TIME_LIMIT	30	/* seconds */
#define READ_SIZE	65536	/* larger than what one read of a trace gives */

static struct reader {
	pthread_t	thread;
	int		fd;
	char		*text;		/* under lock, as the rest */
	size_t		size;
	unsigned long	lines;
} readers[MAX_READERS];

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static unsigned long total, running;

static void take(struct reader *reader, const char *buf, size_t size)
{
	unsigned long lines = 0;
	size_t i;

	for (i = 0; i < size; i++)
		lines += buf[i] == '\n';

	reader->text = realloc(reader->text, reader->size + size);
	if (!reader->text)
		err(1, "realloc");
	memcpy(reader->text + reader->size, buf, size);
	reader->size += size;
	reader->lines += lines;
	total += lines;
}

static void *run(void *arg)
{
	struct reader *reader = arg;
	char buf[READ_SIZE];
	ssize_t ret;

	do {
		ret = read(reader->fd, buf, sizeof(buf));
		if (ret < 0)
			err(1, "read");
		pthread_mutex_lock(&lock);
		if (ret)
			take(reader, buf, ret);
		else
			running--;
		pthread_cond_signal(&changed);
		pthread_mutex_unlock(&lock);
	} while (ret);

	return NULL;
}

static void start(const char *path, unsigned long threads, unsigned long descriptors)
{
	unsigned long i;
	int ret;

	running = threads;
	for (i = 0; i < threads; i++) {
		readers[i].fd = i < descriptors ? open(path, O_RDONLY)
						: readers[i - descriptors].fd;
		if (readers[i].fd < 0)
			err(1, "%s", path);
	}
	for (i = 0; i < threads; i++) {
		ret = pthread_create(&readers[i].thread, NULL, run, &readers[i]);
		if (ret)
			errx(1, "pthread_create: %s", strerror(ret));
	}
}

/* With the lock held: until the lines are there, or no more come. */
static void wait_for(unsigned long lines)
{
	struct timespec limit;

	clock_gettime(CLOCK_REALTIME, &limit);
	limit.tv_sec += TIME_LIMIT;
	while (total < lines && running) {
		if (pthread_cond_timedwait(&changed, &lock, &limit) == ETIMEDOUT) {
			warnx("%lu lines after %d s", total, TIME_LIMIT);
			return;
		}
	}
}

int main(int argc, char **argv)
{
	unsigned long threads, descriptors, i;

	if (argc != 5) {
		fprintf(stderr,
			"Usage: readers FILE THREADS DESCRIPTORS LINES\n"
			"Read LINES lines with so many threads that share so many descriptors, and\n"
			"print them. How many lines each thread had goes to standard error.\n");
		return 2;
	}
	threads = strtoul(argv[2], NULL, 0);
	descriptors = strtoul(argv[3], NULL, 0);
	if (!threads || threads > MAX_READERS || !descriptors || descriptors > threads)
		errx(2, "%lu threads, %lu descriptors", threads, descriptors);

	start(argv[1], threads, descriptors);
	pthread_mutex_lock(&lock);
	wait_for(strtoul(argv[4], NULL, 0));
	for (i = 0; i < threads; i++) {
		fprintf(stderr, "%s%lu", i ? " " : "", readers[i].lines);
		fwrite(readers[i].text, 1, readers[i].size, stdout);
	}
	fputc('\n', stderr);
	/* Not by the threads' end: they may be blocked. */
	_exit(fflush(stdout) ? 1 : 0);
}
