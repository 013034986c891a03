// SPDX-License-Identifier: GPL-2.0-only
/*
 * hypmap - print the events of a CPU from its mapped ring
 *
 * The example of Documentation/trace/hypervisor-tracing.rst. It consumes the events of a
 * trace_pipe_raw without copying a page, prints the time and the id of each, and ends when
 * no event has come for a second.
 */
#include <err.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include <linux/trace_mmap.h>

#define TIME_EXTEND	30	/* the type of a time delta of 59 bits */
#define NSEC_PER_SEC	1000000000ULL

struct page {
	uint64_t	time;	/* of the first event, ns */
	uint64_t	commit;
	char		data[];
};

static const struct trace_buffer_meta *meta;
static const char *pages;
static uint32_t id, pos;	/* the reader's page, and how many bytes of it are printed */

/* The event's record begins with its id. Returns the event's size. */
static uint32_t print_event(const uint32_t *event, unsigned long long *time, int print)
{
	uint32_t type = event[0] & 31;
	const uint16_t *record = (const void *)(event + (type ? 1 : 2));

	*time += event[0] >> 5;
	if (type == TIME_EXTEND) {
		*time += (unsigned long long)event[1] << 27;
		return 8;
	}
	if (print)
		printf("%llu.%09llu: event %u\n", *time / NSEC_PER_SEC, *time % NSEC_PER_SEC,
		       record[0]);
	return 4 + (type ? 4 * type : event[1]);
}

static const struct page *reader_page(void)
{
	if (meta->reader.id != id) {
		id = meta->reader.id;
		pos = 0;
		if (meta->reader.lost_events)
			printf("%llu events lost\n", (unsigned long long)meta->reader.lost_events);
	}
	return (const void *)(pages + (size_t)id * meta->subbuf_size);
}

/* Print what the last ioctl() consumed: all up to reader.read. Returns 0 if that is nothing. */
static int print_new(void)
{
	const struct page *page = reader_page();
	unsigned long long time = page->time;
	uint32_t at = 0;

	if (pos == meta->reader.read)
		return 0;
	while (at < meta->reader.read)
		at += print_event((const void *)(page->data + at), &time, at >= pos);
	pos = at;
	return 1;
}

static void map_ring(int fd)
{
	meta = mmap(NULL, getpagesize(), PROT_READ, MAP_SHARED, fd, 0);
	if (meta == MAP_FAILED)
		err(1, "mmap() of the meta page");
	pages = mmap(NULL, (size_t)meta->subbuf_size * meta->nr_subbufs, PROT_READ, MAP_SHARED,
		     fd, meta->meta_page_size);
	if (pages == MAP_FAILED)
		err(1, "mmap() of the events");
	id = meta->reader.id;
	pos = meta->reader.read;
}

int main(int argc, char **argv)
{
	struct pollfd ring = { .events = POLLIN };

	if (argc != 2)
		errx(2, "usage: hypmap TRACE_PIPE_RAW");
	ring.fd = open(argv[1], O_RDONLY | O_NONBLOCK);
	if (ring.fd < 0)
		err(1, "%s", argv[1]);
	map_ring(ring.fd);
	do {
		if (ioctl(ring.fd, TRACE_MMAP_IOCTL_GET_READER))
			err(1, "TRACE_MMAP_IOCTL_GET_READER");
	} while (print_new() || poll(&ring, 1, 1000) > 0);
	return 0;
}
