// SPDX-License-Identifier: GPL-2.0
/*
 * hypstat overhead: measures what tracing and accounting cost on this machine.
 *
 * One CPU writes to a file of tracefs again and again, which makes a hypercall each time. It does
 * so in each state of tracing in turn, for some rounds, so that a change of the CPU's frequency
 * meets all states alike. The median of the rounds counts.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "instance.h"
#include "machine.h"
#include "overhead.h"
#include "session.h"
#include "utils.h"

#define ROUNDS		31
#define CALLS		2000	/* of a round, in one state */
#define WARM_UP		200

#define ACCOUNTING	"accounting"
#define WRITE_EVENT	"write_event"
#define EVENT_ENABLE	"events/hypervisor/selftest/enable"
#define EVENT_FILTER	"events/hypervisor/selftest/filter"
#define ALL_ENABLE	"events/enable"
/* A write to write_event prints with it, too, which takes longer than all other events. */
#define PRINTK_ENABLE	"events/hypervisor/hyp_printk/enable"

static const char * const help[] = {
	"",
	"  usage: hypstat overhead [-h] [-c cpu] [-r N]",
	"",
	"	  -c/--cpus cpu: measure on this CPU, default 0",
	"	  -r/--rounds N: repeat it so often, default 31",
	"	  -h/--help: print this menu",
	"",
	NULL,
};

static const struct option long_options[] = {
	{ "cpus",	required_argument,	NULL, 'c' },
	{ "rounds",	required_argument,	NULL, 'r' },
	{ "help",	no_argument,		NULL, 'h' },
	{ }
};

/**
 * struct state - what is on while it is measured
 * @name: what is printed
 * @accounting: the accounting
 * @tracing: tracing, with no event but those that follow
 * @event: the event of the hypercall
 * @filter: of this event, which does not match
 * @all: all events but hyp_printk
 */
struct state {
	const char	*name;
	bool		accounting;
	bool		tracing;
	bool		event;
	bool		filter;
	bool		all;
};

static const struct state states[] = {
	{ "all off" },
	{ "accounting", .accounting = true },
	{ "an event", .tracing = true, .event = true },
	{ "an event, filtered", .tracing = true, .event = true, .filter = true },
	{ "all events", .tracing = true, .all = true },
	{ "all events, accounting", .tracing = true, .all = true, .accounting = true },
};

#define NR_STATES	(sizeof(states) / sizeof(*states))

/**
 * struct overhead - a measurement
 * @dir: the hypervisor's directory
 * @fd: the file that is written to
 * @cpu: on this CPU
 * @rounds: how many
 * @has_accounting: the kernel has it
 * @times: of each state and round, ns for each call
 * @set_event: the events that were enabled before
 * @accounting: whether it was on before: its file
 */
struct overhead {
	int		dir;
	int		fd;
	int		cpu;
	unsigned int	rounds;
	bool		has_accounting;
	double		*times[NR_STATES];
	char		*set_event;
	char		*accounting;
};

static struct overhead overhead = { .rounds = ROUNDS };

static long parse_number(const char *text, long least, long most, const char *option)
{
	char *end;
	long number = strtol(text, &end, 10);

	if (end == text || *end || number < least || number > most)
		die("%s takes a number from %ld to %ld, not '%s'", option, least, most, text);
	return number;
}

static void parse_args(int argc, char **argv)
{
	int option;

	while ((option = getopt_long(argc, argv, "c:r:h", long_options, NULL)) != -1) {
		if (option == 'c')
			overhead.cpu = parse_number(optarg, 0, CPU_SETSIZE - 1, "-c");
		else if (option == 'r')
			overhead.rounds = parse_number(optarg, 1, 10000, "-r");
		else
			usage(help, option == 'h' ? 0 : STATUS_ERROR);
	}
	if (optind < argc)
		usage(help, STATUS_ERROR);
}

static void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		die("can't run on CPU %d: %s", cpu, strerror(errno));
}

/* At the exit, whatever its reason is, all is as it was before. */
static void clean_up(void)
{
	int dir = overhead.dir;

	write_file(dir, "tracing_on", "0");
	write_file(dir, EVENT_FILTER, "0");
	write_file(dir, ALL_ENABLE, "0");
	if (*overhead.set_event)
		write_file(dir, "set_event", overhead.set_event);
	if (overhead.has_accounting)
		write_file(dir, ACCOUNTING, overhead.accounting);
	write_file(dir, "trace", "0");
}

static void check_idle(int dir)
{
	char *tracing = hyp_read(dir, "tracing_on"), *filter;

	if (*tracing != '0')
		die("tracing is on: write 0 to hypervisor/tracing_on first, which this changes");
	free(tracing);
	filter = hyp_read(dir, EVENT_FILTER);
	if (strncmp(filter, "none", 4))
		die("the event selftest has a filter, which this changes: remove it first");
	free(filter);
}

static void prepare(void)
{
	int dir = instance_open_hypervisor(getenv("TRACEFS_PATH"));

	overhead.dir = dir;
	overhead.fd = openat(dir, WRITE_EVENT, O_WRONLY | O_CLOEXEC);
	if (overhead.fd < 0)
		die("this needs a kernel with CONFIG_KVM_HYP_TRACING_SELFTEST");
	check_idle(dir);
	overhead.has_accounting = !faccessat(dir, ACCOUNTING, F_OK, 0);
	if (overhead.has_accounting)
		overhead.accounting = hyp_read(dir, ACCOUNTING);
	overhead.set_event = hyp_read(dir, "set_event");
	atexit(clean_up);
	pin(overhead.cpu);
}

static void set_state(const struct state *state)
{
	int dir = overhead.dir;

	hyp_write(dir, "tracing_on", "0");
	if (overhead.has_accounting)
		hyp_write(dir, ACCOUNTING, state->accounting ? "1" : "0");
	hyp_write(dir, ALL_ENABLE, state->all ? "1" : "0");
	hyp_write(dir, PRINTK_ENABLE, "0");
	if (state->event)
		hyp_write(dir, EVENT_ENABLE, "1");
	hyp_write(dir, EVENT_FILTER, state->filter ? "id == 1" : "0");
	if (state->tracing)
		hyp_write(dir, "tracing_on", "1");
}

static void call(unsigned int times)
{
	while (times--) {
		if (pwrite(overhead.fd, "7", 1, 0) < 0)
			die("can't write to hypervisor/" WRITE_EVENT ": %s", strerror(errno));
	}
}

static double measure(const struct state *state)
{
	u64 begin;

	set_state(state);
	call(WARM_UP);
	begin = now_ns();
	call(CALLS);
	return (double)(now_ns() - begin) / CALLS;
}

static bool is_possible(const struct state *state)
{
	return overhead.has_accounting || !state->accounting;
}

static void check_signals(const sigset_t *signals)
{
	const struct timespec none = {};

	if (sigtimedwait(signals, NULL, &none) > 0)
		die("interrupted");
}

static void measure_all(const sigset_t *signals)
{
	unsigned int i, round;

	for (i = 0; i < NR_STATES; i++)
		overhead.times[i] = xcalloc(overhead.rounds, sizeof(double));
	for (round = 0; round < overhead.rounds; round++) {
		for (i = 0; i < NR_STATES; i++) {
			check_signals(signals);
			if (is_possible(&states[i]))
				overhead.times[i][round] = measure(&states[i]);
		}
	}
}

static int compare(const void *left, const void *right)
{
	double a = *(double *)left, b = *(double *)right;

	return (a > b) - (a < b);
}

static double rank(unsigned int state, double share)
{
	return overhead.times[state][(unsigned int)((overhead.rounds - 1) * share + 0.5)];
}

static void print_machine(const struct machine *machine)
{
	printf("%s, CPU %d, MIDR %s, KVM in %s mode, Linux %s", machine->model, overhead.cpu,
	       machine->cpu, machine->mode, machine->kernel);
	if (machine->clock)
		printf(", counter of %.1f MHz", machine->clock);
	putchar('\n');
	if (machine->is_virtual)
		printf("This machine is virtual: these are times of its emulator, or of its host.\n"
		       "If QEMU runs with -icount shift=0,sleep=off, a ns is an instruction.\n");
}

static void print_state(unsigned int i)
{
	printf("%-26s", states[i].name);
	if (!is_possible(&states[i])) {
		printf(" not in this kernel\n");
		return;
	}
	printf(" %10.1f %10.1f", rank(i, 0.5), rank(i, 0.5) - rank(0, 0.5));
	printf(" %10.1f .. %.1f\n", rank(i, 0.1), rank(i, 0.9));
}

static void print_all(void)
{
	struct machine machine;
	unsigned int i;

	machine_find(&machine, overhead.cpu);
	print_machine(&machine);
	printf("a write to " WRITE_EVENT ", which is a hypercall; %u rounds of %u\n\n",
	       overhead.rounds, CALLS);
	printf("%-26s %10s %10s %s\n", "ON", "MEDIAN ns", "MORE ns", "       P10 .. P90 ns");
	for (i = 0; i < NR_STATES; i++) {
		qsort(overhead.times[i], overhead.rounds, sizeof(double), compare);
		print_state(i);
	}
}

static void free_times(void)
{
	unsigned int i;

	for (i = 0; i < NR_STATES; i++)
		free(overhead.times[i]);
}

/**
 * overhead_main - hypstat overhead
 * @argc: the number of arguments
 * @argv: the arguments, from "overhead" on
 *
 * Return: the exit status.
 */
int overhead_main(int argc, char **argv)
{
	sigset_t signals;

	parse_args(argc, argv);
	session_signals(&signals);
	prepare();
	measure_all(&signals);
	print_all();
	free_times();
	return 0;
}
