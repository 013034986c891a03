// SPDX-License-Identifier: GPL-2.0
/*
 * Trace buffers of the rings that a remote writer fills
 *
 * A buffer has a reader for each CPU that has a ring. The parts that are private to ring_buffer.c
 * are in ring_buffer_reader_base.c. This file has what ring_buffer.c asks of a reader, struct
 * rb_reader_ops, and what the users of such a buffer call.
 *
 * The counters of what was written come from the meta page, by ring_buffer_poll_writer(). It also
 * wakes readers that wait.
 *
 * Locking: rb_reader.lock, which is the reader_lock of struct ring_buffer_per_cpu, serialises the
 * readers of a CPU. It covers all of struct rb_reader. ring_buffer.c covers mappings by a lock of
 * its own.
 *
 * The letters of memory orderings, (A) and so on, are explained in trace_ring.c.
 */
#include <linux/cpu.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/gfp.h>
#include <linux/highmem.h>
#include <linux/slab.h>
#include <linux/smp.h>

#include "ring_buffer_reader_internal.h"

static struct rb_reader *rb_reader_alloc(struct ring_buffer_writer *writer, int cpu)
{
	struct ring_buffer_writer_cpu *desc = &writer->cpus[cpu];
	struct rb_reader *reader;

	reader = kvzalloc_node(struct_size(reader, pages, desc->nr_pages), GFP_KERNEL,
			       cpu_to_node(cpu));
	if (!reader)
		return NULL;

	reader->copy = (void *)__get_free_page(GFP_KERNEL);
	if (!reader->copy) {
		kvfree(reader);
		return NULL;
	}

	reader->writer = writer;
	reader->meta = desc->meta;
	reader->ids = desc->pages;
	reader->cpu = cpu;
	reader->pos = RB_READER_NOWHERE;
	reader->nr_slots = desc->nr_pages - 1;
	memcpy(reader->pages, desc->pages, desc->nr_pages * sizeof(*desc->pages));
	INIT_LIST_HEAD(&reader->iters);
	INIT_LIST_HEAD(&reader->followers);
	INIT_LIST_HEAD(&reader->no_pages);
	return reader;
}

static void rb_reader_free(struct rb_reader *reader)
{
	free_page((unsigned long)reader->copy);
	kvfree(reader);
}

/**
 * ring_buffer_reader_free - undo ring_buffer_reader()
 * @buffer:	the buffer, which is not used any more
 *
 * The writer's pages are left alone.
 *
 * Context: process context.
 */
void ring_buffer_reader_free(struct trace_buffer *buffer)
{
	int cpu;

	if (!buffer)
		return;

	for_each_possible_cpu(cpu) {
		if (ring_buffer_reader_has_cpu(buffer, cpu))
			rb_reader_free(rb_reader_detach(buffer, cpu));
	}
	rb_reader_free_buffer(buffer);
}

/**
 * ring_buffer_reader_add_cpu - read the ring of another CPU, too
 * @buffer:	a buffer from ring_buffer_reader(), which may be in use
 * @writer:	the writer that was made from; it has set up the ring
 * @cpu:	the CPU, which has no ring in @buffer
 *
 * Context: process context, may sleep.
 * Return: 0, or what ring_buffer_reader() has as an ERR_PTR().
 */
int ring_buffer_reader_add_cpu(struct trace_buffer *buffer, struct ring_buffer_writer *writer,
			       int cpu)
{
	struct rb_reader *reader;
	int ret;

	if (writer->cpus[cpu].nr_pages < RB_WRITER_MIN_PAGES)
		return -EINVAL;

	reader = rb_reader_alloc(writer, cpu);
	if (!reader)
		return -ENOMEM;

	ret = rb_reader_attach(reader, buffer);
	if (ret)
		rb_reader_free(reader);
	return ret;
}

/* Copy the writer's counters. False if they are old ones. */
static bool rb_reader_update(struct rb_reader *reader)
{
	struct rb_writer_state state;
	bool agree = rb_writer_wait_state(reader, &state);

	rb_reader_publish_state(reader, agree ? &state : NULL);
	rb_reader_publish_tail(reader, state.tail, state.oldest);
	return agree;
}

/* The writer has cleared the ring. */
static void rb_reader_clear(struct rb_reader *reader)
{
	reader->consumed = (struct rb_reader_consumed) {
		.offset	= rb_writer_commit(rb_reader_page(reader)),
		.stamp	= reader->consumed.stamp,
	};
	reader->pos = RB_READER_NOWHERE;
	reader->read = 0;
	reader->overrun = 0;
	reader->nr_resets++;
	rb_reader_publish(reader);
	rb_reader_update(reader);
	rb_reader_publish_map(reader, 0);
}

/**
 * ring_buffer_reader_reset - clear all events of a CPU
 * @buffer:	a buffer from ring_buffer_reader()
 * @cpu:	the CPU
 *
 * Context: on @cpu itself, or anywhere while @cpu is offline; any context but
 * NMI.
 * Return: 0, -EINVAL when @buffer has no ring for @cpu, or the writer's error.
 * After an error nothing has changed.
 */
int ring_buffer_reader_reset(struct trace_buffer *buffer, int cpu)
{
	struct rb_reader *reader;
	unsigned long flags;
	int ret;

	if (!ring_buffer_reader_has_cpu(buffer, cpu))
		return -EINVAL;

	reader = rb_reader_of(buffer, cpu);
	raw_spin_lock_irqsave(reader->lock, flags);
	ret = reader->writer->ops->reset(reader->writer, cpu);
	if (!ret)
		rb_reader_clear(reader);
	raw_spin_unlock_irqrestore(reader->lock, flags);

	return ret;
}

static void rb_reader_reset_call(void *buffer)
{
	ring_buffer_reader_reset(buffer, smp_processor_id());
}

/*
 * ring_buffer_reset() and similar functions: clear each CPU's ring on that CPU, or here while
 * the CPU is offline. If the writer refuses, the ring stays as it is.
 */
static void rb_reader_reset(struct trace_buffer *buffer, const struct cpumask *cpus)
{
	int cpu;

	guard(cpus_read_lock)();

	for_each_cpu(cpu, cpus) {
		if (!ring_buffer_reader_has_cpu(buffer, cpu))
			continue;

		if (cpu_online(cpu))
			smp_call_function_single(cpu, rb_reader_reset_call, buffer, 1);
		else
			ring_buffer_reader_reset(buffer, cpu);
	}
}

/**
 * ring_buffer_poll_writer - bring a buffer up to date with its writer
 * @buffer:	a buffer from ring_buffer_reader()
 * @cpu:	the CPU, or RING_BUFFER_ALL_CPUS
 *
 * Copies the writer's counters, and wakes readers when there is something to read. The writer
 * can't do that itself, so this is to be called now and then while readers wait.
 *
 * Context: any but NMI.
 */
void ring_buffer_poll_writer(struct trace_buffer *buffer, int cpu)
{
	struct rb_reader *reader;
	unsigned long flags;

	if (cpu == RING_BUFFER_ALL_CPUS) {
		for_each_possible_cpu(cpu)
			ring_buffer_poll_writer(buffer, cpu);
		return;
	}

	if (!ring_buffer_reader_has_cpu(buffer, cpu))
		return;

	reader = rb_reader_of(buffer, cpu);
	raw_spin_lock_irqsave(reader->lock, flags);
	rb_reader_update(reader);
	if (!rb_reader_is_empty(reader))
		rb_reader_wake(reader);
	raw_spin_unlock_irqrestore(reader->lock, flags);
}

static bool rb_reader_try_stats(struct rb_reader *reader, struct ring_buffer_reader_stats *stats)
{
	unsigned long flags;
	bool agree;

	raw_spin_lock_irqsave(reader->lock, flags);
	agree = rb_reader_update(reader);
	rb_reader_published(reader, stats);
	raw_spin_unlock_irqrestore(reader->lock, flags);

	return agree;
}

/**
 * ring_buffer_reader_get_stats - the counters of a CPU
 * @buffer:	a buffer from ring_buffer_reader()
 * @cpu:	the CPU; without a ring its counters are 0
 * @stats:	where to
 *
 * If the writer stops between two pages, the counters are old ones.
 *
 * Context: process context, may sleep.
 */
void ring_buffer_reader_get_stats(struct trace_buffer *buffer, int cpu,
				  struct ring_buffer_reader_stats *stats)
{
	unsigned int rounds = RING_BUFFER_READER_ROUNDS;

	ring_buffer_reader_wait_stats(buffer, cpu, &rounds, stats);
}

/**
 * ring_buffer_reader_wait_stats - the counters of a CPU, with a limit for several CPUs
 * @buffer:	a buffer from ring_buffer_reader()
 * @cpu:	the CPU; without a ring its counters are 0
 * @rounds:	how often to wait for the writer at most; so much less from call to call
 * @stats:	where to
 *
 * As ring_buffer_reader_get_stats().
 *
 * Context: process context, may sleep.
 */
void ring_buffer_reader_wait_stats(struct trace_buffer *buffer, int cpu, unsigned int *rounds,
				   struct ring_buffer_reader_stats *stats)
{
	*stats = (struct ring_buffer_reader_stats) { };
	if (!ring_buffer_reader_has_cpu(buffer, cpu))
		return;

	while (!rb_reader_try_stats(rb_reader_of(buffer, cpu), stats) && *rounds) {
		(*rounds)--;
		fsleep(RB_READER_ROUND_US);
	}
}

/* ring_buffer_oldest_event_ts(): the time of the oldest page, 0 if all is read. */
static u64 rb_reader_oldest_ts(struct rb_reader *reader)
{
	struct ring_buffer_writer_page *page;
	unsigned long flags;
	u64 ts;

	raw_spin_lock_irqsave(reader->lock, flags);
	page = rb_reader_oldest_page(reader);
	ts = page ? READ_ONCE(page->time_stamp) : 0;
	raw_spin_unlock_irqrestore(reader->lock, flags);

	return ts;
}

/* rb_setup_ids_meta_page(): the writer's pages have ids. */
static void rb_reader_setup_ids(struct rb_reader *reader, unsigned long *subbuf_ids)
{
	unsigned int id;

	lockdep_assert_held(reader->lock);

	for (id = 0; id <= reader->nr_slots; id++)
		subbuf_ids[id] = (unsigned long)reader->ids[id];

	rb_reader_update(reader);
}

/* Whether the writer has left the reader's page: then its commit is final. */
static bool rb_reader_page_is_complete(struct rb_reader *reader)
{
	return smp_load_acquire(&reader->meta->tail) != reader->pos;	/* (B) */
}

/*
 * Let user space have the rest of the reader's page, or the next one. Returns how many events
 * are missing before it.
 */
static unsigned long rb_reader_show_page(struct rb_reader *reader)
{
	struct rb_reader_consumed *consumed = &reader->consumed;
	struct ring_buffer_writer_page *page;
	unsigned long lost = 0;
	struct rb_batch batch;
	unsigned int commit;

	page = rb_reader_next_page(reader, &commit);
	if (!page)
		return 0;

	/* The commit word of the page being written is the writer's. */
	if (!consumed->offset && consumed->lost && rb_reader_page_is_complete(reader)) {
		lost = consumed->lost;
		consumed->lost = 0;
		WRITE_ONCE(page->commit, rb_page_set_lost(page, commit, lost));
	}

	rb_reader_get_batch(reader, commit, UINT_MAX, &batch);
	rb_reader_consume(reader, &batch);
	flush_kernel_vmap_range(page, PAGE_SIZE);
	return lost;
}

/* ring_buffer_map_get_reader() */
static void rb_reader_map_get_reader(struct rb_reader *reader)
{
	unsigned long flags, lost;

	raw_spin_lock_irqsave(reader->lock, flags);
	lost = rb_reader_show_page(reader);
	rb_reader_update(reader);
	rb_reader_publish_map(reader, lost);
	raw_spin_unlock_irqrestore(reader->lock, flags);
}

static const struct rb_reader_ops rb_reader_ops = {
	.free		= ring_buffer_reader_free,
	.reset		= rb_reader_reset,
	.is_empty	= rb_reader_is_empty,
	.oldest_ts	= rb_reader_oldest_ts,
	.setup_ids	= rb_reader_setup_ids,
	.map_get_reader	= rb_reader_map_get_reader,
};

/**
 * ring_buffer_reader - make a read-only trace buffer of what a writer writes
 * @writer:	the writer; its rings are set up
 *
 * Events are read with a cursor, an iterator or by the page, see
 * ring_buffer_reader.h. Of the functions in ring_buffer.h the buffer has
 * ring_buffer_map() and what goes with it, those that wait, reset, free, or return
 * counters and sizes. The others do nothing or fail: the kernel can't write to the
 * buffer or resize it, and ring_buffer_consume(), ring_buffer_read_page() and
 * ring_buffer_read_start() find no event, since they do not validate them.
 *
 * Context: process context, may sleep.
 * Return: the buffer, for ring_buffer_reader_free(); an ERR_PTR() of -EINVAL
 * for a ring that is too short or a writer without a clock, or of -ENOMEM.
 */
struct trace_buffer *ring_buffer_reader(struct ring_buffer_writer *writer)
{
	struct trace_buffer *buffer;
	int cpu, ret;

	if (!writer->clock)
		return ERR_PTR(-EINVAL);

	buffer = rb_reader_alloc_buffer(writer, &rb_reader_ops);
	if (!buffer)
		return ERR_PTR(-ENOMEM);

	for_each_cpu(cpu, writer->cpumask) {
		ret = ring_buffer_reader_add_cpu(buffer, writer, cpu);
		if (ret) {
			ring_buffer_reader_free(buffer);
			return ERR_PTR(ret);
		}
	}

	return buffer;
}
