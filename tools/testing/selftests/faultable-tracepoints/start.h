/* SPDX-License-Identifier: GPL-2.0-only */
/* Start a program that waits until there is a tracer, which wants to know its process id. */
#ifndef START_H
#define START_H

#include <stdlib.h>
#include <unistd.h>

/* Return the process id, or -1. The program begins when a byte is written to *go. */
static inline pid_t start(char **command, int *go)
{
	int fds[2];
	pid_t pid;
	char byte;

	if (pipe(fds))
		return -1;
	pid = fork();
	if (!pid) {
		close(fds[1]);
		if (read(fds[0], &byte, 1) != 1)
			exit(2);
		execvp(command[0], command);
		exit(2);
	}
	close(fds[0]);
	*go = fds[1];
	return pid;
}

#endif
