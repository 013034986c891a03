// SPDX-License-Identifier: GPL-2.0-only
/*
 * The operations of faults.c: writing to a file, opening it, reading all of it as text,
 * consuming its events in each way, and mapping it
 */
#define _GNU_SOURCE
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/trace_mmap.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "raw_page.h"
#include "faults.h"

#define RAW	"per_cpu/cpu0/trace_pipe_raw"
#define FILTER	"events/hypervisor/selftest/filter"
#define TRIGGER	"events/hypervisor/selftest/trigger"
#define WRONG	"id == 2 && no_field == 1"

static int fd = -1, pipe_fds[2];
static char *expected;		/* what is to be read */
static unsigned int taken;	/* events */
static void *mapped, *mapped_before;
static size_t map_size;

static const char *path_of(const struct op *op)
{
	static char path[200];

	snprintf(path, sizeof(path), HYP "%s", op->file);
	return path;
}

static void prepare(const struct op *op)
{
	taken = 0;
	if (op->before)
		put(op->file, op->before);
	if (op->probed || op->events)
		put("tracing_on", "1");
	if (!op->events)
		return;
	emit(1, NR_EVENTS);
	put("tracing_on", "0");
}

static void prepare_fd(const struct op *op)
{
	prepare(op);
	fd = xopen(path_of(op), op->flags);
}

static void finish(const struct op *op)
{
	if (op->before)
		put(op->file, "0");
	if (op->probed)
		return;
	put("tracing_on", "0");
	put("trace", "");
}

static void finish_fd(const struct op *op)
{
	close(fd);
	finish(op);
}

static void no_undo(const struct op *op)
{
}

static int run_write(const struct op *op)
{
	return write(fd, op->text, strlen(op->text)) < 0 ? errno : 0;
}

/* An expression that is refused */
static int run_refused(const struct op *op)
{
	int error = run_write(op);

	if (!error)
		complain("not refused");
	return error == EINVAL ? 0 : error;
}

static void clear_errors(void)
{
	close(xopen(HYP "error_log", O_WRONLY | O_TRUNC));
}

static void finish_refused(const struct op *op)
{
	clear_errors();
	finish_fd(op);
}

static void undo_on(const struct op *op)
{
	put("tracing_on", "0");
	put("trace", "");
}

static void undo_enable(const struct op *op)
{
	put("set_event", "!hyp_enter");
}

static void undo_snapshot(const struct op *op)
{
	put("snapshot", "0");
}

static int run_open(const struct op *op)
{
	fd = open(path_of(op), op->flags);
	return fd < 0 ? errno : 0;
}

static void undo_trigger(const struct op *op)
{
	put(TRIGGER, "!traceon");
}

static void undo_open(const struct op *op)
{
	close(fd);
	if (!strcmp(op->file, "set_event"))
		put("set_event", "selftest");
}

/* As in the kernel's own instances, a number without memory for it is no pid. */
static int run_pids(const struct op *op)
{
	int error = run_write(op);

	return error == EPERM ? ENOMEM : error;
}

static void undo_pids(const struct op *op)
{
	close(xopen(path_of(op), O_WRONLY | O_TRUNC));
}

static void undo_option(const struct op *op)
{
	put(op->file, "0");
}

/* The time now is another one each time. */
static void mask_now(char *text)
{
	char *now = strstr(text, "now ts:");

	if (now)
		memset(now, '-', strcspn(now, "\n"));
}

static void prepare_text(const struct op *op)
{
	prepare(op);
	expected = get(path_of(op));
	mask_now(expected);
}

/* Into memory that is there: only the kernel's own allocations count. */
static int run_text(const struct op *op)
{
	static char text[65536];
	size_t size = 0;
	ssize_t ret;
	int error;

	fd = open(path_of(op), O_RDONLY);
	if (fd < 0)
		return errno;
	while ((ret = read(fd, text + size, sizeof(text) - 1 - size)) > 0)
		size += ret;
	error = ret < 0 ? errno : 0;
	close(fd);
	if (error)
		return error;
	text[size] = '\0';
	mask_now(text);
	if (strcmp(text, expected))
		complain("not what is there: %s", text);
	return 0;
}

static void finish_text(const struct op *op)
{
	free(expected);
	finish(op);
}

static void prepare_errors(const struct op *op)
{
	fd = xopen(HYP FILTER, O_WRONLY);
	if (write(fd, op->text, strlen(op->text)) >= 0)
		complain("not refused");
	close(fd);
	prepare_text(op);
}

static void finish_errors(const struct op *op)
{
	put(FILTER, "0");
	clear_errors();
	finish_text(op);
}

static void count_lines(const char *text, ssize_t size)
{
	while (size-- > 0)
		taken += *text++ == '\n';
}

/* An event is a line. */
static int run_pipe(const struct op *op)
{
	static char text[4096];
	ssize_t ret;

	while ((ret = read(fd, text, sizeof(text))) > 0)
		count_lines(text, ret);
	return ret < 0 && errno != EAGAIN ? errno : 0;
}

static void count_page(const struct raw_page *page)
{
	unsigned int at, size = page_events_size(page);

	for (at = 0; at < size; at += event_size((const uint32_t *)(page->data + at)))
		taken += (*(const uint32_t *)(page->data + at) & 31) < PADDING;
}

static char *page_buffer(void)
{
	static char *page;

	page = page ?: malloc(raw_page_size());
	return page;
}

static int run_raw(const struct op *op)
{
	char *page = page_buffer();
	ssize_t ret;

	while ((ret = read(fd, page, raw_page_size())) > 0)
		count_page((const void *)page);
	return ret < 0 && errno != EAGAIN ? errno : 0;
}

static void prepare_splice(const struct op *op)
{
	if (pipe2(pipe_fds, O_NONBLOCK))
		err(1, "pipe");
	/* With more room than splice() has on the stack */
	fcntl(pipe_fds[1], F_SETPIPE_SZ, 64 * raw_page_size());
	page_buffer();
	prepare_fd(op);
}

static int run_splice(const struct op *op)
{
	ssize_t ret = splice(fd, NULL, pipe_fds[1], NULL, 8 * raw_page_size(), SPLICE_F_NONBLOCK);

	return ret < 0 && errno != EAGAIN ? errno : 0;
}

/* Read the rest without faults: together these must be all events. */
static void finish_pipe(const struct op *op)
{
	run_pipe(op);
	if (taken != NR_EVENTS)
		complain("%u events were read of %u", taken, NR_EVENTS);
	finish_fd(op);
}

static void finish_raw(const struct op *op)
{
	run_raw(op);
	if (taken != NR_EVENTS)
		complain("%u events were read of %u", taken, NR_EVENTS);
	finish_fd(op);
}

static void close_pipe(void)
{
	close(pipe_fds[0]);
	close(pipe_fds[1]);
}

static void finish_splice(const struct op *op)
{
	char *page = page_buffer();

	while (read(pipe_fds[0], page, raw_page_size()) > 0)
		count_page((const void *)page);
	finish_raw(op);
	close_pipe();
}

static void finish_splice_text(const struct op *op)
{
	char *page = page_buffer();
	ssize_t ret;

	while ((ret = read(pipe_fds[0], page, raw_page_size())) > 0)
		count_lines(page, ret);
	finish_pipe(op);
	close_pipe();
}

/* All there is: the meta page, then the ring's. */
static void *map(void)
{
	return mmap(NULL, map_size, PROT_READ, MAP_SHARED, fd, 0);
}

static void prepare_map(const struct op *op)
{
	struct trace_buffer_meta *meta;

	prepare_fd(op);
	meta = mmap(NULL, raw_page_size(), PROT_READ, MAP_SHARED, fd, 0);
	if (meta == MAP_FAILED)
		err(1, "%s: mmap", op->file);
	map_size = meta->meta_page_size + meta->nr_subbufs * meta->subbuf_size;
	munmap(meta, raw_page_size());
}

static int run_map(const struct op *op)
{
	mapped = map();
	return mapped == MAP_FAILED ? errno : 0;
}

static void undo_map(const struct op *op)
{
	munmap(mapped, map_size);
}

static void prepare_map_again(const struct op *op)
{
	prepare_map(op);
	mapped_before = map();
	if (mapped_before == MAP_FAILED)
		err(1, "%s: mmap", op->file);
}

static void finish_map_again(const struct op *op)
{
	munmap(mapped_before, map_size);
	finish_fd(op);
}

#define READS(op_name, op_file, more...)					\
	{ .name = op_name, .file = op_file, .prepare = prepare_text, .run = run_text,	\
	  .undo = no_undo, .finish = finish_text, ##more }
#define WRITES(op_name, op_file, op_text, more...)				\
	{ .name = op_name, .file = op_file, .text = op_text, .flags = O_WRONLY,	\
	  .prepare = prepare_fd, .run = run_write, .finish = finish_fd, ##more }
#define OPENS(op_name, op_file, op_flags, more...)				\
	{ .name = op_name, .file = op_file, .flags = op_flags, .prepare = prepare,	\
	  .run = run_open, .undo = undo_open, .finish = finish, ##more }
#define TAKES(op_name, op_file, way, more...)					\
	{ .name = op_name, .file = op_file, .flags = O_RDONLY | O_NONBLOCK, .events = true,	\
	  .consumes = true, .run = run_##way, .undo = no_undo, .finish = finish_##way, ##more }
#define MAPS(op_name, first, last, more...)					\
	{ .name = op_name, .file = RAW, .flags = O_RDONLY | O_NONBLOCK, .prepare = first,	\
	  .run = run_map, .undo = undo_map, .finish = last, ##more }

const struct op ops[] = {
	WRITES("load", "tracing_on", "1", .undo = undo_on, .least = 6, .loads = true),
	WRITES("snapshot", "snapshot", "1", .undo = undo_snapshot, .least = 6, .events = true),
	OPENS("open-snapshot", "snapshot", O_RDONLY, .least = 2, .events = true),
	WRITES("resize", "buffer_size_kb", "16", .undo = no_undo),
	OPENS("open-trace_pipe", "trace_pipe", O_RDONLY, .least = 6, .loads = true),
	OPENS("open-trace_pipe_raw", RAW, O_RDONLY, .least = 6, .loads = true),
	OPENS("open-trace", "trace", O_RDONLY, .least = 2, .events = true),
	OPENS("clear-trace", "trace", O_RDWR | O_TRUNC, .least = 2, .events = true),
	OPENS("clear-set_event", "set_event", O_RDWR | O_TRUNC, .least = 2),
	READS("read-trace", "trace", .least = 4, .events = true),
	READS("read-stats", "per_cpu/cpu0/stats", .least = 4, .events = true),
	READS("read-set_event", "set_event", .least = 2),
	READS("read-available_events", "available_events", .least = 2),
	READS("read-format", "events/hypervisor/host_hcall/format", .least = 2),
	READS("read-header_page", "events/header_page", .least = 2),
	READS("read-filter", FILTER, .least = 2, .before = "id < 3"),
	{ .name = "read-error_log", .file = "error_log", .text = WRONG, .least = 2,
	  .prepare = prepare_errors, .run = run_text, .undo = no_undo, .finish = finish_errors },
	OPENS("clear-error_log", "error_log", O_RDWR | O_TRUNC, .least = 2),
	TAKES("take-text", "trace_pipe", pipe, .prepare = prepare_fd),
	TAKES("take-pages", RAW, raw, .prepare = prepare_fd),
	TAKES("take-spliced", RAW, splice, .prepare = prepare_splice, .least = 2),
	{ .name = "take-spliced-text", .file = "trace_pipe", .flags = O_RDONLY | O_NONBLOCK,
	  .events = true, .consumes = true, .least = 3, .prepare = prepare_splice,
	  .run = run_splice, .undo = no_undo, .finish = finish_splice_text },
	MAPS("map", prepare_map, finish_fd, .least = 2),
	MAPS("map-again", prepare_map_again, finish_map_again, .least = 1),
	WRITES("filter", FILTER, "id == 2 || id > 8 && id != 10", .undo = no_undo, .least = 8,
	       .before = "id < 3", .probed = true),
	{ .name = "filter-refused", .file = FILTER, .text = WRONG, .flags = O_WRONLY,
	  .before = "id < 3", .probed = true, .least = 8, .prepare = prepare_fd,
	  .run = run_refused, .undo = no_undo, .finish = finish_refused },
	WRITES("filter-all", "events/hypervisor/filter", "id == 2 || id > 8", .undo = no_undo,
	       .least = 20, .all = 32, .step = 9, .before = "id < 3", .probed = true),
	WRITES("trigger", TRIGGER, "traceoff:1 if id == 2", .undo = undo_trigger, .least = 8),
	WRITES("trigger-loads", TRIGGER, "traceon", .undo = undo_trigger, .least = 7,
	       .loads = true),
	{ .name = "set_event_pid", .file = "set_event_pid", .text = "1 2", .flags = O_WRONLY,
	  .least = 3, .prepare = prepare_fd, .run = run_pids, .undo = undo_pids,
	  .finish = finish_fd },
	WRITES("event-fork", "options/event-fork", "1", .undo = undo_option, .least = 2),
	WRITES("set_event", "set_event", "hypervisor:hyp_enter\n", .undo = undo_enable,
	       .least = 1),
	{ }
};
