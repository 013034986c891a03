// SPDX-License-Identifier: GPL-2.0-only
/*
 * A soak's writers: each on its CPU, by write_event
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "soak.h"

static bool may_stray(void)
{
	return plan.flags & (HOTPLUG | ROAM);
}

static bool pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	return cpu < 0 || !sched_setaffinity(0, sizeof(set), &set);
}

/* A CPU that goes offline resets the affinity of its threads. */
static bool is_pinned(int cpu)
{
	cpu_set_t set;

	return cpu >= 0 && !sched_getaffinity(0, sizeof(set), &set) && CPU_COUNT(&set) == 1 &&
	       CPU_ISSET(cpu, &set);
}

static void write_one(struct writer *self, int fd)
{
	static const char * const formats[] = { "%lu\n", "%lu", "%#lx\n", "%#lo\n" };
	unsigned int seq = self->begun;
	unsigned long id = (unsigned long)plan.nr << 48 | (self - writers) << 32 | seq;
	unsigned int before, after;
	unsigned int fate = 0;
	char text[32];
	int len;

	len = snprintf(text, sizeof(text), formats[below(ARRAY_SIZE(formats))], id);
	store(&self->begun, seq + 1);
	before = load(&tracing);
	if (write(fd, text, len) != len)
		violation("write_event: %s", strerrorname_np(errno));
	after = load(&tracing);

	if (before != after || before & TRACING_CHANGES)
		fate = UNSURE;
	else if (before & TRACING_ON)
		fate = ON;
	note_fate(self, seq, fate);
	store(&self->ended, seq + 1);
}

/*
 * Events written while the writer may not be on its CPU can be on any CPU. In plain nVHE mode, a
 * CPU that goes offline stops tracing before its tasks stop writing.
 */
static void write_burst(struct writer *self, int fd, unsigned int n)
{
	unsigned int fate = STRAY | (plan.flags & HOTPLUG ? UNSURE : 0);
	unsigned int seq = self->begun;

	doing("write", "write_event");
	while (n-- && running() && self->begun < MAX_SEQ)
		write_one(self, fd);
	if (!may_stray() || is_pinned(self->cpu))
		return;
	for (; seq < self->begun; seq++)
		note_fate(self, seq, fate);
}

void run_writer(void)
{
	struct writer *self = &writers[me->arg];
	int fd = open_file("write_event", O_WRONLY);
	unsigned int haste = 1 + below(10);

	while (fd >= 0 && running() && self->begun < MAX_SEQ) {
		if (is_pinned(self->cpu) || pin(self->cpu))
			write_burst(self, fd, some(500));
		if (!plan.load && one_in(haste))
			rest(below(20));
	}
	if (fd >= 0)
		close_file(fd);
}

bool writers_are_full(void)
{
	int i;

	for (i = 0; i < nr_writers; i++) {
		if (load(&writers[i].begun) == MAX_SEQ)
			return true;
	}
	return false;
}
