// SPDX-License-Identifier: GPL-2.0
/*
 * The last events of a remote writer, when the kernel is about to panic
 *
 * A dump walks over the last pages of a CPU's ring in place. It takes no lock, allocates
 * nothing and asks nothing of the writer. It shows what a consuming reader would get, up to
 * the last event written when the dump reached that page, and consumes nothing.
 *
 * When a page can be overwritten meanwhile
 *
 *	reader's page	A consuming reader swaps it for another one. Then a writer that
 *			comes to oldest + nr_slots may overwrite it, and not before
 *	other pages	by a writer that comes to pos + nr_slots
 *
 * Each time something was read of a page, (G) of trace_ring.c shows whether the writer had
 * come that far, as for an iterator. If so the dump discards what it has read, and goes on
 * with the next page.
 *
 * The tables of pages change when a consuming reader swaps its page. The writer reports the
 * swap in meta->reader before the kernel changes its tables (S). If meta->reader is not the
 * position of the reader's page, or is at another page or past it, the dump does not use
 * what it has loaded from the tables.
 *
 * Limits
 *
 * If a CPU was stopped for good in the middle of a swap, the tables are half changed. If one
 * was stopped on its way to another page (at EL2, say, by a panic there), a position was
 * announced and not reached. Then a dump may miss a page, or show one twice or at the wrong
 * place. It ends all the same, and reads no other memory: the tables only have pages of this
 * ring, rb_walk_next() checks each event, and the pages and events are counted.
 */
#include "ring_buffer_reader_internal.h"

/* How many pages, of those that 128 events of common sizes are on */
#define RB_DUMP_PAGES	4

static_assert(ARRAY_SIZE(((struct ring_buffer_reader_dump *)NULL)->pos) == RB_DUMP_PAGES);

/* Choose the pages: the reader's, too, unless there are enough after it. */
static void rb_dump_find_pages(struct ring_buffer_reader_dump *dump)
{
	struct rb_reader *reader = dump->reader;
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

/* Was the page there until now? If not, what was read of it is not used. */
static bool rb_dump_is_there(struct ring_buffer_reader_dump *dump)
{
	smp_rmb();						/* (G) */
	if (READ_ONCE(dump->reader->meta->next) < dump->limit)
		return true;

	dump->walk.page = NULL;
	dump->lost = true;
	return false;
}

/* Is the page at @pos where it was thought to be, the reader's or in its slot? */
static bool rb_dump_is_at(struct ring_buffer_reader_dump *dump, u64 pos)
{
	u64 now;

	smp_rmb();						/* (S) */
	now = READ_ONCE(dump->reader->meta->reader);

	/* Before the first swap it is 0. */
	return pos < dump->oldest ? now == pos : now < pos || !pos;
}

static void rb_dump_open_page(struct ring_buffer_reader_dump *dump, u64 pos)
{
	struct rb_reader *reader = dump->reader;
	struct ring_buffer_writer_page *page;

	if (pos < dump->oldest) {
		page = READ_ONCE(reader->pages[reader->nr_slots]);
		dump->read = READ_ONCE(reader->consumed.offset);
		dump->limit = dump->oldest + reader->nr_slots;
	} else {
		page = READ_ONCE(*rb_writer_slot(reader, pos));
		dump->read = 0;
		dump->limit = pos + reader->nr_slots;
	}

	if (rb_dump_is_at(dump, pos))
		rb_walk_start(&dump->walk, page, rb_writer_commit(page), 0,
			      READ_ONCE(page->time_stamp));
	else
		dump->lost = true;
}

/* Go to the next event on the page. False at its end, and if it was overwritten. */
static bool rb_dump_next_on_page(struct ring_buffer_reader_dump *dump)
{
	while (rb_walk_next(&dump->walk)) {
		if (dump->walk.offset >= dump->read)
			return rb_dump_is_there(dump);
	}

	return false;
}

static bool rb_dump_next(struct ring_buffer_reader_dump *dump)
{
	for (;;) {
		if (dump->walk.page && rb_dump_next_on_page(dump))
			return true;

		dump->walk.page = NULL;
		if (dump->nr_opened == dump->nr_pages)
			return false;
		rb_dump_open_page(dump, dump->pos[dump->nr_opened++]);
	}
}

/**
 * ring_buffer_reader_dump_start - begin to dump the last events of a CPU
 * @dump:	the dump. Nothing is to be undone in the end
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

	*dump = (struct ring_buffer_reader_dump) { .reader = rb_reader_of(buffer, cpu) };
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
 * Then @dump->ts is its time, ns, and @dump->lost says whether the writer has overwritten
 * events before it meanwhile.
 *
 * Context: any.
 * Return: whether there is one.
 */
bool ring_buffer_reader_dump_next(struct ring_buffer_reader_dump *dump)
{
	if (!dump->left)
		return false;

	dump->left--;
	if (!rb_dump_next(dump))
		return false;

	dump->ts = dump->walk.ts;
	return true;
}

/**
 * ring_buffer_reader_dump_copy - copy the data of the event
 * @dump:	the dump, after ring_buffer_reader_dump_next()
 * @data:	where to
 * @size:	bytes there are. What does not fit is cut off
 *
 * Context: any.
 * Return: bytes copied; 0 when the writer has overwritten the page.
 */
unsigned int ring_buffer_reader_dump_copy(struct ring_buffer_reader_dump *dump, void *data,
					  unsigned int size)
{
	const struct ring_buffer_reader_walk *walk = &dump->walk;

	if (!walk->page)
		return 0;

	size = min(size, walk->length - walk->header);
	/* If the writer overwrites the page, meta->next shows it. */
	data_race(memcpy(data, &walk->page->data[walk->offset + walk->header], size));
	return rb_dump_is_there(dump) ? size : 0;
}
