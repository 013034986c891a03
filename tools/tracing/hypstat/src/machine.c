// SPDX-License-Identifier: GPL-2.0
/* Which machine this is: figures in nanoseconds mean nothing without that. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/klog.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "machine.h"
#include "utils.h"

#define LOG_READ_ALL	3		/* syslog(2) */
#define LOG_SIZE	0x100000

/* The first line of a file, or what stands for it */
static void read_line(const char *path, const char *otherwise, char *line)
{
	char *text = read_file(AT_FDCWD, path);

	if (text)
		text[strcspn(text, "\n")] = '\0';
	snprintf(line, MACHINE_TEXT, "%s", text && *text ? text : otherwise);
	free(text);
}

static void find_model(struct machine *machine)
{
	char product[MACHINE_TEXT];

	read_line("/sys/class/dmi/id/product_name", "unknown", product);
	read_line("/proc/device-tree/model", product, machine->model);
}

static void find_cpu(struct machine *machine, int cpu)
{
	char path[MACHINE_TEXT];

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/regs/identification/midr_el1",
		 cpu);
	read_line(path, "unknown", machine->cpu);
}

/* KVM's line, such as "kvm [1]: Protected hVHE mode initialized successfully" */
static void find_mode(struct machine *machine)
{
	char *log = xcalloc(LOG_SIZE, 1), *end, *begin;
	int size = klogctl(LOG_READ_ALL, log, LOG_SIZE - 1);

	log[size < 0 ? 0 : size] = '\0';
	end = strstr(log, " mode initialized");
	snprintf(machine->mode, sizeof(machine->mode), "unknown");
	if (end) {
		*end = '\0';
		begin = strrchr(log, ':');
		if (begin)
			snprintf(machine->mode, sizeof(machine->mode), "%s", begin + 2);
	}
	free(log);
}

static void find_clock(struct machine *machine)
{
#ifdef __aarch64__
	unsigned long hz;

	asm("mrs %0, cntfrq_el0" : "=r" (hz));
	machine->clock = hz / 1e6;
#endif
}

/* QEMU's machine "virt", and others that say so */
static void find_virtual(struct machine *machine)
{
	char text[MACHINE_TEXT];

	read_line("/proc/device-tree/compatible", "", text);
	machine->is_virtual = strstr(text, "dummy-virt") || strstr(machine->model, "QEMU") ||
			      strstr(machine->model, "irtual");
}

/**
 * machine_find - find out which machine this is
 * @machine: it
 * @cpu: the CPU that is used
 */
void machine_find(struct machine *machine, int cpu)
{
	struct utsname name;

	memset(machine, 0, sizeof(*machine));
	uname(&name);
	snprintf(machine->kernel, sizeof(machine->kernel), "%s", name.release);
	find_model(machine);
	find_cpu(machine, cpu);
	find_mode(machine);
	find_clock(machine);
	find_virtual(machine);
}
