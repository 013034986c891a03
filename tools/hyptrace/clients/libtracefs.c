// SPDX-License-Identifier: GPL-2.0
/*
 * libtracefs - use the instance hypervisor by the functions of libtracefs
 *
 * A client of Debian's libtracefs: one test for a group of its functions, as KTAP. The table
 * at the end has which functions there are. The others are for what the instance does not
 * have: libtracefs.absent has them, and why. tracefs_mapped_*() are in mapped.c.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <tracefs.h>

#define NR_EVENTS	300
#define GROUP		"hypervisor"
#define EVENT		"selftest"
#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

/* In a test: it has failed, unless. */
#define EXPECT(condition)							\
	do {									\
		errno = 0;							\
		if (!(condition)) {						\
			printf("# line %d: %s: %s\n", __LINE__, #condition,	\
			       strerror(errno));				\
			return false;						\
		}								\
	} while (0)

static struct tracefs_instance *instance;
static struct tep_handle *tep;
static struct tep_event *event;

/* What a file holds is some text; frees it. */
static bool is(char *found, const char *expected)
{
	bool same = found && !strcmp(found, expected);

	if (!same)
		printf("# found '%s', expected '%s'\n", found ? found : "(nothing)", expected);
	free(found);
	return same;
}

static bool has(char *found, const char *part)
{
	bool there = found && strstr(found, part);

	if (!there)
		printf("# found '%s', without '%s'\n", found ? found : "(nothing)", part);
	free(found);
	return there;
}

static bool in_list(char **list, const char *name)
{
	bool found = false;
	int i;

	for (i = 0; list && list[i]; i++)
		found = found || !strcmp(list[i], name);
	tracefs_list_free(list);
	return found;
}

static char *file(const char *name)
{
	return tracefs_instance_file_read(instance, name, NULL);
}

static char *event_file(const char *name)
{
	return tracefs_event_file_read(instance, GROUP, EVENT, name, NULL);
}

/* From one CPU, so that they come in order. */
static bool write_events(int from, int nr)
{
	cpu_set_t cpus;
	char number[16];
	int i;

	CPU_ZERO(&cpus);
	CPU_SET(0, &cpus);
	if (sched_setaffinity(0, sizeof(cpus), &cpus))
		return false;
	for (i = from; i < from + nr; i++) {
		snprintf(number, sizeof(number), "%d", i);
		if (tracefs_instance_file_write(instance, "write_event", number) < 0)
			return false;
	}
	return true;
}

/* Tracing is off, and the buffer has the numbers from 1. */
static bool fill(void)
{
	return !tracefs_trace_off(instance) && !tracefs_instance_clear(instance) &&
	       !tracefs_event_disable(instance, NULL, NULL) &&
	       !tracefs_event_enable(instance, GROUP, EVENT) && !tracefs_trace_on(instance) &&
	       write_events(1, NR_EVENTS) && !tracefs_trace_off(instance);
}

/* All lines are there, and no others. */
static bool has_lines(FILE *text)
{
	char line[256];
	int nr = 0, id;

	rewind(text);
	while (fgets(line, sizeof(line), text)) {
		char *at = strstr(line, ": " EVENT " id=");

		if (!at || sscanf(at, ": " EVENT " id=%d", &id) != 1 || id != ++nr) {
			printf("# after %d lines: %s", nr, line);
			return false;
		}
	}

	printf("# %d lines\n", nr);
	return nr == NR_EVENTS;
}

static int count_instance(const char *name, void *nr)
{
	*(int *)nr += !strcmp(name, "hypervisor");
	return 0;
}

static bool test_instance(void)
{
	struct tracefs_instance *again;
	int nr = 0;

	EXPECT(tracefs_instance_exists("hypervisor"));
	EXPECT(in_list(tracefs_instances(NULL), "hypervisor"));
	EXPECT(!tracefs_instances_walk(count_instance, &nr) && nr == 1);
	EXPECT(again = tracefs_instance_create("hypervisor"));
	EXPECT(!tracefs_instance_is_new(again));
	EXPECT(!strcmp(tracefs_instance_get_name(again), "hypervisor"));
	EXPECT(has(tracefs_instance_get_dir(again), "/instances/hypervisor"));
	EXPECT(!strcmp(tracefs_instance_get_trace_dir(again), tracefs_tracing_dir()));
	EXPECT(tracefs_instance_destroy(again));
	EXPECT(tracefs_instance_exists("hypervisor"));
	EXPECT(is(tracefs_instance_file_read(again, "current_tracer", NULL), "nop\n"));
	tracefs_instance_free(again);
	return true;
}

static bool test_file(void)
{
	long long number;
	int fd;

	EXPECT(has(tracefs_instance_get_file(instance, "trace"), "/instances/hypervisor/trace"));
	EXPECT(tracefs_file_exists(instance, "trace_pipe"));
	EXPECT(!tracefs_file_exists(instance, "no_file"));
	EXPECT(tracefs_dir_exists(instance, "events"));
	EXPECT(is(file("current_tracer"), "nop\n"));
	EXPECT(tracefs_instance_file_write(instance, "buffer_percent", "25") > 0);
	EXPECT(!tracefs_instance_file_read_number(instance, "buffer_percent", &number));
	EXPECT(number == 25);
	EXPECT(!tracefs_instance_file_write_number(instance, "buffer_percent", 50));
	EXPECT(is(file("buffer_percent"), "50\n"));
	EXPECT(tracefs_instance_file_write(instance, "buffer_percent", "101") < 0);
	EXPECT(!tracefs_instance_file_clear(instance, "set_event"));
	EXPECT(is(file("set_event") ?: strdup(""), ""));
	EXPECT(tracefs_instance_file_append(instance, "set_event", "hypervisor:hyp_enter") > 0);
	EXPECT(tracefs_instance_file_append(instance, "set_event", "hypervisor:hyp_exit") > 0);
	EXPECT(has(file("set_event"), "hypervisor:hyp_enter\n"));
	EXPECT(has(file("set_event"), "hypervisor:hyp_exit\n"));
	EXPECT((fd = tracefs_instance_file_open(instance, "trace", O_RDONLY)) >= 0);
	return !close(fd);
}

static bool test_trace_on(void)
{
	int fd;

	EXPECT(!tracefs_trace_on(instance));
	EXPECT(tracefs_trace_is_on(instance) == 1);
	EXPECT(is(file("tracing_on"), "1\n"));
	EXPECT(!tracefs_trace_off(instance));
	EXPECT(tracefs_trace_is_on(instance) == 0);
	EXPECT((fd = tracefs_trace_on_get_fd(instance)) >= 0);
	EXPECT(!tracefs_trace_on_fd(fd));
	EXPECT(tracefs_trace_is_on(instance) == 1);
	EXPECT(!tracefs_trace_off_fd(fd));
	EXPECT(tracefs_trace_is_on(instance) == 0);
	return !close(fd);
}

static bool test_clock(void)
{
	EXPECT(is(tracefs_get_clock(instance), "boot"));
	EXPECT(tracefs_instance_file_write(instance, "trace_clock", "boot") > 0);
	EXPECT(tracefs_instance_file_write(instance, "trace_clock", "local") < 0);
	return true;
}

static bool test_size(void)
{
	EXPECT(!tracefs_instance_clear(instance));
	EXPECT(!tracefs_instance_set_buffer_size(instance, 64, -1));
	EXPECT(tracefs_instance_get_buffer_size(instance, 0) == 64);
	EXPECT(!tracefs_instance_set_buffer_size(instance, 128, 1));
	EXPECT(tracefs_instance_get_buffer_size(instance, 1) == 128);
	EXPECT(tracefs_instance_get_buffer_size(instance, -1) == 192);
	EXPECT(!tracefs_instance_set_buffer_size(instance, 1024, -1));
	EXPECT(!tracefs_instance_set_buffer_percent(instance, 75));
	EXPECT(tracefs_instance_get_buffer_percent(instance) == 75);
	EXPECT(!tracefs_instance_set_buffer_percent(instance, 50));
	return true;
}

/* The microseconds of a time in the first CPU's stats */
static long microseconds(const char *name)
{
	char *text = file("per_cpu/cpu0/stats");
	char *line = text ? strstr(text, name) : NULL;
	long us = -1;

	if (line)
		sscanf(line + strlen(name), " %*u.%ld", &us);
	free(text);
	return us;
}

/*
 * libtracefs 1.8 reads microseconds that begin with 0 as an octal number, the host's too. This leaves
 * a tenth of a second to read the stats in.
 */
static bool fill_without_octal(void)
{
	int i;

	for (i = 0; i < 1000; i++) {
		if (!fill())
			return false;
		if (microseconds("oldest event ts:") >= 100000 &&
		    microseconds("now ts:") >= 100000 && microseconds("now ts:") < 900000)
			return true;
	}
	return false;
}

static bool test_stat(void)
{
	struct tracefs_buffer_stat *stat;

	EXPECT(fill_without_octal());
	EXPECT(stat = tracefs_instance_get_stat(instance, 0));
	EXPECT(tracefs_buffer_stat_entries(stat) == NR_EVENTS);
	EXPECT(tracefs_buffer_stat_overrun(stat) == 0);
	EXPECT(tracefs_buffer_stat_commit_overrun(stat) == 0);
	EXPECT(tracefs_buffer_stat_bytes(stat) >= 20 * NR_EVENTS);
	EXPECT(tracefs_buffer_stat_event_timestamp(stat) > 0);
	EXPECT(tracefs_buffer_stat_timestamp(stat) > tracefs_buffer_stat_event_timestamp(stat));
	EXPECT(tracefs_buffer_stat_dropped_events(stat) == 0);
	EXPECT(tracefs_buffer_stat_read_events(stat) == 0);
	tracefs_instance_put_stat(stat);
	return true;
}

static bool test_clear(void)
{
	EXPECT(fill());
	EXPECT(has(file("trace"), EVENT " id=1\n"));
	EXPECT(!tracefs_instance_clear(instance));
	EXPECT(!strstr(file("trace"), EVENT));
	return true;
}

static bool test_events(void)
{
	EXPECT(!tracefs_event_disable(instance, NULL, NULL));
	EXPECT(is(file("events/enable"), "0\n"));
	EXPECT(!tracefs_event_enable(instance, GROUP, EVENT));
	EXPECT(tracefs_event_is_enabled(instance, GROUP, EVENT) == TRACEFS_ALL_ENABLED);
	EXPECT(tracefs_event_is_enabled(instance, GROUP, "hyp_exit") == TRACEFS_ALL_DISABLED);
	EXPECT(tracefs_event_is_enabled(instance, GROUP, NULL) == TRACEFS_SOME_ENABLED);
	EXPECT(!tracefs_event_enable(instance, GROUP, NULL));
	EXPECT(tracefs_event_is_enabled(instance, GROUP, NULL) == TRACEFS_ALL_ENABLED);
	EXPECT(!tracefs_event_disable(instance, GROUP, "hyp_.*"));
	EXPECT(tracefs_event_is_enabled(instance, GROUP, "hyp_exit") == TRACEFS_ALL_DISABLED);
	EXPECT(!tracefs_event_enable(instance, NULL, "hyp_exit"));
	EXPECT(tracefs_event_is_enabled(instance, GROUP, "hyp_exit") == TRACEFS_ALL_ENABLED);
	EXPECT(tracefs_event_enable(instance, GROUP, "no_event"));
	return true;
}

/* What describes them is at the top level, and there they can't be enabled. */
static bool test_top_level(void)
{
	EXPECT(in_list(tracefs_event_systems(NULL), GROUP));
	EXPECT(in_list(tracefs_system_events(NULL, GROUP), EVENT));
	EXPECT(tracefs_event_file_exists(NULL, GROUP, EVENT, "format"));
	EXPECT(tracefs_event_enable(NULL, GROUP, NULL));
	EXPECT(tracefs_event_enable(NULL, GROUP, EVENT));
	EXPECT(tracefs_event_filter_apply(NULL, event, "id == 1"));
	return true;
}

static bool test_event_file(void)
{
	char *id;

	EXPECT(has(tracefs_event_get_file(instance, GROUP, EVENT, "id"), "/" EVENT "/id"));
	EXPECT(tracefs_event_file_exists(instance, GROUP, EVENT, "filter"));
	EXPECT(!tracefs_event_file_exists(instance, GROUP, EVENT, "no_file"));
	EXPECT(id = event_file("id"));
	EXPECT(atoi(id) == event->id);
	free(id);
	EXPECT(has(event_file("format"), "name: " EVENT "\n"));
	EXPECT(tracefs_event_file_write(instance, GROUP, EVENT, "filter", "id == 1") >= 0);
	EXPECT(is(event_file("filter"), "id == 1\n"));
	EXPECT(tracefs_event_file_append(instance, GROUP, EVENT, "filter", "id == 2") >= 0);
	EXPECT(is(event_file("filter"), "id == 2\n"));
	EXPECT(tracefs_event_file_write(instance, GROUP, EVENT, "filter", "0") >= 0);
	EXPECT(is(event_file("filter"), "none\n"));
	EXPECT(tracefs_event_file_write(instance, GROUP, EVENT, "filter", "id = 2") < 0);
	EXPECT(has(event_file("filter"), "parse_error: Invalid operator"));
	EXPECT(!tracefs_event_file_clear(instance, GROUP, EVENT, "filter"));
	EXPECT(tracefs_event_filter_clear(instance, event) >= 0);
	return true;
}

static bool test_filter(void)
{
	char *filter = NULL;

	EXPECT(!tracefs_filter_string_append(event, &filter, TRACEFS_FILTER_COMPARE, "id",
					     TRACEFS_COMPARE_GT, "3"));
	EXPECT(!tracefs_filter_string_append(event, &filter, TRACEFS_FILTER_AND, NULL, 0, NULL));
	EXPECT(!tracefs_filter_string_append(event, &filter, TRACEFS_FILTER_COMPARE, "id",
					     TRACEFS_COMPARE_LT, "5"));
	EXPECT(!tracefs_filter_string_verify(event, filter, NULL));
	EXPECT(tracefs_event_filter_apply(instance, event, filter) >= 0);
	EXPECT(has(event_file("filter"), "id"));
	EXPECT(fill());
	EXPECT(has(file("trace"), "entries-written: 1/1 "));
	EXPECT(has(file("trace"), EVENT " id=4\n"));
	EXPECT(tracefs_event_filter_clear(instance, event) >= 0);
	EXPECT(is(event_file("filter"), "none\n"));
	free(filter);
	return true;
}

static bool test_error(void)
{
	EXPECT(!tracefs_error_clear(instance));
	EXPECT(is(tracefs_error_all(instance) ?: strdup(""), ""));
	EXPECT(tracefs_event_filter_apply(instance, event, "first == 1") < 0);
	EXPECT(tracefs_event_filter_apply(instance, event, "second == 1") < 0);
	EXPECT(has(tracefs_error_all(instance), "Command: first == 1\n"));
	EXPECT(has(tracefs_error_last(instance), "Command: second == 1\n"));
	EXPECT(!tracefs_error_clear(instance));
	EXPECT(is(tracefs_error_all(instance) ?: strdup(""), ""));
	EXPECT(tracefs_event_filter_clear(instance, event) >= 0);
	return true;
}

static int count_event(struct tep_event *found, struct tep_record *record, int cpu, void *data)
{
	unsigned long long id;
	int *nr = data;

	if (strcmp(found->name, EVENT) || tep_get_field_val(NULL, found, "id", record, &id, 0) ||
	    id != (unsigned long long)*nr + 1)
		return -1;
	++*nr;
	return 0;
}

static bool test_iterate(void)
{
	int nr = 0, followed = 0;

	EXPECT(fill());
	EXPECT(!tracefs_follow_event(tep, instance, GROUP, EVENT, count_event, &followed));
	EXPECT(!tracefs_iterate_raw_events(tep, instance, NULL, 0, count_event, &nr));
	EXPECT(nr == NR_EVENTS && followed == NR_EVENTS);
	EXPECT(!tracefs_follow_event_clear(instance, GROUP, EVENT));
	nr = 0;
	EXPECT(!tracefs_iterate_raw_events(tep, instance, NULL, 0, count_event, &nr));
	EXPECT(nr == 0);
	return true;
}

#define STOP_AT	10

static int stop_iterating(struct tep_event *found, struct tep_record *record, int cpu, void *data)
{
	int ret = count_event(found, record, cpu, data);

	if (*(int *)data == STOP_AT)
		tracefs_iterate_stop(instance);
	return ret;
}

static bool test_iterate_stop(void)
{
	int nr = 0;

	EXPECT(fill());
	EXPECT(!tracefs_iterate_raw_events(tep, instance, NULL, 0, stop_iterating, &nr));
	EXPECT(nr == STOP_AT);
	return true;
}

/* The library knows of a loss; the kernel tells the number where there is room for it. */
static int count_missed(struct tep_event *found, struct tep_record *record, int cpu, void *data)
{
	*(int *)data += record->missed_events != 0;
	return 0;
}

static int count_any(struct tep_event *found, struct tep_record *record, int cpu, void *data)
{
	++*(int *)data;
	return 0;
}

/* A ring of so few pages that it does not have all numbers. */
static bool fill_over(void)
{
	EXPECT(tracefs_instance_file_write(instance, "buffer_size_kb", "8") > 0);
	EXPECT(fill());
	EXPECT(!tracefs_trace_on(instance));
	EXPECT(write_events(NR_EVENTS + 1, sysconf(_SC_PAGESIZE)));
	EXPECT(!tracefs_trace_off(instance));
	return true;
}

static bool test_missed(void)
{
	int nr = 0, missed = 0;

	EXPECT(!tracefs_instance_clear(instance));
	EXPECT(fill_over());
	EXPECT(!tracefs_follow_missed_events(instance, count_missed, &missed));
	EXPECT(!tracefs_iterate_raw_events(tep, instance, NULL, 0, count_any, &nr));
	EXPECT(missed == 1);
	EXPECT(nr > 0 && nr < NR_EVENTS + sysconf(_SC_PAGESIZE));
	EXPECT(!tracefs_follow_missed_events_clear(instance));
	EXPECT(fill_over());
	EXPECT(!tracefs_iterate_raw_events(tep, instance, NULL, 0, count_any, &nr));
	EXPECT(missed == 1);
	EXPECT(!tracefs_instance_clear(instance));
	EXPECT(tracefs_instance_file_write(instance, "buffer_size_kb", "1408") > 0);
	return true;
}

static bool test_stream(void)
{
	FILE *text = tmpfile();

	EXPECT(text);
	EXPECT(fill());
	EXPECT(tracefs_trace_pipe_stream(fileno(text), instance, O_NONBLOCK) >= 0);
	EXPECT(has_lines(text));
	return !fclose(text);
}

/* It prints to standard output, which is a file meanwhile. */
static bool test_print(void)
{
	int out = dup(STDOUT_FILENO);
	FILE *text = tmpfile();
	ssize_t ret;

	EXPECT(text && out >= 0);
	EXPECT(fill());
	fflush(stdout);
	EXPECT(dup2(fileno(text), STDOUT_FILENO) >= 0);
	ret = tracefs_trace_pipe_print(instance, O_NONBLOCK);
	fflush(stdout);
	dup2(out, STDOUT_FILENO);
	EXPECT(ret >= 0);
	EXPECT(has_lines(text));
	return !close(out) && !fclose(text);
}

static void *stream(void *data)
{
	tracefs_trace_pipe_stream(fileno(data), instance, 0);
	return NULL;
}

static void stop_stream(int signal)
{
	tracefs_trace_pipe_stop(instance);
}

/* The signal may come when it does not wait. */
static bool stopped(pthread_t thread)
{
	int tries = 200;

	while (pthread_tryjoin_np(thread, NULL) && --tries) {
		pthread_kill(thread, SIGUSR1);
		usleep(10000);
	}
	return tries;
}

/*
 * A stream that waits gets events as they come, and a signal ends it. (Tracing that goes off
 * does not: libtracefs then waits for its own pipe, with the host's instances too.)
 */
static bool test_stream_blocked(void)
{
	struct sigaction action = { .sa_handler = stop_stream };	/* no SA_RESTART */
	FILE *text = tmpfile();
	pthread_t thread;
	int tries = 2000;

	EXPECT(text && !sigaction(SIGUSR1, &action, NULL));
	EXPECT(fill() && !tracefs_instance_clear(instance) && !tracefs_trace_on(instance));
	EXPECT(!pthread_create(&thread, NULL, stream, text));
	EXPECT(write_events(1, NR_EVENTS));
	while (lseek(fileno(text), 0, SEEK_END) < NR_EVENTS * 20 && --tries)
		usleep(10000);
	EXPECT(stopped(thread));
	EXPECT(has_lines(text));
	return !tracefs_trace_off(instance) && !fclose(text);
}

/* The numbers in a page. */
static int count_page(struct kbuffer *page, int nr)
{
	unsigned long long time;
	struct tep_record record = { };

	while ((record.data = kbuffer_read_event(page, &time))) {
		record.size = kbuffer_event_size(page);
		if (count_event(event, &record, 0, &nr))
			return -1;
		kbuffer_next_event(page, NULL);
	}
	return nr;
}

static int count_raw(void *page, int size, int nr)
{
	struct kbuffer *kbuf = kbuffer_alloc(KBUFFER_LSIZE_8, KBUFFER_ENDIAN_LITTLE);

	if (size > 0 && !kbuffer_load_subbuffer(kbuf, page))
		nr = count_page(kbuf, nr);
	kbuffer_free(kbuf);
	return nr;
}

/* One way to read pages, after the number @nr. Returns the last one there was. */
static int read_pages(struct tracefs_cpu *cpu, int nr,
		      int (*read_page)(struct tracefs_cpu *cpu, void *buffer, bool nonblock))
{
	void *page = malloc(tracefs_cpu_read_size(cpu));
	int size;

	while (nr >= 0 && (size = read_page(cpu, page, true)) > 0)
		nr = count_raw(page, size, nr);
	free(page);
	return nr;
}

static int read_bufs(struct tracefs_cpu *cpu, int nr,
		     struct kbuffer *(*read_buf)(struct tracefs_cpu *cpu, bool nonblock))
{
	struct kbuffer *page;

	while (nr >= 0 && (page = read_buf(cpu, true)))
		nr = count_page(page, nr);
	return nr;
}

static int flush_page(struct tracefs_cpu *cpu, void *buffer, bool nonblock)
{
	return tracefs_cpu_flush(cpu, buffer);
}

static struct kbuffer *flush_buf(struct tracefs_cpu *cpu, bool nonblock)
{
	return tracefs_cpu_flush_buf(cpu);
}

static bool open_filled(struct tracefs_cpu **cpu)
{
	EXPECT(fill());
	EXPECT(*cpu = tracefs_cpu_open(instance, 0, true));
	EXPECT(tracefs_cpu_read_size(*cpu) == (int)sysconf(_SC_PAGESIZE));
	return true;
}

static bool test_cpu_read(void)
{
	static int (*const way[])(struct tracefs_cpu *cpu, void *buffer, bool nonblock) = {
		tracefs_cpu_read, tracefs_cpu_buffered_read, flush_page,
	};
	struct tracefs_cpu *cpu;
	size_t i;
	int nr;

	for (i = 0; i < ARRAY_SIZE(way); i++) {
		EXPECT(open_filled(&cpu));
		/* A buffered read leaves what it has buffered for a flush. */
		nr = read_pages(cpu, 0, way[i]);
		EXPECT(read_pages(cpu, nr, flush_page) == NR_EVENTS);
		tracefs_cpu_close(cpu);
	}
	return true;
}

static bool test_cpu_read_buf(void)
{
	static struct kbuffer *(*const way[])(struct tracefs_cpu *cpu, bool nonblock) = {
		tracefs_cpu_read_buf, tracefs_cpu_buffered_read_buf, flush_buf,
	};
	struct tracefs_cpu *cpu;
	size_t i;
	int nr;

	for (i = 0; i < ARRAY_SIZE(way); i++) {
		EXPECT(open_filled(&cpu));
		nr = read_bufs(cpu, 0, way[i]);
		EXPECT(read_bufs(cpu, nr, flush_buf) == NR_EVENTS);
		tracefs_cpu_close(cpu);
	}
	return true;
}

static bool test_cpu_map(void)
{
	struct tracefs_cpu *cpu;

	EXPECT(tracefs_mapped_is_supported());
	EXPECT(open_filled(&cpu));
	EXPECT(!tracefs_cpu_map(cpu));
	EXPECT(tracefs_cpu_is_mapped(cpu));
	EXPECT(read_bufs(cpu, 0, tracefs_cpu_read_buf) == NR_EVENTS);
	tracefs_cpu_close(cpu);
	return true;
}

/* Pages that were written to a file. */
static int count_file(FILE *pages)
{
	size_t size = sysconf(_SC_PAGESIZE);
	void *page = malloc(size);
	int nr = 0;

	rewind(pages);
	while (nr >= 0 && fread(page, size, 1, pages) == 1)
		nr = count_raw(page, size, nr);
	free(page);
	return nr;
}

static bool test_cpu_write(void)
{
	struct tracefs_cpu *cpu;
	FILE *pages = tmpfile();

	EXPECT(pages);
	EXPECT(open_filled(&cpu));
	while (tracefs_cpu_write(cpu, fileno(pages), true) > 0)
		;
	while (tracefs_cpu_flush_write(cpu, fileno(pages)) > 0)
		;
	EXPECT(count_file(pages) == NR_EVENTS);
	tracefs_cpu_close(cpu);
	return !fclose(pages);
}

static bool test_cpu_pipe(void)
{
	size_t size = sysconf(_SC_PAGESIZE);
	struct tracefs_cpu *cpu;
	void *page = malloc(size);
	int fds[2], nr = 0;

	EXPECT(page && !pipe(fds));
	EXPECT(open_filled(&cpu));
	while (nr >= 0 && tracefs_cpu_pipe(cpu, fds[1], true) > 0 &&
	       read(fds[0], page, size) == (ssize_t)size)
		nr = count_raw(page, size, nr);
	/* What does not fill a page is not spliced while the buffer is not that full. */
	EXPECT(read_pages(cpu, nr, flush_page) == NR_EVENTS);
	tracefs_cpu_close(cpu);
	free(page);
	return !close(fds[0]) && !close(fds[1]);
}

static bool test_cpu_fd(void)
{
	struct tracefs_cpu *cpu;
	int fd;

	EXPECT(fill());
	EXPECT((fd = tracefs_instance_file_open(instance, "per_cpu/cpu0/trace_pipe_raw",
						O_RDONLY | O_NONBLOCK)) >= 0);
	EXPECT(cpu = tracefs_cpu_alloc_fd(fd, sysconf(_SC_PAGESIZE), true));
	EXPECT(read_pages(cpu, 0, tracefs_cpu_read) == NR_EVENTS);
	tracefs_cpu_free_fd(cpu);
	return !close(fd);
}

static int reading;

static void *read_one(void *cpu)
{
	void *page = tracefs_cpu_read_buf(cpu, false);

	__atomic_store_n(&reading, 0, __ATOMIC_RELEASE);
	return page;
}

/* One that waits for events is woken; it may not wait yet. */
static bool test_cpu_stop(void)
{
	struct tracefs_cpu *cpu;
	pthread_t thread;
	int tries = 200;
	void *page;

	EXPECT(!tracefs_trace_off(instance) && !tracefs_instance_clear(instance));
	EXPECT(cpu = tracefs_cpu_open(instance, 0, false));
	reading = 1;
	EXPECT(!pthread_create(&thread, NULL, read_one, cpu));
	usleep(10000);
	while (__atomic_load_n(&reading, __ATOMIC_ACQUIRE) && --tries) {
		tracefs_cpu_stop(cpu);
		usleep(10000);
	}
	EXPECT(tries);
	EXPECT(!pthread_join(thread, &page));
	EXPECT(!page);
	tracefs_cpu_close(cpu);
	return true;
}

static bool test_local_events(void)
{
	static const char * const groups[] = { GROUP, NULL };
	struct tep_handle *local;
	int failures = 0;

	EXPECT(local = tracefs_local_events_system(tracefs_tracing_dir(), groups));
	EXPECT(tep_find_event_by_name(local, GROUP, "hyp_enter"));
	tep_free(local);
	EXPECT(local = tep_alloc());
	tracefs_fill_local_events(tracefs_tracing_dir(), local, &failures);
	EXPECT(tep_find_event_by_name(local, GROUP, "hyp_exit"));
	tep_free(local);
	return true;
}

/* What there is not is refused, and does no harm. */
static bool test_absent(void)
{
	EXPECT(!tracefs_option_is_supported(instance, TRACEFS_OPTION_STACKTRACE));
	EXPECT(!tracefs_option_is_enabled(instance, TRACEFS_OPTION_STACKTRACE));
	EXPECT(tracefs_option_enable(instance, TRACEFS_OPTION_STACKTRACE));
	EXPECT(tracefs_option_disable(instance, TRACEFS_OPTION_STACKTRACE));
	EXPECT(!tracefs_option_mask_is_set(tracefs_options_get_supported(instance),
					   TRACEFS_OPTION_STACKTRACE));
	EXPECT(!tracefs_option_mask_is_set(tracefs_options_get_enabled(instance),
					   TRACEFS_OPTION_STACKTRACE));
	EXPECT(tracefs_tracer_set(instance, TRACEFS_TRACER_FUNCTION));
	EXPECT(!tracefs_tracer_clear(instance));
	EXPECT(tracefs_instance_set_affinity(instance, "0"));
	EXPECT(!tracefs_instance_get_affinity(instance));
	EXPECT(tracefs_print_init(instance));
	EXPECT(tracefs_snapshot_snap(instance));
	EXPECT(is(file("current_tracer"), "nop\n"));
	return true;
}

static bool test_reset(void)
{
	EXPECT(fill());
	EXPECT(tracefs_event_filter_apply(instance, event, "id == 1") >= 0);
	tracefs_instance_reset(instance);
	EXPECT(is(event_file("filter"), "none\n"));
	EXPECT(is(file("events/enable"), "0\n"));
	EXPECT(tracefs_trace_is_on(instance) == 1);
	EXPECT(!tracefs_trace_off(instance));
	EXPECT(fill());
	EXPECT(has(file("trace"), EVENT " id=300\n"));
	return true;
}

static const struct {
	bool		(*run)(void);
	const char	*functions;
} tests[] = {
	{ test_instance, "instance_exists, instances, instance_create, instance_is_new, "
			 "instance_get_name, instance_get_dir, instance_get_trace_dir, "
			 "instance_destroy, instances_walk" },
	{ test_file, "instance_get_file, file_exists, dir_exists, instance_file_read, "
		     "instance_file_write, instance_file_read_number, "
		     "instance_file_write_number, instance_file_append, instance_file_clear, "
		     "instance_file_open" },
	{ test_trace_on, "trace_on, trace_off, trace_is_on, trace_on_get_fd, trace_on_fd, "
			 "trace_off_fd" },
	{ test_clock, "get_clock" },
	{ test_size, "instance_get_buffer_size, instance_set_buffer_size, "
		     "instance_get_buffer_percent, instance_set_buffer_percent" },
	{ test_stat, "instance_get_stat, buffer_stat_entries, buffer_stat_overrun, "
		     "buffer_stat_commit_overrun, buffer_stat_bytes, buffer_stat_timestamp, "
		     "buffer_stat_event_timestamp, buffer_stat_dropped_events, "
		     "buffer_stat_read_events, instance_put_stat" },
	{ test_clear, "instance_clear" },
	{ test_events, "event_enable, event_disable, event_is_enabled" },
	{ test_top_level, "event_systems, system_events, event_enable and event_filter_apply "
			  "of the top level" },
	{ test_event_file, "event_get_file, event_file_exists, event_file_read, "
			   "event_file_write, event_file_append, event_file_clear" },
	{ test_filter, "filter_string_append, filter_string_verify, event_filter_apply, "
		       "event_filter_clear" },
	{ test_error, "error_last, error_all, error_clear" },
	{ test_iterate, "iterate_raw_events, follow_event, follow_event_clear" },
	{ test_iterate_stop, "iterate_stop" },
	{ test_missed, "follow_missed_events, follow_missed_events_clear" },
	{ test_stream, "trace_pipe_stream" },
	{ test_print, "trace_pipe_print" },
	{ test_stream_blocked, "trace_pipe_stream that waits, trace_pipe_stop" },
	{ test_cpu_read, "cpu_open, cpu_read, cpu_read_size, cpu_buffered_read, cpu_flush, "
			 "cpu_close" },
	{ test_cpu_read_buf, "cpu_read_buf, cpu_buffered_read_buf, cpu_flush_buf" },
	{ test_cpu_map, "cpu_map, cpu_is_mapped, mapped_is_supported" },
	{ test_cpu_write, "cpu_write, cpu_flush_write" },
	{ test_cpu_pipe, "cpu_pipe" },
	{ test_cpu_fd, "cpu_alloc_fd, cpu_free_fd" },
	{ test_cpu_stop, "cpu_stop" },
	{ test_local_events, "local_events_system, fill_local_events" },
	{ test_absent, "option_is_supported, option_is_enabled, option_enable, option_disable, "
		       "options_get_supported, options_get_enabled, option_mask_is_set, "
		       "tracer_set, tracer_clear, instance_set_affinity, "
		       "instance_get_affinity, print_init, snapshot_snap" },
	{ test_reset, "instance_reset" },
};

static void setup(void)
{
	static const char * const groups[] = { GROUP, NULL };

	instance = tracefs_instance_alloc(NULL, "hypervisor");
	tep = tracefs_local_events_system(NULL, groups);
	event = tep ? tep_find_event_by_name(tep, GROUP, EVENT) : NULL;
	if (instance && event)
		return;
	printf("Bail out! no instance, or no formats\n");
	exit(1);
}

int main(void)
{
	size_t i, failures = 0;

	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("TAP version 13\n1..%zu\n", ARRAY_SIZE(tests));
	setup();
	for (i = 0; i < ARRAY_SIZE(tests); i++) {
		bool passed = tests[i].run();

		failures += !passed;
		printf("%s %zu %s\n", passed ? "ok" : "not ok", i + 1, tests[i].functions);
	}
	tracefs_trace_off(instance);
	tracefs_instance_free(instance);
	return failures ? 1 : 0;
}
