// SPDX-License-Identifier: GPL-2.0
/* hypstat timeline: draws when the host, EL2 and each guest ran. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

#include "guard.h"
#include "load.h"
#include "svg.h"
#include "timeline.h"
#include "timeline_svg.h"
#include "utils.h"

static const char * const help[] = {
	"",
	"  usage: hypstat timeline [-h] --svg OUTPUT [-c cpu-list] [--from ms] [--to ms] [FILE]",
	"",
	"	FILE: a trace.dat of hypstat record or trace-cmd record, default trace.dat",
	"",
	"	     --svg file: write the picture to this file, which a browser shows",
	"	  -c/--cpus cpu-list: draw these CPUs alone",
	"	     --from ms: begin so many milliseconds after the first event",
	"	     --to ms: end so many milliseconds after the first event",
	"	  -h/--help: print this menu",
	"",
	NULL,
};

enum { OPTION_SVG = 256, OPTION_FROM, OPTION_TO };

static const struct option long_options[] = {
	{ "svg",	required_argument,	NULL, OPTION_SVG },
	{ "cpus",	required_argument,	NULL, 'c' },
	{ "from",	required_argument,	NULL, OPTION_FROM },
	{ "to",		required_argument,	NULL, OPTION_TO },
	{ "help",	no_argument,		NULL, 'h' },
	{ }
};

/**
 * struct timeline - what was asked for, and the picture
 * @file: the trace
 * @svg: the picture's file
 * @cpus: the CPUs, or NULL for all
 * @from: when it begins, in ns after the first event
 * @to: when it ends; 0: with the last event
 * @summary: the formats and the longest stays
 * @lanes: its lines
 * @host_cpu: the CPU of the last stay
 * @host_since: when EL2 has returned to the host; 0: the host does not run
 * @lost: how many losses there were by then
 */
struct timeline {
	const char	*file;
	const char	*svg;
	struct cpus	*cpus;
	u64		from;
	u64		to;
	struct summary	summary;
	struct lanes	lanes;
	int		host_cpu;
	u64		host_since;
	u64		lost;
};

static u64 parse_ms(const char *text)
{
	char *end;
	double ms = strtod(text, &end);

	if (end == text || *end || !(ms >= 0 && ms < 1e12))
		die("--from and --to take milliseconds, not '%s'", text);
	return ms * 1e6;
}

static void parse_option(struct timeline *timeline, int option)
{
	if (option == OPTION_SVG)
		timeline->svg = optarg;
	else if (option == 'c')
		timeline->cpus = parse_cpus(optarg);
	else if (option == OPTION_FROM)
		timeline->from = parse_ms(optarg);
	else if (option == OPTION_TO)
		timeline->to = parse_ms(optarg);
	else
		usage(help, option == 'h' ? 0 : STATUS_ERROR);
}

static void parse_args(struct timeline *timeline, int argc, char **argv)
{
	int option;

	while ((option = getopt_long(argc, argv, "c:h", long_options, NULL)) != -1)
		parse_option(timeline, option);
	if (argc - optind > 1 || !timeline->svg)
		usage(help, STATUS_ERROR);
	if (optind < argc)
		timeline->file = argv[optind];
}

static u64 losses(const struct timeline *timeline)
{
	const struct losses *losses = &timeline->summary.stays.losses;

	return losses->hyp + losses->hyp_unknown;
}

/* What came before a stay, if nothing was lost since. */
static void add_host(struct timeline *timeline, const struct stay *stay)
{
	if (timeline->host_since && timeline->host_cpu == stay->cpu &&
	    timeline->lost == losses(timeline))
		lanes_add(&timeline->lanes, LANE_HOST, stay->cpu, NULL, timeline->host_since,
			  stay->begin);
	timeline->host_cpu = stay->cpu;
	timeline->lost = losses(timeline);
	timeline->host_since = 0;
	if ((u64)stay->exit_reason == timeline->summary.events.exit_host)
		timeline->host_since = stay->end;
}

static void add_stay(const struct stay *stay, void *arg)
{
	struct timeline *timeline = arg;

	add_host(timeline, stay);
	lanes_add(&timeline->lanes, LANE_EL2, stay->cpu, NULL, stay->begin, stay->end);
	longest_add(&timeline->summary.longest, stay);
}

static void add_run(const struct guest *guest, u64 from, u64 to, int cpu, void *arg)
{
	struct timeline *timeline = arg;

	lanes_add(&timeline->lanes, LANE_GUEST, cpu, guest, from, to);
}

static void ignore_stay(const struct stay *stay, void *arg)
{
}

static void ignore_run(const struct guest *guest, u64 from, u64 to, int cpu, void *arg)
{
}

/* The times of the first event and the last one are known once all were read. */
static void find_bounds(struct timeline *timeline)
{
	static struct events events;
	struct stays stays = { .ended = ignore_stay, .ran = ignore_run };
	struct load load = {
		.file = timeline->file, .events = &events, .stays = &stays, .cpus = timeline->cpus,
	};

	load_open(&load);
	load_run(&load);
	stays_free(&stays);
	events_free(&events);
	load_close(&load);
	timeline->lanes.first = stays.first;
	timeline->lanes.from = stays.first + timeline->from;
	timeline->lanes.to = timeline->to ? stays.first + timeline->to : stays.last;
	if (timeline->lanes.from >= timeline->lanes.to)
		die("there are no events from %.3f ms on: %s ends after %.3f ms",
		    timeline->from / 1e6, timeline->file, (stays.last - stays.first) / 1e6);
}

/* CPU by CPU: the host, EL2, then the guests by their names */
static int compare(const void *left, const void *right)
{
	const struct lane *a = *(struct lane **)left, *b = *(struct lane **)right;

	if (a->cpu != b->cpu)
		return a->cpu - b->cpu;
	if (a->kind != b->kind)
		return (int)a->kind - (int)b->kind;
	if (a->guest.vm_pid != b->guest.vm_pid)
		return a->guest.vm_pid < b->guest.vm_pid ? -1 : 1;
	if (a->guest.vm_fd != b->guest.vm_fd)
		return a->guest.vm_fd < b->guest.vm_fd ? -1 : 1;
	return a->guest.vcpu < b->guest.vcpu ? -1 : a->guest.vcpu > b->guest.vcpu;
}

static void write_svg(const struct timeline *timeline)
{
	FILE *file = svg_open(timeline->svg);

	timeline_svg(file, &timeline->lanes, &timeline->summary);
	svg_close(file, timeline->svg);
	if (timeline->lanes.left_out)
		err_msg("the picture has %u lines, and no room for more: use -c", MAX_LANES);
}

static int run(void *arg)
{
	struct timeline *timeline = arg;
	struct summary *summary = &timeline->summary;
	struct load load = {
		.file = timeline->file, .events = &summary->events, .stays = &summary->stays,
		.cpus = timeline->cpus,
	};

	find_bounds(timeline);
	summary->file = timeline->file;
	summary->stays.ended = add_stay;
	summary->stays.ran = add_run;
	summary->stays.arg = timeline;
	load_open(&load);
	load_run(&load);
	qsort(timeline->lanes.lanes, timeline->lanes.nr, sizeof(*timeline->lanes.lanes), compare);
	write_svg(timeline);
	lanes_free(&timeline->lanes);
	summary_free(summary);
	load_close(&load);
	return 0;
}

/**
 * timeline_main - hypstat timeline
 * @argc: the number of arguments
 * @argv: the arguments, from "timeline" on
 *
 * Return: the exit status.
 */
int timeline_main(int argc, char **argv)
{
	static struct timeline timeline = { .file = "trace.dat" };

	parse_args(&timeline, argc, argv);
	return guard_run(run, &timeline, timeline.file);
}
