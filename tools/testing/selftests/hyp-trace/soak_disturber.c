// SPDX-License-Identifier: GPL-2.0-only
/*
 * Threads that disturb a soak's readers and writers
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "soak.h"

unsigned int tracing;

static void raise_floor(int cpu, unsigned int floor)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

	pthread_mutex_lock(&lock);
	if (floor > accounts[cpu].floor)
		store(&accounts[cpu].floor, floor);
	pthread_mutex_unlock(&lock);
}

void switch_tracing(bool on)
{
	unsigned int next = (load(&tracing) & ~(TRACING_ON | TRACING_CHANGES)) + TRACING_STEP;

	store(&tracing, next | TRACING_CHANGES);
	must_put("tracing_on", on ? "1" : "0");
	store(&tracing, next | on);
}

/* Clear the events of a CPU; -1: of all. */
void clear(int cpu)
{
	unsigned int floor[MAX_CPUS];
	char name[64];
	bool truncate = one_in(2);
	int i, ret;

	for (i = 0; i < nr_cpus; i++)
		floor[i] = load(&writers[i].ended);

	cpu_file(name, sizeof(name), cpu, "trace");
	ret = put(name, truncate ? O_TRUNC : 0, truncate ? "" : "any");
	if (ret)
		violation("cannot write to %s: %s", name, strerrorname_np(ret));

	for (i = 0; i < nr_cpus; i++) {
		if (cpu < 0 || cpu == i)
			raise_floor(i, floor[i]);
	}
	add(&done.clears, 1);
}

void run_clearer(void)
{
	while (running()) {
		clear(one_in(2) ? -1 : random_cpu());
		rest(some(200));
	}
}

void run_switcher(void)
{
	while (running()) {
		switch_tracing(false);
		rest(some(50));
		switch_tracing(true);
		rest(some(200));
		add(&done.switches, 1);
	}
}

static bool see_unloaded(void)
{
	char text[64];

	get("buffer_size_kb", text, sizeof(text));
	return strstr(text, "(unloaded)");
}

/*
 * In rounds with UNLOAD, the buffer is unloaded here as soon as no reader has it open; opening a
 * file may load it again. It must be unloaded at least once.
 */
void run_unloader(void)
{
	bool seen = false;
	int tries = 0;

	while (running() || (!seen && tries++ < 100)) {
		switch_tracing(false);
		clear(-1);
		rest(below(30));
		if (see_unloaded()) {
			add(&done.unloads, 1);
			seen = true;
		}
		switch_tracing(true);
		rest(some(100));
	}
}

/* Returns 0 or the error. */
int set_size(int cpu, unsigned long kb)
{
	char name[64], text[64], expected[32];
	int ret;

	cpu_file(name, sizeof(name), cpu, "buffer_size_kb");
	snprintf(text, sizeof(text), "%lu", kb);
	ret = put(name, 0, text);
	if (ret)
		return ret;

	add(&done.resized, 1);
	snprintf(expected, sizeof(expected), "%lu (", kb);
	get(name, text, sizeof(text));
	text[strcspn(text, "\n")] = '\0';
	if (strncmp(text, expected, strlen(expected)))
		violation("%s is %s, not %lu", name, text, kb);
	return 0;
}

unsigned int random_kb(void)
{
	static const unsigned int kb[] = { 1, 4, 8, 8, 16, 16, 64, 64, 256, 1024, 2048 };

	return kb[below(ARRAY_SIZE(kb))];
}

void run_resizer(void)
{
	char text[16];
	int ret;

	while (running()) {
		ret = set_size(one_in(2) ? random_cpu() : -1, random_kb());
		if (ret == EBUSY)
			add(&done.busy, 1);
		else if (ret || !(plan.flags & UNLOAD))
			violation("resized while loaded, or not: %d", ret);
		snprintf(text, sizeof(text), "%u", below(101));
		must_put("buffer_percent", text);
		rest(some(50));
	}
}

void quieten(void)
{
	must_put("events/hypervisor/hyp_enter/enable", "0");
	must_put("events/hypervisor/hyp_exit/enable", "0");
}

void run_noise(void)
{
	static const char * const events[] = {
		"hyp_enter", "!hyp_enter", "hypervisor:hyp_exit", "!hypervisor:hyp_exit",
		"hypervisor:hyp_enter hyp_exit",
	};

	while (running()) {
		if (one_in(2))
			must_put("events/hypervisor/hyp_enter/enable", one_in(2) ? "1" : "0");
		else
			must_put("set_event", events[below(ARRAY_SIZE(events))]);
		rest(some(50));
	}
	quieten();
}

static int plug(int cpu, bool on)
{
	char path[64];

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/online", cpu);
	return put(path, 0, on ? "1" : "0");
}

static void must_plug(int cpu, bool on)
{
	int ret = plug(cpu, on);

	if (ret && (ret != EBUSY || on))
		violation("CPU %d %s: %s", cpu, on ? "on" : "off", strerrorname_np(ret));
	if (!ret)
		add(&done.plugged, 1);
}

void run_plugger(void)
{
	bool off[MAX_CPUS] = { 0 };
	int cpu;

	while (running()) {
		cpu = 1 + below(nr_cpus - 1);
		must_plug(cpu, off[cpu]);
		off[cpu] = !off[cpu];
		rest(below(100));
	}
	for (cpu = 1; cpu < nr_cpus; cpu++) {
		if (off[cpu])
			must_plug(cpu, true);
	}
}

void run_guests(void)
{
	static char * const argv[] = { "guest", "--vcpus", "2", NULL };
	static char * const env[] = { NULL };
	posix_spawn_file_actions_t actions;
	int status = 0;
	pid_t pid;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
	while (running()) {
		doing("run", "guest");
		if (posix_spawnp(&pid, "guest", &actions, NULL, argv, env) ||
		    waitpid(pid, &status, 0) != pid || status)
			violation("guest: status %#x", status);
		add(&done.guests, 1);
	}
	posix_spawn_file_actions_destroy(&actions);
}

void run_signaller(void)
{
	while (running()) {
		signal_one();
		rest(some(50));
	}
}

/* A process that opens and reads files without consuming events */
static void be_victim(void)
{
	struct pollfd pollfd = { .events = POLLIN };
	char buf[256];
	int trace;

	for (;;) {
		trace = open(TRACEFS "/hypervisor/trace", O_RDONLY);
		read(trace, buf, sizeof(buf));
		pollfd.fd = open(TRACEFS "/hypervisor/per_cpu/cpu0/trace_pipe", O_RDONLY);
		poll(&pollfd, 1, 10);
		read(trace, buf, sizeof(buf));
		close(pollfd.fd);
		close(trace);
	}
}

void run_victims(void)
{
	pid_t pid;

	while (running()) {
		pid = fork();
		if (!pid)
			be_victim();
		rest(some(30));
		doing("kill", "");
		if (pid < 0 || kill(pid, SIGKILL) || waitpid(pid, NULL, 0) != pid)
			violation("kill: %s", strerrorname_np(errno));
		add(&done.killed, 1);
	}
}
