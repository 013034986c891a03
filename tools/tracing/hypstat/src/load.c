// SPDX-License-Identifier: GPL-2.0
/* Reads a trace.dat, and passes its events on. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <event-parse.h>

#include "guard.h"
#include "load.h"
#include "utils.h"

#define MAGIC		"\x17\x08\x44tracing"
#define MAGIC_SIZE	10
#define ALIVE_EVERY	1000000		/* records */

static const char advice[] = "record it with 'hypstat record', see hypstat-report(1)";

static void check_magic(const char *path)
{
	char magic[MAGIC_SIZE] = "";
	FILE *file = fopen(path, "re");
	size_t size;

	if (!file)
		die("can't open %s: %s", path, strerror(errno));
	size = fread(magic, 1, sizeof(magic), file);
	fclose(file);
	if (size != sizeof(magic) || memcmp(magic, MAGIC, MAGIC_SIZE))
		die("%s is no trace.dat: %s", path, advice);
}

/**
 * load_open - open a file, or exit
 * @load: the file
 */
void load_open(struct load *load)
{
	check_magic(load->file);
	if (!dat_open(&load->dat, load->file))
		die("%s is truncated, or no trace.dat that libtracecmd can read: record it again",
		    load->file);
	if (!events_init(load->events, load->dat.tep))
		die("%s has no events of the hypervisor: %s", load->file, advice);
	load->stays->enter_psci = load->events->reason_psci;
	load->stays->exit_guest = load->events->exit_guest;
	load->stays->exit_host = load->events->exit_host;
}

static bool is_host(const struct event *event)
{
	return event->kind == KIND_OTHER || event->kind >= KIND_SCHED_SWITCH;
}

static void count_host(struct load *load, const struct event *event)
{
	if (!is_host(event) || event->kind == KIND_CORRUPT)
		return;
	if (!load->nr_host++ || event->ts < load->host_first)
		load->host_first = event->ts;
	if (event->ts > load->host_last)
		load->host_last = event->ts;
}

static void decode(const struct load *load, const struct tep_record *record, struct event *event)
{
	unsigned int size = record->size > 0 ? record->size : 0;

	events_decode(load->events, record->data, size, event);
	event->ts = record->ts;
}

static void on_record(const struct tep_record *record, void *arg)
{
	struct load *load = arg;
	struct event event;

	if (load->nr_records++ % ALIVE_EVERY == 0)
		guard_alive();
	decode(load, record, &event);
	count_host(load, &event);
	stays_event(load->stays, &event);
}

static void on_loss(const struct tep_record *record, void *arg)
{
	struct load *load = arg;
	struct event event;

	decode(load, record, &event);
	stays_lost(load->stays, is_host(&event), record->missed_events);
}

static void load_cpu(struct load *load, int cpu)
{
	const struct dat_visitor visitor = { on_record, on_loss, load };
	u64 before = load->stays->nr_events;

	stays_begin(load->stays, cpu);
	dat_walk(&load->dat, cpu, &visitor);
	stays_end(load->stays);
	if (load->stays->nr_events != before)
		load->nr_cpus++;
}

static void check_clocks(const struct load *load)
{
	const struct stays *stays = load->stays;

	if (load->nr_host && (load->host_last < stays->first || load->host_first > stays->last))
		err_msg("the host's events are not used: record them with the clock boot, too");
}

/**
 * load_run - read the file, or exit
 * @load: the file
 */
void load_run(struct load *load)
{
	int cpu;

	for (cpu = 0; cpu < load->dat.nr_cpus; cpu++) {
		if (cpus_has(load->cpus, cpu))
			load_cpu(load, cpu);
	}
	if (!load->stays->nr_events)
		die("%s has no events of the hypervisor%s: %s", load->file,
		    load->cpus ? " on these CPUs" : "", advice);
	check_clocks(load);
}

/**
 * load_close - close the file, after the last use of its formats
 * @load: the file
 */
void load_close(struct load *load)
{
	dat_close(&load->dat);
}
