// SPDX-License-Identifier: GPL-2.0
/*
 * Trace buffers of the rings that a remote writer fills
 *
 * ring_buffer.c includes this file at its end. It can't be an object of its own: it allocates
 * and fills in struct trace_buffer and struct ring_buffer_per_cpu, which only ring_buffer.c
 * defines, and calls its static functions. The other files of the reader are objects, see
 * ring_buffer_reader_internal.h.
 *
 * What differs from a buffer that the kernel writes itself:
 *
 * - The pages are the writer's. They are on no list. Only the reader's page has a struct
 *   buffer_page.
 * - The state of a CPU's reader is in struct rb_reader. For the functions of ring_buffer.c
 *   that return counters, struct ring_buffer_per_cpu has copies: rb_reader_publish().
 * - The counters of what was written come from the meta page, by ring_buffer_poll_writer().
 *   It also wakes readers that wait.
 *
 * Locking: cpu_buffer->reader_lock serialises the readers of a CPU, as ever. It covers all of
 * struct rb_reader. cpu_buffer->mapping_lock covers mappings, as in ring_buffer.c.
 *
 * The letters of memory orderings, (A) and so on, are explained in trace_ring.c.
 */
#include "ring_buffer_reader_internal.h"

static_assert(offsetof(struct ring_buffer_writer_page, commit) ==
	      offsetof(struct buffer_data_page, commit));
static_assert(offsetof(struct ring_buffer_writer_page, data) ==
	      offsetof(struct buffer_data_page, data));
static_assert(RB_WRITER_TS_SHIFT == TS_SHIFT);
static_assert(RB_WRITER_TIME_EXTEND == (int)RINGBUF_TYPE_TIME_EXTEND);
static_assert(RB_WRITER_MAX_SHORT == RB_MAX_SMALL_DATA);
static_assert((u32)RB_WRITER_MISSED_EVENTS == (u32)RB_MISSED_EVENTS);
static_assert((u32)RB_WRITER_MISSED_STORED == (u32)RB_MISSED_STORED);

/*
 * In the counters that forbid the kernel to write to a buffer, or to resize it. A
 * caller that enables once too often does not reach 0.
 */
#define RB_READER_DISABLED	BIT(24)

/* The reader of a CPU that has a ring */
struct rb_reader *rb_reader_of(struct trace_buffer *buffer, int cpu)
{
	return buffer->buffers[cpu]->reader;
}

/* Copy what was consumed to where ring_buffer.c has it. */
void rb_reader_publish(struct rb_reader *reader)
{
	struct ring_buffer_per_cpu *cpu_buffer = reader->cpu_buffer;

	lockdep_assert_held(reader->lock);

	cpu_buffer->read = reader->consumed.nr;
	cpu_buffer->read_bytes = reader->consumed.bytes;
	cpu_buffer->lost_events = reader->consumed.lost;
	cpu_buffer->reader_page->read = reader->consumed.offset;
}

/* The same for the reader's page, which has @id. */
void rb_reader_publish_page(struct rb_reader *reader, unsigned int id)
{
	struct buffer_page *bpage = reader->cpu_buffer->reader_page;

	bpage->page = (void *)rb_reader_page(reader);
	bpage->id = id;
	rb_reader_publish(reader);
}

/* ... and for how many pages there are to read, for readers that wait for some. */
void rb_reader_publish_tail(struct rb_reader *reader, u64 tail)
{
	struct ring_buffer_per_cpu *cpu_buffer = reader->cpu_buffer;

	local_set(&cpu_buffer->pages_touched, tail);
	local_set(&cpu_buffer->pages_read, rb_writer_oldest(reader, tail));
	/* Not the page being written */
	cpu_buffer->commit_page = tail == reader->pos ? cpu_buffer->reader_page : NULL;
}

/* rb_per_cpu_empty() */
static bool rb_writer_empty(struct ring_buffer_per_cpu *cpu_buffer)
{
	return rb_reader_is_empty(cpu_buffer->reader);
}

/* ring_buffer_oldest_event_ts(): the time of the oldest page, 0 if all is read. */
static u64 rb_writer_oldest_ts(struct ring_buffer_per_cpu *cpu_buffer)
{
	struct ring_buffer_writer_page *page;
	unsigned long flags;
	u64 ts;

	raw_spin_lock_irqsave(&cpu_buffer->reader_lock, flags);
	page = rb_reader_oldest_page(cpu_buffer->reader);
	ts = page ? READ_ONCE(page->time_stamp) : 0;
	raw_spin_unlock_irqrestore(&cpu_buffer->reader_lock, flags);

	return ts;
}

/* Free the page that ring_buffer_free_read_page() has left. */
static void rb_reader_free_spare(struct ring_buffer_per_cpu *cpu_buffer)
{
	free_pages((unsigned long)cpu_buffer->free_page.data, cpu_buffer->free_page.order);
}

static void rb_reader_free_cpu(struct ring_buffer_per_cpu *cpu_buffer)
{
	irq_work_sync(&cpu_buffer->irq_work.work);
	free_page((unsigned long)cpu_buffer->reader->copy);
	rb_reader_free_spare(cpu_buffer);
	kvfree(cpu_buffer->reader);
	kfree(cpu_buffer->reader_page);
	kfree(cpu_buffer);
}

static void rb_reader_init_cpu(struct ring_buffer_per_cpu *cpu_buffer)
{
	raw_spin_lock_init(&cpu_buffer->reader_lock);
	lockdep_set_class(&cpu_buffer->reader_lock, cpu_buffer->buffer->reader_lock_key);
	cpu_buffer->lock = (arch_spinlock_t)__ARCH_SPIN_LOCK_UNLOCKED;
	init_irq_work(&cpu_buffer->irq_work.work, rb_wake_up_waiters);
	init_waitqueue_head(&cpu_buffer->irq_work.waiters);
	init_waitqueue_head(&cpu_buffer->irq_work.full_waiters);
	INIT_LIST_HEAD(&cpu_buffer->new_pages);
	mutex_init(&cpu_buffer->mapping_lock);
	atomic_set(&cpu_buffer->record_disabled, RB_READER_DISABLED);
	atomic_set(&cpu_buffer->resize_disabled, RB_READER_DISABLED);
}

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
	INIT_LIST_HEAD(&reader->no_pages);
	return reader;
}

/* The two know each other. */
static void rb_reader_attach(struct rb_reader *reader, struct ring_buffer_per_cpu *cpu_buffer)
{
	reader->cpu_buffer = cpu_buffer;
	reader->lock = &cpu_buffer->reader_lock;

	cpu_buffer->reader = reader;
	cpu_buffer->pages = &reader->no_pages;
	cpu_buffer->nr_pages = reader->nr_slots;
	cpu_buffer->reader_page->page = (void *)rb_reader_page(reader);
	cpu_buffer->reader_page->id = reader->nr_slots;
	cpu_buffer->reader_page->range = 1;	/* not to be freed here */
}

static struct ring_buffer_per_cpu *
rb_reader_alloc_cpu(struct trace_buffer *buffer, struct ring_buffer_writer *writer, int cpu)
{
	struct ring_buffer_per_cpu *cpu_buffer;
	struct buffer_page *bpage;
	struct rb_reader *reader;

	cpu_buffer = kzalloc_node(ALIGN(sizeof(*cpu_buffer), cache_line_size()),
				  GFP_KERNEL, cpu_to_node(cpu));
	bpage = kzalloc_node(sizeof(*bpage), GFP_KERNEL, cpu_to_node(cpu));
	reader = rb_reader_alloc(writer, cpu);
	if (!cpu_buffer || !bpage || !reader)
		goto free;

	INIT_LIST_HEAD(&bpage->list);
	cpu_buffer->cpu = cpu;
	cpu_buffer->buffer = buffer;
	cpu_buffer->reader_page = bpage;
	rb_reader_init_cpu(cpu_buffer);
	rb_reader_attach(reader, cpu_buffer);
	return cpu_buffer;

free:
	if (reader)
		free_page((unsigned long)reader->copy);
	kvfree(reader);
	kfree(bpage);
	kfree(cpu_buffer);
	return NULL;
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

	irq_work_sync(&buffer->irq_work.work);
	for_each_buffer_cpu(buffer, cpu)
		rb_reader_free_cpu(buffer->buffers[cpu]);

	kfree(buffer->buffers);
	free_cpumask_var(buffer->cpumask);
	kfree(buffer);
}

static struct trace_buffer *rb_reader_alloc_buffer(struct ring_buffer_writer *writer)
{
	static struct lock_class_key reader_lock_key;
	struct trace_buffer *buffer;

	buffer = kzalloc(ALIGN(sizeof(*buffer), cache_line_size()), GFP_KERNEL);
	if (!buffer)
		return NULL;

	mutex_init(&buffer->mutex);
	init_irq_work(&buffer->irq_work.work, rb_wake_up_waiters);
	init_waitqueue_head(&buffer->irq_work.waiters);
	buffer->flags = RB_FL_OVERWRITE;
	buffer->reader_lock_key = &reader_lock_key;
	buffer->writer = writer;
	buffer->clock = writer->clock;
	buffer->max_data_size = RB_WRITER_PAGE_DATA - sizeof(u32) * 2;
	atomic_set(&buffer->record_disabled, RB_READER_DISABLED);

	buffer->buffers = kcalloc(nr_cpu_ids, sizeof(*buffer->buffers), GFP_KERNEL);
	if (!buffer->buffers || !zalloc_cpumask_var(&buffer->cpumask, GFP_KERNEL)) {
		kfree(buffer->buffers);
		kfree(buffer);
		return NULL;
	}

	return buffer;
}

/**
 * ring_buffer_reader_has_cpu - does a CPU have a ring?
 * @buffer:	a buffer from ring_buffer_reader()
 * @cpu:	the CPU
 *
 * Context: any.
 * Return: whether it has. Then it has until ring_buffer_reader_free().
 */
bool ring_buffer_reader_has_cpu(struct trace_buffer *buffer, int cpu)
{
	bool has = cpumask_test_cpu(cpu, buffer->cpumask);

	smp_rmb();						/* (M) */
	return has;
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
	struct ring_buffer_per_cpu *cpu_buffer;

	if (writer->cpus[cpu].nr_pages < RB_WRITER_MIN_PAGES)
		return -EINVAL;

	cpu_buffer = rb_reader_alloc_cpu(buffer, writer, cpu);
	if (!cpu_buffer)
		return -ENOMEM;

	buffer->buffers[cpu] = cpu_buffer;
	smp_wmb();						/* (M) */
	cpumask_set_cpu(cpu, buffer->cpumask);
	return 0;
}

/**
 * ring_buffer_reader - make a read-only trace buffer of what a writer writes
 * @writer:	the writer; its rings are set up
 *
 * Events are read with a cursor, an iterator or by the page, see
 * ring_buffer_writer.h. Of the functions in ring_buffer.h the buffer has
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

	buffer = rb_reader_alloc_buffer(writer);
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

/* Copy the writer's counters. False if they are old ones. */
static bool rb_reader_update(struct ring_buffer_per_cpu *cpu_buffer)
{
	struct rb_reader *reader = cpu_buffer->reader;
	struct rb_writer_state state;
	bool agree = rb_writer_wait_state(reader, &state);
	unsigned long gone;

	if (agree) {
		local_set(&cpu_buffer->entries, state.entries);
		local_set(&cpu_buffer->overrun, state.overrun);
		local_set(&cpu_buffer->entries_bytes, state.bytes);
	}
	local_set(&cpu_buffer->dropped_events, READ_ONCE(reader->meta->dropped));

	/* If they are old, at least what was consumed was written. */
	gone = local_read(&cpu_buffer->overrun) + cpu_buffer->read;
	if (local_read(&cpu_buffer->entries) < gone)
		local_set(&cpu_buffer->entries, gone);
	if (local_read(&cpu_buffer->entries_bytes) < cpu_buffer->read_bytes)
		local_set(&cpu_buffer->entries_bytes, cpu_buffer->read_bytes);

	rb_reader_publish_tail(reader, state.tail);
	return agree;
}

/* The writer has cleared the ring. */
static void rb_reader_clear(struct ring_buffer_per_cpu *cpu_buffer)
{
	struct rb_reader *reader = cpu_buffer->reader;

	reader->consumed = (struct rb_reader_consumed) {
		.offset	= rb_writer_commit(rb_reader_page(reader)),
		.stamp	= reader->consumed.stamp,
	};
	reader->pos = RB_READER_NOWHERE;
	reader->read = 0;
	reader->overrun = 0;
	reader->nr_resets++;
	rb_reader_publish(reader);
	rb_reader_update(cpu_buffer);
	/* ring_buffer_unmap() frees the page behind this, without the lock. */
	if (cpu_buffer->mapped)
		rb_update_meta_page(cpu_buffer);
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
	struct ring_buffer_per_cpu *cpu_buffer;
	struct ring_buffer_writer *writer;
	unsigned long flags;
	int ret;

	if (!cpumask_test_cpu(cpu, buffer->cpumask))
		return -EINVAL;

	cpu_buffer = buffer->buffers[cpu];
	writer = cpu_buffer->reader->writer;

	raw_spin_lock_irqsave(&cpu_buffer->reader_lock, flags);
	ret = writer->ops->reset(writer, cpu);
	if (!ret)
		rb_reader_clear(cpu_buffer);
	raw_spin_unlock_irqrestore(&cpu_buffer->reader_lock, flags);

	return ret;
}

static void rb_writer_reset_call(void *buffer)
{
	ring_buffer_reader_reset(buffer, smp_processor_id());
}

/*
 * ring_buffer_reset() and similar functions: clear each CPU's ring on that CPU, or here while
 * the CPU is offline. If the writer refuses, the ring stays as it is.
 */
static void rb_writer_reset(struct trace_buffer *buffer, const struct cpumask *cpus)
{
	int cpu;

	guard(cpus_read_lock)();

	for_each_cpu_and(cpu, buffer->cpumask, cpus) {
		if (cpu_online(cpu))
			smp_call_function_single(cpu, rb_writer_reset_call, buffer, 1);
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
	struct ring_buffer_per_cpu *cpu_buffer;
	unsigned long flags;

	if (cpu == RING_BUFFER_ALL_CPUS) {
		for_each_buffer_cpu(buffer, cpu)
			ring_buffer_poll_writer(buffer, cpu);
		return;
	}

	if (!ring_buffer_reader_has_cpu(buffer, cpu))
		return;

	cpu_buffer = buffer->buffers[cpu];
	raw_spin_lock_irqsave(&cpu_buffer->reader_lock, flags);
	rb_reader_update(cpu_buffer);
	if (!rb_writer_empty(cpu_buffer))
		rb_wakeups(buffer, cpu_buffer);
	raw_spin_unlock_irqrestore(&cpu_buffer->reader_lock, flags);
}

static bool rb_work_has_waiters(struct rb_irq_work *rbwork)
{
	return wq_has_sleeper(&rbwork->waiters) || wq_has_sleeper(&rbwork->full_waiters);
}

/**
 * ring_buffer_reader_has_waiters - are there readers that wait for events?
 * @buffer:	a buffer from ring_buffer_reader()
 *
 * A poll() counts until it has returned, an epoll instance until the file is removed from it.
 *
 * Context: any.
 * Return: whether a wait queue of @buffer is not empty.
 */
bool ring_buffer_reader_has_waiters(struct trace_buffer *buffer)
{
	int cpu;

	/* The queue of all CPUs has no waiters for a full ring. */
	if (wq_has_sleeper(&buffer->irq_work.waiters))
		return true;

	for_each_buffer_cpu(buffer, cpu) {
		if (ring_buffer_reader_has_cpu(buffer, cpu) &&
		    rb_work_has_waiters(&buffer->buffers[cpu]->irq_work))
			return true;
	}

	return false;
}

static bool rb_reader_try_stats(struct ring_buffer_per_cpu *cpu_buffer,
				struct ring_buffer_reader_stats *stats)
{
	unsigned long flags;
	bool agree;

	raw_spin_lock_irqsave(&cpu_buffer->reader_lock, flags);
	agree = rb_reader_update(cpu_buffer);
	*stats = (struct ring_buffer_reader_stats) {
		.entries	= rb_num_of_entries(cpu_buffer),
		.overrun	= local_read(&cpu_buffer->overrun),
		.read		= cpu_buffer->read,
		.bytes		= local_read(&cpu_buffer->entries_bytes) - cpu_buffer->read_bytes,
		.dropped	= local_read(&cpu_buffer->dropped_events),
	};
	raw_spin_unlock_irqrestore(&cpu_buffer->reader_lock, flags);

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

	while (!rb_reader_try_stats(buffer->buffers[cpu], stats) && *rounds) {
		(*rounds)--;
		fsleep(RB_READER_ROUND_US);
	}
}

/* rb_setup_ids_meta_page(): the writer's pages have ids. */
static void rb_writer_setup_ids(struct ring_buffer_per_cpu *cpu_buffer,
				unsigned long *subbuf_ids)
{
	struct rb_reader *reader = cpu_buffer->reader;
	unsigned int id;

	lockdep_assert_held(&cpu_buffer->reader_lock);

	for (id = 0; id <= reader->nr_slots; id++)
		subbuf_ids[id] = (unsigned long)reader->ids[id];

	rb_reader_update(cpu_buffer);
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
static void rb_writer_map_get_reader(struct ring_buffer_per_cpu *cpu_buffer)
{
	unsigned long flags, lost;

	lockdep_assert_held(&cpu_buffer->mapping_lock);

	raw_spin_lock_irqsave(&cpu_buffer->reader_lock, flags);
	lost = rb_reader_show_page(cpu_buffer->reader);
	rb_reader_update(cpu_buffer);
	rb_update_meta_page(cpu_buffer);
	cpu_buffer->meta_page->reader.lost_events = lost;
	raw_spin_unlock_irqrestore(&cpu_buffer->reader_lock, flags);
}
