// SPDX-License-Identifier: GPL-2.0
/*
 * A session lasts until a command or a duration has ended, until a signal comes, or until something
 * else has ended it, which is asked for now and then.
 */
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "session.h"
#include "utils.h"

#define ASK_NS	(50 * 1000 * 1000)	/* how often what else may end the session is asked for */

/* What else ends a session */
struct session_end {
	bool	(*ended)(void *arg);
	void	*arg;
};

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

/* Whether the session goes on. At its end, a signal has come, or what else ends it has. */
static bool goes_on(const sigset_t *signals, const struct session_end *end)
{
	const struct timespec period = { .tv_nsec = ASK_NS };

	if (!end->ended)
		return sigwaitinfo(signals, NULL) == SIGCHLD;

	switch (sigtimedwait(signals, NULL, &period)) {
	case SIGCHLD:
		return true;
	case -1:
		return !end->ended(end->arg);
	}
	return false;
}

/* Until the command ends. At the end of the session it is ended. */
static int run_command(char **command, const sigset_t *signals, const struct session_end *end)
{
	pid_t child = start_command(command, signals);
	bool stopped = false;
	int status;

	while (!waitpid(child, &status, WNOHANG)) {
		if (goes_on(signals, end))
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
	return session_run_until(command, duration, signals, NULL, NULL);
}

/**
 * session_run_until - wait until the session ends, or something else has ended it
 * @command: as session_run()
 * @duration: likewise
 * @signals: likewise
 * @ended: whether that has ended it, or NULL
 * @arg: for @ended
 *
 * Return: as session_run().
 */
int session_run_until(char **command, long duration, const sigset_t *signals,
		      bool (*ended)(void *arg), void *arg)
{
	const struct session_end end = { ended, arg };

	if (duration)
		alarm(duration);
	if (command)
		return run_command(command, signals, &end);
	while (goes_on(signals, &end))
		;
	return 0;
}
