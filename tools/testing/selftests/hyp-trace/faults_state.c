// SPDX-License-Identifier: GPL-2.0-only
/*
 * The state of the instance, for faults.c: its files, the events that EL2 writes, and the
 * allocated memory
 */
#include <err.h>
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "faults.h"

static const char *const state_files[] = {
	"tracing_on", "buffer_size_kb", "set_event", "trace", "events/hypervisor/filter",
	"error_log", "events/hypervisor/selftest/trigger", "set_event_pid", "options/event-fork",
};

static const char *const probed_files[] = {
	"events/hypervisor/*/filter",
};

/* Sites of tracing's allocations, as in /proc/allocinfo */
static const char *const ours[] = {
	"arch/arm64/kvm/hyp_", "func:share_pfn_hyp", "kernel/trace/ring_buffer",
	"kernel/trace/trace_events_filter", "kernel/trace/pid_list", "kernel/trace/remote/",
};

int xopen(const char *path, int flags)
{
	int fd = open(path, flags);

	if (fd < 0)
		err(1, "%s", path);
	return fd;
}

/* All of a file, for free(). */
char *get(const char *path)
{
	int fd = xopen(path, O_RDONLY);
	size_t size;
	char buf[4096], *text;
	FILE *to = open_memstream(&text, &size);
	ssize_t ret;

	while ((ret = read(fd, buf, sizeof(buf))) > 0)
		fwrite(buf, 1, ret, to);
	if (ret < 0)
		err(1, "%s: read", path);
	fclose(to);
	close(fd);
	return text;
}

void put(const char *file, const char *text)
{
	char path[200];
	int fd;

	snprintf(path, sizeof(path), HYP "%s", file);
	fd = xopen(path, O_WRONLY);
	if (write(fd, text, strlen(text)) < 0)
		err(1, "%s: write", file);
	close(fd);
}

void emit(unsigned int from, unsigned int nr)
{
	static int fd = -1;

	if (fd < 0)
		fd = xopen(HYP "write_event", O_WRONLY);
	while (nr--) {
		if (dprintf(fd, "%u", from++) < 0)
			err(1, "write_event");
	}
}

/* Which of a few events pass the filters, with tracing on */
static void probe(FILE *to)
{
	char *trace, *line, *rest;

	put("trace", "");
	emit(1, 12);
	trace = get(HYP "trace");
	put("trace", "");
	for (line = strtok_r(trace, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		if (strstr(line, "selftest "))
			fprintf(to, "%s\n", strstr(line, "selftest "));
	}
	free(trace);
}

static void show_file(FILE *to, const char *path)
{
	char *text = get(path);

	fprintf(to, "%s: %s", path, text);
	free(text);
}

static void show_files(FILE *to, const char *const *files, size_t nr)
{
	char pattern[200];
	glob_t found;
	size_t i;

	for (; nr--; files++) {
		snprintf(pattern, sizeof(pattern), HYP "%s", *files);
		if (glob(pattern, 0, NULL, &found))
			errx(1, "no %s", pattern);
		for (i = 0; i < found.gl_pathc; i++)
			show_file(to, found.gl_pathv[i]);
		globfree(&found);
	}
}

/* For free(). */
char *state_of(const struct op *op)
{
	size_t size;
	char *text;
	FILE *to = open_memstream(&text, &size);

	show_files(to, state_files, ARRAY_SIZE(state_files));
	if (op->probed) {
		show_files(to, probed_files, ARRAY_SIZE(probed_files));
		probe(to);
	}
	fclose(to);
	return text;
}

static bool is_ours(const char *line)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(ours); i++) {
		if (strstr(line, ours[i]))
			return true;
	}
	return false;
}

/* Allocations by site, a line each, to be freed; empty if the kernel does not account for them */
char *allocations(void)
{
	FILE *from = fopen("/proc/allocinfo", "r"), *to;
	char *text, line[512];
	size_t size;

	to = open_memstream(&text, &size);
	while (from && fgets(line, sizeof(line), from)) {
		if (is_ours(line))
			fputs(line, to);
	}
	if (from)
		fclose(from);
	fclose(to);
	return text;
}
