// SPDX-License-Identifier: GPL-2.0-only
/*
 * Attach a BPF program to an event of perf, and detach it:
 *
 *	attach kprobe|uprobe|SYSTEM/EVENT
 *
 * kprobe is a probe of a function of the kernel, uprobe one of this program. Exits with 4 if the
 * kernel has no such probes.
 */
#define _GNU_SOURCE
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MISSING	4

static void fail(const char *what)
{
	perror(what);
	exit(2);
}

/* The number in a file, or -1 */
static int number_in(const char *format, const char *name)
{
	char path[256];
	FILE *file;
	int number;

	snprintf(path, sizeof(path), format, name);
	file = fopen(path, "r");
	if (!file)
		return -1;
	if (fscanf(file, "%d", &number) != 1)
		number = -1;
	fclose(file);
	return number;
}

static int load(enum bpf_prog_type type)
{
	const struct bpf_insn program[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	union bpf_attr attr = {
		.prog_type = type,
		.insns = (unsigned long)program,
		.insn_cnt = 2,
		.license = (unsigned long)"GPL",
	};
	int fd = syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof(attr));

	if (fd < 0)
		fail("load");
	return fd;
}

/* Where this program's file has the function */
static unsigned long offset_of(void (*function)(void))
{
	unsigned long start, end, offset;
	FILE *file = fopen("/proc/self/maps", "r");
	char line[256];

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "%lx-%lx %*s %lx", &start, &end, &offset) == 3 &&
		    start <= (unsigned long)function && (unsigned long)function < end) {
			fclose(file);
			return (unsigned long)function - start + offset;
		}
	fail("maps");
	return 0;
}

static void probed(void)
{
}

static int open_event(struct perf_event_attr *attr)
{
	int fd;

	attr->size = sizeof(*attr);
	attr->sample_period = 1;
	fd = syscall(SYS_perf_event_open, attr, 0, -1, -1, 0);
	if (fd < 0)
		fail("perf_event_open");
	return fd;
}

static int open_named(const char *name)
{
	struct perf_event_attr attr = {
		.type = number_in("/sys/bus/event_source/devices/%s/type", name),
	};

	if (!strcmp(name, "kprobe")) {
		attr.kprobe_func = (unsigned long)"do_sys_openat2";
	} else if (!strcmp(name, "uprobe")) {
		attr.uprobe_path = (unsigned long)"/proc/self/exe";
		attr.probe_offset = offset_of(probed);
	} else {
		attr.type = PERF_TYPE_TRACEPOINT;
		attr.config = number_in("/sys/kernel/tracing/events/%s/id", name);
	}
	if ((int)attr.type == -1)
		exit(MISSING);
	return open_event(&attr);
}

int main(int argc, char **argv)
{
	enum bpf_prog_type type = BPF_PROG_TYPE_KPROBE;
	int fd, program;

	if (argc != 2)
		return 2;
	if (strchr(argv[1], '/'))
		type = BPF_PROG_TYPE_TRACEPOINT;
	fd = open_named(argv[1]);
	program = load(type);
	if (ioctl(fd, PERF_EVENT_IOC_SET_BPF, program) || ioctl(fd, PERF_EVENT_IOC_ENABLE))
		fail("PERF_EVENT_IOC_SET_BPF");
	close(program);
	close(fd);
	return 0;
}
