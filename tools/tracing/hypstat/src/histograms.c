// SPDX-License-Identifier: GPL-2.0
/* hypstat hist: shows how EL2's times are distributed, as EL2 itself counts them. */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "accounting.h"
#include "cpus.h"
#include "histograms.h"
#include "session.h"
#include "svg.h"
#include "utils.h"

static const char * const help[] = {
	"",
	"  usage: hypstat hist [-h] [-n] [-d s|m|h|d] [-c cpu-list] [--by view] [--reason reason] [--reset] \\",
	"	  [--with-zeros] [--svg file] [--per-cpu] [--json|--csv|--prometheus] [COMMAND ...]",
	"",
	"	COMMAND: show what is counted while it runs; without it and -d, what was counted since the last reset",
	"",
	"	  -d/--duration time[s|m|h|d]: show what is counted in this time",
	"	  -c/--cpus cpu-list: show what these CPUs have counted",
	"	     --by reason|hypercall|exit: what has a histogram, default reason",
	"	     --reason reason: show this reason, or group of reasons, such as 'psci' or 'guest:WFx'",
	"	     --reset: before COMMAND or -d, reset what was counted",
	"	     --with-zeros: print empty buckets, too",
	"	  -n/--nano: display data in nanoseconds",
	"	     --svg file: write a picture to this file, too, which a browser shows",
	"	     --per-cpu: print the histograms of each CPU",
	"	     --json: print JSON, with all times in nanoseconds",
	"	     --csv: print comma-separated values",
	"	     --prometheus: print metrics for node exporter's textfile collector",
	"	  -h/--help: print this menu",
	"",
	NULL,
};

enum {
	OPTION_BY = 256, OPTION_REASON, OPTION_RESET, OPTION_ZEROS, OPTION_SVG, OPTION_PER_CPU,
	OPTION_JSON, OPTION_CSV, OPTION_PROMETHEUS,
};

static const struct option long_options[] = {
	{ "duration",	required_argument,	NULL, 'd' },
	{ "cpus",	required_argument,	NULL, 'c' },
	{ "by",		required_argument,	NULL, OPTION_BY },
	{ "reason",	required_argument,	NULL, OPTION_REASON },
	{ "reset",	no_argument,		NULL, OPTION_RESET },
	{ "with-zeros",	no_argument,		NULL, OPTION_ZEROS },
	{ "nano",	no_argument,		NULL, 'n' },
	{ "svg",	required_argument,	NULL, OPTION_SVG },
	{ "per-cpu",	no_argument,		NULL, OPTION_PER_CPU },
	{ "json",	no_argument,		NULL, OPTION_JSON },
	{ "csv",	no_argument,		NULL, OPTION_CSV },
	{ "prometheus",	no_argument,		NULL, OPTION_PROMETHEUS },
	{ "help",	no_argument,		NULL, 'h' },
	{ }
};

/**
 * struct hist_session - what was asked for
 * @duration: in seconds, 0: no limit
 * @command: the command and its arguments, or NULL
 * @cpus: of these CPUs, or NULL
 * @reset: reset what was counted before
 * @per_cpu: show each CPU
 * @svg: the picture's file, or NULL
 * @print: the format
 * @accounting: EL2's files
 * @histograms: what is shown
 */
struct hist_session {
	long			duration;
	char			**command;
	struct cpus		*cpus;
	bool			reset;
	bool			per_cpu;
	const char		*svg;
	void			(*print)(const struct histograms *histograms);
	struct accounting	accounting;
	struct histograms	histograms;
};

static bool parse_format(struct hist_session *session, int option)
{
	if (option == OPTION_JSON)
		session->print = histograms_json;
	else if (option == OPTION_CSV)
		session->print = histograms_csv;
	else if (option == OPTION_PROMETHEUS)
		session->print = histograms_prometheus;
	else if (option == OPTION_SVG)
		session->svg = optarg;
	else if (option == OPTION_ZEROS)
		session->histograms.with_zeros = true;
	else if (option == 'n')
		session->histograms.nano = true;
	else
		return false;
	return true;
}

static void parse_option(struct hist_session *session, int option)
{
	if (option == 'd')
		session->duration = parse_duration(optarg);
	else if (option == 'c')
		session->cpus = parse_cpus(optarg);
	else if (option == OPTION_BY)
		session->histograms.view = parse_view(optarg);
	else if (option == OPTION_REASON)
		session->histograms.reason = optarg;
	else if (option == OPTION_RESET)
		session->reset = true;
	else if (option == OPTION_PER_CPU)
		session->per_cpu = true;
	else if (!parse_format(session, option))
		usage(help, option == 'h' ? 0 : STATUS_ERROR);
}

static bool has_session(const struct hist_session *session)
{
	return session->command || session->duration;
}

static void parse_args(struct hist_session *session, int argc, char **argv)
{
	int option;

	session->histograms.view = parse_view("reason");
	/* An option behind COMMAND is the command's. */
	while ((option = getopt_long(argc, argv, "+d:c:nh", long_options, NULL)) != -1)
		parse_option(session, option);
	if (optind < argc)
		session->command = argv + optind;
	if (session->histograms.view->guests)
		die("KVM's files have no histograms of VMs: use 'hypstat top --by %s'",
		    session->histograms.view->name);
	if (session->reset && !has_session(session))
		die("--reset needs a COMMAND or -d");
	if (session->svg && session->per_cpu)
		die("--svg draws the sum of the CPUs: use -c in place of --per-cpu");
}

static struct account *new_accounts(struct hist_session *session)
{
	struct accounting *accounting = &session->accounting;
	int cpu;

	session->histograms.nr = 1;
	if (session->per_cpu) {
		session->histograms.nr = 0;
		for (cpu = 0; cpu < accounting->nr_cpus; cpu++)
			session->histograms.nr += cpus_has(session->cpus, cpu);
	}
	return xcalloc(session->histograms.nr, sizeof(struct account));
}

static struct account *take(struct hist_session *session)
{
	struct accounting *accounting = &session->accounting;
	struct account *accounts = new_accounts(session), *account = accounts;
	int cpu;

	if (!session->per_cpu) {
		accounting_read(accounting, accounts);
		return accounts;
	}
	for (cpu = 0; cpu < accounting->nr_cpus; cpu++) {
		if (cpus_has(session->cpus, cpu))
			accounting_read_cpu(accounting, cpu, account++);
	}
	return accounts;
}

/* What was counted while a command or a duration ran */
static int run_session(struct hist_session *session, const sigset_t *signals)
{
	struct histograms *histograms = &session->histograms;
	struct account *before;
	unsigned int i;
	int status;

	accounting_turn_on(&session->accounting);
	if (session->reset)
		accounting_reset(&session->accounting);
	before = take(session);
	histograms->elapsed = now_ns();
	status = session_run(session->command, session->duration, signals);
	histograms->accounts = take(session);
	histograms->elapsed = now_ns() - histograms->elapsed;
	for (i = 0; i < histograms->nr; i++) {
		if (!account_since(&histograms->accounts[i], &before[i]))
			die("the accounting was reset meanwhile: run hypstat again");
		account_remove_idle(&histograms->accounts[i]);
	}
	free(before);
	return status;
}

static void write_svg(const struct hist_session *session)
{
	FILE *file = svg_open(session->svg);

	histograms_svg(file, &session->histograms);
	svg_close(file, session->svg);
}

static void check_counted(const struct hist_session *session)
{
	const struct account *account = session->histograms.accounts;

	if (!account->on && !account->nr)
		die("EL2 counts nothing: write 1 to hypervisor/accounting, or use -d or a COMMAND");
}

/**
 * histograms_main - hypstat hist
 * @argc: the number of arguments
 * @argv: the arguments, from "hist" on
 *
 * Return: the exit status; the command's, if there is one.
 */
int histograms_main(int argc, char **argv)
{
	static struct hist_session session = { .print = histograms_text };
	sigset_t signals;
	int status = 0;

	parse_args(&session, argc, argv);
	session_signals(&signals);
	accounting_open(&session.accounting, session.cpus);
	if (has_session(&session))
		status = run_session(&session, &signals);
	else
		session.histograms.accounts = take(&session);
	check_counted(&session);
	session.print(&session.histograms);
	if (session.svg)
		write_svg(&session);
	free(session.histograms.accounts);
	if (fflush(stdout) || ferror(stdout))
		die("can't write the histograms");
	return status;
}
