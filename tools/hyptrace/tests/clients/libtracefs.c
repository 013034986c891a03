// SPDX-License-Identifier: GPL-2.0
/*
 * libtracefs - use the instance hypervisor by libtracefs, as KTAP; runs on CPU 0
 *
 * To the library a remote's directory differs from another instance by which files there are: a
 * function or two use each kind of file, and the missing ones are refused.
 */
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <tracefs.h>

#define NR_EVENTS	300
#define GROUP		"hypervisor"
#define EVENT		"selftest"
#define NR_TESTS	(sizeof(tests) / sizeof(tests[0]))

/* In a test: it has failed, unless. */
#define EXPECT(condition)	do {							\
		errno = 0;							\
		if (!(condition))						\
			return failed(__LINE__, #condition);			\
	} while (0)
/* What a file's text is, or has. (No memory is freed: the program ends soon.) */
#define IS(text, expected)	EXPECT(found(text, expected, true))
#define HAS(text, part)		EXPECT(found(text, part, false))

static struct tracefs_instance *hyp;
static struct tep_handle *tep;
static struct tep_event *event;

static bool failed(int line, const char *condition)
{
	printf("# line %d: %s: %s\n", line, condition, strerror(errno));
	return false;
}

static bool found(char *text, const char *expected, bool whole)
{
	if (text && (whole ? !strcmp(text, expected) : !!strstr(text, expected)))
		return true;
	printf("# found '%s', expected '%s'\n", text ?: "(nothing)", expected);
	return false;
}

static char *file(const char *name)
{
	return tracefs_instance_file_read(hyp, name, NULL) ?: strdup("");
}

static char *event_file(const char *name)
{
	return tracefs_event_file_read(hyp, GROUP, EVENT, name, NULL);
}

static bool write_events(int nr)
{
	int i;

	for (i = 1; i <= nr; i++)
		EXPECT(!tracefs_instance_file_write_number(hyp, "write_event", i));
	return true;
}

/* Tracing is off, and the buffer has the numbers from 1. */
static bool fill(int nr)
{
	return !tracefs_trace_off(hyp) && !tracefs_instance_clear(hyp) &&
	       !tracefs_event_disable(hyp, NULL, NULL) &&
	       !tracefs_event_enable(hyp, GROUP, EVENT) && !tracefs_trace_on(hyp) &&
	       write_events(nr) && !tracefs_trace_off(hyp);
}

static bool test_instance(void)
{
	EXPECT(tracefs_instance_exists("hypervisor"));
	EXPECT(!tracefs_instance_is_new(tracefs_instance_create("hypervisor")));
	HAS(tracefs_instance_get_dir(hyp), "/instances/hypervisor");
	EXPECT(tracefs_instance_destroy(hyp) && tracefs_instance_exists("hypervisor"));
	/* The files that there are not are refused, and that does no harm. */
	EXPECT(!tracefs_option_is_supported(hyp, TRACEFS_OPTION_STACKTRACE));
	EXPECT(!tracefs_option_is_enabled(hyp, TRACEFS_OPTION_STACKTRACE));
	EXPECT(tracefs_option_enable(hyp, TRACEFS_OPTION_STACKTRACE));
	EXPECT(tracefs_tracer_set(hyp, TRACEFS_TRACER_FUNCTION) && !tracefs_tracer_clear(hyp));
	EXPECT(tracefs_instance_set_affinity(hyp, "0") && !tracefs_instance_get_affinity(hyp));
	EXPECT(tracefs_print_init(hyp) && tracefs_snapshot_snap(hyp));
	IS(file("current_tracer"), "nop\n");
	return true;
}

static bool test_settings(void)
{
	EXPECT(!tracefs_instance_set_buffer_percent(hyp, 25));
	EXPECT(tracefs_instance_get_buffer_percent(hyp) == 25);
	EXPECT(tracefs_instance_set_buffer_percent(hyp, 101));
	EXPECT(!tracefs_instance_set_buffer_percent(hyp, 50));
	EXPECT(!tracefs_instance_set_buffer_size(hyp, 64, -1));
	EXPECT(!tracefs_instance_set_buffer_size(hyp, 128, 1));
	EXPECT(tracefs_instance_get_buffer_size(hyp, 0) == 64);
	EXPECT(tracefs_instance_get_buffer_size(hyp, 1) == 128);
	EXPECT(tracefs_instance_get_buffer_size(hyp, -1) == 192);
	EXPECT(!tracefs_instance_set_buffer_size(hyp, 1024, -1));
	EXPECT(!tracefs_trace_on(hyp) && tracefs_trace_is_on(hyp) == 1);
	EXPECT(!tracefs_trace_off(hyp) && tracefs_trace_is_on(hyp) == 0);
	IS(tracefs_get_clock(hyp), "boot");
	EXPECT(tracefs_instance_file_write(hyp, "trace_clock", "boot") > 0);
	EXPECT(tracefs_instance_file_write(hyp, "trace_clock", "local") < 0);
	return true;
}

static bool is_enabled(int one, int all)
{
	EXPECT(tracefs_event_is_enabled(hyp, GROUP, "hyp_exit") == one);
	EXPECT(tracefs_event_is_enabled(hyp, GROUP, NULL) == all);
	return true;
}

static bool test_enable(void)
{
	EXPECT(!tracefs_event_disable(hyp, NULL, NULL));
	EXPECT(is_enabled(TRACEFS_ALL_DISABLED, TRACEFS_ALL_DISABLED));
	EXPECT(tracefs_instance_file_append(hyp, "set_event", "hypervisor:hyp_enter") > 0);
	EXPECT(!tracefs_event_enable(hyp, NULL, "hyp_exit"));
	EXPECT(is_enabled(TRACEFS_ALL_ENABLED, TRACEFS_SOME_ENABLED));
	IS(file("set_event"), "hypervisor:hyp_enter\nhypervisor:hyp_exit\n");
	EXPECT(!tracefs_event_enable(hyp, GROUP, NULL));
	EXPECT(is_enabled(TRACEFS_ALL_ENABLED, TRACEFS_ALL_ENABLED));
	EXPECT(!tracefs_event_disable(hyp, GROUP, "hyp_.*"));
	EXPECT(is_enabled(TRACEFS_ALL_DISABLED, TRACEFS_SOME_ENABLED));
	EXPECT(!tracefs_instance_file_clear(hyp, "set_event"));
	EXPECT(is_enabled(TRACEFS_ALL_DISABLED, TRACEFS_ALL_DISABLED));
	return tracefs_event_enable(hyp, GROUP, "no_event");
}

/* What describes events is at the top level, too; there they can't be enabled. */
static bool test_top_level(void)
{
	EXPECT(atoi(event_file("id") ?: "") == event->id);
	HAS(event_file("format"), "name: " EVENT "\n");
	EXPECT(tracefs_event_file_exists(NULL, GROUP, EVENT, "format"));
	EXPECT(tracefs_event_enable(NULL, GROUP, NULL));
	EXPECT(tracefs_event_enable(NULL, GROUP, EVENT));
	return tracefs_event_filter_apply(NULL, event, "id == 1");
}

static bool test_trace(void)
{
	EXPECT(fill(NR_EVENTS));
	HAS(file("trace"), EVENT " id=1\n");
	EXPECT(!tracefs_instance_clear(hyp) && !strstr(file("trace"), EVENT));
	EXPECT(tracefs_event_filter_apply(hyp, event, "id > 3 && id < 5") >= 0);
	EXPECT(fill(NR_EVENTS));
	HAS(file("trace"), "entries-written: 1/1 ");
	HAS(file("trace"), EVENT " id=4\n");
	EXPECT(tracefs_event_file_append(hyp, GROUP, EVENT, "filter", "id == 2") >= 0);
	IS(event_file("filter"), "id == 2\n");
	EXPECT(tracefs_event_file_write(hyp, GROUP, EVENT, "filter", "id = 2") < 0);
	HAS(event_file("filter"), "parse_error: Invalid operator");
	HAS(tracefs_error_last(hyp), "Command: id = 2\n");
	EXPECT(tracefs_event_filter_apply(hyp, event, "second == 1") < 0);
	HAS(tracefs_error_all(hyp), "Command: id = 2\n");
	HAS(tracefs_error_last(hyp), "Command: second == 1\n");
	EXPECT(tracefs_event_filter_clear(hyp, event) >= 0 && !tracefs_error_clear(hyp));
	IS(event_file("filter"), "none\n");
	IS(tracefs_error_all(hyp) ?: strdup(""), "");
	return true;
}

/* libtracefs 1.8 reads microseconds that begin with 0 as an octal number, the host's too. */
static bool test_stats(void)
{
	struct tracefs_buffer_stat *stat;
	int tries = 100;

	do {
		EXPECT(--tries && fill(NR_EVENTS) && (stat = tracefs_instance_get_stat(hyp, 0)));
	} while (!tracefs_buffer_stat_event_timestamp(stat) ||
		 tracefs_buffer_stat_timestamp(stat) <= tracefs_buffer_stat_event_timestamp(stat));
	EXPECT(tracefs_buffer_stat_entries(stat) == NR_EVENTS);
	EXPECT(!tracefs_buffer_stat_overrun(stat) && !tracefs_buffer_stat_commit_overrun(stat));
	EXPECT(tracefs_buffer_stat_bytes(stat) >= 20 * NR_EVENTS);
	return !tracefs_buffer_stat_dropped_events(stat) && !tracefs_buffer_stat_read_events(stat);
}

/* Count the numbers, which begin with 1. */
static int count(struct tep_event *which, struct tep_record *record, int cpu, void *data)
{
	unsigned long long id;
	int *nr = data;

	++*nr;
	return strcmp(which->name, EVENT) || tep_get_field_val(NULL, which, "id", record, &id, 0) ||
	       id != (unsigned long long)*nr ? -1 : 0;
}

static bool test_iterate(void)
{
	int nr = 0, followed = 0;

	EXPECT(fill(NR_EVENTS));
	EXPECT(!tracefs_follow_event(tep, hyp, GROUP, EVENT, count, &followed));
	EXPECT(!tracefs_iterate_raw_events(tep, hyp, NULL, 0, count, &nr));
	EXPECT(nr == NR_EVENTS && followed == NR_EVENTS);
	EXPECT(!tracefs_iterate_raw_events(tep, hyp, NULL, 0, count, &nr) && nr == NR_EVENTS);
	return !tracefs_follow_event_clear(hyp, GROUP, EVENT);
}

static bool count_page(struct kbuffer *page, int *nr)
{
	struct tep_record record = { };
	unsigned long long time;

	for (; (record.data = kbuffer_read_event(page, &time)); kbuffer_next_event(page, NULL)) {
		record.size = kbuffer_event_size(page);
		EXPECT(!count(event, &record, 0, nr));
	}
	return true;
}

/* By read(); by splice(), and by read() what does not fill a page; by mapping */
static bool test_raw(void)
{
	static struct kbuffer *(*const way[])(struct tracefs_cpu *cpu, bool nonblock) = {
		tracefs_cpu_read_buf, tracefs_cpu_buffered_read_buf, tracefs_cpu_read_buf,
	};
	struct tracefs_cpu *cpu;
	struct kbuffer *page;
	int i, nr;

	for (i = 0; i < 3; i++) {
		EXPECT(fill(NR_EVENTS) && (cpu = tracefs_cpu_open(hyp, 0, true)));
		EXPECT(tracefs_cpu_read_size(cpu) == (int)sysconf(_SC_PAGESIZE));
		EXPECT(i < 2 || (!tracefs_cpu_map(cpu) && tracefs_cpu_is_mapped(cpu)));
		nr = 0;
		while ((page = way[i](cpu, true) ?: tracefs_cpu_flush_buf(cpu)))
			EXPECT(count_page(page, &nr));
		EXPECT(nr == NR_EVENTS && !strstr(file("trace"), EVENT));
		tracefs_cpu_close(cpu);
	}
	return true;
}

/* Mapped, it waits for events as they come, and after a loss has the latest ones. */
static bool test_mapped(void)
{
	int nr = 0, missed = 0, written = NR_EVENTS + sysconf(_SC_PAGESIZE);
	struct tracefs_cpu *cpu;
	struct kbuffer *page;

	EXPECT(!tracefs_instance_set_buffer_percent(hyp, 0) && fill(0) && !tracefs_trace_on(hyp));
	EXPECT((cpu = tracefs_cpu_open_mapped(hyp, 0, false)) && tracefs_cpu_is_mapped(cpu));
	if (!fork())
		_exit(!write_events(NR_EVENTS));
	while (nr < NR_EVENTS)
		EXPECT((page = tracefs_cpu_read_buf(cpu, false)) && count_page(page, &nr));
	EXPECT(wait(NULL) > 0);
	tracefs_cpu_close(cpu);

	EXPECT(!tracefs_trace_off(hyp) && !tracefs_instance_clear(hyp));
	EXPECT(!tracefs_instance_set_buffer_size(hyp, 8, -1) && fill(written));
	EXPECT(sscanf(strstr(file("trace"), EVENT " id="), EVENT " id=%d", &nr) == 1 && nr-- > 1);
	EXPECT((cpu = tracefs_cpu_open_mapped(hyp, 0, true)));
	while ((page = tracefs_cpu_read_buf(cpu, true))) {
		missed |= kbuffer_missed_events(page);
		EXPECT(count_page(page, &nr));
	}
	EXPECT(missed && nr == written);
	tracefs_cpu_close(cpu);
	return !tracefs_instance_clear(hyp) && !tracefs_instance_set_buffer_size(hyp, 1408, -1);
}

static void stop_stream(int signal)
{
	tracefs_trace_pipe_stop(hyp);
}

/* A waiting stream gets events as they come. A signal ends it; tracing that goes off does not. */
static bool test_pipe(void)
{
	struct sigaction action = { .sa_handler = stop_stream };	/* no SA_RESTART */
	int tries = 2000, nr = 0, id;
	FILE *text = tmpfile();
	pid_t child;

	EXPECT(fill(0) && !tracefs_trace_on(hyp) && !sigaction(SIGUSR1, &action, NULL));
	child = fork();
	if (!child)
		_exit(tracefs_trace_pipe_stream(fileno(text), hyp, 0) < 0);
	EXPECT(write_events(NR_EVENTS));
	while (lseek(fileno(text), 0, SEEK_END) < NR_EVENTS * 20 && --tries)
		usleep(10000);
	for (tries = 200; !waitpid(child, NULL, WNOHANG) && --tries; usleep(10000))
		kill(child, SIGUSR1);
	EXPECT(tries && !tracefs_trace_off(hyp));
	rewind(text);
	while (fscanf(text, " [%*u] %*u.%*u: " EVENT " id=%d", &id) == 1)
		EXPECT(id == ++nr);
	return feof(text) && nr == NR_EVENTS && !fclose(text);
}

static bool test_reset(void)
{
	EXPECT(fill(NR_EVENTS) && tracefs_event_filter_apply(hyp, event, "id == 1") >= 0);
	tracefs_instance_reset(hyp);
	IS(event_file("filter"), "none\n");
	IS(file("events/enable"), "0\n");
	EXPECT(tracefs_trace_is_on(hyp) == 1 && fill(NR_EVENTS));
	HAS(file("trace"), EVENT " id=300\n");
	return true;
}

static const struct {
	bool		(*run)(void);
	const char	*name;
} tests[] = {
	{ test_instance,	"instances/hypervisor, and files that there are not" },
	{ test_settings,	"buffer_percent, buffer_size_kb, tracing_on, trace_clock" },
	{ test_enable,		"enable, set_event" },
	{ test_top_level,	"id, format; events/ of the top level" },
	{ test_trace,		"trace, filter, error_log" },
	{ test_stats,		"stats" },
	{ test_iterate,		"trace_pipe_raw by events" },
	{ test_raw,		"trace_pipe_raw by pages" },
	{ test_mapped,		"trace_pipe_raw, mapped" },
	{ test_pipe,		"trace_pipe" },
	{ test_reset,		"all that a reset writes" },
};

int main(void)
{
	static const char * const groups[] = { GROUP, NULL };
	size_t i, failures = 0;

	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("TAP version 13\n1..%zu\n", NR_TESTS);
	hyp = tracefs_instance_alloc(NULL, "hypervisor");
	tep = tracefs_local_events_system(NULL, groups);
	event = tep ? tep_find_event_by_name(tep, GROUP, EVENT) : NULL;
	for (i = 0; hyp && event && i < NR_TESTS; i++) {
		bool passed = tests[i].run();

		failures += !passed;
		printf("%s %zu %s\n", passed ? "ok" : "not ok", i + 1, tests[i].name);
	}
	return failures ? 1 : 0;
}
