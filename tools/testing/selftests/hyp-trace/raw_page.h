/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The pages of trace_pipe_raw, of numbered events
 *
 * They are printed as trace_pipe prints them, so that the scripts check both alike. In the
 * host's instances, numbered events are written to trace_marker.
 */
#ifndef _HYP_TRACE_RAW_PAGE_H
#define _HYP_TRACE_RAW_PAGE_H

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

/* In the commit word */
#define SIZE_MASK	0x07ffffff	/* of the events, in bytes */
#define LOST_STORED	0x40000000	/* after them is how many were lost */
#define LOST		0x80000000	/* events were, before this page */

#define HEADER		16		/* bytes: a time, the commit word */
#define HEADER_PAGE	"/sys/kernel/tracing/events/header_page"

enum { PADDING = 29, TIME_EXTEND, TIME_STAMP };

struct raw_page {
	uint64_t	time;
	uint64_t	commit;
	unsigned char	data[];
};

static inline unsigned int page_events_size(const struct raw_page *page)
{
	return page->commit & SIZE_MASK;
}

static inline size_t raw_page_size(void)
{
	static size_t size;
	char line[200];
	FILE *file;

	if (size)
		return size;
	file = fopen(HEADER_PAGE, "r");
	while (file && fgets(line, sizeof(line), file)) {
		if (strstr(line, "char data;"))
			size = strtoul(strstr(line, "size:") + 5, NULL, 10) + HEADER;
	}
	if (!size)
		errx(1, HEADER_PAGE);
	fclose(file);
	return size;
}

/* Which CPU's file it is. */
static inline int raw_cpu(const char *path)
{
	const char *cpu = strstr(path, "per_cpu/cpu");

	return cpu ? atoi(cpu + strlen("per_cpu/cpu")) : 0;
}

static inline void print_lost(int cpu, const struct raw_page *page)
{
	unsigned long lost;

	if (!(page->commit & LOST))
		return;
	memcpy(&lost, page->data + page_events_size(page), sizeof(lost));
	if (page->commit & LOST_STORED)
		printf("CPU:%d [LOST %lu EVENTS]\n", cpu, lost);
	else
		printf("CPU:%d [LOST EVENTS]\n", cpu);
}

/* An event's payload: the common fields, and the number as it is or as a text. */
static inline void print_event(int cpu, uint64_t time, const unsigned char *data,
			       const char *path)
{
	unsigned long long id;
	unsigned long long us = (time + 500) / 1000;	/* as the kernel rounds */
	int marker = !strstr(path, "/hypervisor/") && !strstr(path, "/trace_remote_test/");

	if (marker)
		id = strtoull((const char *)data + 16, NULL, 10);
	else
		memcpy(&id, data + 8, sizeof(uint64_t));
	printf("[%03d] %5llu.%06llu: selftest id=%llu\n", cpu, us / 1000000, us % 1000000, id);
}

/* The size of an event, with its header */
static inline unsigned int event_size(const uint32_t *event)
{
	unsigned int type = event[0] & 31;

	switch (type) {
	case TIME_EXTEND:
	case TIME_STAMP:
		return 8;
	case PADDING:
	case 0:
		return 4 + event[1];
	default:
		return 4 + 4 * type;
	}
}

/* The time of an event, after one at @time */
static inline uint64_t event_time(const uint32_t *event, uint64_t time)
{
	switch (event[0] & 31) {
	case TIME_STAMP:
		return (uint64_t)event[1] << 27 | event[0] >> 5;
	case TIME_EXTEND:
		return time + ((uint64_t)event[1] << 27 | event[0] >> 5);
	default:
		return time + (event[0] >> 5);
	}
}

/* The data of an event; NULL for a time extend */
static inline const unsigned char *event_data(const uint32_t *event)
{
	unsigned int type = event[0] & 31;

	return type < PADDING ? (const void *)(event + (type ? 1 : 2)) : NULL;
}

/*
 * The page's events from @pos to @end; what is before that only for its times. A page
 * that is mapped may have more by now, which comes next time.
 */
static inline void print_page(const char *path, const struct raw_page *page, unsigned int pos,
			      unsigned int end)
{
	unsigned int at, size = page_events_size(page);
	uint64_t time = page->time;
	int cpu = raw_cpu(path);

	if (!size || size > raw_page_size() - HEADER)
		errx(1, "%s: a page of %u bytes of events", path, size);
	if (!pos)
		print_lost(cpu, page);
	for (at = 0; at < size; at += event_size((const uint32_t *)(page->data + at))) {
		const uint32_t *event = (const uint32_t *)(page->data + at);

		time = event_time(event, time);
		if (event_data(event) && at >= pos && at < end)
			print_event(cpu, time, event_data(event), path);
	}
	if (at != size)
		errx(1, "%s: events of %u bytes in a page of %u", path, at, size);
}

static inline int raw_open(const char *path, int flags)
{
	int fd = open(path, O_RDONLY | flags);

	if (fd < 0)
		err(1, "%s", path);
	return fd;
}

static inline const char *outcome(long ret)
{
	static char number[24];

	if (ret < 0)
		return strerrorname_np(errno);
	snprintf(number, sizeof(number), "%ld", ret);
	return number;
}

static int ended;

static inline void end(int signal)
{
	__atomic_store_n(&ended, 1, __ATOMIC_RELAXED);
}

static inline int has_ended(void)
{
	return __atomic_load_n(&ended, __ATOMIC_RELAXED);
}

static inline void end_by_sigterm(void)
{
	struct sigaction action = { .sa_handler = end };

	sigaction(SIGTERM, &action, NULL);
}

/* Consume events and wait for more, until SIGTERM. */
static inline void follow(int fd, void (*take)(void))
{
	struct pollfd wait = { .fd = fd, .events = POLLIN };
	int last;

	end_by_sigterm();
	do {
		last = has_ended();
		take();
		if (!last && poll(&wait, 1, 100) < 0 && errno != EINTR)
			err(1, "poll");
	} while (!last);
}

#endif
