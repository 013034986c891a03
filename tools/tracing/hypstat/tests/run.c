// SPDX-License-Identifier: GPL-2.0
/* Runs hypstat, and says what it has printed. */
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "run.h"

#define SECONDS	60	/* that a run may take, on a machine with other work */

static void run_child(const struct run *run, const char * const *args)
{
	dup2(fileno(run->files[0]), 1);
	dup2(fileno(run->files[1]), 2);
	alarm(SECONDS);
	execv(args[0], (char **)args);
	_exit(127);
}

/**
 * run_start - start a program
 * @run: the run
 * @args: the program's path, its arguments, and NULL
 */
void run_start(struct run *run, const char * const *args)
{
	memset(run, 0, sizeof(*run));
	run->files[0] = tmpfile();
	run->files[1] = tmpfile();
	fflush(stdout);
	run->pid = fork();
	if (!run->pid)
		run_child(run, args);
}

static void read_back(FILE *file, char *text, size_t size)
{
	rewind(file);
	text[fread(text, 1, size - 1, file)] = '\0';
	fclose(file);
}

/**
 * run_end - wait until a program ends
 * @run: the run
 */
void run_end(struct run *run)
{
	waitpid(run->pid, &run->status, 0);
	read_back(run->files[0], run->out, sizeof(run->out));
	read_back(run->files[1], run->errors, sizeof(run->errors));
}

/**
 * run_refused - whether hypstat said in one line what is wrong, and ended with status 1
 * @run: the run
 *
 * Return: whether it did.
 */
bool run_refused(const struct run *run)
{
	const char *end = strchr(run->errors, '\n');

	return WIFEXITED(run->status) && WEXITSTATUS(run->status) == 1 &&
	       !strncmp(run->errors, "hypstat: ", 9) && end && !end[1];
}

/**
 * run_is_fine - whether hypstat did its work, or said what is wrong
 * @run: the run
 *
 * Return: whether it did.
 */
bool run_is_fine(const struct run *run)
{
	return !run->status || run_refused(run);
}

/**
 * run_seconds - the CPU time of all runs that have ended
 *
 * Return: seconds, of user space and the kernel.
 */
double run_seconds(void)
{
	struct rusage usage;

	getrusage(RUSAGE_CHILDREN, &usage);
	return usage.ru_utime.tv_sec + usage.ru_stime.tv_sec +
	       (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}
