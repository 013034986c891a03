// SPDX-License-Identifier: GPL-2.0
/* The directories in tracefs that are recorded: the hypervisor's, and one of the host's. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <tracefs.h>

#include "instance.h"
#include "utils.h"

#define HOST	"hypstat"	/* so that who uses the top level is not disturbed */

static void check_tracefs(const char *dir)
{
	if (geteuid() && (!dir || access(dir, R_OK | W_OK | X_OK)))
		die("no permission to use tracefs: run hypstat as root");
	if (!dir)
		die("there is no tracefs: mount -t tracefs nodev /sys/kernel/tracing");
}

static void no_hypervisor(void)
{
	die("no hypervisor to trace: with VHE, use 'perf kvm stat'; see hypstat-record(1)");
}

/**
 * instance_open_hypervisor - open the hypervisor's directory, or exit
 * @tracefs: where tracefs is, or NULL if it is where it is mounted
 *
 * Return: a file descriptor of the directory.
 */
int instance_open_hypervisor(const char *tracefs)
{
	char path[PATH_MAX];
	int dir;

	tracefs_set_loglevel(TEP_LOG_NONE);
	if (!tracefs)
		tracefs = tracefs_tracing_dir();
	check_tracefs(tracefs);
	snprintf(path, sizeof(path), "%s/hypervisor", tracefs);
	dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0 || faccessat(dir, "tracing_on", F_OK, 0))
		no_hypervisor();
	return dir;
}

/**
 * instance_hypervisor - find the hypervisor's directory, or exit
 *
 * Return: the instance.
 */
struct tracefs_instance *instance_hypervisor(void)
{
	struct tracefs_instance *instance;

	close(instance_open_hypervisor(NULL));
	instance = tracefs_instance_alloc(NULL, "hypervisor");
	if (!instance)
		no_hypervisor();
	return instance;
}

/**
 * instance_host - make an instance for the host's events, or exit
 *
 * Return: the instance, which tracefs_instance_destroy() removes.
 */
struct tracefs_instance *instance_host(void)
{
	struct tracefs_instance *instance;

	if (tracefs_instance_exists(HOST))
		die("another hypstat records, or was killed: rmdir %s/instances/" HOST,
		    tracefs_tracing_dir());
	instance = tracefs_instance_create(HOST);
	if (!instance)
		die("can't make an instance in tracefs: %s", strerror(errno));
	return instance;
}

/**
 * instance_write - write to a file, or exit
 * @instance: the instance
 * @file: the file's name
 * @text: what is written
 */
void instance_write(struct tracefs_instance *instance, const char *file, const char *text)
{
	if (tracefs_instance_file_write(instance, file, text) < 0)
		die("can't write %s to %s of %s: %s", text, file,
		    tracefs_instance_get_name(instance), strerror(errno));
}

/**
 * instance_is_on - is tracing on?
 * @instance: the instance
 *
 * Return: whether it is, or can't be known.
 */
bool instance_is_on(struct tracefs_instance *instance)
{
	return tracefs_trace_is_on(instance);
}

/**
 * instance_enable - enable an event, or exit
 * @instance: the instance
 * @event: SYSTEM or SYSTEM:EVENT
 */
void instance_enable(struct tracefs_instance *instance, const char *event)
{
	char *system = strdup(event), *name;

	if (!system)
		die("no memory");
	name = strchr(system, ':');
	if (name)
		*name++ = '\0';
	if (tracefs_event_enable(instance, system, name))
		die("there is no event %s, see %s/available_events", event, tracefs_tracing_dir());
	free(system);
}

/**
 * instance_clear - clear all events
 * @instance: the instance
 */
void instance_clear(struct tracefs_instance *instance)
{
	tracefs_instance_file_clear(instance, "trace");
}

/**
 * instance_buffer_size - the size of each CPU's buffer
 * @instance: the instance
 *
 * Return: the size in KB, or 0 if the CPUs differ.
 */
long long instance_buffer_size(struct tracefs_instance *instance)
{
	char *text = tracefs_instance_file_read(instance, "buffer_size_kb", NULL);
	long long size = text ? strtoll(text, NULL, 10) : 0;

	free(text);
	return size;
}

/**
 * instance_set_buffer_size - set the size of each CPU's buffer, if that is possible
 * @instance: the instance
 * @kb: the size in KB
 */
void instance_set_buffer_size(struct tracefs_instance *instance, long long kb)
{
	char text[32];

	snprintf(text, sizeof(text), "%lld", kb);
	tracefs_instance_file_write(instance, "buffer_size_kb", text);
}

static unsigned long long cpu_overrun(struct tracefs_instance *instance, int cpu)
{
	unsigned long long overrun = 0;
	char file[64], *stats, *line;

	snprintf(file, sizeof(file), "per_cpu/cpu%d/stats", cpu);
	stats = tracefs_instance_file_read(instance, file, NULL);
	line = stats ? strstr(stats, "\noverrun: ") : NULL;
	if (line)
		overrun = strtoull(line + strlen("\noverrun: "), NULL, 10);
	free(stats);
	return overrun;
}

/**
 * instance_overrun - count the events that were overwritten before they were read
 * @instance: the instance
 * @nr_cpus: the number of CPUs
 *
 * Return: how many, on all CPUs.
 */
unsigned long long instance_overrun(struct tracefs_instance *instance, int nr_cpus)
{
	unsigned long long overrun = 0;
	int cpu;

	for (cpu = 0; cpu < nr_cpus; cpu++)
		overrun += cpu_overrun(instance, cpu);
	return overrun;
}
