/* SPDX-License-Identifier: GPL-2.0 */
#ifndef HYPSTAT_RECORDER_H
#define HYPSTAT_RECORDER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#include "dat_write.h"

struct tracefs_instance;
struct recorder;

/**
 * struct cpu_recorder - the thread that reads the pages of a CPU
 * @recorder: the recorder that it is part of
 * @thread: the thread
 * @cpu: the CPU
 * @fd: trace_pipe_raw
 * @pages: the pages, in a file without a name
 * @page: room for the pages that one read() returns
 * @error: the first errno, or 0
 */
struct cpu_recorder {
	struct recorder		*recorder;
	pthread_t		thread;
	int			cpu;
	int			fd;
	FILE			*pages;
	char			*page;
	int			error;
};

/**
 * struct recorder - reads the pages of an instance
 * @instance: the instance
 * @cpus: a thread for each CPU
 * @nr_cpus: how many CPUs
 * @page_size: the size of a page
 * @read_size: how much is read at once, while tracing is on
 * @stop: tracing is off, and the threads end once they have read the rest
 */
struct recorder {
	struct tracefs_instance	*instance;
	struct cpu_recorder	*cpus;
	int			nr_cpus;
	size_t			page_size;
	size_t			read_size;
	atomic_bool		stop;
};

void recorder_start(struct recorder *recorder, const char *directory);
void recorder_stop(struct recorder *recorder);
void recorder_write(struct recorder *recorder, struct dat_writer *dat, const char *name);
void recorder_free(struct recorder *recorder);

#endif
