// SPDX-License-Identifier: GPL-2.0
/* A session lasts until a command or a duration has ended, or until a signal comes. */
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "session.h"
#include "utils.h"

/**
 * session_signals - block the signals that end a session
 * @signals: them
 *
 * They are waited for. Nothing else is interrupted by them, and what was set up is undone.
 */
void session_signals(sigset_t *signals)
{
	sigemptyset(signals);
	sigaddset(signals, SIGINT);
	sigaddset(signals, SIGTERM);
	sigaddset(signals, SIGHUP);
	sigaddset(signals, SIGALRM);
	sigaddset(signals, SIGCHLD);
	sigprocmask(SIG_BLOCK, signals, NULL);
}

static pid_t start_command(char **command, const sigset_t *signals)
{
	pid_t child = fork();

	if (child < 0)
		die("fork: %s", strerror(errno));
	if (child)
		return child;
	sigprocmask(SIG_UNBLOCK, signals, NULL);
	execvp(command[0], command);
	err_msg("can't run %s: %s", command[0], strerror(errno));
	_exit(127);
}

/* Until the command ends. At the end of the duration, or by a signal, it is ended. */
static int run_command(char **command, const sigset_t *signals)
{
	pid_t child = start_command(command, signals);
	bool stopped = false;
	int status;

	while (!waitpid(child, &status, WNOHANG)) {
		if (sigwaitinfo(signals, NULL) == SIGCHLD)
			continue;
		stopped = true;
		kill(child, SIGTERM);
	}
	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	return stopped ? 0 : 128 + WTERMSIG(status);
}

/**
 * session_run - wait until the session ends
 * @command: a command that runs meanwhile, and its arguments, or NULL
 * @duration: in seconds, 0: no limit
 * @signals: those of session_signals()
 *
 * Return: the exit status; the command's, if there is one.
 */
int session_run(char **command, long duration, const sigset_t *signals)
{
	if (duration)
		alarm(duration);
	if (command)
		return run_command(command, signals);
	while (sigwaitinfo(signals, NULL) == SIGCHLD)
		;
	return 0;
}
