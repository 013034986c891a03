// SPDX-License-Identifier: GPL-2.0
/* EL2 stops tracing after a stay that takes too long, while accounting is on. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tracefs.h>

#include "instance.h"
#include "stop.h"
#include "utils.h"

static char *read_number(struct tracefs_instance *instance, const char *file)
{
	char *text = tracefs_instance_file_read(instance, file, NULL);

	if (!text)
		die("this kernel can't stop tracing: it has no %s", file);
	text[strcspn(text, "\n")] = '\0';
	return text;
}

/**
 * stop_begin - let a long stay stop tracing, when that is turned on, or exit
 * @stop: with the number of microseconds; if that is 0, nothing is done
 * @instance: the hypervisor
 */
void stop_begin(struct stop *stop, struct tracefs_instance *instance)
{
	char text[16];

	if (!stop->us)
		return;

	stop->former_us = read_number(instance, "stop_tracing_us");
	stop->former_accounting = read_number(instance, "accounting");
	stop->instance = instance;
	snprintf(text, sizeof(text), "%u", stop->us);
	instance_write(instance, "stop_tracing_us", text);
	instance_write(instance, "accounting", "1");
}

/**
 * stop_has_come - has a stay stopped tracing?
 * @arg: struct stop
 *
 * Return: whether it has, after tracing was turned on.
 */
bool stop_has_come(void *arg)
{
	struct stop *stop = arg;

	return stop->us && !instance_is_on(stop->instance);
}

/**
 * stop_end - undo stop_begin(), if it was called
 * @stop: the same
 */
void stop_end(struct stop *stop)
{
	if (!stop->instance)
		return;

	tracefs_instance_file_write(stop->instance, "stop_tracing_us", stop->former_us);
	tracefs_instance_file_write(stop->instance, "accounting", stop->former_accounting);
	free(stop->former_us);
	free(stop->former_accounting);
	stop->instance = NULL;
}
