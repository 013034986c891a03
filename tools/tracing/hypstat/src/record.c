// SPDX-License-Identifier: GPL-2.0
/* hypstat record: writes the hypervisor's events to a trace.dat, and those of the host. */
#include <errno.h>
#include <getopt.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <tracefs.h>

#include "dat_formats.h"
#include "functions.h"
#include "instance.h"
#include "record.h"
#include "recorder.h"
#include "report.h"
#include "session.h"
#include "stop.h"
#include "utils.h"

#define MAX_EVENTS	32
#define READ_PAGES	64	/* of the hypervisor, at once */
#define STATUS_STOPPED	1	/* the exit status if a long stay has ended the session */

static const char * const help[] = {
	"",
	"  usage: hypstat record [-h] [-o file] [-d s|m|h|d] [-e sys[:event]]... [-f pattern] [-s us] [--trace-buffer-size kB] [COMMAND ...]",
	"",
	"	COMMAND: record while it runs; without it, until Ctrl-C or the duration's end",
	"",
	"	  -o/--output file: the file, default trace.dat",
	"	  -d/--duration time[s|m|h|d]: the duration of the session",
	"	  -e/--event sys[:event]: record events of the host, too, such as kvm, sched and irq",
	"	  -f/--functions pattern: trace these functions of EL2, such as '*'",
	"	  -s/--stop us: end at the first stay at EL2 that takes longer, and explain it",
	"	     --trace-buffer-size kB: the size of the buffers of each CPU",
	"	  -h/--help: print this menu",
	"",
	NULL,
};

enum { OPTION_BUFFER_SIZE = 256 };

static const struct option long_options[] = {
	{ "output",		required_argument,	NULL, 'o' },
	{ "duration",		required_argument,	NULL, 'd' },
	{ "event",		required_argument,	NULL, 'e' },
	{ "functions",		required_argument,	NULL, 'f' },
	{ "stop",		required_argument,	NULL, 's' },
	{ "trace-buffer-size",	required_argument,	NULL, OPTION_BUFFER_SIZE },
	{ "help",		no_argument,		NULL, 'h' },
	{ }
};

/**
 * struct record - a session
 * @output: the file
 * @duration: in seconds, 0: no limit
 * @buffer_size: in KB, as text; NULL: as it is
 * @events: the host's
 * @nr_events: how many
 * @functions: which functions of EL2 are traced
 * @stop: which stay ends it
 * @command: the command and its arguments, or NULL
 * @former_size: of the hypervisor's buffer, in KB, if it was changed
 * @hyp: reads the hypervisor's events
 * @host: reads the host's
 * @dat: writes the file
 */
struct record {
	const char	*output;
	long		duration;
	const char	*buffer_size;
	const char	*events[MAX_EVENTS];
	unsigned int	nr_events;
	struct functions functions;
	struct stop	stop;
	char		**command;
	long long	former_size;
	struct recorder	hyp;
	struct recorder	host;
	struct dat_writer dat;
};

static struct record record = { .output = "trace.dat" };

static void add_event(struct record *record, const char *event)
{
	if (record->nr_events == MAX_EVENTS)
		die("more than %d times -e: name a group of events", MAX_EVENTS);
	record->events[record->nr_events++] = event;
}

static void parse_option(struct record *record, int option)
{
	if (option == 'o')
		record->output = optarg;
	else if (option == 'e')
		add_event(record, optarg);
	else if (option == OPTION_BUFFER_SIZE)
		record->buffer_size = optarg;
	else if (option == 'f')
		record->functions.pattern = optarg;
	else if (option == 's')
		record->stop.us = parse_stop(optarg);
	else if (option == 'd')
		record->duration = parse_duration(optarg);
	else
		usage(help, option == 'h' ? 0 : STATUS_ERROR);
}

static void parse_args(struct record *record, int argc, char **argv)
{
	int option;

	/* An option behind COMMAND is the command's. */
	while ((option = getopt_long(argc, argv, "+o:d:e:f:s:h", long_options, NULL)) != -1)
		parse_option(record, option);
	if (optind < argc)
		record->command = argv + optind;
}

static void prepare(struct record *record, struct recorder *recorder)
{
	recorder->nr_cpus = sysconf(_SC_NPROCESSORS_CONF);
	recorder->page_size = sysconf(_SC_PAGESIZE);
	if (!recorder->read_size)
		recorder->read_size = recorder->page_size;
	instance_write(recorder->instance, "tracing_on", "0");
	instance_clear(recorder->instance);
	if (record->buffer_size)
		instance_write(recorder->instance, "buffer_size_kb", record->buffer_size);
	instance_write(recorder->instance, "trace_clock", "boot");
}

/* That the file can't be made is said before anything is recorded. */
static void create_dat(struct record *record)
{
	int error = dat_create(&record->dat, record->output, sysconf(_SC_PAGESIZE));

	if (error)
		die("can't make %s: %s", record->output, strerror(error));
}

static void prepare_all(struct record *record)
{
	unsigned int i;

	record->hyp.instance = instance_hypervisor();
	stop_begin(&record->stop, record->hyp.instance);
	functions_begin(&record->functions, record->hyp.instance);
	create_dat(record);
	record->hyp.read_size = READ_PAGES * sysconf(_SC_PAGESIZE);
	if (record->buffer_size)
		record->former_size = instance_buffer_size(record->hyp.instance);
	prepare(record, &record->hyp);
	instance_write(record->hyp.instance, "events/hypervisor/filter", "0");
	instance_write(record->hyp.instance, "events/enable", "1");
	if (!record->nr_events)
		return;
	record->host.instance = instance_host();
	prepare(record, &record->host);
	for (i = 0; i < record->nr_events; i++)
		instance_enable(record->host.instance, record->events[i]);
}

/* The host's events begin before the hypervisor's and end after them. */
static void start(struct record *record)
{
	char *path = strdup(record->output), *directory = path ? dirname(path) : ".";

	if (record->host.instance) {
		recorder_start(&record->host, directory);
		instance_write(record->host.instance, "tracing_on", "1");
	}
	recorder_start(&record->hyp, directory);
	instance_write(record->hyp.instance, "tracing_on", "1");
	free(path);
}

/* Whether a stay has stopped tracing before */
static bool end(struct record *record)
{
	bool stopped = stop_has_come(&record->stop);

	instance_write(record->hyp.instance, "tracing_on", "0");
	recorder_stop(&record->hyp);
	if (record->host.instance) {
		instance_write(record->host.instance, "tracing_on", "0");
		recorder_stop(&record->host);
	}
	return stopped;
}

/* Each group of events once, the hypervisor's first */
static unsigned int list_systems(const struct record *record, char **systems)
{
	unsigned int nr = 0, i, j;

	systems[nr++] = strdup("hypervisor");
	for (i = 0; i < record->nr_events; i++) {
		systems[nr] = strndup(record->events[i], strcspn(record->events[i], ":"));
		for (j = 0; strcmp(systems[j], systems[nr]); j++)
			;
		if (j == nr)
			nr++;
		else
			free(systems[nr]);
	}
	return nr;
}

static void write_formats(struct record *record, struct dat_writer *dat)
{
	char *systems[MAX_EVENTS + 1];
	unsigned int nr = list_systems(record, systems);
	u32 nr_cpus = record->hyp.nr_cpus;

	dat_formats(dat, (const char * const *)systems, nr);
	dat_option(dat, DAT_CPUCOUNT, &nr_cpus, sizeof(nr_cpus));
	dat_option(dat, DAT_VERSION, "hypstat " VERSION, sizeof("hypstat " VERSION));
	while (nr)
		free(systems[--nr]);
}

/* The host's buffer is the top level's, as trace-cmd has it. Without events, it is empty. */
static void write_dat(struct record *record)
{
	int error;

	write_formats(record, &record->dat);
	recorder_write(&record->host, &record->dat, "");
	recorder_write(&record->hyp, &record->dat, "hypervisor");
	error = dat_finish(&record->dat);
	if (error)
		die("can't write %s: %s", record->output, strerror(error));
}

static void report_losses(struct record *record)
{
	unsigned long long lost = instance_overrun(record->hyp.instance, record->hyp.nr_cpus);

	if (lost)
		err_msg("%llu events were lost: use a larger --trace-buffer-size", lost);
}

/* At the exit, whatever its reason is, nothing is left of the session. */
static void clean_up(void)
{
	if (record.hyp.instance) {
		tracefs_trace_off(record.hyp.instance);
		functions_end(&record.functions);
		stop_end(&record.stop);
		instance_clear(record.hyp.instance);
		if (record.former_size)
			instance_set_buffer_size(record.hyp.instance, record.former_size);
		tracefs_instance_free(record.hyp.instance);
	}
	if (record.host.instance) {
		tracefs_instance_destroy(record.host.instance);
		tracefs_instance_free(record.host.instance);
	}
}

/**
 * record_main - hypstat record
 * @argc: the number of arguments
 * @argv: the arguments, from "record" on
 *
 * Return: the exit status; the command's, if there is one; STATUS_STOPPED if a stay has ended it.
 */
int record_main(int argc, char **argv)
{
	sigset_t signals;
	bool stopped;
	int status;

	parse_args(&record, argc, argv);
	session_signals(&signals);
	atexit(clean_up);
	prepare_all(&record);
	start(&record);
	status = session_run_until(record.command, record.duration, &signals,
				   record.stop.us ? stop_has_come : NULL, &record.stop);
	stopped = end(&record);
	write_dat(&record);
	report_losses(&record);
	recorder_free(&record.hyp);
	recorder_free(&record.host);
	if (!stopped)
		return status;
	report_last(record.output, record.stop.us);
	return STATUS_STOPPED;
}
