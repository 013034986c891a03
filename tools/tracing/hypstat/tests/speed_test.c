// SPDX-License-Identifier: GPL-2.0
/* speed_test DIRECTORY HYPSTAT GENERATE: ten million events in 64 MB; the time is a comment */
#include <sys/resource.h>
#include <unistd.h>

#include "run.h"

#define EVENTS		"10000000"
#define MAX_KB		(64 * 1024)

static int run(const char * const *args)
{
	static struct run run;

	run_start(&run, args);
	run_end(&run);
	return run.status;
}

int main(int argc, char **argv)
{
	char file[4096];
	const char *generate[] = { argv[3], file, EVENTS, NULL };
	const char *report[] = { argv[2], "report", file, NULL };
	struct rusage usage;
	double begin;

	snprintf(file, sizeof(file), "%s/large.dat", argv[1]);
	equals("a file of " EVENTS " events", run(generate), 0);
	begin = run_seconds();
	equals("it is reported", run(report), 0);
	printf("# in %.1f s of a CPU's time\n", run_seconds() - begin);
	getrusage(RUSAGE_CHILDREN, &usage);
	ok(usage.ru_maxrss < MAX_KB, "in %ld KB", usage.ru_maxrss);
	unlink(file);
	return tap_end();
}
