// SPDX-License-Identifier: GPL-2.0-only
/*
 * Run a command with a perf event, and print a text of each sample:
 *
 *	event SYSTEM/EVENT FIELD COMMAND [ARGUMENT]...
 *
 * FIELD is a __data_loc string of the event. With - for it, no text is printed.
 */
#define _GNU_SOURCE
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "start.h"

#define TRACEFS		"/sys/kernel/tracing/events"
#define DATA_PAGES	16

struct sample {
	struct perf_event_header header;
	uint32_t size;
	char raw[];
};

static void fail(const char *what)
{
	perror(what);
	exit(2);
}

static FILE *open_event(const char *event, const char *name)
{
	char path[256];
	FILE *file;

	snprintf(path, sizeof(path), TRACEFS "/%s/%s", event, name);
	file = fopen(path, "r");
	if (!file)
		fail(path);
	return file;
}

static int event_id(const char *event)
{
	FILE *file = open_event(event, "id");
	int id;

	if (fscanf(file, "%d", &id) != 1)
		fail("id");
	fclose(file);
	return id;
}

static int field_offset(const char *event, const char *field)
{
	FILE *file = open_event(event, "format");
	char line[256], wanted[64];
	int offset = -1;
	char *found;

	snprintf(wanted, sizeof(wanted), " %s;\toffset:", field);
	while (fgets(line, sizeof(line), file)) {
		found = strstr(line, wanted);
		if (found)
			offset = atoi(found + strlen(wanted));
	}
	fclose(file);
	if (offset < 0) {
		printf("%s has no %s\n", event, field);
		exit(2);
	}
	return offset;
}

static int open_perf(const char *event, pid_t pid)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_TRACEPOINT,
		.config = event_id(event),
		.sample_period = 1,
		.sample_type = PERF_SAMPLE_RAW,
		.wakeup_events = 1,
	};
	int fd = syscall(SYS_perf_event_open, &attr, pid, -1, -1, 0);

	if (fd < 0)
		fail("perf_event_open");
	return fd;
}

static void print_samples(struct perf_event_mmap_page *meta, const char *data, int offset)
{
	uint64_t tail = 0, head = __atomic_load_n(&meta->data_head, __ATOMIC_ACQUIRE);
	const struct sample *sample;
	uint32_t loc;

	for (; tail < head; tail += sample->header.size) {
		sample = (const struct sample *)(data + tail);
		if (sample->header.type != PERF_RECORD_SAMPLE)
			continue;
		memcpy(&loc, sample->raw + offset, sizeof(loc));
		printf("text=%s\n", sample->raw + (loc & 0xffff));
	}
}

int main(int argc, char **argv)
{
	long page_size = sysconf(_SC_PAGESIZE);
	int fd, go, offset;
	char *ring;
	pid_t pid;

	if (argc < 4)
		return 2;
	offset = strcmp(argv[2], "-") ? field_offset(argv[1], argv[2]) : 0;
	pid = start(argv + 3, &go);
	if (pid < 0)
		fail("fork");
	fd = open_perf(argv[1], pid);
	ring = mmap(NULL, (DATA_PAGES + 1) * page_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (ring == MAP_FAILED)
		fail("mmap");
	if (write(go, "", 1) != 1)
		fail("write");
	waitpid(pid, NULL, 0);
	if (offset)
		print_samples((void *)ring, ring + page_size, offset);
	return 0;
}
