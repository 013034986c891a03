// SPDX-License-Identifier: GPL-2.0
/* libtracefs uses each file of the instance hypervisor, and refuses missing ones; on CPU 0 */
#include <sched.h>
#include <signal.h>
#include <tracefs.h>
#include "kselftest_harness.h"

#define NR_EVENTS	300
#define GROUP		"hypervisor"
#define EVENT		"selftest"
#define EVENT_DIR	"events/" GROUP "/" EVENT "/"

static struct tracefs_instance *hyp;
static struct tep_handle *tep;
static struct tep_event *event;

static void __attribute__((constructor)) setup(void)
{
	static const char * const groups[] = { GROUP, NULL };

	hyp = tracefs_instance_alloc(NULL, "hypervisor");
	tep = tracefs_local_events_system(NULL, groups);
	event = tep_find_event_by_name(tep, GROUP, EVENT);
}

static char *file(const char *name)
{
	return tracefs_instance_file_read(hyp, name, NULL) ?: "";
}

static bool has(const char *text, const char *part)
{
	return text && strstr(text, part);
}

static bool write_events(int nr)
{
	for (int i = 1; i <= nr; i++)
		if (tracefs_instance_file_write_number(hyp, "write_event", i))
			return false;
	return true;
}

/* Tracing is on, and nothing else has been written than the numbers from 1. */
static bool fill(int nr)
{
	return !tracefs_trace_off(hyp) && !tracefs_instance_clear(hyp) &&
	       !tracefs_event_disable(hyp, NULL, NULL) &&
	       !tracefs_event_enable(hyp, GROUP, EVENT) && !tracefs_trace_on(hyp) &&
	       write_events(nr);
}

TEST(instance_and_missing_files)
{
	ASSERT_FALSE(tracefs_instance_is_new(tracefs_instance_create("hypervisor")));
	ASSERT_TRUE(has(tracefs_instance_get_dir(hyp), "/instances/hypervisor"));
	ASSERT_TRUE(tracefs_instance_destroy(hyp) && tracefs_instance_exists("hypervisor"));
	ASSERT_FALSE(tracefs_option_is_enabled(hyp, TRACEFS_OPTION_STACKTRACE));
	ASSERT_TRUE(tracefs_option_enable(hyp, TRACEFS_OPTION_STACKTRACE));
	ASSERT_TRUE(tracefs_tracer_set(hyp, TRACEFS_TRACER_FUNCTION) && !tracefs_tracer_clear(hyp));
	ASSERT_STREQ("nop\n", file("current_tracer"));
	ASSERT_TRUE(tracefs_print_init(hyp));
}

TEST(affinity_and_snapshot)
{
	ASSERT_LE(0, tracefs_instance_set_affinity(hyp, "0"));
	ASSERT_STREQ("0", tracefs_instance_get_affinity(hyp));
	ASSERT_STREQ("1\n", file("tracing_cpumask"));
	ASSERT_LE(0, tracefs_instance_set_affinity(hyp, NULL));
	ASSERT_STREQ("0-1", tracefs_instance_get_affinity(hyp));
	ASSERT_TRUE(fill(3) && !tracefs_snapshot_snap(hyp) && !tracefs_instance_clear(hyp));
	ASSERT_NE(NULL, strstr(file("snapshot"), EVENT " id=3\n"));
	ASSERT_FALSE(tracefs_snapshot_free(hyp));
	ASSERT_TRUE(!tracefs_trace_off(hyp) && !tracefs_instance_clear(hyp));
}

TEST(buffer_size_tracing_on_and_trace_clock)
{
	ASSERT_FALSE(tracefs_instance_set_buffer_size(hyp, 64, -1));
	ASSERT_FALSE(tracefs_instance_set_buffer_size(hyp, 128, 1));
	ASSERT_EQ(64, tracefs_instance_get_buffer_size(hyp, 0));
	ASSERT_EQ(192, tracefs_instance_get_buffer_size(hyp, -1));
	ASSERT_FALSE(tracefs_instance_set_buffer_size(hyp, 1024, -1));
	ASSERT_TRUE(!tracefs_trace_on(hyp) && tracefs_trace_is_on(hyp) == 1);
	ASSERT_TRUE(!tracefs_trace_off(hyp) && tracefs_trace_is_on(hyp) == 0);
	ASSERT_STREQ("boot", tracefs_get_clock(hyp));
}

/* What describes events is at the top level, too; there they can't be enabled. */
TEST(events_and_set_event)
{
	ASSERT_FALSE(tracefs_event_disable(hyp, NULL, NULL));
	ASSERT_LT(0, tracefs_instance_file_append(hyp, "set_event", "hypervisor:hyp_enter"));
	ASSERT_FALSE(tracefs_event_enable(hyp, NULL, "hyp_exit"));
	ASSERT_STREQ("hypervisor:hyp_enter\nhypervisor:hyp_exit\n", file("set_event"));
	ASSERT_EQ(TRACEFS_SOME_ENABLED, tracefs_event_is_enabled(hyp, GROUP, NULL));
	ASSERT_FALSE(tracefs_event_enable(hyp, GROUP, NULL));
	ASSERT_EQ(TRACEFS_ALL_ENABLED, tracefs_event_is_enabled(hyp, GROUP, NULL));
	ASSERT_FALSE(tracefs_event_disable(hyp, GROUP, "hyp_.*"));
	ASSERT_EQ(TRACEFS_ALL_DISABLED, tracefs_event_is_enabled(hyp, GROUP, "hyp_exit"));
	ASSERT_TRUE(tracefs_event_enable(hyp, GROUP, "no_event"));
	ASSERT_EQ(event->id, atoi(file(EVENT_DIR "id")));
	ASSERT_TRUE(tracefs_event_file_exists(NULL, GROUP, EVENT, "format"));
	ASSERT_TRUE(tracefs_event_enable(NULL, GROUP, NULL));
	ASSERT_TRUE(tracefs_event_filter_apply(NULL, event, "id == 1"));
}

TEST(trace_filter_and_error_log)
{
	ASSERT_LE(0, tracefs_event_filter_apply(hyp, event, "id > 3 && id < 5"));
	ASSERT_TRUE(fill(NR_EVENTS) && has(file("trace"), "entries-written: 1/1 "));
	ASSERT_TRUE(has(file("trace"), EVENT " id=4\n"));
	ASSERT_TRUE(!tracefs_instance_clear(hyp) && !strstr(file("trace"), EVENT));
	ASSERT_GT(0, tracefs_event_file_write(hyp, GROUP, EVENT, "filter", "id = 2"));
	ASSERT_TRUE(has(file(EVENT_DIR "filter"), "parse_error: Invalid operator"));
	ASSERT_GT(0, tracefs_event_filter_apply(hyp, event, "second == 1"));
	ASSERT_TRUE(has(tracefs_error_all(hyp), "Command: id = 2\n"));
	ASSERT_TRUE(has(tracefs_error_last(hyp), "Command: second == 1\n"));
	ASSERT_LE(0, tracefs_event_filter_clear(hyp, event));
	ASSERT_STREQ("none\n", file(EVENT_DIR "filter"));
	ASSERT_TRUE(!tracefs_error_clear(hyp) && !tracefs_error_last(hyp));
}

TEST(stats)
{
	struct tracefs_buffer_stat *stat;

	ASSERT_TRUE(fill(NR_EVENTS) && (stat = tracefs_instance_get_stat(hyp, 0)));
	ASSERT_EQ(NR_EVENTS, tracefs_buffer_stat_entries(stat));
	ASSERT_LE(20 * NR_EVENTS, tracefs_buffer_stat_bytes(stat));
	ASSERT_EQ(0, tracefs_buffer_stat_overrun(stat) + tracefs_buffer_stat_commit_overrun(stat) +
		  tracefs_buffer_stat_dropped_events(stat) + tracefs_buffer_stat_read_events(stat));
	ASSERT_LT(0, tracefs_buffer_stat_event_timestamp(stat));
	ASSERT_LT(0, tracefs_buffer_stat_timestamp(stat));
}

/* Count the numbers: each is one more than the one before. */
static int count(struct tep_event *which, struct tep_record *record, int cpu, void *data)
{
	unsigned long long id, *nr = data;

	return strcmp(which->name, EVENT) || tep_get_field_val(NULL, which, "id", record, &id, 0) ||
	       id != ++*nr;
}

/* Count those of a page; false: one is out of order. */
static bool count_page(struct kbuffer *page, unsigned long long *nr)
{
	struct tep_record record = { };

	for (; (record.data = kbuffer_read_event(page, NULL)); kbuffer_next_event(page, NULL)) {
		record.size = kbuffer_event_size(page);
		if (count(event, &record, 0, nr))
			return false;
	}
	return true;
}

TEST(trace_pipe_raw_by_events)
{
	unsigned long long nr = 0, followed = 0;

	ASSERT_TRUE(fill(NR_EVENTS));
	ASSERT_FALSE(tracefs_follow_event(tep, hyp, GROUP, EVENT, count, &followed));
	ASSERT_FALSE(tracefs_iterate_raw_events(tep, hyp, NULL, 0, count, &nr));
	ASSERT_TRUE(nr == NR_EVENTS && followed == NR_EVENTS);
}

/* By read(); by splice(), and by read() what does not fill a page; by mapping */
TEST(trace_pipe_raw_by_pages_after_a_loss)
{
	static struct kbuffer *(*const way[])(struct tracefs_cpu *cpu, bool nonblock) = {
		tracefs_cpu_read_buf, tracefs_cpu_buffered_read_buf, tracefs_cpu_read_buf,
	};
	int missed, written = NR_EVENTS + sysconf(_SC_PAGESIZE);
	unsigned long long nr;
	struct tracefs_cpu *cpu;
	struct kbuffer *page;

	ASSERT_FALSE(tracefs_trace_off(hyp) || tracefs_instance_clear(hyp));
	ASSERT_FALSE(tracefs_instance_set_buffer_size(hyp, 8, -1));
	for (int i = 0; i < 3; i++) {
		ASSERT_TRUE(fill(written) && !tracefs_trace_off(hyp));
		ASSERT_EQ(1, sscanf(strstr(file("trace"), EVENT " id="), EVENT " id=%llu", &nr));
		ASSERT_LT(1, nr--);
		cpu = tracefs_cpu_open(hyp, 0, true);
		ASSERT_EQ(sysconf(_SC_PAGESIZE), tracefs_cpu_read_size(cpu));
		ASSERT_TRUE(i < 2 || (!tracefs_cpu_map(cpu) && tracefs_cpu_is_mapped(cpu)));
		for (missed = 0; (page = way[i](cpu, true) ?: tracefs_cpu_flush_buf(cpu));) {
			missed |= kbuffer_missed_events(page);
			ASSERT_TRUE(count_page(page, &nr));
		}
		ASSERT_TRUE(missed && nr == written && !strstr(file("trace"), EVENT));
		tracefs_cpu_close(cpu);
	}
	ASSERT_FALSE(tracefs_instance_clear(hyp));
	ASSERT_FALSE(tracefs_instance_set_buffer_size(hyp, 1408, -1));
}

static bool sleeps(pid_t pid)
{
	char path[32], state = 0;
	FILE *stat;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	stat = fopen(path, "r");
	return stat && fscanf(stat, "%*d (%*[^)]) %c", &state) == 1 && !fclose(stat) &&
	       state == 'S';
}

/* For each request an event, once @reader waits for it; and none if that has ended */
static bool write_events_for(pid_t reader, int request)
{
	char byte;

	for (int id = 1; read(request, &byte, 1) == 1; id++) {
		while (getppid() == reader && !sleeps(reader))
			sched_yield();
		if (tracefs_instance_file_write_number(hyp, "write_event", id))
			return false;
	}
	return true;
}

/*
 * As from the kernel's own rings, the library may return a page without events, or none: that one
 * has been read to its end. Then it must wait; more calls for one event mean that it does not.
 */
TEST(trace_pipe_raw_mapped_waits)
{
	unsigned long long nr = 0;
	struct tracefs_cpu *cpu;
	struct kbuffer *page;
	int request[2];
	pid_t child;

	ASSERT_TRUE(!tracefs_instance_set_buffer_percent(hyp, 0) && fill(0) && !pipe(request));
	cpu = tracefs_cpu_open_mapped(hyp, 0, false);
	ASSERT_TRUE(cpu && tracefs_cpu_is_mapped(cpu));
	child = fork();
	if (!child)
		_exit(!close(request[1]) && write_events_for(getppid(), request[0]) ? 0 : 1);
	for (int i = 1; i <= NR_EVENTS; i++) {
		ASSERT_EQ(1, write(request[1], "", 1));
		for (int calls = 0; nr < i; calls++) {
			ASSERT_GT(3, calls);
			page = tracefs_cpu_read_buf(cpu, false);
			ASSERT_TRUE(!page || count_page(page, &nr));
		}
	}
	ASSERT_TRUE(!close(request[1]) && waitpid(child, NULL, 0) == child);
}

static void stop_stream(int signal)
{
	tracefs_trace_pipe_stop(hyp);
}

/* A waiting stream gets events as they come, until a signal ends it. */
TEST(trace_pipe_waits)
{
	struct sigaction action = { .sa_handler = stop_stream };	/* no SA_RESTART */
	int ends[2], id;
	FILE *text;
	pid_t child;

	ASSERT_TRUE(fill(0) && !sigaction(SIGUSR1, &action, NULL) && !pipe(ends));
	child = fork();
	if (!child)
		_exit(tracefs_trace_pipe_stream(ends[1], hyp, 0) < 0);
	ASSERT_TRUE(write_events(NR_EVENTS));
	text = fdopen(ends[0], "r");
	for (int nr = 1; nr <= NR_EVENTS; nr++) {
		ASSERT_EQ(1, fscanf(text, " [%*u] %*u.%*u: " EVENT " id=%d", &id));
		ASSERT_EQ(nr, id);
	}
	for (; !waitpid(child, NULL, WNOHANG); usleep(10000))
		kill(child, SIGUSR1);
}

TEST(reset)
{
	ASSERT_TRUE(fill(NR_EVENTS) && tracefs_event_filter_apply(hyp, event, "id == 1") >= 0);
	tracefs_instance_reset(hyp);
	ASSERT_STREQ("none\n", file(EVENT_DIR "filter"));
	ASSERT_STREQ("0\n", file("events/enable"));
	ASSERT_TRUE(tracefs_trace_is_on(hyp) == 1 && fill(NR_EVENTS));
	ASSERT_TRUE(has(file("trace"), EVENT " id=300\n"));
}

TEST_HARNESS_MAIN
