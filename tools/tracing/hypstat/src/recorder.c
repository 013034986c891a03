// SPDX-License-Identifier: GPL-2.0
/*
 * Reads the pages of trace_pipe_raw, a thread for each CPU, into files without names. They
 * become part of trace.dat when tracing is off.
 *
 * While tracing is on, a large read() of the hypervisor's pages returns those that EL2 has
 * completed. A read() of one page's size also returns the one that is being written.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <tracefs.h>

#include "recorder.h"
#include "utils.h"

#define POLL_MS		100	/* how long to wait before the reader looks at recorder.stop */

/* Append what was read. A page is whole, whatever its size was. */
static void append(struct cpu_recorder *cpu, size_t size)
{
	size_t page_size = cpu->recorder->page_size;

	if (size % page_size) {
		memset(cpu->page + size, 0, page_size - size % page_size);
		size += page_size - size % page_size;
	}
	if (fwrite(cpu->page, size, 1, cpu->pages) != 1 && !cpu->error)
		cpu->error = errno;
}

/* Read all that is there, so much at once. A CPU that was never online has nothing. */
static void drain(struct cpu_recorder *cpu, size_t size)
{
	ssize_t got;

	while (!cpu->error) {
		got = read(cpu->fd, cpu->page, size);
		if (got > 0)
			append(cpu, got);
		else if (got == 0 || errno == EAGAIN || errno == ENODEV)
			return;
		else if (errno != EINTR)
			cpu->error = errno;
	}
}

static void *record_cpu(void *arg)
{
	struct cpu_recorder *cpu = arg;
	struct recorder *recorder = cpu->recorder;
	struct pollfd poll_cpu = { .fd = cpu->fd, .events = POLLIN };

	while (!recorder->stop && !cpu->error) {
		poll(&poll_cpu, 1, POLL_MS);
		drain(cpu, recorder->read_size);
	}
	drain(cpu, recorder->page_size);
	return NULL;
}

static FILE *unnamed_file(const char *directory)
{
	int fd = open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	return fd < 0 ? tmpfile() : fdopen(fd, "w+");
}

static void start_cpu(struct recorder *recorder, int nr, const char *directory)
{
	struct cpu_recorder *cpu = &recorder->cpus[nr];
	char name[64];

	snprintf(name, sizeof(name), "per_cpu/cpu%d/trace_pipe_raw", nr);
	cpu->recorder = recorder;
	cpu->cpu = nr;
	cpu->fd = tracefs_instance_file_open(recorder->instance, name,
					     O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (cpu->fd < 0)
		die("can't open %s of %s: %s", name, tracefs_instance_get_name(recorder->instance),
		    strerror(errno));
	cpu->page = xcalloc(1, recorder->read_size + recorder->page_size);
	cpu->pages = unnamed_file(directory);
	if (!cpu->pages)
		die("can't make a file in %s: %s", directory, strerror(errno));
	errno = pthread_create(&cpu->thread, NULL, record_cpu, cpu);
	if (errno)
		die("can't make a thread: %s", strerror(errno));
}

/**
 * recorder_start - open the files, and read them from now on, or exit
 * @recorder: the recorder, with an instance, the number of CPUs, and sizes
 * @directory: where there is room for the pages
 */
void recorder_start(struct recorder *recorder, const char *directory)
{
	int cpu;

	recorder->cpus = xcalloc(recorder->nr_cpus, sizeof(*recorder->cpus));
	for (cpu = 0; cpu < recorder->nr_cpus; cpu++)
		start_cpu(recorder, cpu, directory);
}

/**
 * recorder_stop - read what is left, and no more, or exit
 * @recorder: the recorder; tracing is off
 */
void recorder_stop(struct recorder *recorder)
{
	struct cpu_recorder *cpu = recorder->cpus;

	recorder->stop = true;
	for (; cpu < recorder->cpus + recorder->nr_cpus; cpu++) {
		pthread_join(cpu->thread, NULL);
		close(cpu->fd);
		if (cpu->error)
			die("can't record CPU %d: %s", cpu->cpu, strerror(cpu->error));
	}
}

static void write_cpu(struct cpu_recorder *cpu, struct dat_writer *dat)
{
	size_t size = cpu->recorder->page_size;

	dat_buffer_cpu(dat, cpu->cpu);
	rewind(cpu->pages);
	while (!dat->error && fread(cpu->page, size, 1, cpu->pages) == 1)
		dat_buffer_page(dat, cpu->page);
	if (ferror(cpu->pages))
		die("can't read the pages of CPU %d again", cpu->cpu);
}

/**
 * recorder_write - write the pages to a trace.dat
 * @recorder: the recorder
 * @dat: the file
 * @name: the buffer's name in it
 */
void recorder_write(struct recorder *recorder, struct dat_writer *dat, const char *name)
{
	int cpu;

	dat_buffer(dat);
	for (cpu = 0; cpu < recorder->nr_cpus; cpu++)
		write_cpu(&recorder->cpus[cpu], dat);
	dat_buffer_end(dat, name, "boot");
}

/**
 * recorder_free - free a recorder
 * @recorder: it
 */
void recorder_free(struct recorder *recorder)
{
	struct cpu_recorder *cpu = recorder->cpus;

	for (; cpu < recorder->cpus + recorder->nr_cpus; cpu++) {
		fclose(cpu->pages);
		free(cpu->page);
	}
	free(recorder->cpus);
}
