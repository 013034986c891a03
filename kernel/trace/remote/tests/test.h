/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shared by the KUnit tests of remotes: a ring with its writer, its reader and a record of all
 * written events; a remote of the tests' own. The end of the file is for other remotes' tests.
 */
#ifndef __TRACE_REMOTE_TESTS_H__
#define __TRACE_REMOTE_TESTS_H__

#include <kunit/test.h>

#include <linux/ring_buffer.h>
#include <linux/sizes.h>
#include <linux/spinlock.h>
#include <linux/trace_remote.h>
#include <linux/trace_remote_filter.h>
#include <linux/trace_ring.h>

#include "../../ring_buffer_reader.h"

#define RING_TEST_CPU		0

/* The time that the writer's clock returns */
#define RING_TEST_CLOCK		4711

/* Events in a race; fewer with KCSAN, which delays accesses that it watches */
#define RING_TEST_RACE_EVENTS	(IS_ENABLED(CONFIG_KCSAN) ? 10000 : 100000)

/* Rounds of a test whose rounds are slower with larger pages: at least an eighth of @nr */
#define RING_TEST_ROUNDS(nr)	((nr) / min_t(unsigned int, PAGE_SIZE / SZ_4K, 8))

/* The largest event, which fills a page */
#define RING_TEST_MAX_SIZE	(PAGE_SIZE - sizeof(struct ring_buffer_writer_page) - 8)

/**
 * struct ring_test_event - an event that was written
 * @ts:		its time
 * @pos:	position of its page
 * @bytes:	its size in the page
 * @consumed:	a consuming reader has read it
 */
struct ring_test_event {
	u64	ts;
	u64	pos;
	u32	bytes;
	bool	consumed;
};

/**
 * struct ring_test - a ring, which the reader regards as that of RING_TEST_CPU
 * @writer:	describes it to the reader
 * @desc:	its pages
 * @ring:	the writer
 * @ring_ops:	the writer's own operations, where a test replaces them
 * @lock:	held around a swap, as a remote may do
 * @buffer:	the reader
 * @ts:		time of the next event
 * @written:	events written so far; the next one's number
 * @seen:	number of the next event to be read
 * @lost:	events reported lost
 * @events:	the written events, by number; NULL unless ring_test_keep() was called
 * @max_events:	size of @events
 */
struct ring_test {
	struct ring_buffer_writer	writer;
	struct ring_buffer_writer_cpu	desc;
	struct trace_ring		ring;
	const struct ring_buffer_writer_ops *ring_ops;
	spinlock_t			lock;	/* around a swap */
	struct trace_buffer		*buffer;
	u64				ts;
	u64				written;
	u64				seen;
	u64				lost;
	struct ring_test_event		*events;
	u64				max_events;
};

struct ring_test *ring_test_make(struct kunit *test, unsigned int nr_pages);
void ring_test_keep(struct kunit *test, struct ring_test *t, u64 max_events);

bool ring_test_write(struct ring_test *t, unsigned int size, u64 delta);
void ring_test_write_pages(struct kunit *test, struct ring_test *t, unsigned int nr);
bool ring_test_read(struct kunit *test, struct ring_test *t, u64 *ts);
/* The next event, with its time and what was lost before it; NULL if there is none now */
struct ring_buffer_event *ring_test_peek(struct ring_test *t, u64 *ts, unsigned long *lost);
struct ring_buffer_event *ring_test_consume(struct ring_test *t, u64 *ts, unsigned long *lost);
/* Read up to @nr events with one cursor. Returns their number and the time of the last one. */
unsigned int ring_test_read_some(struct kunit *test, struct ring_test *t, unsigned int nr,
				 u64 *ts);
void ring_test_clear(struct kunit *test, struct ring_test *t);
void ring_test_balance(struct kunit *test, struct ring_test *t);
void ring_test_check_stats(struct kunit *test, struct ring_test *t);
void ring_test_read_all(struct kunit *test, struct ring_test *t);
int ring_test_stay(void);
int ring_test_keep_writing(void *data);

/* Is the event in the ring, or on the reader's page? */
bool ring_test_is_there(struct ring_test *t, u64 number);
bool ring_test_is_on_readers_page(struct ring_test *t, u64 number);

/* test_snapshot.c */

/**
 * struct ring_snapshot - an iterator, and the events that it must show
 * @t:		the ring, whose events are kept
 * @iter:	the iterator
 * @next:	number of the next event
 * @end:	number of the first event after the snapshot
 * @copied:	number of the first event after the copied page
 * @lost:	events missing before @next
 */
struct ring_snapshot {
	struct ring_test		*t;
	struct ring_buffer_reader_iter	*iter;
	u64				next;
	u64				end;
	u64				copied;
	unsigned long			lost;
};

void ring_snapshot_start(struct kunit *test, struct ring_snapshot *snap, struct ring_test *t);
void ring_snapshot_finish(struct ring_snapshot *snap);
bool ring_snapshot_next(struct kunit *test, struct ring_snapshot *snap);
unsigned int ring_snapshot_read_all(struct kunit *test, struct ring_snapshot *snap);
unsigned int ring_test_snapshot(struct kunit *test, struct ring_test *t);

/* test_iter.c */
void ring_test_iter_all(struct kunit *test);
void ring_test_iter_refused(struct kunit *test);
void ring_test_iter_sizes(struct kunit *test);
void ring_test_iter_later(struct kunit *test);
void ring_test_iter_positions(struct kunit *test);
void ring_test_iter_far(struct kunit *test);
void ring_test_iter_reader(struct kunit *test);
void ring_test_iter_unreported(struct kunit *test);
void ring_test_iter_formats(struct kunit *test);
void ring_test_iter_lapped(struct kunit *test);
void ring_test_iter_consumed(struct kunit *test);
void ring_test_iter_reset(struct kunit *test);
void ring_test_iter_reset_written(struct kunit *test);
void ring_test_iter_stopped(struct kunit *test);

/* test_random.c */
void ring_test_iter_random(struct kunit *test);
void ring_test_iter_corrupt(struct kunit *test);

/* test_copy.c */
void ring_test_copy_random(struct kunit *test);
void ring_test_copy_stays(struct kunit *test);
void ring_test_copy_cleared(struct kunit *test);
void ring_test_copy_fits(struct kunit *test);
void ring_test_copy_race(struct kunit *test);

/* test_follow.c */
void ring_follow_comes(struct kunit *test);
void ring_follow_starts(struct kunit *test);
void ring_follow_overwritten(struct kunit *test);
void ring_follow_consumed(struct kunit *test);
void ring_follow_copied(struct kunit *test);
void ring_follow_several(struct kunit *test);
void ring_follow_synced(struct kunit *test);
void ring_follow_random(struct kunit *test);
void ring_follow_race(struct kunit *test);

/* test_full.c */
void ring_test_full_kept(struct kunit *test);
void ring_test_full_ended(struct kunit *test);
void ring_test_full_reset(struct kunit *test);
void ring_test_full_changed(struct kunit *test);

/* test_dump.c */
void ring_test_dump_empty(struct kunit *test);
void ring_test_dump_all(struct kunit *test);
void ring_test_dump_reader(struct kunit *test);
void ring_test_dump_large(struct kunit *test);
void ring_test_dump_stopped(struct kunit *test);
void ring_test_dump_invalid(struct kunit *test);
void ring_test_dump_race(struct kunit *test);

/* test_corrupt.c */
void ring_test_corrupt_consumed(struct kunit *test);
void ring_test_corrupt_cut(struct kunit *test);
void ring_test_corrupt_meta(struct kunit *test);
void event_test_corrupt_printed(struct kunit *test);

/* test_filter.c */
void filter_test_as_kernel(struct kunit *test);

/* test_page.c */
void ring_test_page_all(struct kunit *test);
void ring_test_page_short(struct kunit *test);
void ring_test_page_full(struct kunit *test);
void ring_test_page_brim(struct kunit *test);
void ring_test_page_mixed(struct kunit *test);
void ring_test_page_corrupt(struct kunit *test);
void ring_test_page_cut(struct kunit *test);

/* test_stats.c */
void ring_test_stats(struct kunit *test);
void ring_test_stats_stopped(struct kunit *test);
void ring_test_dirty_pages(struct kunit *test);
void ring_test_poll(struct kunit *test);
void ring_test_wake(struct kunit *test);
void ring_test_wake_full(struct kunit *test);
void ring_test_wake_cond(struct kunit *test);

/* test_race.c */
void ring_test_race(struct kunit *test);
void ring_test_race_iter(struct kunit *test);
void ring_test_race_both(struct kunit *test);
void ring_test_race_stats(struct kunit *test);

/* test_remote.c: a remote of the events in test_events.h, until the test ends */
extern const struct trace_remote_desc kunit_remote_desc;

struct trace_remote *kunit_remote_register(struct kunit *test);
void kunit_remote_make_rings(struct kunit *test);
struct cpumask *kunit_remote_enabled(void);
unsigned int kunit_remote_nr_resets(void);
unsigned long kunit_remote_events_on(void);
void kunit_remote_refuse(int err);
void remote_test_layout(struct kunit *test);
void remote_test_record(struct kunit *test);
void remote_test_end(struct kunit *test);
void remote_test_hotplug(struct kunit *test);
void remote_test_keep_stopped(struct kunit *test);
void remote_test_not_ready(struct kunit *test);
void remote_test_overwrite(struct kunit *test);
void remote_test_overwrite_refused(struct kunit *test);
void remote_test_stopped(struct kunit *test);
void remote_test_armed(struct kunit *test);
void remote_test_window(struct kunit *test);
void remote_test_trigger_refused(struct kunit *test);
void remote_test_group_busy(struct kunit *test);

/* test_functions.c */
extern const struct trace_remote_functions kunit_remote_functions;

void remote_test_functions(struct kunit *test);
void remote_test_functions_refused(struct kunit *test);
void remote_test_functions_list(struct kunit *test);
void remote_test_tracer(struct kunit *test);
void remote_test_tracer_events(struct kunit *test);
void remote_test_tracer_busy(struct kunit *test);
void remote_test_graph(struct kunit *test);
void remote_test_tracer_text(struct kunit *test);
void remote_test_leaf(struct kunit *test);

/* test_tasks.c */
void remote_test_tasks(struct kunit *test);
void remote_test_ignored(struct kunit *test);
void remote_test_offline_task(struct kunit *test);
void remote_test_fork(struct kunit *test);
void remote_test_cpumask(struct kunit *test);
void remote_test_cpumask_refused(struct kunit *test);

/* For the tests of any remote's events */

/**
 * struct filter_test_target - a remote that evaluates programs
 * @set:	passes the program to the remote, which takes @size bytes of a record for
 *		valid; NULL if there is nothing to do
 * @match:	evaluates it
 */
struct filter_test_target {
	void (*set)(struct kunit *test, const struct trace_remote_pred *preds, unsigned int nr,
		    unsigned int size);
	bool (*match)(const struct trace_remote_pred *preds, unsigned int nr, const void *record);
};

void filter_test_events(struct kunit *test, struct trace_remote_event *events, unsigned int nr,
			const struct filter_test_target *target);
void event_test_print_corrupt(struct kunit *test, struct trace_remote_event *events,
			      unsigned int nr);

/**
 * struct setup_test - a step of a remote's setup
 * @run:	does it; returns 0 or an error
 * @undo:	undoes it
 * @other:	another error than -ENOMEM that it may return
 */
struct setup_test {
	int	(*run)(void);
	void	(*undo)(void);
	int	other;
};

void setup_test_step(struct kunit *test, const struct setup_test *step);
bool setup_test_has_formats(const struct trace_remote_event *events, unsigned int nr);

#endif /* __TRACE_REMOTE_TESTS_H__ */
