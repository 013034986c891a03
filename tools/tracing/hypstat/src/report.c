// SPDX-License-Identifier: GPL-2.0
/* hypstat report: sums a trace.dat up. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

#include "guard.h"
#include "load.h"
#include "output.h"
#include "report.h"
#include "utils.h"

static const char * const help[] = {
	"",
	"  usage: hypstat report [-h] [-c cpu-list] [-s us] [--json|--csv|--prometheus|--folded] [FILE]",
	"",
	"	FILE: a trace.dat of hypstat record or trace-cmd record, default trace.dat",
	"",
	"	  -c/--cpus cpu-list: report these CPUs alone",
	"	  -s/--stop us: print only the last stay that took longer, as record -s does",
	"	     --json: print JSON, with all times in nanoseconds",
	"	     --csv: print the tables as comma-separated values",
	"	     --prometheus: print metrics for node exporter's textfile collector",
	"	     --folded: print the time in each path of functions, for flame graphs",
	"	  -h/--help: print this menu",
	"",
	NULL,
};

enum { OPTION_JSON = 256, OPTION_CSV, OPTION_PROMETHEUS, OPTION_FOLDED };

static const struct option long_options[] = {
	{ "cpus",	required_argument,	NULL, 'c' },
	{ "stop",	required_argument,	NULL, 's' },
	{ "json",	no_argument,		NULL, OPTION_JSON },
	{ "csv",	no_argument,		NULL, OPTION_CSV },
	{ "prometheus",	no_argument,		NULL, OPTION_PROMETHEUS },
	{ "folded",	no_argument,		NULL, OPTION_FOLDED },
	{ "help",	no_argument,		NULL, 'h' },
	{ }
};

/* What was asked for */
struct report {
	const char	*file;
	struct cpus	*cpus;
	u64		limit;
	void		(*print)(const struct summary *summary);
};

/* The last stay that took longer, and nothing else */
static void select_last(struct report *report, u32 us)
{
	report->limit = us * 1000ULL;
	report->print = text_print_last;
}

static void parse_args(struct report *report, int argc, char **argv)
{
	int option;

	while ((option = getopt_long(argc, argv, "c:s:h", long_options, NULL)) != -1) {
		if (option == 'c')
			report->cpus = parse_cpus(optarg);
		else if (option == 's')
			select_last(report, parse_stop(optarg));
		else if (option == OPTION_JSON)
			report->print = json_print;
		else if (option == OPTION_CSV)
			report->print = csv_print;
		else if (option == OPTION_PROMETHEUS)
			report->print = prometheus_print;
		else if (option == OPTION_FOLDED)
			report->print = folded_print;
		else
			usage(help, option == 'h' ? 0 : STATUS_ERROR);
	}
	if (argc - optind > 1)
		usage(help, STATUS_ERROR);
	if (optind < argc)
		report->file = argv[optind];
}

static int run(void *arg)
{
	static struct summary summary;
	struct report *report = arg;
	struct load load = {
		.file = report->file,
		.events = &summary.events,
		.stays = &summary.stays,
		.cpus = report->cpus,
	};

	load_open(&load);
	summary.file = report->file;
	summary.limit = report->limit;
	summary_init(&summary);
	load_run(&load);
	summary.nr_cpus = load.nr_cpus;
	summary_sort(&summary);
	report->print(&summary);
	summary_free(&summary);
	load_close(&load);
	if (fflush(stdout) || ferror(stdout))
		die("can't write the report");
	return 0;
}

/**
 * report_main - hypstat report
 * @argc: the number of arguments
 * @argv: the arguments, from "report" on
 *
 * Return: the exit status.
 */
int report_main(int argc, char **argv)
{
	struct report report = { .file = "trace.dat", .print = text_print };

	parse_args(&report, argc, argv);
	return guard_run(run, &report, report.file);
}

/**
 * report_last - explain the stay that has ended a recording
 * @file: the recording
 * @us: the stay took longer than so many microseconds
 *
 * Return: the exit status.
 */
int report_last(const char *file, u32 us)
{
	struct report report = { .file = file };

	select_last(&report, us);
	return guard_run(run, &report, file);
}
