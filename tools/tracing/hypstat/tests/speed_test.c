// SPDX-License-Identifier: GPL-2.0
/* speed_test DIRECTORY HYPSTAT GENERATE: ten million events in 64 MB; the time is a comment */
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tap.h"

#define EVENTS		"10000000"
#define MAX_KB		(64 * 1024)

static int run(const char * const *args)
{
	int status;
	pid_t child;

	fflush(stdout);
	child = fork();
	if (!child) {
		dup2(open("/dev/null", O_WRONLY), 1);
		execv(args[0], (char **)args);
		_exit(127);
	}
	waitpid(child, &status, 0);
	return status;
}

static double seconds(const struct rusage *usage)
{
	return usage->ru_utime.tv_sec + usage->ru_stime.tv_sec +
	       (usage->ru_utime.tv_usec + usage->ru_stime.tv_usec) / 1e6;
}

int main(int argc, char **argv)
{
	char file[4096];
	const char *generate[] = { argv[3], file, EVENTS, NULL };
	const char *report[] = { argv[2], "report", file, NULL };
	struct rusage before, after;
	double took;

	snprintf(file, sizeof(file), "%s/large.dat", argv[1]);
	equals("a file of " EVENTS " events", run(generate), 0);
	getrusage(RUSAGE_CHILDREN, &before);
	equals("it is reported", run(report), 0);
	getrusage(RUSAGE_CHILDREN, &after);
	took = seconds(&after) - seconds(&before);
	printf("# in %.1f s of a CPU's time\n", took);
	ok(after.ru_maxrss < MAX_KB, "in %ld KB", after.ru_maxrss);
	unlink(file);
	return tap_end();
}
