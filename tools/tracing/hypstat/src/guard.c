// SPDX-License-Identifier: GPL-2.0
/*
 * libtracecmd and libtraceevent trust the file that they read: on a corrupted one they may
 * crash, or read for ever. So a file is read in a process of its own, whose end is reported.
 * The process writes to stdout only when it has read the file, and the libraries' own complaints
 * are not shown.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <linux/compiler.h>

#include "guard.h"
#include "utils.h"

#define LIMIT	30	/* seconds without any progress */

static int (*guarded)(void *arg);

/**
 * guard_alive - say that the work goes on
 */
void guard_alive(void)
{
	if (guarded)
		alarm(LIMIT);
}

static void __noreturn run(int (*work)(void *arg), void *arg)
{
	struct rlimit none = {};

	/* A crash is no reason for a core dump, or an entry in the log of crashes. */
	setrlimit(RLIMIT_CORE, &none);
	prctl(PR_SET_DUMPABLE, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	quiet_libraries();
	guarded = work;
	guard_alive();
	exit(work(arg));
}

/* A signal that a process sends to itself by a mistake of its own */
static bool is_fault(int sig)
{
	return sig == SIGSEGV || sig == SIGBUS || sig == SIGFPE || sig == SIGILL ||
	       sig == SIGABRT || sig == SIGALRM;
}

/* A signal from outside, such as Ctrl-C or a pipe that was closed, ends both. */
static int end_as(int sig)
{
	signal(sig, SIG_DFL);
	raise(sig);
	return STATUS_ERROR;
}

/**
 * guard_run - work on a file in a process of its own
 * @work: the work, which returns an exit status
 * @arg: its argument
 * @file: the file's path
 *
 * Return: the exit status. If the process dies, that is reported.
 */
int guard_run(int (*work)(void *arg), void *arg, const char *file)
{
	pid_t child;
	int status;

	fflush(stdout);
	child = fork();
	if (child < 0)
		die("fork: %s", strerror(errno));
	if (!child)
		run(work, arg);
	while (waitpid(child, &status, 0) < 0) {
		if (errno != EINTR)
			die("waitpid: %s", strerror(errno));
	}
	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	if (!is_fault(WTERMSIG(status)))
		return end_as(WTERMSIG(status));
	err_msg("%s is corrupted, and libtracecmd can't read it: record it again", file);
	return STATUS_ERROR;
}
