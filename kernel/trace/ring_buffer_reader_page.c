// SPDX-License-Identifier: GPL-2.0
/*
 * Taking a remote writer's events by the page
 *
 * Included by ring_buffer.c after ring_buffer_reader.c, which see.
 *
 * Events are validated before they are taken, since the pages are shared: what is none
 * ends a page. A page that is taken as a whole, after the writer was done with it, has as
 * many events as the writer tells; those are for user space to look at. There are two ways
 * to have a page:
 *
 *	copied	 ring_buffer_reader_read_page(), or straight to user space by
 *		 ring_buffer_reader_copy_to_user(). Never is the page itself handed
 *		 out: it stays shared with the writer, who was told of it when
 *		 the ring was set up, and the copy is a small part of what
 *		 telling it of another one costs
 *	mapped	 ring_buffer_map(). User space sees the writer's pages, and a meta
 *		 page of the kernel's; not the one that the writer fills in
 *
 * Locking: cpu_buffer->reader_lock; and for mappings cpu_buffer->mapping_lock,
 * as in ring_buffer.c.
 */

/**
 * struct rb_taken - events to be taken off a page
 * @bytes:	that they have
 * @junk:	bytes behind them that are no events: what the page ends with
 * @nr:		how many
 * @stamp:	time of the last one
 */
struct rb_taken {
	unsigned int	bytes;
	unsigned int	junk;
	unsigned int	nr;
	u64		stamp;
};

/* The shortest event: a header and a word of data. */
#define RB_WRITER_MIN_EVENT	(2 * sizeof(u32))

/* All of the reader's page, if it fits in @len bytes: the writer counted its events. */
static bool rb_writer_count_page(struct ring_buffer_per_cpu *cpu_buffer, unsigned int len,
				 struct rb_taken *taken)
{
	struct buffer_page *bpage = cpu_buffer->reader_page;
	unsigned int commit = rb_writer_commit(bpage);
	u64 nr = cpu_buffer->reader->entries;

	if (bpage->read || commit > len || !nr || nr > commit / RB_WRITER_MIN_EVENT)
		return false;

	/* The next page has a time of its own. */
	*taken = (struct rb_taken){
		.bytes	= commit,
		.nr	= nr,
		.stamp	= cpu_buffer->read_stamp,
	};
	return true;
}

/* Count the events on the reader's page that fit in @len bytes, wholly. */
static void rb_writer_count(struct ring_buffer_per_cpu *cpu_buffer, unsigned int len,
			    struct rb_taken *taken)
{
	struct buffer_page *bpage = cpu_buffer->reader_page;
	struct ring_buffer_writer_page *page = (void *)bpage->page;
	unsigned int commit = rb_writer_commit(bpage);
	unsigned int offset = bpage->read, length;
	u64 stamp = cpu_buffer->read_stamp;

	if (rb_writer_count_page(cpu_buffer, len, taken))
		return;

	*taken = (struct rb_taken){ .stamp = stamp };

	while ((length = rb_writer_event_length(page, commit, offset))) {
		struct ring_buffer_event *event = (void *)&page->data[offset];

		offset += length;
		if (offset - bpage->read > len)
			return;

		/* A time extend goes with the event that follows. */
		if (event->type_len == RINGBUF_TYPE_TIME_EXTEND) {
			stamp += rb_event_time_stamp(event);
			continue;
		}

		stamp += event->time_delta;
		taken->stamp = stamp;
		taken->bytes = offset - bpage->read;
		taken->nr++;
	}

	taken->junk = commit - bpage->read - taken->bytes;
}

static void rb_writer_take(struct ring_buffer_per_cpu *cpu_buffer, const struct rb_taken *taken)
{
	cpu_buffer->reader_page->read += taken->bytes + taken->junk;
	cpu_buffer->read_bytes += taken->bytes;
	cpu_buffer->read += taken->nr;
	cpu_buffer->read_stamp = taken->stamp;
}

/* Say on a page that @lost events are missing before its @bytes of events, if any are. */
static unsigned long rb_page_set_lost(void *data, unsigned int bytes, unsigned long lost)
{
	struct ring_buffer_writer_page *page = data;
	unsigned long commit = bytes | (u32)RB_MISSED_EVENTS;

	if (!lost)
		return bytes;
	if (PAGE_SIZE - offsetof(struct ring_buffer_writer_page, data) - bytes < sizeof(lost))
		return commit;

	memcpy(&page->data[bytes], &lost, sizeof(lost));
	return commit | RB_MISSED_STORED;
}

/* Whether the writer has left the reader's page: then its commit is final. */
static bool rb_writer_page_complete(struct ring_buffer_per_cpu *cpu_buffer)
{
	struct rb_reader *reader = cpu_buffer->reader;

	return smp_load_acquire(&reader->meta->tail) != reader->pos;	/* (B) */
}

/*
 * Whether the page to read next is complete. One that is not stays where it is: the
 * writer counts the events of those that it left only.
 */
static bool rb_writer_next_complete(struct ring_buffer_per_cpu *cpu_buffer)
{
	struct rb_reader *reader = cpu_buffer->reader;
	struct buffer_page *bpage = cpu_buffer->reader_page;
	u64 tail = smp_load_acquire(&reader->meta->tail);	/* (B) */

	if (bpage->read < rb_writer_commit(bpage))
		return tail != reader->pos;
	return rb_writer_oldest(reader, tail) < tail;
}

/* ring_buffer_reader_read_page(), with the lock. Returns the bytes of @copy that are used. */
static int rb_writer_copy_page(struct ring_buffer_per_cpu *cpu_buffer,
			       struct ring_buffer_writer_page *copy, unsigned int len, bool full)
{
	struct ring_buffer_writer_page *page;
	struct buffer_page *bpage;
	struct rb_taken taken;

	lockdep_assert_held(&cpu_buffer->reader_lock);

	if (full && !rb_writer_next_complete(cpu_buffer))
		return -EAGAIN;

	bpage = rb_writer_get_reader_page(cpu_buffer);
	if (!bpage)
		return -EAGAIN;

	rb_writer_count(cpu_buffer, len, &taken);
	if (!taken.bytes) {
		rb_writer_take(cpu_buffer, &taken);
		return taken.junk ? -EAGAIN : -EMSGSIZE;
	}

	page = (void *)bpage->page;
	copy->time_stamp = cpu_buffer->read_stamp;
	memcpy(copy->data, &page->data[bpage->read], taken.bytes);
	rb_writer_take(cpu_buffer, &taken);

	copy->commit = rb_page_set_lost(copy, taken.bytes, cpu_buffer->lost_events);
	cpu_buffer->lost_events = 0;

	return taken.bytes + (copy->commit & RB_MISSED_STORED ? sizeof(unsigned long) : 0);
}

/**
 * ring_buffer_reader_read_page - take events, as a page in the host's format
 * @buffer:	a buffer from ring_buffer_reader()
 * @cpu:	the CPU
 * @data:	a page to copy them to; what they don't fill is zeroed
 * @len:	bytes of it that may be used
 * @full:	only a page that the writer has left, not what it is writing
 *
 * What was lost before them is told in the page's commit word, and how many
 * behind the events if there is room, as ring_buffer_read_page() does.
 *
 * Context: any but NMI.
 * Return: 0; -EAGAIN when there is no page now; -EMSGSIZE when not even the
 * next event fits in @len; -ENODEV when @cpu has no ring.
 */
int ring_buffer_reader_read_page(struct trace_buffer *buffer, int cpu, void *data, size_t len,
				 bool full)
{
	struct ring_buffer_writer_page *copy = data;
	struct ring_buffer_per_cpu *cpu_buffer;
	unsigned long flags;
	int used;

	if (!ring_buffer_reader_has_cpu(buffer, cpu))
		return -ENODEV;
	cpu_buffer = buffer->buffers[cpu];

	if (len <= sizeof(*copy))
		return -EMSGSIZE;

	len = min_t(size_t, len, PAGE_SIZE) - sizeof(*copy);

	raw_spin_lock_irqsave(&cpu_buffer->reader_lock, flags);
	used = rb_writer_copy_page(cpu_buffer, copy, len, full);
	raw_spin_unlock_irqrestore(&cpu_buffer->reader_lock, flags);
	if (used < 0)
		return used;

	memset(&copy->data[used], 0, PAGE_SIZE - sizeof(*copy) - used);
	return 0;
}

/* What was lost before it, and nothing behind its events: for who sees the page itself. */
static void rb_writer_finish_page(struct ring_buffer_per_cpu *cpu_buffer, unsigned int bytes)
{
	struct ring_buffer_writer_page *page = (void *)cpu_buffer->reader_page->page;

	memset(&page->data[bytes], 0, PAGE_SIZE - sizeof(*page) - bytes);
	WRITE_ONCE(page->commit, rb_page_set_lost(page, bytes, cpu_buffer->lost_events));
}

/* ring_buffer_reader_copy_to_user(), with the lock. */
static int rb_writer_copy_to_user(struct ring_buffer_per_cpu *cpu_buffer, void __user *ubuf)
{
	struct buffer_page *bpage;
	struct rb_taken taken;

	lockdep_assert_held(&cpu_buffer->reader_lock);

	if (!rb_writer_next_complete(cpu_buffer))
		return -EAGAIN;

	bpage = rb_writer_get_reader_page(cpu_buffer);
	if (!bpage || !rb_writer_count_page(cpu_buffer, PAGE_SIZE, &taken))
		return -EAGAIN;

	rb_writer_finish_page(cpu_buffer, taken.bytes);
	if (copy_to_user_nofault(ubuf, bpage->page, PAGE_SIZE))
		return -EFAULT;

	rb_writer_take(cpu_buffer, &taken);
	cpu_buffer->lost_events = 0;
	return 0;
}

/**
 * ring_buffer_reader_copy_to_user - take a page's events, straight to user space
 * @buffer:	a buffer from ring_buffer_reader()
 * @cpu:	the CPU
 * @ubuf:	PAGE_SIZE bytes, which have what ring_buffer_reader_read_page() fills in
 *
 * Only of a page that the writer has left, and of which none was read.
 *
 * Context: any but NMI, of the task with @ubuf.
 * Return: 0; -EAGAIN when the next page is none of these; -EFAULT when @ubuf is not
 * there just now. Then ring_buffer_reader_read_page() may have something all the same.
 * -ENODEV when @cpu has no ring.
 */
int ring_buffer_reader_copy_to_user(struct trace_buffer *buffer, int cpu, void __user *ubuf)
{
	struct ring_buffer_per_cpu *cpu_buffer;
	unsigned long flags;
	int ret;

	if (!ring_buffer_reader_has_cpu(buffer, cpu))
		return -ENODEV;
	cpu_buffer = buffer->buffers[cpu];

	raw_spin_lock_irqsave(&cpu_buffer->reader_lock, flags);
	ret = rb_writer_copy_to_user(cpu_buffer, ubuf);
	raw_spin_unlock_irqrestore(&cpu_buffer->reader_lock, flags);

	return ret;
}

/* rb_setup_ids_meta_page(): the pages have had their ids since they exist. */
static void rb_writer_setup_ids(struct ring_buffer_per_cpu *cpu_buffer,
				unsigned long *subbuf_ids)
{
	struct rb_reader *reader = cpu_buffer->reader;
	unsigned int i;

	lockdep_assert_held(&cpu_buffer->reader_lock);

	for (i = 0; i <= reader->nr_slots; i++)
		subbuf_ids[reader->pages[i]->id] = (unsigned long)reader->pages[i]->page;

	rb_reader_update(cpu_buffer);
}

/*
 * Let user space have the rest of the reader's page, or the next one. Returns
 * how many events are missing before it.
 */
static unsigned long rb_writer_show_page(struct ring_buffer_per_cpu *cpu_buffer)
{
	struct buffer_page *bpage = rb_writer_get_reader_page(cpu_buffer);
	struct rb_taken taken;
	unsigned long lost = 0;

	if (!bpage)
		return 0;

	/* The commit word of the page being written is the writer's. */
	if (!bpage->read && cpu_buffer->lost_events && rb_writer_page_complete(cpu_buffer)) {
		lost = cpu_buffer->lost_events;
		cpu_buffer->lost_events = 0;
		local_set(&bpage->page->commit,
			  rb_page_set_lost(bpage->page, rb_writer_commit(bpage), lost));
	}

	rb_writer_count(cpu_buffer, UINT_MAX, &taken);
	rb_writer_take(cpu_buffer, &taken);
	flush_kernel_vmap_range(bpage->page, PAGE_SIZE);
	return lost;
}

/* ring_buffer_map_get_reader() */
static void rb_writer_map_get_reader(struct ring_buffer_per_cpu *cpu_buffer)
{
	unsigned long flags, lost;

	lockdep_assert_held(&cpu_buffer->mapping_lock);

	raw_spin_lock_irqsave(&cpu_buffer->reader_lock, flags);
	lost = rb_writer_show_page(cpu_buffer);
	rb_reader_update(cpu_buffer);
	rb_update_meta_page(cpu_buffer);
	cpu_buffer->meta_page->reader.lost_events = lost;
	raw_spin_unlock_irqrestore(&cpu_buffer->reader_lock, flags);
}
