// SPDX-License-Identifier: GPL-2.0
/* The functions of EL2 that are traced while a session records: set_ftrace_filter */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <tracefs.h>

#include "functions.h"
#include "instance.h"
#include "utils.h"

#define FILTER	"set_ftrace_filter"

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
	if (tracefs_instance_file_write(instance, FILTER, functions->pattern) < 0)
		die("EL2 has no function %s, see available_filter_functions: %s",
		    functions->pattern, strerror(errno));
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
	tracefs_instance_file_write(functions->instance, FILTER,
				    *functions->former == '#' ? "\n" : functions->former);
	free(functions->former);
	functions->instance = NULL;
}
