/* SPDX-License-Identifier: GPL-2.0 */
#ifndef HYPSTAT_TESTS_RUN_H
#define HYPSTAT_TESTS_RUN_H

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>

#include "tap.h"

/**
 * struct run - a run of a program
 * @pid: the process
 * @status: how it ended, as waitpid() has it
 * @out: what it said on stdout
 * @errors: what it said on stderr
 * @files: where it writes that
 */
struct run {
	pid_t	pid;
	int	status;
	char	out[1 << 16];
	char	errors[1024];
	FILE	*files[2];
};

void run_start(struct run *run, const char * const *args);
void run_end(struct run *run);
bool run_refused(const struct run *run);
bool run_is_fine(const struct run *run);
double run_seconds(void);

/* Check that hypstat said what is wrong. */
static inline void refused(const struct run *run, const char *what, const char *why)
{
	if (!ok(run_refused(run) && strstr(run->errors, why), "%s: %s", what, why))
		printf("# status %#x, %s", run->status, run->errors);
}

#endif
