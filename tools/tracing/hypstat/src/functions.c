// SPDX-License-Identifier: GPL-2.0
/* The functions of EL2 that are traced while a session records: set_ftrace_filter */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tracefs.h>
#include <unistd.h>

#include "functions.h"
#include "instance.h"
#include "utils.h"

#define FILTER	"set_ftrace_filter"

/* A word at the end of a file is not refused. What is written ends before a word that is. */
static bool choose(struct tracefs_instance *instance, const char *pattern)
{
	char *line;
	int len, taken;

	len = asprintf(&line, "%s\n", pattern);
	if (len < 0)
		die("no memory");
	taken = tracefs_instance_file_write(instance, FILTER, line);
	if (taken >= 0 && taken < len)
		errno = EINVAL;
	free(line);
	return taken == len;
}

/**
 * functions_begin - trace functions, or exit
 * @functions: which ones; without a pattern nothing is done
 * @instance: the hypervisor
 */
void functions_begin(struct functions *functions, struct tracefs_instance *instance)
{
	if (!functions->pattern)
		return;

	functions->former = tracefs_instance_file_read(instance, FILTER, NULL);
	if (!functions->former)
		die("this kernel has no CONFIG_KVM_HYP_FUNCTION_TRACER");
	functions->instance = instance;
	if (!choose(instance, functions->pattern))
		die("EL2 has no function %s, see available_filter_functions: %s",
		    functions->pattern, strerror(errno));
}

/* A list of many functions takes several writes. */
static void set_filter(struct tracefs_instance *instance, const char *names)
{
	int fd = tracefs_instance_file_open(instance, FILTER, O_WRONLY | O_TRUNC);
	ssize_t taken;

	if (fd < 0)
		return;
	while (*names && (taken = write(fd, names, strlen(names))) > 0)
		names += taken;
	close(fd);
}

/**
 * functions_end - undo functions_begin(), if it was called
 * @functions: the same
 */
void functions_end(struct functions *functions)
{
	if (!functions->instance)
		return;

	/* An empty list is shown as a comment. */
	set_filter(functions->instance, *functions->former == '#' ? "" : functions->former);
	free(functions->former);
	functions->instance = NULL;
}
