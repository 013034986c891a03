// SPDX-License-Identifier: GPL-2.0
/*
 * Copies of a remote writer's rings
 *
 * A copy is a trace buffer of its own, with what the rings had at one moment. Nothing writes to it.
 * It is read without consuming it, as the rings are, and shows the same: also where events are
 * missing, and from which event on a consuming reader had read them.
 *
 * The writer goes on meanwhile. Of each ring its state and the page being written are copied first:
 * they make the moment. Then the other pages are copied, from the newest to the oldest, since the
 * writer overwrites the oldest ones first. A page that is overwritten before it is copied is lost,
 * with all older ones. So the copy has no gap, and its counters say what is missing before it.
 *
 * While a CPU's ring is copied, the copy has no events of that CPU: iterators that were started
 * before are at their end, and new ones find none.
 *
 * Locking: rb_reader.lock, of the ring and of the copy, never both. The caller serialises all calls
 * for a copy, but for readers. It may keep readers from consuming events meanwhile. Otherwise what
 * they consume in time is missing in the copy.
 */
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/gfp.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "ring_buffer_reader_internal.h"

#define RB_COPY_GFP	(GFP_KERNEL | __GFP_ZERO | __GFP_RETRY_MAYFAIL | __GFP_NOWARN)

/**
 * struct ring_buffer_reader_copy - a copy of rings
 * @buffer:	what is read
 * @writer:	describes the copy's memory
 * @cpus:	the CPUs that have a copy
 */
struct ring_buffer_reader_copy {
	struct trace_buffer		*buffer;
	struct ring_buffer_writer	writer;
	struct cpumask			cpus;
};

/**
 * struct rb_copy_moment - what a ring had when it began to be copied
 * @from:	the ring's reader
 * @to:		the copy's
 * @nr_resets:	@from->nr_resets
 * @state:	the writer's state
 * @dropped:	events that the writer could not take
 * @pos:	position of the reader's page
 * @consumed:	what was consumed
 * @read:	what was consumed before the reader's page
 * @overrun:	events overwritten before the reader's page
 * @first:	position of the oldest page that was copied and is not the reader's
 * @nr:		events from there on
 */
struct rb_copy_moment {
	struct rb_reader		*from;
	struct rb_reader		*to;
	unsigned int			nr_resets;
	struct rb_writer_state		state;
	u64				dropped;
	u64				pos;
	struct rb_reader_consumed	consumed;
	u64				read;
	u64				overrun;
	u64				first;
	u64				nr;
};

/* Nothing writes to a copy: there is nothing to swap. */
static int rb_copy_swap_reader(struct ring_buffer_writer *writer, int cpu)
{
	return -ENODATA;
}

static int rb_copy_reset(struct ring_buffer_writer *writer, int cpu)
{
	struct ring_buffer_writer_meta *meta = writer->cpus[cpu].meta;

	*meta = (struct ring_buffer_writer_meta) {
		.tail	= meta->tail,
		.next	= meta->tail,
		.base	= meta->tail + 1,
	};
	return 0;
}

static const struct ring_buffer_writer_ops rb_copy_ops = {
	.swap_reader	= rb_copy_swap_reader,
	.reset		= rb_copy_reset,
};

static void *rb_copy_alloc_page(int cpu)
{
	struct page *page;

	cond_resched();
	if (fatal_signal_pending(current))
		return NULL;

	page = alloc_pages_node(cpu_to_node(cpu), RB_COPY_GFP, 0);
	return page ? page_address(page) : NULL;
}

static void rb_copy_free_ring(struct ring_buffer_writer_cpu *ring)
{
	unsigned int i;

	for (i = 0; ring->pages && i < ring->nr_pages; i++) {
		free_page((unsigned long)ring->pages[i]);
		cond_resched();
	}
	kvfree(ring->pages);
	free_page((unsigned long)ring->meta);
}

static int rb_copy_alloc_ring(struct ring_buffer_writer_cpu *ring, int cpu, unsigned int nr_pages)
{
	unsigned int i;

	if (nr_pages > si_mem_available())
		return -ENOMEM;

	ring->nr_pages = nr_pages;
	ring->meta = rb_copy_alloc_page(cpu);
	ring->pages = kvcalloc(nr_pages, sizeof(*ring->pages), GFP_KERNEL);
	if (!ring->meta || !ring->pages)
		return -ENOMEM;

	for (i = 0; i < nr_pages; i++) {
		ring->pages[i] = rb_copy_alloc_page(cpu);
		if (!ring->pages[i])
			return -ENOMEM;
	}

	return 0;
}

/* A slot for each of the ring's pages, its reader's page included, and a reader's page */
static unsigned int rb_copy_nr_pages(const struct rb_reader *from)
{
	return from->nr_slots + 2;
}

static int rb_copy_alloc_rings(struct ring_buffer_reader_copy *copy, struct trace_buffer *from)
{
	int cpu, ret;

	for_each_possible_cpu(cpu) {
		if (!ring_buffer_reader_has_cpu(from, cpu))
			continue;

		ret = rb_copy_alloc_ring(&copy->writer.cpus[cpu], cpu,
					 rb_copy_nr_pages(rb_reader_of(from, cpu)));
		if (ret)
			return ret;
		cpumask_set_cpu(cpu, &copy->cpus);
	}

	copy->buffer = ring_buffer_reader(&copy->writer);
	return PTR_ERR_OR_ZERO(copy->buffer);
}

/**
 * ring_buffer_reader_copy_free - undo ring_buffer_reader_copy_alloc()
 * @copy:	the copy, which is not used any more; NULL will do
 *
 * Context: process context, may sleep.
 */
void ring_buffer_reader_copy_free(struct ring_buffer_reader_copy *copy)
{
	int cpu;

	if (!copy)
		return;

	if (!IS_ERR_OR_NULL(copy->buffer))
		ring_buffer_reader_free(copy->buffer);
	for (cpu = 0; copy->writer.cpus && cpu < nr_cpu_ids; cpu++)
		rb_copy_free_ring(&copy->writer.cpus[cpu]);
	kfree(copy->writer.cpus);
	kfree(copy);
}

/**
 * ring_buffer_reader_copy_alloc - allocate an empty copy
 * @from:	the buffer to copy, from ring_buffer_reader()
 * @clock:	the clock of its events
 *
 * Context: process context, may sleep.
 * Return: the copy, for ring_buffer_reader_copy_free(); an ERR_PTR() of -ENOMEM, or of -EINTR when
 * the task is being killed.
 */
struct ring_buffer_reader_copy *
ring_buffer_reader_copy_alloc(struct trace_buffer *from, u64 (*clock)(void))
{
	struct ring_buffer_reader_copy *copy = kzalloc(sizeof(*copy), GFP_KERNEL);
	int ret = -ENOMEM;

	if (!copy)
		return ERR_PTR(-ENOMEM);

	copy->writer.ops = &rb_copy_ops;
	copy->writer.clock = clock;
	copy->writer.cpumask = &copy->cpus;
	copy->writer.cpus = kcalloc(nr_cpu_ids, sizeof(*copy->writer.cpus), GFP_KERNEL);
	if (copy->writer.cpus)
		ret = rb_copy_alloc_rings(copy, from);
	if (!ret)
		return copy;

	ring_buffer_reader_copy_free(copy);
	return ERR_PTR(fatal_signal_pending(current) ? -EINTR : ret);
}

/**
 * ring_buffer_reader_copy_buffer - what is read of a copy
 * @copy:	the copy
 *
 * Return: a buffer, for ring_buffer_reader_iter_start() and the counters.
 */
struct trace_buffer *ring_buffer_reader_copy_buffer(struct ring_buffer_reader_copy *copy)
{
	return copy->buffer;
}

/**
 * ring_buffer_reader_copy_fits - has a copy room for a CPU's ring?
 * @copy:	the copy
 * @from:	the buffer
 * @cpu:	the CPU
 *
 * Return: whether it has; true if the CPU has no ring.
 */
bool ring_buffer_reader_copy_fits(struct ring_buffer_reader_copy *copy, struct trace_buffer *from,
				  int cpu)
{
	if (!ring_buffer_reader_has_cpu(from, cpu))
		return true;

	return ring_buffer_reader_has_cpu(copy->buffer, cpu) &&
	       copy->writer.cpus[cpu].nr_pages >= rb_copy_nr_pages(rb_reader_of(from, cpu));
}

/**
 * ring_buffer_reader_copy_clear - clear the events of a CPU in a copy
 * @copy:	the copy
 * @cpu:	the CPU
 *
 * Context: process context.
 */
void ring_buffer_reader_copy_clear(struct ring_buffer_reader_copy *copy, int cpu)
{
	if (ring_buffer_reader_has_cpu(copy->buffer, cpu))
		WARN_ON_ONCE(ring_buffer_reader_reset(copy->buffer, cpu));
}

/* Copy the page at @pos, of the page being written what the moment's state counts. */
static bool rb_copy_page(struct rb_copy_moment *moment, u64 pos,
			 const struct ring_buffer_writer_page *page,
			 struct ring_buffer_writer_page *to)
{
	struct rb_reader *from = moment->from;
	unsigned int commit = rb_writer_commit(page);

	if (pos == moment->state.tail)
		commit = min(commit, from->count.offset);
	return rb_reader_copy_page_at(from, pos, page, commit, to);
}

/* Copy the page at @pos to its slot. False if it is gone. */
static bool rb_copy_slot(struct rb_copy_moment *moment, u64 pos)
{
	struct ring_buffer_writer_page *page, *to = *rb_writer_slot(moment->to, pos);
	struct rb_reader *from = moment->from;

	lockdep_assert_held(from->lock);

	page = from->nr_resets == moment->nr_resets ? rb_reader_page_at(from, pos) : NULL;
	if (!page || !rb_copy_page(moment, pos, page, to))
		return false;

	moment->first = pos;
	moment->nr += rb_reader_count_page(to);
	return true;
}

/* The page that the consuming reader has, if any */
static void rb_copy_readers_page(struct rb_copy_moment *moment)
{
	struct rb_reader *from = moment->from;
	struct ring_buffer_writer_page *to = rb_reader_page(moment->to);

	to->commit = 0;
	moment->consumed.offset = 0;
	if (from->pos == RB_READER_NOWHERE)
		return;

	rb_copy_page(moment, from->pos, rb_reader_page(from), to);
	moment->consumed.offset = min_t(unsigned int, from->consumed.offset, to->commit);
}

/* False while the writer goes to its next page: then try again. */
static bool rb_copy_try_begin(struct rb_copy_moment *moment)
{
	struct rb_reader *from = moment->from;

	lockdep_assert_held(from->lock);

	if (!rb_writer_wait_state(from, &moment->state))
		return false;

	moment->nr_resets = from->nr_resets;
	moment->dropped = READ_ONCE(from->meta->dropped);
	moment->pos = from->pos;
	moment->consumed = from->consumed;
	moment->read = from->read;
	moment->overrun = from->overrun;
	moment->first = moment->state.tail + 1;
	moment->nr = 0;
	rb_copy_readers_page(moment);
	return moment->state.oldest > moment->state.tail ||
	       rb_copy_slot(moment, moment->state.tail);
}

/* The moment. If the writer stops between two pages, the copy remains empty. */
static bool rb_copy_begin(struct rb_copy_moment *moment)
{
	bool done = false;
	int i;

	for (i = 0; i < RB_READER_ROUNDS && !done; i++) {
		if (i)
			fsleep(RB_READER_ROUND_US);
		scoped_guard(raw_spinlock_irqsave, moment->from->lock)
			done = rb_copy_try_begin(moment);
	}

	return done;
}

/* The pages before the one being written, as far as they are there */
static void rb_copy_rest(struct rb_copy_moment *moment)
{
	bool there = true;

	while (there && moment->first > moment->state.oldest) {
		scoped_guard(raw_spinlock_irqsave, moment->from->lock)
			there = rb_copy_slot(moment, moment->first - 1);
		cond_resched();
	}
}

/* What the writer of the copy would report: it has overwritten all before the first page. */
static void rb_copy_set_meta(struct rb_copy_moment *moment)
{
	struct ring_buffer_writer_meta *meta = moment->to->meta;
	struct rb_writer_state *state = &moment->state;
	struct ring_buffer_writer_page *tail = NULL;
	u64 gone = state->entries - moment->nr - moment->read;

	if (state->tail == moment->pos)
		tail = rb_reader_page(moment->to);
	else if (moment->first <= state->tail)
		tail = *rb_writer_slot(moment->to, state->tail);
	if (moment->pos != RB_READER_NOWHERE)
		gone -= rb_reader_count_page(rb_reader_page(moment->to));

	*meta = (struct ring_buffer_writer_meta) {
		.meta.entries	= state->entries - (tail ? rb_reader_count_page(tail) : 0),
		.meta.overrun	= gone,
		.tail		= state->tail,
		.next		= state->tail,
		.base		= moment->first,
		.dropped	= moment->dropped,
		.bytes		= state->bytes - (tail ? tail->commit : 0),
	};
}

/* Let readers have the copy. */
static void rb_copy_publish(struct rb_copy_moment *moment)
{
	struct rb_reader *to = moment->to;

	lockdep_assert_held(to->lock);

	rb_copy_set_meta(moment);
	to->pos = moment->pos;
	to->consumed = moment->consumed;
	to->read = moment->read;
	to->overrun = moment->overrun;
	to->count = (struct rb_reader_count) { };
	to->nr_resets++;
	rb_reader_publish(to);
}

/* Whether the ring of @cpu is one of those that @which says, and can be copied */
static bool rb_copy_has_cpu(struct ring_buffer_reader_copy *copy, struct trace_buffer *from,
			    int which, int cpu)
{
	return (which == RING_BUFFER_ALL_CPUS || which == cpu) &&
	       ring_buffer_reader_has_cpu(from, cpu) &&
	       ring_buffer_reader_copy_fits(copy, from, cpu);
}

/**
 * ring_buffer_reader_copy_take - copy the rings
 * @copy:	the copy
 * @from:	the buffer
 * @which:	the ring of a CPU, or RING_BUFFER_ALL_CPUS. A ring for which @copy has no room is
 *		left out
 *
 * What @copy had of these CPUs is cleared.
 *
 * Context: process context, may sleep.
 * Return: 0 or -ENOMEM. After an error nothing has changed.
 */
int ring_buffer_reader_copy_take(struct ring_buffer_reader_copy *copy, struct trace_buffer *from,
				 int which)
{
	struct rb_copy_moment *moments = kvcalloc(nr_cpu_ids, sizeof(*moments), GFP_KERNEL);
	int cpu;

	if (!moments)
		return -ENOMEM;

	for_each_possible_cpu(cpu) {
		if (!rb_copy_has_cpu(copy, from, which, cpu))
			continue;

		ring_buffer_reader_copy_clear(copy, cpu);
		moments[cpu].from = rb_reader_of(from, cpu);
		moments[cpu].to = rb_reader_of(copy->buffer, cpu);
	}

	for_each_possible_cpu(cpu) {
		if (moments[cpu].to && !rb_copy_begin(&moments[cpu]))
			moments[cpu].to = NULL;
	}

	for_each_possible_cpu(cpu) {
		if (!moments[cpu].to)
			continue;

		rb_copy_rest(&moments[cpu]);
		scoped_guard(raw_spinlock_irqsave, moments[cpu].to->lock)
			rb_copy_publish(&moments[cpu]);
	}

	kvfree(moments);
	return 0;
}
