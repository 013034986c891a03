// SPDX-License-Identifier: GPL-2.0
/*
 * Reading a ring buffer that somebody else writes
 *
 * Included at the end of ring_buffer.c, whose structures it fills in. What
 * differs from a buffer the kernel writes itself:
 *
 * - The pages are the writer's; here are only the struct buffer_page that
 *   describe them. They are on no list.
 * - Pages have positions, counted by the writer. The meta page tells that of
 *   the page being written (tail); a page at an earlier position is complete.
 *   The page at position p is in slot p % nr_slots, or is the reader's.
 * - The reader's page is exchanged for the oldest one by asking the writer.
 *   Nothing else moves a page to another slot, so that at any time the kernel
 *   knows which page is where: ring_buffer_reader_iter.c reads them in place,
 *   and user space can map them, see ring_buffer_reader_page.c.
 * - The counters come from the meta page, by ring_buffer_poll_writer(); being
 *   polled is also how readers that wait are woken.
 *
 * Events are numbered, from 0 after a reset: an event's number is how many
 * were written before it. Each of those was read, overwritten, or is there.
 *
 * Locking: cpu_buffer->reader_lock serialises the readers of a CPU, as ever;
 * it covers all of struct rb_reader.
 *
 * The letters of memory orderings, (A) and so on, are explained in trace_ring.c.
 */
#include <linux/version.h>

static_assert(offsetof(struct ring_buffer_writer_page, commit) ==
	      offsetof(struct buffer_data_page, commit));
static_assert(offsetof(struct ring_buffer_writer_page, data) ==
	      offsetof(struct buffer_data_page, data));
static_assert(RB_WRITER_TS_SHIFT == TS_SHIFT);
static_assert(RB_WRITER_TIME_EXTEND == (int)RINGBUF_TYPE_TIME_EXTEND);
static_assert(RB_WRITER_MAX_SHORT == RB_MAX_SMALL_DATA);

/* The reader's page before the first swap, and after a reset: at no position. */
#define RB_READER_NOWHERE	U64_MAX

/*
 * In the counters that forbid the kernel to write to a buffer, or to resize it. A
 * caller that enables once too often does not reach 0.
 */
#define RB_READER_DISABLED	BIT(24)

/* How often to look again for what the writer was just changing. */
#define RB_READER_TRIES		16

/* The writer's CPU may be a virtual one, and not run just then: wait for it. */
#define RB_READER_ROUNDS	1000
#define RB_READER_ROUND_US	100

/**
 * struct rb_reader_count - the events counted on the page being written
 * @pos:	its position
 * @offset:	as far as that, bytes
 * @nr:		how many
 */
struct rb_reader_count {
	u64		pos;
	unsigned int	offset;
	u64		nr;
};

/**
 * struct rb_reader - reading the ring of one CPU
 * @writer:	whom to ask
 * @meta:	its meta page
 * @pos:	position of the reader's page
 * @read:	events that had been read when it became that
 * @overrun:	events that had been overwritten then
 * @entries:	events on it, as the writer tells; 0 if that was not done with it then
 * @count:	the writer's page, as far as its events are counted
 * @iters:	iterators, see ring_buffer_reader_iter.c
 * @nr_resets:	how often all was forgotten
 * @copy:	a page with the events of a cursor
 * @no_pages:	the list of pages that the kernel writes: there are none
 * @nr_slots:	how many pages the writer goes round
 * @pages:	the pages in the slots, then the reader's page
 */
struct rb_reader {
	struct ring_buffer_writer		*writer;
	struct ring_buffer_writer_meta		*meta;
	u64					pos;
	u64					read;
	u64					overrun;
	u64					entries;
	struct rb_reader_count			count;
	struct list_head			iters;
	unsigned int				nr_resets;
	struct ring_buffer_writer_page		*copy;
	struct list_head			no_pages;
	unsigned int				nr_slots;
	struct buffer_page			*pages[];
};

static void rb_iters_taken(struct ring_buffer_per_cpu *cpu_buffer);

/* Room for events on a page of the writer; its pages are of order 0. */
static inline unsigned int rb_writer_page_capacity(void)
{
	return PAGE_SIZE - offsetof(struct ring_buffer_writer_page, data);
}

/*
 * Bytes of events on @page; never more than there is room for. The flags are
 * the reader's own, for who has mapped the page.
 */
static unsigned int rb_writer_commit(struct buffer_page *bpage)
{
	unsigned long *commit = (unsigned long *)&bpage->page->commit;

	return min_t(unsigned long, smp_load_acquire(commit) & ~RB_MISSED_MASK, /* (A) */
		     rb_writer_page_capacity());
}

/* The page at @pos, which is not the reader's and not before the oldest. */
static struct buffer_page **rb_writer_slot(struct rb_reader *reader, u64 pos)
{
	return &reader->pages[pos % reader->nr_slots];
}

/*
 * The length of the event at @offset of a page whose events take @commit
 * bytes; 0 when there is none.
 */
static unsigned int rb_writer_event_length(const struct ring_buffer_writer_page *page,
					   unsigned int commit, unsigned int offset)
{
	const struct ring_buffer_event *event = (void *)&page->data[offset];
	unsigned int left = commit - offset;
	unsigned int length;

	if (offset >= commit || left < sizeof(u32) * 2)
		return 0;

	switch (event->type_len) {
	case RINGBUF_TYPE_TIME_EXTEND:
		return RB_LEN_TIME_EXTEND;
	case RINGBUF_TYPE_PADDING:
	case RINGBUF_TYPE_TIME_STAMP:
		return 0;
	case 0:
		length = READ_ONCE(event->array[0]);
		if (length <= RB_MAX_SMALL_DATA + sizeof(u32) ||
		    length > left - RB_EVNT_HDR_SIZE)
			return 0;
		return length + RB_EVNT_HDR_SIZE;
	default:
		length = event->type_len * RB_ALIGNMENT + RB_EVNT_HDR_SIZE;
		return length <= left ? length : 0;
	}
}

/*
 * Go from @offset, at time @ts, past a time extend to the next event, and to its time.
 * Returns its length; 0 when there is none.
 */
static __always_inline unsigned int
rb_writer_find_event(const struct ring_buffer_writer_page *page, unsigned int commit,
		     unsigned int *offset, u64 *ts)
{
	struct ring_buffer_event *event;
	unsigned int length;

	while ((length = rb_writer_event_length(page, commit, *offset))) {
		event = (void *)&page->data[*offset];
		if (event->type_len != RINGBUF_TYPE_TIME_EXTEND) {
			*ts += event->time_delta;
			break;
		}
		*ts += rb_event_time_stamp(event);
		*offset += length;
	}

	return length;
}

/* How many events there are from @offset to @commit; goes to their end. */
static u64 rb_writer_count_events(const struct ring_buffer_writer_page *page, unsigned int commit,
				  unsigned int *offset)
{
	unsigned int length;
	u64 nr = 0;

	while ((length = rb_writer_event_length(page, commit, *offset))) {
		const struct ring_buffer_event *event = (void *)&page->data[*offset];

		/* A time extend goes with the event that follows. */
		nr += event->type_len != RINGBUF_TYPE_TIME_EXTEND;
		*offset += length;
	}

	return nr;
}

/**
 * struct rb_writer_state - what a writer tells of itself, all at one time
 * @tail:	position of the page being written
 * @oldest:	position of the oldest one that is not the reader's
 * @entries:	events written
 * @overrun:	events overwritten
 * @bytes:	bytes of events that were written, and not overwritten
 */
struct rb_writer_state {
	u64		tail;
	u64		oldest;
	u64		entries;
	u64		overrun;
	u64		bytes;
};

static u64 rb_writer_oldest(struct rb_reader *reader, u64 tail)
{
	u64 lap = tail >= reader->nr_slots ? tail - reader->nr_slots + 1 : 0;

	/* After nowhere comes 0; after all that was written, what will be. */
	return min(max3(lap, reader->pos + 1, READ_ONCE(reader->meta->base)), tail + 1);
}

/* The page being written; NULL if what it holds is forgotten. */
static struct buffer_page *rb_writer_tail_page(struct ring_buffer_per_cpu *cpu_buffer, u64 tail)
{
	struct rb_reader *reader = cpu_buffer->reader;

	if (tail == reader->pos)
		return cpu_buffer->reader_page;
	if (tail < READ_ONCE(reader->meta->base))
		return NULL;
	return *rb_writer_slot(reader, tail);
}

/* Events on the page at @tail. Those that were counted before are not again. */
static u64 rb_writer_count_tail(struct rb_reader *reader, u64 tail, struct buffer_page *bpage,
				unsigned int commit)
{
	struct rb_reader_count *count = &reader->count;

	if (count->pos != tail || count->offset > commit)
		*count = (struct rb_reader_count) { .pos = tail };

	count->nr += rb_writer_count_events((void *)bpage->page, commit, &count->offset);
	return count->nr;
}

/* False while the writer goes from page to page: then look again. */
static bool rb_writer_get_state(struct ring_buffer_per_cpu *cpu_buffer,
				struct rb_writer_state *state)
{
	struct rb_reader *reader = cpu_buffer->reader;
	struct ring_buffer_writer_meta *meta = reader->meta;
	struct buffer_page *bpage;
	unsigned int commit;

	lockdep_assert_held(&cpu_buffer->reader_lock);

	state->tail = smp_load_acquire(&meta->tail);		/* (B) */
	state->oldest = rb_writer_oldest(reader, state->tail);
	state->entries = READ_ONCE(meta->meta.entries);
	state->overrun = READ_ONCE(meta->meta.overrun);
	state->bytes = READ_ONCE(meta->bytes) - READ_ONCE(meta->overrun_bytes);

	bpage = rb_writer_tail_page(cpu_buffer, state->tail);
	if (bpage) {
		commit = rb_writer_commit(bpage);
		state->bytes += commit;
		state->entries += rb_writer_count_tail(reader, state->tail, bpage, commit);
	}

	smp_rmb();						/* (G) */
	return READ_ONCE(meta->next) == state->tail;
}

/* False when there is something to read; a page that is just begun may still turn out empty. */
static bool rb_writer_empty(struct ring_buffer_per_cpu *cpu_buffer)
{
	struct rb_reader *reader = cpu_buffer->reader;
	u64 tail = smp_load_acquire(&reader->meta->tail);	/* (B) */
	u64 oldest = rb_writer_oldest(reader, tail);
	struct buffer_page *bpage = cpu_buffer->reader_page;

	if (bpage->read < rb_writer_commit(bpage))
		return false;
	if (oldest != tail)
		return oldest > tail;

	bpage = rb_writer_tail_page(cpu_buffer, tail);
	return !bpage || !rb_writer_commit(bpage);
}

/* The page of the event that is read next; NULL if there is none. */
static struct buffer_page *rb_writer_oldest_page(struct ring_buffer_per_cpu *cpu_buffer)
{
	struct rb_reader *reader = cpu_buffer->reader;
	struct buffer_page *bpage = cpu_buffer->reader_page;
	u64 tail;

	if (rb_writer_empty(cpu_buffer))
		return NULL;
	if (bpage->read < rb_writer_commit(bpage))
		return bpage;

	tail = smp_load_acquire(&reader->meta->tail);		/* (B) */
	return *rb_writer_slot(reader, rb_writer_oldest(reader, tail));
}

/* ring_buffer_oldest_event_ts(): the time of the oldest page, 0 if all is read. */
static u64 rb_writer_oldest_ts(struct ring_buffer_per_cpu *cpu_buffer)
{
	struct buffer_page *bpage;
	unsigned long flags;
	u64 ts;

	raw_spin_lock_irqsave(&cpu_buffer->reader_lock, flags);
	bpage = rb_writer_oldest_page(cpu_buffer);
	ts = bpage ? READ_ONCE(bpage->page->time_stamp) : 0;
	raw_spin_unlock_irqrestore(&cpu_buffer->reader_lock, flags);
	return ts;
}

/* What those wait for who want full pages, and who asks ring_buffer_nr_dirty_pages(). */
static void rb_reader_set_pages(struct ring_buffer_per_cpu *cpu_buffer, u64 tail)
{
	struct rb_reader *reader = cpu_buffer->reader;

	local_set(&cpu_buffer->pages_touched, tail);
	local_set(&cpu_buffer->pages_read, rb_writer_oldest(reader, tail));
	/* Not the page being written */
	cpu_buffer->commit_page = tail == reader->pos ? cpu_buffer->reader_page : NULL;
}

/* The reader's page was exchanged for the one in @slot, which is at @pos. */
static void rb_writer_set_reader(struct ring_buffer_per_cpu *cpu_buffer,
				 struct buffer_page **slot, u64 pos)
{
	struct rb_reader *reader = cpu_buffer->reader;
	unsigned long lost = READ_ONCE(reader->meta->meta.reader.lost_events);

	rb_iters_taken(cpu_buffer);
	swap(*slot, reader->pages[reader->nr_slots]);

	cpu_buffer->reader_page = reader->pages[reader->nr_slots];
	cpu_buffer->reader_page->read = 0;
	cpu_buffer->lost_events += lost;
	reader->overrun += lost;
	reader->read = cpu_buffer->read;
	reader->entries = READ_ONCE(reader->meta->reader_entries);
	reader->pos = pos;
	rb_reader_set_pages(cpu_buffer, smp_load_acquire(&reader->meta->tail));	/* (B) */
}

/*
 * The slot of the page with @id, which ought to be the one at @pos: by that the meta page
 * tells of it, which may hold anything. Where pages are is known here all the same.
 */
static struct buffer_page **rb_writer_find(struct rb_reader *reader, u64 pos, int id)
{
	struct buffer_page **slot = rb_writer_slot(reader, pos);
	unsigned int i;

	for (i = 0; (*slot)->id != id; i++) {
		if (i == reader->nr_slots)
			return NULL;
		slot = &reader->pages[i];
	}

	return slot;
}

/* Ask for the oldest page. False when there is none, or none yet. */
static bool rb_writer_swap(struct ring_buffer_per_cpu *cpu_buffer)
{
	struct rb_reader *reader = cpu_buffer->reader;
	struct buffer_page **slot;
	int id;
	u64 pos;

	lockdep_assert_held(&cpu_buffer->reader_lock);

	id = reader->writer->ops->swap_reader(reader->writer, cpu_buffer->cpu);	/* (D) */
	if (id < 0)
		return false;

	smp_wmb();						/* (S) */
	pos = READ_ONCE(reader->meta->reader);
	slot = rb_writer_find(reader, pos, id);
	if (!slot)
		return false;

	rb_writer_set_reader(cpu_buffer, slot, pos);
	return true;
}

/* The page to read next, NULL when all is read. */
static struct buffer_page *
rb_writer_get_reader_page(struct ring_buffer_per_cpu *cpu_buffer)
{
	struct rb_reader *reader = cpu_buffer->reader;
	struct buffer_page *page = cpu_buffer->reader_page;
	u64 tail = smp_load_acquire(&reader->meta->tail);	/* (B) */

	if (page->read >= rb_writer_commit(page)) {
		if (tail == reader->pos || rb_writer_empty(cpu_buffer))
			return NULL;
		if (!rb_writer_swap(cpu_buffer))
			return NULL;
		page = cpu_buffer->reader_page;
		if (!rb_writer_commit(page))
			return NULL;
	}

	if (!page->read)
		cpu_buffer->read_stamp = READ_ONCE(page->page->time_stamp);

	return page;
}

static struct buffer_page *rb_reader_alloc_page(struct ring_buffer_per_cpu *cpu_buffer,
						void *data, u32 id)
{
	struct buffer_page *bpage;

	if (fatal_signal_pending(current))
		return NULL;

	bpage = kzalloc_node(ALIGN(sizeof(*bpage), cache_line_size()),
			     GFP_KERNEL | __GFP_RETRY_MAYFAIL | __GFP_NOWARN,
			     cpu_to_node(cpu_buffer->cpu));
	if (!bpage)
		return NULL;

	INIT_LIST_HEAD(&bpage->list);
	bpage->page = data;
	bpage->id = id;
	bpage->range = 1;	/* not ours to free */
	return bpage;
}

static int rb_reader_alloc_pages(struct ring_buffer_per_cpu *cpu_buffer,
				 struct ring_buffer_writer_cpu *desc)
{
	struct rb_reader *reader = cpu_buffer->reader;
	struct buffer_page *bpage;
	unsigned int id;

	for (id = 0; id < desc->nr_pages; id++) {
		bpage = rb_reader_alloc_page(cpu_buffer, desc->pages[id], id);
		if (!bpage)
			return -ENOMEM;

		reader->pages[id] = bpage;
		cond_resched();
	}

	cpu_buffer->nr_pages = desc->nr_pages - 1;
	cpu_buffer->reader_page = reader->pages[desc->nr_pages - 1];
	return 0;
}

/*
 * Free the page that ring_buffer_free_read_page() has left. Before 6.12.109 it has the order
 * of the buffer's pages, later one of its own.
 */
static void rb_reader_free_spare(struct ring_buffer_per_cpu *cpu_buffer)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 12, 109)
	free_pages((unsigned long)cpu_buffer->free_page, cpu_buffer->buffer->subbuf_order);
#else
	free_pages((unsigned long)cpu_buffer->free_page.data, cpu_buffer->free_page.order);
#endif
}

static void rb_reader_free_cpu(struct ring_buffer_per_cpu *cpu_buffer)
{
	struct rb_reader *reader = cpu_buffer->reader;
	unsigned int id;

	irq_work_sync(&cpu_buffer->irq_work.work);
	for (id = 0; id <= reader->nr_slots; id++)
		kfree(reader->pages[id]);
	free_page((unsigned long)reader->copy);
	rb_reader_free_spare(cpu_buffer);
	kvfree(reader);
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

static struct ring_buffer_per_cpu *
rb_reader_alloc_cpu(struct trace_buffer *buffer, struct ring_buffer_writer *writer, int cpu)
{
	struct ring_buffer_writer_cpu *desc = &writer->cpus[cpu];
	struct ring_buffer_per_cpu *cpu_buffer;
	struct rb_reader *reader;

	cpu_buffer = kzalloc_node(ALIGN(sizeof(*cpu_buffer), cache_line_size()),
				  GFP_KERNEL, cpu_to_node(cpu));
	if (!cpu_buffer)
		return NULL;

	reader = kvzalloc(struct_size(reader, pages, desc->nr_pages), GFP_KERNEL);
	if (!reader) {
		kfree(cpu_buffer);
		return NULL;
	}

	reader->writer = writer;
	reader->meta = desc->meta;
	reader->pos = RB_READER_NOWHERE;
	reader->nr_slots = desc->nr_pages - 1;
	INIT_LIST_HEAD(&reader->iters);
	INIT_LIST_HEAD(&reader->no_pages);

	cpu_buffer->cpu = cpu;
	cpu_buffer->buffer = buffer;
	cpu_buffer->reader = reader;
	cpu_buffer->pages = &reader->no_pages;
	rb_reader_init_cpu(cpu_buffer);

	reader->copy = (void *)__get_free_page(GFP_KERNEL);
	if (!reader->copy || rb_reader_alloc_pages(cpu_buffer, desc)) {
		rb_reader_free_cpu(cpu_buffer);
		return NULL;
	}

	return cpu_buffer;
}

/**
 * ring_buffer_reader_free - undo ring_buffer_reader()
 * @buffer:	the buffer, that nobody uses any more
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

/* Until 6.12.109 a buffer has the size of its pages as a field, later its order alone. */
static void rb_reader_set_size(struct trace_buffer *buffer)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 12, 109)
	buffer->subbuf_size = rb_writer_page_capacity();
#endif
	buffer->max_data_size = rb_writer_page_capacity() - sizeof(u32) * 2;
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
	rb_reader_set_size(buffer);
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
 * @buffer:	a buffer from ring_buffer_reader(); others may use it meanwhile
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
 * for a ring that is too short or a writer without a clock, or of -ENOMEM, also
 * when the task is killed.
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

/* As rb_writer_get_state(), for as long as that may take. False if it takes longer. */
static bool rb_writer_wait_state(struct ring_buffer_per_cpu *cpu_buffer,
				 struct rb_writer_state *state)
{
	int i;

	for (i = 0; i < RB_READER_TRIES; i++) {
		if (rb_writer_get_state(cpu_buffer, state))
			return true;
		cpu_relax();
	}

	return false;
}

/* Take over the writer's counters. False if those are old ones. */
static bool rb_reader_update(struct ring_buffer_per_cpu *cpu_buffer)
{
	struct rb_reader *reader = cpu_buffer->reader;
	struct rb_writer_state state;
	bool agree = rb_writer_wait_state(cpu_buffer, &state);
	unsigned long gone;

	if (agree) {
		local_set(&cpu_buffer->entries, state.entries);
		local_set(&cpu_buffer->overrun, state.overrun);
		local_set(&cpu_buffer->entries_bytes, state.bytes);
	}
	local_set(&cpu_buffer->dropped_events, READ_ONCE(reader->meta->dropped));

	/* If they are old, there are at least those that were read. */
	gone = local_read(&cpu_buffer->overrun) + cpu_buffer->read;
	if (local_read(&cpu_buffer->entries) < gone)
		local_set(&cpu_buffer->entries, gone);
	if (local_read(&cpu_buffer->entries_bytes) < cpu_buffer->read_bytes)
		local_set(&cpu_buffer->entries_bytes, cpu_buffer->read_bytes);

	rb_reader_set_pages(cpu_buffer, state.tail);
	return agree;
}

static void rb_reader_forget(struct ring_buffer_per_cpu *cpu_buffer)
{
	struct rb_reader *reader = cpu_buffer->reader;

	cpu_buffer->reader_page->read = rb_writer_commit(cpu_buffer->reader_page);
	cpu_buffer->read = 0;
	cpu_buffer->read_bytes = 0;
	cpu_buffer->lost_events = 0;
	reader->pos = RB_READER_NOWHERE;
	reader->read = 0;
	reader->overrun = 0;
	reader->nr_resets++;
	rb_reader_update(cpu_buffer);
	rb_update_meta_page(cpu_buffer);
}

/**
 * ring_buffer_reader_reset - forget all events of a CPU
 * @buffer:	a buffer from ring_buffer_reader()
 * @cpu:	the CPU
 *
 * Context: on @cpu itself, or anywhere while @cpu is offline; any context but
 * NMI.
 * Return: 0, -EINVAL when @buffer has no ring for @cpu, or what the writer
 * refused with: then nothing has changed.
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
		rb_reader_forget(cpu_buffer);
	raw_spin_unlock_irqrestore(&cpu_buffer->reader_lock, flags);

	return ret;
}

static void rb_writer_reset_call(void *buffer)
{
	ring_buffer_reader_reset(buffer, smp_processor_id());
}

/*
 * ring_buffer_reset() and its like: each CPU's on that CPU, or here while that is
 * offline. What the writer refuses stays as it is.
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
 * Takes over the writer's counters, and wakes readers when there is something
 * to read. The writer can't do that itself: somebody must call this now and
 * then while readers wait.
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

	if (!cpumask_test_cpu(cpu, buffer->cpumask))
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
 * ring_buffer_reader_has_waiters - does somebody wait for events?
 * @buffer:	a buffer from ring_buffer_reader()
 *
 * A poll() counts until it has returned, an epoll instance until the file is removed from it.
 *
 * Context: any.
 * Return: whether somebody is on a wait queue of @buffer.
 */
bool ring_buffer_reader_has_waiters(struct trace_buffer *buffer)
{
	int cpu;

	/* That of all CPUs has no queue for a ring so full. */
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
 * If the writer stops on its way from page to page, they are old ones.
 *
 * Context: process context, may sleep.
 */
void ring_buffer_reader_get_stats(struct trace_buffer *buffer, int cpu,
				  struct ring_buffer_reader_stats *stats)
{
	int i;

	*stats = (struct ring_buffer_reader_stats) { };
	if (!ring_buffer_reader_has_cpu(buffer, cpu))
		return;

	for (i = 0; i < RB_READER_ROUNDS; i++) {
		if (rb_reader_try_stats(buffer->buffers[cpu], stats))
			return;
		fsleep(RB_READER_ROUND_US);
	}
}
