// SPDX-License-Identifier: GPL-2.0
/*
 * What ring_buffer.c has of a buffer that a remote writer fills
 *
 * This is the lowest layer of the reader. ring_buffer.c includes it at its end. It can't be an
 * object of its own: it allocates and fills in struct trace_buffer and struct ring_buffer_per_cpu,
 * which only ring_buffer.c defines, and calls its static functions. It calls no other file of the
 * reader. ring_buffer.c calls those by struct rb_reader_ops.
 *
 * The pages are the writer's. They are on no list. Only the reader's page has a struct
 * buffer_page. The state of a CPU's reader is in struct rb_reader. For the functions of
 * ring_buffer.c that return counters, struct ring_buffer_per_cpu has copies, which the functions
 * rb_reader_publish...() make.
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

/* ... and which pages there are to read, from @oldest to @tail, for readers that wait for some. */
void rb_reader_publish_tail(struct rb_reader *reader, u64 tail, u64 oldest)
{
	struct ring_buffer_per_cpu *cpu_buffer = reader->cpu_buffer;

	local_set(&cpu_buffer->pages_touched, tail);
	local_set(&cpu_buffer->pages_read, oldest);
	/* Not the page being written */
	cpu_buffer->commit_page = tail == reader->pos ? cpu_buffer->reader_page : NULL;
}

/* ... and the writer's counters; without @state, those of the last time stay. */
void rb_reader_publish_state(struct rb_reader *reader, const struct rb_writer_state *state)
{
	struct ring_buffer_per_cpu *cpu_buffer = reader->cpu_buffer;
	unsigned long gone;

	lockdep_assert_held(reader->lock);

	if (state) {
		local_set(&cpu_buffer->entries, state->entries);
		local_set(&cpu_buffer->overrun, state->overrun);
		local_set(&cpu_buffer->entries_bytes, state->bytes);
	}
	local_set(&cpu_buffer->dropped_events, READ_ONCE(reader->meta->dropped));

	/* If they are old, at least what was consumed was written. */
	gone = local_read(&cpu_buffer->overrun) + cpu_buffer->read;
	if (local_read(&cpu_buffer->entries) < gone)
		local_set(&cpu_buffer->entries, gone);
	if (local_read(&cpu_buffer->entries_bytes) < cpu_buffer->read_bytes)
		local_set(&cpu_buffer->entries_bytes, cpu_buffer->read_bytes);
}

/*
 * ... and all of it for programs that have mapped the ring. @lost events are missing before the
 * reader's page. ring_buffer_unmap() frees the meta page without the lock.
 */
void rb_reader_publish_map(struct rb_reader *reader, unsigned long lost)
{
	struct ring_buffer_per_cpu *cpu_buffer = reader->cpu_buffer;

	lockdep_assert_held(reader->lock);

	if (!cpu_buffer->mapped)
		return;

	rb_update_meta_page(cpu_buffer);
	cpu_buffer->meta_page->reader.lost_events = lost;
}

/* The copies of the counters */
void rb_reader_published(struct rb_reader *reader, struct ring_buffer_reader_stats *stats)
{
	struct ring_buffer_per_cpu *cpu_buffer = reader->cpu_buffer;

	lockdep_assert_held(reader->lock);

	*stats = (struct ring_buffer_reader_stats) {
		.entries	= rb_num_of_entries(cpu_buffer),
		.overrun	= local_read(&cpu_buffer->overrun),
		.read		= cpu_buffer->read,
		.bytes		= local_read(&cpu_buffer->entries_bytes) - cpu_buffer->read_bytes,
		.dropped	= local_read(&cpu_buffer->dropped_events),
	};
}

/* Wake the readers that wait for what there is. */
void rb_reader_wake(struct rb_reader *reader)
{
	rb_wakeups(reader->cpu_buffer->buffer, reader->cpu_buffer);
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

/* Give @buffer, which may be in use, the reader of another CPU. Returns 0 or -ENOMEM. */
int rb_reader_attach(struct rb_reader *reader, struct trace_buffer *buffer)
{
	int cpu = reader->cpu, node = cpu_to_node(cpu);
	struct ring_buffer_per_cpu *cpu_buffer;
	struct buffer_page *bpage;

	cpu_buffer = kzalloc_node(ALIGN(sizeof(*cpu_buffer), cache_line_size()), GFP_KERNEL, node);
	bpage = kzalloc_node(sizeof(*bpage), GFP_KERNEL, node);
	if (!cpu_buffer || !bpage) {
		kfree(bpage);
		kfree(cpu_buffer);
		return -ENOMEM;
	}

	INIT_LIST_HEAD(&bpage->list);
	bpage->page = (void *)rb_reader_page(reader);
	bpage->id = reader->nr_slots;
	bpage->range = 1;	/* not to be freed here */

	reader->cpu_buffer = cpu_buffer;
	reader->lock = &cpu_buffer->reader_lock;
	cpu_buffer->cpu = cpu;
	cpu_buffer->buffer = buffer;
	cpu_buffer->reader = reader;
	cpu_buffer->reader_page = bpage;
	cpu_buffer->pages = &reader->no_pages;
	cpu_buffer->nr_pages = reader->nr_slots;
	rb_reader_init_cpu(cpu_buffer);

	buffer->buffers[cpu] = cpu_buffer;
	smp_wmb();						/* (M) */
	cpumask_set_cpu(cpu, buffer->cpumask);
	return 0;
}

/* Free a CPU's part of @buffer. Returns the CPU's reader. */
struct rb_reader *rb_reader_detach(struct trace_buffer *buffer, int cpu)
{
	struct ring_buffer_per_cpu *cpu_buffer = buffer->buffers[cpu];
	struct rb_reader *reader = cpu_buffer->reader;

	irq_work_sync(&cpu_buffer->irq_work.work);
	/* The page that ring_buffer_free_read_page() has left */
	free_pages((unsigned long)cpu_buffer->free_page.data, cpu_buffer->free_page.order);
	kfree(cpu_buffer->reader_page);
	kfree(cpu_buffer);
	return reader;
}

/* A buffer without CPUs; NULL without memory. */
struct trace_buffer *rb_reader_alloc_buffer(const struct ring_buffer_writer *writer,
					    const struct rb_reader_ops *ops)
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
	buffer->reader_ops = ops;
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

void rb_reader_free_buffer(struct trace_buffer *buffer)
{
	irq_work_sync(&buffer->irq_work.work);
	kfree(buffer->buffers);
	free_cpumask_var(buffer->cpumask);
	kfree(buffer);
}
