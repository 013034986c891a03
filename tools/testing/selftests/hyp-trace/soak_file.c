// SPDX-License-Identifier: GPL-2.0-only
/*
 * Files of a soak: opened, read and written as a whole, below hypervisor/
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "soak.h"

/* Below hypervisor/, by any of its names, unless it has a path. */
static int open_any(const char *name, int flags)
{
	static const char * const dirs[] = { "", "instances/", "remotes/" };
	char path[128];

	if (*name == '/')
		return open(name, flags | O_CLOEXEC);
	snprintf(path, sizeof(path), TRACEFS "/%shypervisor/%s", dirs[below(ARRAY_SIZE(dirs))],
		 name);
	return open(path, flags | O_CLOEXEC);
}

int open_file(const char *name, int flags)
{
	int fd;

	doing("open", name);
	fd = open_any(name, flags);
	if (fd < 0)
		violation("open %s: %s", name, strerrorname_np(errno));
	return fd;
}

void close_file(int fd)
{
	doing("close", me->file);
	close(fd);
}

/* Open a file, and write the text unless it is empty. Returns 0 or the error. */
int put(const char *name, int flags, const char *text)
{
	ssize_t len = strlen(text);
	int fd, ret = 0;

	doing("write", name);
	fd = open_any(name, O_WRONLY | flags);
	if (fd < 0)
		return errno;
	if (len && write(fd, text, len) != len)
		ret = errno;
	close(fd);
	return ret;
}

void must_put(const char *name, const char *text)
{
	int ret = put(name, 0, text);

	if (ret)
		violation("%s to %s: %s", text, name, strerrorname_np(ret));
}

/* The whole file, as a string; what does not fit is read and dropped. */
size_t get(const char *name, char *text, size_t size)
{
	int fd = open_file(name, O_RDONLY);
	size_t len = 0;
	ssize_t ret;
	char c;

	text[0] = '\0';
	if (fd < 0)
		return 0;
	doing("read", name);
	do {
		ret = len + 1 < size ? read(fd, text + len, size - 1 - len) : read(fd, &c, 1);
		if (ret > 0 && len + 1 < size)
			len += ret;
	} while (ret > 0);
	if (ret < 0)
		violation("read %s: %s", name, strerrorname_np(errno));
	text[len] = '\0';
	close_file(fd);
	return len;
}

const char *cpu_file(char *name, size_t size, int cpu, const char *file)
{
	if (cpu < 0)
		snprintf(name, size, "%s", file);
	else
		snprintf(name, size, "per_cpu/cpu%d/%s", cpu, file);
	return name;
}

static unsigned long stat_value(const char *text, const char *name)
{
	const char *at = strstr(text, name);
	unsigned long value = 0;

	if (!at || (at != text && at[-1] != '\n') ||
	    sscanf(at + strlen(name), ": %lu\n", &value) != 1)
		violation("stats has no line %s: %s", name, text);
	return value;
}

void get_stats(int cpu, struct stats *stats)
{
	char name[64], text[512];

	get(cpu_file(name, sizeof(name), cpu, "stats"), text, sizeof(text));
	stats->entries = stat_value(text, "entries");
	stats->overrun = stat_value(text, "overrun");
	stats->commit_overrun = stat_value(text, "commit overrun");
	stats->bytes = stat_value(text, "bytes");
	stats->dropped = stat_value(text, "dropped events");
	stats->read = stat_value(text, "read events");
}
