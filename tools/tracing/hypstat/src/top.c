// SPDX-License-Identifier: GPL-2.0
/* hypstat top: shows again and again what EL2 has counted since the time before. */
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "accounting.h"
#include "cpus.h"
#include "guests.h"
#include "session.h"
#include "top.h"
#include "top_text.h"
#include "utils.h"

static const char * const help[] = {
	"",
	"  usage: hypstat top [-h] [-b] [-n] [-q] [-i s] [-r N] [-d s|m|h|d] [-c cpu-list] [--by view] [--sort key] \\",
	"	  [--reason reason] [--vm vm]",
	"",
	"	  -i/--interval s: refresh each s seconds, default 1",
	"	  -r/--rounds N: end after N refreshes",
	"	  -d/--duration time[s|m|h|d]: the duration of the session",
	"	  -c/--cpus cpu-list: show what these CPUs have counted",
	"	     --by reason|hypercall|exit|vm|vcpu: what has a row, default reason",
	"	     --sort time|rate|mean|max|p99|guest|name: the order of the rows, default time",
	"	     --reason reason: show this reason, or group of reasons, such as 'psci' or 'guest:WFx'",
	"	     --vm pid[-fd]: show the vCPUs of this VM",
	"	  -n/--nano: display data in nanoseconds",
	"	  -b/--batch: do not clear the screen, and show all rows",
	"	  -q/--quiet: print only a summary at the end",
	"	  -h/--help: print this menu",
	"",
	NULL,
};

enum { OPTION_BY = 256, OPTION_SORT, OPTION_REASON, OPTION_VM };

static const struct option long_options[] = {
	{ "interval",	required_argument,	NULL, 'i' },
	{ "rounds",	required_argument,	NULL, 'r' },
	{ "duration",	required_argument,	NULL, 'd' },
	{ "cpus",	required_argument,	NULL, 'c' },
	{ "by",		required_argument,	NULL, OPTION_BY },
	{ "sort",	required_argument,	NULL, OPTION_SORT },
	{ "reason",	required_argument,	NULL, OPTION_REASON },
	{ "vm",		required_argument,	NULL, OPTION_VM },
	{ "nano",	no_argument,		NULL, 'n' },
	{ "batch",	no_argument,		NULL, 'b' },
	{ "quiet",	no_argument,		NULL, 'q' },
	{ "help",	no_argument,		NULL, 'h' },
	{ }
};

/**
 * struct sample - what was counted up to a time
 * @time: the time in nanoseconds
 * @hyp: what EL2 has counted
 * @guests: what KVM has counted, if the view is of VMs
 */
struct sample {
	u64		time;
	struct account	hyp;
	struct account	guests;
};

/**
 * struct top - a session
 * @interval: between refreshes
 * @rounds: how many are left, 0: no limit
 * @duration: in seconds, 0: no limit
 * @cpus: of these CPUs, or NULL
 * @sort: the order of rows
 * @reason: of this reason alone, or NULL
 * @batch: do not clear the screen
 * @quiet: print at the end alone
 * @signals: what ends it
 * @accounting: EL2's files
 * @guests: KVM's files
 * @samples: the last one and the one before
 * @round: what is shown
 */
struct top {
	struct timespec		interval;
	unsigned long		rounds;
	long			duration;
	struct cpus		*cpus;
	const struct sort	*sort;
	const char		*reason;
	bool			batch;
	bool			quiet;
	sigset_t		signals;
	struct accounting	accounting;
	struct guests		guests;
	struct sample		samples[2];
	struct top_round	round;
};

static struct timespec parse_interval(const char *text)
{
	char *end;
	double seconds = strtod(text, &end);
	struct timespec interval;

	if (end == text || *end || !(seconds >= 0.01 && seconds <= 86400))
		die("-i takes seconds, from 0.01 to 86400, not '%s'", text);
	interval.tv_sec = seconds;
	interval.tv_nsec = (seconds - interval.tv_sec) * 1e9;
	return interval;
}

static unsigned long parse_rounds(const char *text)
{
	unsigned long rounds;
	char *end;

	errno = 0;
	rounds = strtoul(text, &end, 10);
	if (*text < '0' || *text > '9' || *end || errno || !rounds)
		die("-r takes a number of rounds, not '%s'", text);
	return rounds;
}

static void parse_view_option(struct top *top, int option)
{
	if (option == OPTION_BY)
		top->round.view = parse_view(optarg);
	else if (option == OPTION_SORT)
		top->sort = parse_sort(optarg);
	else if (option == OPTION_REASON)
		top->reason = optarg;
	else if (option == OPTION_VM)
		top->guests.vm = optarg;
	else
		usage(help, option == 'h' ? 0 : STATUS_ERROR);
}

static void parse_option(struct top *top, int option)
{
	if (option == 'i')
		top->interval = parse_interval(optarg);
	else if (option == 'r')
		top->rounds = parse_rounds(optarg);
	else if (option == 'd')
		top->duration = parse_duration(optarg);
	else if (option == 'c')
		top->cpus = parse_cpus(optarg);
	else if (option == 'n')
		top->round.nano = true;
	else if (option == 'b')
		top->batch = true;
	else if (option == 'q')
		top->quiet = true;
	else
		parse_view_option(top, option);
}

/* What KVM counts has neither CPUs nor reasons. */
static void check_view(struct top *top)
{
	if (!top->round.view)
		top->round.view = parse_view(top->guests.vm ? "vcpu" : "reason");
	if (top->round.view->guests && (top->cpus || top->reason))
		die("-c and --reason do not apply to --by vm or vcpu");
	if (!top->round.view->guests && top->guests.vm)
		die("--vm applies to --by vm or vcpu");
}

static void parse_args(struct top *top, int argc, char **argv)
{
	int option;

	top->sort = parse_sort("time");
	while ((option = getopt_long(argc, argv, "i:r:d:c:nbqh", long_options, NULL)) != -1)
		parse_option(top, option);
	if (optind < argc)
		usage(help, STATUS_ERROR);
	check_view(top);
	if (!isatty(STDOUT_FILENO))
		top->batch = true;
}

static void prepare(struct top *top)
{
	accounting_open(&top->accounting, top->cpus);
	if (top->round.view->guests) {
		top->guests.vcpus = top->round.view->vcpus;
		guests_open(&top->guests);
	}
	accounting_turn_on(&top->accounting);
}

static void take(const struct top *top, struct sample *sample)
{
	sample->time = now_ns();
	accounting_read(&top->accounting, &sample->hyp);
	if (top->round.view->guests)
		guests_read(&top->guests, &sample->guests);
}

/* The rows of VMs: one that has not grown is another one, of the same name. */
static void select_guests(struct account *rows, const struct sample *now,
			  const struct sample *before)
{
	unsigned int i;

	account_clear(rows);
	for (i = 0; i < now->guests.nr; i++) {
		rows->entries[i] = now->guests.entries[i];
		if (!entry_since(&rows->entries[i], &before->guests, i))
			rows->entries[i] = now->guests.entries[i];
	}
	rows->nr = now->guests.nr;
}

static bool make_round(struct top *top, const struct sample *now, const struct sample *before)
{
	static struct account since;
	struct top_round *round = &top->round;

	account_copy(&since, &now->hyp);
	if (!account_since(&since, &before->hyp))
		return false;
	round->elapsed = now->time - before->time;
	round->nr_cpus = since.nr_cpus;
	round->total = view_total(&since);
	if (round->view->guests)
		select_guests(&round->rows, now, before);
	else
		view_select(round->view, &since, top->reason, &round->rows);
	account_remove_idle(&round->rows);
	view_sort(&round->rows, top->sort);
	view_gaps(&since, NULL, &round->gaps);
	return true;
}

static void begin_screen(struct top *top)
{
	struct winsize size;

	if (top->batch)
		return;
	printf("\033[H\033[J");
	top->round.max_rows = 0;
	if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_row > TOP_OTHER_LINES)
		top->round.max_rows = size.ws_row - TOP_OTHER_LINES;
}

/* A pipe that was closed, as by head, is the end of the session. */
static void end_screen(const struct top *top)
{
	if (top->batch)
		putchar('\n');
	if (!fflush(stdout) && !ferror(stdout))
		return;
	if (errno == EPIPE)
		exit(0);
	die("can't write the figures: %s", strerror(errno));
}

static void show(struct top *top, const struct sample *now, const struct sample *before)
{
	begin_screen(top);
	if (make_round(top, now, before))
		top_text(&top->round);
	else
		printf("hypstat top: the accounting was reset: no figures for this time\n");
	if (!now->hyp.on)
		printf("The accounting was turned off: EL2 counts nothing\n");
	end_screen(top);
}

/* The next refresh, or the end of the session */
static bool wait_for_refresh(struct top *top, int *sig)
{
	do {
		*sig = sigtimedwait(&top->signals, NULL, &top->interval);
	} while (*sig == SIGCHLD);
	return *sig < 0 && (!top->rounds || --top->rounds);
}

static void run(struct top *top)
{
	struct sample *before = &top->samples[0], *now = &top->samples[1], *former;
	bool goes_on;
	int sig;

	take(top, before);
	do {
		goes_on = wait_for_refresh(top, &sig);
		if (top->quiet ? goes_on : sig > 0 && sig != SIGALRM)
			continue;
		take(top, now);
		show(top, now, before);
		former = before;
		before = now;
		now = former;
	} while (goes_on);
}

/**
 * top_main - hypstat top
 * @argc: the number of arguments
 * @argv: the arguments, from "top" on
 *
 * Return: the exit status.
 */
int top_main(int argc, char **argv)
{
	static struct top top = { .interval = { .tv_sec = 1 } };

	parse_args(&top, argc, argv);
	session_signals(&top.signals);
	signal(SIGPIPE, SIG_IGN);
	prepare(&top);
	if (top.duration)
		alarm(top.duration);
	run(&top);
	return 0;
}
