// SPDX-License-Identifier: GPL-2.0
/*
 * mapped - read a CPU's buffer of the hypervisor by mapping it
 *
 * A client of libtracefs: it maps the buffer, waits, and prints each event as
 * the event's own format says, in the lines that trace_pipe has. SIGTERM ends it
 * when it has printed what there is.
 */
#include <err.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <tracefs.h>

static struct tracefs_cpu *buffer;
static struct tep_handle *tep;
static int ended;

/* Whoever waits is woken. */
static void end(int signal)
{
	__atomic_store_n(&ended, 1, __ATOMIC_RELAXED);
	tracefs_cpu_stop(buffer);
}

static void print_event(int cpu, struct kbuffer *page, void *data, unsigned long long time)
{
	static struct trace_seq text;
	struct tep_record record = {
		.ts	= time,
		.cpu	= cpu,
		.data	= data,
		.size	= kbuffer_event_size(page),
	};
	struct tep_event *event = tep_find_event_by_record(tep, &record);
	unsigned long long us = (time + 500) / 1000;	/* as the kernel rounds */

	if (!event)
		errx(1, "event %d has no format", tep_data_type(tep, &record));
	if (!text.buffer)
		trace_seq_init(&text);
	trace_seq_reset(&text);
	trace_seq_printf(&text, "[%03d] %5llu.%06llu: %s ", cpu, us / 1000000, us % 1000000,
			 event->name);
	tep_print_event(tep, &text, &record, "%s", TEP_PRINT_INFO);
	trace_seq_terminate(&text);
	puts(text.buffer);
}

static void print_lost(int cpu, struct kbuffer *page)
{
	int lost = kbuffer_missed_events(page);

	if (lost > 0)
		printf("CPU:%d [LOST %d EVENTS]\n", cpu, lost);
	else if (lost)
		printf("CPU:%d [LOST EVENTS]\n", cpu);
}

static void print_page(int cpu, struct kbuffer *page)
{
	unsigned long long time;
	void *data;

	print_lost(cpu, page);
	while ((data = kbuffer_read_event(page, &time))) {
		print_event(cpu, page, data, time);
		kbuffer_next_event(page, NULL);
	}
}

/* Waiting for more, or what there is now. */
static void print_all(int cpu, bool nonblock)
{
	struct kbuffer *page;

	do {
		errno = 0;
		page = tracefs_cpu_read_buf(buffer, nonblock);
		if (page)
			print_page(cpu, page);
	} while (page);
	if (errno && errno != EAGAIN && errno != EINTR)
		err(1, "CPU %d", cpu);
}

static void open_mapped(int cpu)
{
	struct tracefs_instance *instance = tracefs_instance_alloc(NULL, "hypervisor");
	static const char * const systems[] = { "hypervisor", NULL };

	if (!instance)
		err(1, "no instance hypervisor");
	tep = tracefs_local_events_system(NULL, systems);
	if (!tep)
		err(1, "no formats");
	buffer = tracefs_cpu_open_mapped(instance, cpu, false);
	if (!buffer)
		err(1, "CPU %d", cpu);
	if (!tracefs_cpu_is_mapped(buffer))
		errx(1, "CPU %d is not mapped", cpu);
}

int main(int argc, char **argv)
{
	struct sigaction action = { .sa_handler = end };
	int cpu;

	if (argc != 2) {
		fprintf(stderr, "Usage: mapped CPU\n");
		return 2;
	}
	cpu = atoi(argv[1]);
	open_mapped(cpu);
	sigaction(SIGTERM, &action, NULL);
	fprintf(stderr, "CPU %d is mapped\n", cpu);

	while (!__atomic_load_n(&ended, __ATOMIC_RELAXED))
		print_all(cpu, false);
	print_all(cpu, true);
	tracefs_cpu_close(buffer);
	return fflush(stdout) ? 1 : 0;
}
