// SPDX-License-Identifier: GPL-2.0-only
/*
 * A soak's readers: consuming readers, non-consuming readers, and readers of other files
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "soak.h"

static bool may_end(void)
{
	return plan.flags & (SWITCH | UNLOAD);
}

/* EAGAIN and EINTR are no errors. The end of the file is one, unless tracing may be off. */
static bool goes_on(ssize_t ret)
{
	if (!ret && !may_end())
		violation("the end of %s while tracing is on", me->file);
	if (ret < 0 && ret != -EINTR && ret != -EAGAIN)
		violation("read %s: %s", me->file, strerrorname_np(-ret));
	return ret > 0 || ret == -EINTR || ret == -EAGAIN;
}

static size_t read_size(void)
{
	if (plan.load)
		return 4096;
	switch (below(4)) {
	case 0:
		return 16 + some(300);
	case 1:
		return some(16384);
	default:
		return 16384;
	}
}

static void consume(int cpu, int flags, void (*wait)(int fd))
{
	unsigned int reads = some(plan.flags & UNLOAD ? 10 : 200);
	size_t size = read_size();
	struct session s;
	char name[64];
	ssize_t ret;
	int fd;

	cpu_file(name, sizeof(name), cpu, "trace_pipe");
	fd = open_file(name, O_RDONLY | flags);
	if (fd < 0)
		return;
	begin_session(&s, fd, cpu, true);
	while (is_torn(&s) || (running() && (plan.load || reads--))) {
		if (wait && !is_torn(&s))
			wait(fd);
		ret = read_some(&s, size);
		if (!goes_on(ret))
			break;
		if (plan.load && ret > 0)
			note_load_read();
		else if (!plan.load && one_in(50) && !is_torn(&s))
			rest(below(30));
	}
	if (is_torn(&s))
		violation("%s ends amid a line", name);
	close_file(fd);
}

/* In rounds with UNLOAD, readers must not keep the buffer loaded all the time. */
static void consume_often(int cpu, int flags, void (*wait)(int fd))
{
	while (running()) {
		consume(cpu < 0 ? cpu : random_cpu(), flags, wait);
		if (plan.flags & UNLOAD)
			rest(below(100));
	}
}

static void wait_poll(int fd)
{
	struct pollfd pollfd = { .fd = fd, .events = POLLIN };
	int ret;

	doing("poll", me->file);
	ret = poll(&pollfd, 1, 100);
	if (ret > 0 && pollfd.revents != POLLIN)
		violation("poll %s: %#x", me->file, pollfd.revents);
	if (ret < 0 && errno != EINTR)
		violation("poll %s: %s", me->file, strerrorname_np(errno));
}

static void wait_epoll(int fd)
{
	struct epoll_event event = { .events = EPOLLIN | (one_in(2) ? EPOLLET : 0) };
	int epoll = epoll_create1(EPOLL_CLOEXEC), ret;

	doing("epoll", me->file);
	if (epoll < 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event))
		err(1, "epoll");
	ret = epoll_wait(epoll, &event, 1, 100);
	if (ret > 0 && event.events != EPOLLIN)
		violation("epoll %s: %#x", me->file, event.events);
	if (ret < 0 && errno != EINTR)
		violation("epoll %s: %s", me->file, strerrorname_np(errno));
	close(epoll);
}

void run_blocking(void)
{
	consume_often(-1, 0, NULL);
}

void run_poll(void)
{
	consume_often(-1, O_NONBLOCK, wait_poll);
}

void run_epoll(void)
{
	consume_often(-1, O_NONBLOCK, wait_epoll);
}

void run_per_cpu(void)
{
	consume_often(0, one_in(2) ? O_NONBLOCK : 0, one_in(2) ? wait_poll : NULL);
}

void run_pipe(void)
{
	consume(-1, 0, NULL);
}

void run_cpu_pipe(void)
{
	consume(me->arg, 0, NULL);
}

/* A reader that shares its descriptor: large reads have whole lines. */
void run_shared(void)
{
	struct session s;

	begin_session(&s, me->arg, -1, true);
	snprintf(me->file, sizeof(me->file), "trace_pipe");
	while (running()) {
		if (!goes_on(read_some(&s, 16384)))
			rest(below(20));
		if (is_torn(&s))
			violation("two that read trace_pipe share a line");
	}
}

/*
 * Non-consuming readers
 */

/* Without consuming readers, each event is shown or reported lost. */
static void check_pass(const struct session *s, unsigned long least, unsigned long most)
{
	if (s->shown < least || s->shown > most || s->written < least || s->written > most)
		violation("trace of CPU %d: %lu shown or reported lost of %lu, not %lu to %lu",
			  s->cpu, s->shown, s->written, least, most);
}

/* Reads the file to its end, or not. Returns whether it showed an event. */
static bool pass(int fd, int cpu)
{
	size_t size = read_size();
	unsigned int haste = one_in(3) ? 5 : 100;
	bool whole = plan.load || !one_in(8);
	unsigned long least, most;
	struct session s;
	ssize_t ret;

	begin_session(&s, fd, cpu, false);
	least = written(cpu, false);
	ret = read_some(&s, size);
	most = written(cpu, true);
	while (ret > 0 && (whole || !one_in(4))) {
		if (!plan.load && one_in(haste))
			rest(below(20));
		ret = read_some(&s, size);
	}
	if (ret < 0 && ret != -EINTR)
		violation("read trace: %s", strerrorname_np(-ret));
	if (ret)
		return s.last_us;
	if (s.len)
		violation("trace ends amid a line");
	if (is_steady() && plan.flags & ALONE && !s.unknown)
		check_pass(&s, least, most);
	add(&done.traces, 1);
	return s.last_us;
}

void run_cpu_trace(void)
{
	char name[64];
	int fd;

	while (running()) {
		fd = open_file(cpu_file(name, sizeof(name), me->arg, "trace"), O_RDONLY);
		if (fd < 0)
			return;
		if (pass(fd, me->arg))
			note_load_read();
		close_file(fd);
	}
}

void run_tracer(void)
{
	int fd, cpu;
	char name[64];

	while (running()) {
		cpu = one_in(2) ? random_cpu() : -1;
		cpu_file(name, sizeof(name), cpu, "trace");
		fd = open_file(name, O_RDONLY);
		if (fd < 0)
			return;
		pass(fd, cpu);
		while (one_in(3) && !lseek(fd, 0, SEEK_SET))
			pass(fd, cpu);
		if (one_in(4))
			pread(fd, name, sizeof(name), below(65536));
		close_file(fd);
		rest(below(100));
	}
}

static void check_stats_now(void)
{
	int cpu = random_cpu();
	unsigned long least = written(cpu, false), sum;
	unsigned long end = now_ms() + 1000;
	struct stats stats;

	get_stats(cpu, &stats);
	sum = stats.entries + stats.overrun + stats.read;
	if (is_steady() && (sum < least || sum > written(cpu, true)))
		violation("CPU %d: %lu entries + %lu overrun + %lu read, %lu to %lu were written",
			  cpu, stats.entries, stats.overrun, stats.read, least,
			  written(cpu, true));
	/* The CPU may be preempted, as a vCPU, while EL2 changes to a page: read again. */
	while (stats.entries && !stats.bytes && now_ms() < end)
		get_stats(cpu, &stats);
	if (stats.entries && !stats.bytes)
		violation("CPU %d: %lu entries have no bytes", cpu, stats.entries);
}

void run_file_reader(void)
{
	static const char * const files[] = {
		"tracing_on", "buffer_size_kb", "buffer_total_size_kb", "buffer_percent",
		"trace_clock", "current_tracer", "available_events", "set_event",
		"per_cpu/cpu0/buffer_size_kb", "events/enable", "events/header_page",
		"events/header_event", "events/hypervisor/enable",
		"events/hypervisor/selftest/format", "events/hypervisor/hyp_enter/id",
		"events/hypervisor/hyp_exit/enable", "events/hypervisor/selftest/filter",
	};
	char text[4096];
	const char *file;

	while (running()) {
		file = files[below(ARRAY_SIZE(files))];
		if (!get(file, text, sizeof(text)))
			violation("%s is empty", file);
		check_stats_now();
		add(&done.file_reads, 1);
		rest(below(20));
	}
}
