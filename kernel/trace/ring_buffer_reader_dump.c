// SPDX-License-Identifier: GPL-2.0
/*
 * The last events of a remote writer, when the kernel is about to die
 *
 * Included by ring_buffer.c after ring_buffer_reader_iter.c; see
 * ring_buffer_reader.c. A dump goes over the last pages of a CPU's ring where
 * they are: no lock is taken, nothing is allocated, and the writer is not asked
 * for anything. It shows what a consuming reader would get, up to the last event
 * written when the dump reached that page, and takes nothing away.
 *
 * Pages, and how each can be taken meanwhile
 *
 *	reader's page	what is not read of it; put back by a consuming reader
 *			that goes on to another, when it may be overwritten: by
 *			a writer that comes to oldest + nr_slots, and not before
 *	other pages	by a writer that comes to pos + nr_slots
 *
 * Each time something was read of a page, (G) of trace_ring.c tells whether the writer had come
 * that far, as for an iterator. If so it counts as never read, and the dump goes
 * on with the next page.
 *
 * Which page is where changes while a consuming reader exchanges its own. The
 * writer tells in meta->reader before the kernel's tables follow: if that is not
 * where the kernel has its own page, or is at another page or past it, then that
 * page's place is not believed.
 *
 * What is left
 *
 * A CPU that was stopped for good in the middle of an exchange leaves tables
 * that are half changed, one that was stopped on its way to another page (at
 * EL2, say, by a panic there) a position that was announced and not reached.
 * A dump may then miss a page, or show one twice or at the wrong place. It
 * remains in memory and comes to an end all the same: the tables never hold
 * anything but pages of this ring, a page's length and each event's are checked
 * against its end, and the pages and events are counted.
 */

/* How many pages, of those that 128 events of common sizes are on */
#define RB_DUMP_PAGES	4

static_assert(ARRAY_SIZE(((struct ring_buffer_reader_dump *)NULL)->pos) == RB_DUMP_PAGES);

/* Which pages to go over: the reader's, unless there are enough after it. */
static void rb_dump_find_pages(struct ring_buffer_reader_dump *dump)
{
	struct rb_reader *reader = dump->cpu_buffer->reader;
	u64 tail = smp_load_acquire(&reader->meta->tail);	/* (B) */
	u64 pos = READ_ONCE(reader->pos);
	u64 nr;

	dump->oldest = rb_writer_oldest(reader, tail);
	nr = min_t(u64, tail + 1 - dump->oldest, RB_DUMP_PAGES);
	if (nr < RB_DUMP_PAGES && pos != RB_READER_NOWHERE)
		dump->pos[dump->nr_pages++] = pos;
	while (nr)
		dump->pos[dump->nr_pages++] = tail + 1 - nr--;
}

/* Was what has been read of the page still there? */
static bool rb_dump_is_there(struct ring_buffer_reader_dump *dump)
{
	smp_rmb();						/* (G) */
	if (READ_ONCE(dump->cpu_buffer->reader->meta->next) < dump->limit)
		return true;

	dump->page = NULL;
	dump->length = 0;
	dump->lost = true;
	return false;
}

/* Is the page at @pos where it was thought to be, the reader's or in its slot? */
static bool rb_dump_is_at(struct ring_buffer_reader_dump *dump, u64 pos)
{
	u64 now;

	smp_rmb();						/* (S) */
	now = READ_ONCE(dump->cpu_buffer->reader->meta->reader);

	/* Before the first exchange it says 0. */
	return pos < dump->oldest ? now == pos : now < pos || !pos;
}

static void rb_dump_open_page(struct ring_buffer_reader_dump *dump, u64 pos)
{
	struct ring_buffer_per_cpu *cpu_buffer = dump->cpu_buffer;
	struct rb_reader *reader = cpu_buffer->reader;
	struct buffer_page *bpage;

	if (pos < dump->oldest) {
		bpage = READ_ONCE(cpu_buffer->reader_page);
		dump->read = READ_ONCE(bpage->read);
		dump->limit = dump->oldest + reader->nr_slots;
	} else {
		bpage = READ_ONCE(*rb_writer_slot(reader, pos));
		dump->read = 0;
		dump->limit = pos + reader->nr_slots;
	}

	if (!rb_dump_is_at(dump, pos)) {
		dump->lost = true;
		return;
	}

	dump->page = (void *)bpage->page;
	dump->commit = rb_writer_commit(bpage);
	dump->ts = READ_ONCE(dump->page->time_stamp);
	dump->offset = 0;
	dump->length = 0;
}

/* Go to the next event on the page. False at its end, or if it was taken. */
static bool rb_dump_next_on_page(struct ring_buffer_reader_dump *dump)
{
	struct ring_buffer_event *event;
	unsigned int length;

	dump->offset += dump->length;
	dump->length = 0;

	/* What else it may tell in the next moment, it is no longer than this. */
	while ((length = rb_writer_event_length(dump->page, dump->commit, dump->offset))) {
		event = (void *)&dump->page->data[dump->offset];
		if (event->type_len == RINGBUF_TYPE_TIME_EXTEND) {
			dump->ts += rb_event_time_stamp(event);
		} else {
			dump->ts += event->time_delta;
			if (dump->offset >= dump->read) {
				dump->length = length;
				return rb_dump_is_there(dump);
			}
		}
		dump->offset += length;
	}

	return false;
}

static bool rb_dump_next(struct ring_buffer_reader_dump *dump)
{
	for (;;) {
		if (dump->page && rb_dump_next_on_page(dump))
			return true;

		dump->page = NULL;
		if (dump->nr_opened == dump->nr_pages)
			return false;
		rb_dump_open_page(dump, dump->pos[dump->nr_opened++]);
	}
}

/**
 * ring_buffer_reader_dump_start - begin to dump the last events of a CPU
 * @dump:	the dump; nothing is to be undone in the end
 * @buffer:	a buffer from ring_buffer_reader(), which stays meanwhile
 * @cpu:	a CPU that has a ring
 * @max:	how many events at most; fewer if they are on more than four pages
 *
 * Context: any.
 */
void ring_buffer_reader_dump_start(struct ring_buffer_reader_dump *dump,
				   struct trace_buffer *buffer, int cpu, unsigned int max)
{
	struct ring_buffer_reader_dump count;
	unsigned int nr = 0;

	*dump = (struct ring_buffer_reader_dump) { .cpu_buffer = buffer->buffers[cpu] };
	rb_dump_find_pages(dump);

	count = *dump;
	while (rb_dump_next(&count))
		nr++;

	dump->left = min(nr, max);
	while (nr-- > max && rb_dump_next(dump))
		;
}

/**
 * ring_buffer_reader_dump_next - go to the next event, at first to the first
 * @dump:	the dump
 *
 * Then @dump->ts is its time, ns, and @dump->lost says whether the writer was
 * faster somewhere before it.
 *
 * Context: any.
 * Return: whether there is one.
 */
bool ring_buffer_reader_dump_next(struct ring_buffer_reader_dump *dump)
{
	if (!dump->left)
		return false;

	dump->left--;
	return rb_dump_next(dump);
}

/**
 * ring_buffer_reader_dump_copy - have the data of the event
 * @dump:	the dump, after ring_buffer_reader_dump_next()
 * @data:	where to
 * @size:	bytes there are; what does not fit is cut off
 *
 * Context: any.
 * Return: bytes copied; 0 when the writer has taken the page.
 */
unsigned int ring_buffer_reader_dump_copy(struct ring_buffer_reader_dump *dump, void *data,
					  unsigned int size)
{
	struct ring_buffer_event *event;
	unsigned int skip;

	if (!dump->page)
		return 0;

	event = (void *)&dump->page->data[dump->offset];
	skip = RB_EVNT_HDR_SIZE + (event->type_len ? 0 : sizeof(event->array[0]));
	if (dump->length < skip)
		return 0;

	size = min(size, dump->length - skip);
	/* The writer may take the page: then this is told by next. */
	data_race(memcpy(data, (void *)event + skip, size));
	return rb_dump_is_there(dump) ? size : 0;
}
