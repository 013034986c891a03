// SPDX-License-Identifier: GPL-2.0-only
/*
 * trace_pipe: the hypervisor's events as text, each to one reader once
 *
 * The file of all CPUs merges their events by time; that of one CPU has its
 * own. What waits, and when reading ends, is as in the host's trace_pipe; but
 * there may be several readers, and poll() does not wait for more once tracing
 * is off.
 *
 * Locking: iter->mutex keeps the readers of one descriptor apart, and
 * hyp_trace_read_lock() those of all, from looking for the next event until it
 * is consumed. Nobody waits for events with either.
 */
#include <linux/fs.h>
#include <linux/gfp.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/pipe_fs_i.h>
#include <linux/poll.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/splice.h>
#include <linux/string.h>
#include <linux/trace_seq.h>

#include "hyp_trace.h"

/**
 * struct hyp_trace_pipe - an open file
 * @iter:	the line being printed; @iter.cpu_file is whose events, @iter.pos
 *		is not 0 once something was read
 * @buffer:	where from
 * @cursors:	of the CPUs, while there is hyp_trace_read_lock()
 */
struct hyp_trace_pipe {
	struct trace_iterator			iter;
	struct trace_buffer			*buffer;
	struct ring_buffer_reader_cursor	cursors[];
};

static bool hyp_trace_pipe_at_end(struct hyp_trace_pipe *pipe)
{
	return !hyp_trace_is_on() && pipe->iter.pos;
}

/* A CPU that has no ring has no events. */
static bool hyp_trace_pipe_peek(struct ring_buffer_reader_cursor *cursor)
{
	return cursor->cpu_buffer && ring_buffer_reader_cursor_peek(cursor);
}

/* The cursor at the earliest event; NULL if there is none. */
static struct ring_buffer_reader_cursor *hyp_trace_pipe_first(struct hyp_trace_pipe *pipe)
{
	struct ring_buffer_reader_cursor *cursor, *first = NULL;
	int cpu = pipe->iter.cpu_file;

	if (cpu != RING_BUFFER_ALL_CPUS) {
		pipe->iter.cpu = cpu;
		cursor = &pipe->cursors[cpu];
		return hyp_trace_pipe_peek(cursor) ? cursor : NULL;
	}

	for_each_possible_cpu(cpu) {
		cursor = &pipe->cursors[cpu];
		if (!hyp_trace_pipe_peek(cursor) || (first && cursor->ts >= first->ts))
			continue;

		first = cursor;
		pipe->iter.cpu = cpu;
	}

	return first;
}

static struct ring_buffer_reader_cursor *hyp_trace_pipe_next(struct hyp_trace_pipe *pipe)
{
	struct ring_buffer_reader_cursor *cursor = hyp_trace_pipe_first(pipe);
	struct trace_iterator *iter = &pipe->iter;

	if (!cursor)
		return NULL;

	iter->ent = ring_buffer_event_data(cursor->event);
	iter->ent_size = ring_buffer_event_length(cursor->event);
	iter->lost_events = cursor->lost;
	iter->ts = cursor->ts;
	return cursor;
}

/* Print events into the sequence until it has @cnt bytes or nothing is left. */
static void hyp_trace_pipe_print(struct hyp_trace_pipe *pipe, size_t cnt)
{
	struct ring_buffer_reader_cursor *cursor;
	struct trace_seq *s = &pipe->iter.seq;

	hyp_trace_assert_read_locked(pipe->iter.cpu_file);

	while (trace_seq_used(s) < cnt && (cursor = hyp_trace_pipe_next(pipe))) {
		unsigned int len = s->seq.len;

		if (hyp_event_print(&pipe->iter) == TRACE_TYPE_PARTIAL_LINE) {
			s->seq.len = len;
			s->full = 0;
			/* The line comes next time, unless it never fits. */
			if (len)
				return;
			trace_seq_puts(s, "[LINE TOO BIG]\n");
		}

		ring_buffer_reader_cursor_advance(cursor);
		pipe->iter.pos++;
	}
}

static void hyp_trace_pipe_fill(struct hyp_trace_pipe *pipe, size_t cnt)
{
	int cpu, file_cpu = pipe->iter.cpu_file;

	hyp_trace_read_lock(file_cpu);

	for_each_possible_cpu(cpu)
		if (hyp_trace_file_has_cpu(file_cpu, cpu) &&
		    ring_buffer_reader_has_cpu(pipe->buffer, cpu))
			ring_buffer_reader_cursor_start(&pipe->cursors[cpu], pipe->buffer, cpu);

	hyp_trace_pipe_print(pipe, cnt);

	for_each_possible_cpu(cpu)
		if (pipe->cursors[cpu].cpu_buffer)
			ring_buffer_reader_cursor_finish(&pipe->cursors[cpu]);

	hyp_trace_read_unlock(file_cpu);
}

static bool hyp_trace_pipe_wait_cond(void *data)
{
	return hyp_trace_pipe_at_end(data);
}

/* Wait, without @iter.mutex. 0 when there may be events, or at the end. */
static int hyp_trace_pipe_wait(struct hyp_trace_pipe *pipe)
{
	int ret;

	mutex_unlock(&pipe->iter.mutex);
	hyp_trace_pause(pipe->buffer, pipe->iter.cpu_file);
	ret = hyp_trace_wait(pipe->buffer, pipe->iter.cpu_file, 0,
			     hyp_trace_pipe_wait_cond, pipe);
	mutex_lock(&pipe->iter.mutex);

	return ret;
}

/* How many bytes of the sequence were not read yet. */
static size_t hyp_trace_pipe_left(struct hyp_trace_pipe *pipe)
{
	struct trace_seq *s = &pipe->iter.seq;

	return trace_seq_used(s) - s->readpos;
}

/* Print what there is now, up to about @cnt bytes. False if there is nothing. */
static bool hyp_trace_pipe_refill(struct hyp_trace_pipe *pipe, size_t cnt)
{
	struct trace_seq *s = &pipe->iter.seq;

	trace_seq_init(s);
	if (hyp_trace_is_empty(pipe->buffer, pipe->iter.cpu_file))
		return false;

	hyp_trace_pipe_fill(pipe, min_t(size_t, cnt, TRACE_SEQ_BUFFER_SIZE - 1));
	cond_resched();
	return trace_seq_used(s);
}

/*
 * Have text in the sequence. Another reader of the descriptor may print some while this one
 * waits. It is the end if tracing was off before no event was found: one may have come
 * between the two. Returns 1, 0 at the end, or an error.
 */
static int hyp_trace_pipe_wait_text(struct hyp_trace_pipe *pipe, struct file *file, size_t cnt)
{
	bool at_end;
	int ret;

	lockdep_assert_held(&pipe->iter.mutex);

	while (!hyp_trace_pipe_left(pipe)) {
		at_end = hyp_trace_pipe_at_end(pipe);
		if (hyp_trace_pipe_refill(pipe, cnt))
			break;
		if (hyp_trace_has_ended())
			return -ENODEV;
		if (file->f_flags & O_NONBLOCK)
			return -EAGAIN;
		if (signal_pending(current))
			return -ERESTARTSYS;
		if (at_end)
			return 0;

		ret = hyp_trace_pipe_wait(pipe);
		if (ret)
			return ret;
	}

	return 1;
}

static ssize_t hyp_trace_pipe_read(struct file *file, char __user *ubuf, size_t cnt,
				   loff_t *ppos)
{
	struct hyp_trace_pipe *pipe = file->private_data;
	ssize_t ret;

	guard(mutex)(&pipe->iter.mutex);

	/* -EBUSY: nothing is left in the sequence. */
	while ((ret = trace_seq_to_user(&pipe->iter.seq, ubuf, cnt)) == -EBUSY) {
		ret = hyp_trace_pipe_wait_text(pipe, file, cnt);
		if (ret <= 0)
			return ret;
	}

	return ret;
}

static void hyp_trace_pipe_spd_release(struct splice_pipe_desc *spd, unsigned int i)
{
	__free_page(spd->pages[i]);
}

/* Copy text to @buf, as much as there is without waiting. Returns how many bytes. */
static size_t hyp_trace_pipe_copy(struct hyp_trace_pipe *pipe, char *buf, size_t cnt)
{
	struct trace_seq *s = &pipe->iter.seq;
	size_t len, done = 0;

	lockdep_assert_held(&pipe->iter.mutex);

	while (done < cnt && (hyp_trace_pipe_left(pipe) || hyp_trace_pipe_refill(pipe, cnt))) {
		len = min(cnt - done, hyp_trace_pipe_left(pipe));
		memcpy(buf + done, s->buffer + s->readpos, len);
		s->readpos += len;
		done += len;
	}

	return done;
}

/*
 * Copy up to @len bytes into pages: no more pages than the pipe has room for, which splice()
 * has limited @len to. Returns 0 with at least one page, or an error.
 */
static int hyp_trace_pipe_splice_fill(struct hyp_trace_pipe *pipe, struct splice_pipe_desc *spd,
				      size_t len)
{
	struct page *page;
	size_t copied;

	while (len && spd->nr_pages < spd->nr_pages_max) {
		page = alloc_page(GFP_KERNEL_ACCOUNT);
		if (!page)
			return spd->nr_pages ? 0 : -ENOMEM;

		copied = hyp_trace_pipe_copy(pipe, page_address(page), min(len, PAGE_SIZE));
		if (!copied) {
			__free_page(page);
			break;
		}

		spd->partial[spd->nr_pages] = (struct partial_page){ .len = copied };
		spd->pages[spd->nr_pages++] = page;
		len -= copied;
		if (copied < PAGE_SIZE)
			break;
	}

	return 0;
}

/* As the host's: O_NONBLOCK of the file alone says not to wait. */
static ssize_t hyp_trace_pipe_splice_read(struct file *file, loff_t *ppos,
					  struct pipe_inode_info *to, size_t len,
					  unsigned int flags)
{
	struct hyp_trace_pipe *pipe = file->private_data;
	struct partial_page partial[PIPE_DEF_BUFFERS];
	struct page *pages[PIPE_DEF_BUFFERS];
	struct splice_pipe_desc spd = {
		.pages		= pages,
		.partial	= partial,
		.nr_pages_max	= PIPE_DEF_BUFFERS,
		.ops		= &default_pipe_buf_ops,
		.spd_release	= hyp_trace_pipe_spd_release,
	};
	ssize_t ret;

	if (splice_grow_spd(to, &spd))
		return -ENOMEM;

	scoped_guard(mutex, &pipe->iter.mutex) {
		ret = hyp_trace_pipe_wait_text(pipe, file, len);
		if (ret > 0)
			ret = hyp_trace_pipe_splice_fill(pipe, &spd, len);
	}

	if (spd.nr_pages)
		ret = splice_to_pipe(to, &spd);

	splice_shrink_spd(&spd);
	return ret;
}

static __poll_t hyp_trace_pipe_poll(struct file *file, poll_table *pt)
{
	struct hyp_trace_pipe *pipe = file->private_data;
	int cpu = pipe->iter.cpu_file;
	__poll_t ret;

	ret = hyp_trace_poll(pipe->buffer, cpu, file, pt);

	/* It does not fill up any more. */
	if (!hyp_trace_is_on() && !hyp_trace_is_empty(pipe->buffer, cpu))
		ret |= EPOLLIN | EPOLLRDNORM;
	return ret;
}

static int hyp_trace_pipe_open(struct inode *inode, struct file *file)
{
	struct hyp_trace_pipe *pipe;
	int ret;

	ret = hyp_trace_open(inode, file);
	if (ret)
		return ret;

	pipe = kvzalloc(struct_size(pipe, cursors, nr_cpu_ids), GFP_KERNEL_ACCOUNT);
	if (!pipe)
		return -ENOMEM;

	pipe->buffer = hyp_trace_get_reader();
	if (IS_ERR(pipe->buffer)) {
		ret = PTR_ERR(pipe->buffer);
		kvfree(pipe);
		return ret;
	}

	mutex_init(&pipe->iter.mutex);
	trace_seq_init(&pipe->iter.seq);
	pipe->iter.cpu_file = hyp_trace_file_cpu(inode);
	file->private_data = pipe;
	/* No position, and so no lock on it: readers of one descriptor don't block each other. */
	return stream_open(inode, file);
}

static int hyp_trace_pipe_release(struct inode *inode, struct file *file)
{
	struct hyp_trace_pipe *pipe = file->private_data;

	mutex_destroy(&pipe->iter.mutex);
	kvfree(pipe);
	hyp_trace_put_reader();
	return 0;
}

const struct file_operations hyp_trace_pipe_fops = {
	.open		= hyp_trace_pipe_open,
	.read		= hyp_trace_pipe_read,
	.splice_read	= hyp_trace_pipe_splice_read,
	.poll		= hyp_trace_pipe_poll,
	.release	= hyp_trace_pipe_release,
};
