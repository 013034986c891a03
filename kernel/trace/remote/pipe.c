// SPDX-License-Identifier: GPL-2.0-only
/*
 * trace_pipe: a remote's events as text, each to one reader once
 *
 * The file of all CPUs merges their events by time. That of one CPU has its own. When a
 * reader waits, and when reading ends, is as in the kernel's trace_pipe. Unlike there, a
 * file can have several readers, and poll() does not wait for more once tracing is off.
 *
 * Locking: iter->mutex serialises the readers of one descriptor, and
 * trace_remote_read_lock() those of all descriptors, from when a reader finds the next event
 * until it consumes it. No reader waits for events with either.
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

#include "remote.h"

/**
 * struct trace_remote_pipe - an open file
 * @remote:	its remote
 * @iter:	the line being printed; @iter.cpu_file is whose events, @iter.pos
 *		is not 0 once something was read
 * @buffer:	where from
 * @cpus:	the CPUs whose events the file has, and that have a ring
 * @merge:	those of them that have events
 * @cursors:	of the CPUs. This and @merge are valid under trace_remote_read_lock()
 */
struct trace_remote_pipe {
	struct trace_remote			*remote;
	struct trace_iterator			iter;
	struct trace_buffer			*buffer;
	struct cpumask				cpus;
	struct trace_remote_merge		merge;
	struct ring_buffer_reader_cursor	cursors[];
};

static bool remote_pipe_at_end(struct trace_remote_pipe *pipe)
{
	return !trace_remote_is_on(pipe->remote) && pipe->iter.pos;
}

/*
 * Merge the CPUs that have events. While one CPU's events are copied, others may get
 * theirs: CPUs without events are tried again after each copy. Each round but the last
 * copies the events of a CPU.
 */
static void remote_pipe_merge(struct trace_remote_pipe *pipe)
{
	struct ring_buffer_reader_cursor *cursor;
	bool copied;
	int cpu;

	do {
		copied = false;
		trace_remote_records_sync(pipe->remote);
		for_each_cpu(cpu, &pipe->cpus) {
			cursor = &pipe->cursors[cpu];
			if (!cursor->event && ring_buffer_reader_cursor_peek(cursor))
				copied = true;
		}
	} while (copied);

	trace_remote_merge_clear(&pipe->merge);
	for_each_cpu(cpu, &pipe->cpus) {
		cursor = &pipe->cursors[cpu];
		if (cursor->event)
			trace_remote_merge_add(&pipe->merge, cpu, cursor->ts);
	}
}

/* The cursor at the earliest event; NULL if there is none. */
static struct ring_buffer_reader_cursor *remote_pipe_next(struct trace_remote_pipe *pipe)
{
	int cpu = trace_remote_merge_first(&pipe->merge);
	struct ring_buffer_reader_cursor *cursor;
	struct trace_iterator *iter = &pipe->iter;

	if (cpu < 0)
		return NULL;

	cursor = &pipe->cursors[cpu];
	iter->cpu = cpu;
	iter->ent = ring_buffer_event_data(cursor->event);
	iter->ent_size = ring_buffer_event_length(cursor->event);
	iter->lost_events = cursor->lost;
	iter->ts = cursor->ts;
	return cursor;
}

/* Go past the earliest event. */
static void remote_pipe_advance(struct trace_remote_pipe *pipe,
				struct ring_buffer_reader_cursor *cursor)
{
	pipe->iter.pos++;
	if (ring_buffer_reader_cursor_advance(cursor))
		trace_remote_merge_update(&pipe->merge, cursor->ts);
	else
		remote_pipe_merge(pipe);
}

/* Print events into the sequence until it has @cnt bytes or nothing is left. */
static void remote_pipe_print(struct trace_remote_pipe *pipe, size_t cnt)
{
	struct ring_buffer_reader_cursor *cursor;
	struct trace_seq *s = &pipe->iter.seq;

	trace_remote_assert_read_locked(pipe->remote, pipe->iter.cpu_file);

	while (trace_seq_used(s) < cnt && (cursor = remote_pipe_next(pipe))) {
		unsigned int len = s->seq.len;

		if (trace_remote_print_event(pipe->remote, &pipe->iter) ==
		    TRACE_TYPE_PARTIAL_LINE) {
			s->seq.len = len;
			s->full = 0;
			/* The line comes next time, unless it never fits. */
			if (len)
				return;
			trace_seq_puts(s, "[LINE TOO BIG]\n");
		}

		remote_pipe_advance(pipe, cursor);
	}
}

static void remote_pipe_fill(struct trace_remote_pipe *pipe, size_t cnt)
{
	int cpu, file_cpu = pipe->iter.cpu_file;

	trace_remote_read_lock(pipe->remote, file_cpu);

	for_each_possible_cpu(cpu) {
		if (!trace_remote_file_has_cpu(file_cpu, cpu) ||
		    !ring_buffer_reader_has_cpu(pipe->buffer, cpu))
			continue;

		__cpumask_set_cpu(cpu, &pipe->cpus);
		ring_buffer_reader_cursor_start(&pipe->cursors[cpu], pipe->buffer, cpu);
	}

	remote_pipe_merge(pipe);
	remote_pipe_print(pipe, cnt);

	for_each_cpu(cpu, &pipe->cpus)
		ring_buffer_reader_cursor_finish(&pipe->cursors[cpu]);

	trace_remote_read_unlock(pipe->remote, file_cpu);
}

static bool remote_pipe_wait_cond(void *data)
{
	return remote_pipe_at_end(data);
}

/* Wait, without @iter.mutex. 0 when there may be events, or at the end. */
static int remote_pipe_wait(struct trace_remote_pipe *pipe)
{
	int ret;

	mutex_unlock(&pipe->iter.mutex);
	trace_remote_pause(pipe->buffer, pipe->iter.cpu_file);
	ret = trace_remote_wait(pipe->remote, pipe->buffer, pipe->iter.cpu_file, 0,
				remote_pipe_wait_cond, pipe);
	mutex_lock(&pipe->iter.mutex);

	return ret;
}

/* How many bytes of the sequence were not read yet. */
static size_t remote_pipe_left(struct trace_remote_pipe *pipe)
{
	struct trace_seq *s = &pipe->iter.seq;

	return trace_seq_used(s) - s->readpos;
}

/* Print what there is now, up to about @cnt bytes. False if there is nothing. */
static bool remote_pipe_refill(struct trace_remote_pipe *pipe, size_t cnt)
{
	struct trace_seq *s = &pipe->iter.seq;

	trace_seq_init(s);
	if (trace_remote_is_empty(pipe->buffer, pipe->iter.cpu_file))
		return false;

	remote_pipe_fill(pipe, min_t(size_t, cnt, TRACE_SEQ_BUFFER_SIZE - 1));
	cond_resched();
	return trace_seq_used(s);
}

/*
 * Have text in the sequence. Another reader of the descriptor may print some while this one
 * waits. It is the end if tracing was off before no event was found: one may have come
 * between the two. Returns 1, 0 at the end, or an error.
 */
static int remote_pipe_wait_text(struct trace_remote_pipe *pipe, struct file *file,
				 size_t cnt)
{
	bool at_end;
	int ret;

	lockdep_assert_held(&pipe->iter.mutex);

	while (!remote_pipe_left(pipe)) {
		at_end = remote_pipe_at_end(pipe);
		if (remote_pipe_refill(pipe, cnt))
			break;
		if (trace_remote_has_ended(pipe->remote))
			return -ENODEV;
		if (file->f_flags & O_NONBLOCK)
			return -EAGAIN;
		if (signal_pending(current))
			return -ERESTARTSYS;
		if (at_end)
			return 0;

		ret = remote_pipe_wait(pipe);
		if (ret)
			return ret;
	}

	return 1;
}

static ssize_t remote_pipe_read(struct file *file, char __user *ubuf, size_t cnt,
				loff_t *ppos)
{
	struct trace_remote_pipe *pipe = file->private_data;
	ssize_t ret;

	guard(mutex)(&pipe->iter.mutex);

	/* -EBUSY: nothing is left in the sequence. */
	while ((ret = trace_seq_to_user(&pipe->iter.seq, ubuf, cnt)) == -EBUSY) {
		ret = remote_pipe_wait_text(pipe, file, cnt);
		if (ret <= 0)
			return ret;
	}

	return ret;
}

static void remote_pipe_spd_release(struct splice_pipe_desc *spd, unsigned int i)
{
	__free_page(spd->pages[i]);
}

/* Copy text to @buf, as much as there is without waiting. Returns how many bytes. */
static size_t remote_pipe_copy(struct trace_remote_pipe *pipe, char *buf, size_t cnt)
{
	struct trace_seq *s = &pipe->iter.seq;
	size_t len, done = 0;

	lockdep_assert_held(&pipe->iter.mutex);

	while (done < cnt && (remote_pipe_left(pipe) || remote_pipe_refill(pipe, cnt))) {
		len = min(cnt - done, remote_pipe_left(pipe));
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
static int remote_pipe_splice_fill(struct trace_remote_pipe *pipe, struct splice_pipe_desc *spd,
				   size_t len)
{
	struct page *page;
	size_t copied;

	while (len && spd->nr_pages < spd->nr_pages_max) {
		page = alloc_page(GFP_KERNEL_ACCOUNT);
		if (!page)
			return spd->nr_pages ? 0 : -ENOMEM;

		copied = remote_pipe_copy(pipe, page_address(page), min(len, PAGE_SIZE));
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
static ssize_t remote_pipe_splice_read(struct file *file, loff_t *ppos,
				       struct pipe_inode_info *to, size_t len,
				       unsigned int flags)
{
	struct trace_remote_pipe *pipe = file->private_data;
	struct partial_page partial[PIPE_DEF_BUFFERS];
	struct page *pages[PIPE_DEF_BUFFERS];
	struct splice_pipe_desc spd = {
		.pages		= pages,
		.partial	= partial,
		.nr_pages_max	= PIPE_DEF_BUFFERS,
		.ops		= &default_pipe_buf_ops,
		.spd_release	= remote_pipe_spd_release,
	};
	ssize_t ret;

	if (splice_grow_spd(to, &spd))
		return -ENOMEM;

	scoped_guard(mutex, &pipe->iter.mutex) {
		ret = remote_pipe_wait_text(pipe, file, len);
		if (ret > 0)
			ret = remote_pipe_splice_fill(pipe, &spd, len);
	}

	if (spd.nr_pages)
		ret = splice_to_pipe(to, &spd);

	splice_shrink_spd(&spd);
	return ret;
}

static __poll_t remote_pipe_poll(struct file *file, poll_table *pt)
{
	struct trace_remote_pipe *pipe = file->private_data;
	int cpu = pipe->iter.cpu_file;
	__poll_t ret;

	ret = trace_remote_poll(pipe->buffer, cpu, file, pt);

	/* It does not fill up any more. */
	if (!trace_remote_is_on(pipe->remote) && !trace_remote_is_empty(pipe->buffer, cpu))
		ret |= EPOLLIN | EPOLLRDNORM;
	return ret;
}

static struct trace_remote_pipe *remote_pipe_alloc(void)
{
	struct trace_remote_pipe *pipe;

	pipe = kvzalloc(struct_size(pipe, cursors, nr_cpu_ids), GFP_KERNEL_ACCOUNT);
	if (!pipe)
		return NULL;

	if (trace_remote_merge_init(&pipe->merge)) {
		kvfree(pipe);
		return NULL;
	}

	mutex_init(&pipe->iter.mutex);
	trace_seq_init(&pipe->iter.seq);
	return pipe;
}

static void remote_pipe_free(struct trace_remote_pipe *pipe)
{
	mutex_destroy(&pipe->iter.mutex);
	trace_remote_merge_free(&pipe->merge);
	kvfree(pipe);
}

static int remote_pipe_start(struct inode *inode, struct file *file)
{
	struct trace_remote *remote = trace_remote_of(file);
	struct trace_remote_pipe *pipe;
	int ret;

	pipe = remote_pipe_alloc();
	if (!pipe)
		return -ENOMEM;

	pipe->remote = remote;
	pipe->buffer = trace_remote_get_reader(remote);
	if (IS_ERR(pipe->buffer)) {
		ret = PTR_ERR(pipe->buffer);
		remote_pipe_free(pipe);
		return ret;
	}

	pipe->iter.cpu_file = trace_remote_file_nr(inode);
	file->private_data = pipe;
	/* No position, and so no lock on it: readers of one descriptor don't block each other. */
	return stream_open(inode, file);
}

static int remote_pipe_open(struct inode *inode, struct file *file)
{
	return trace_remote_open_with(inode, file, remote_pipe_start);
}

static int remote_pipe_release(struct inode *inode, struct file *file)
{
	remote_pipe_free(file->private_data);
	trace_remote_put_reader(trace_remote_of(file));
	return trace_remote_release(inode, file);
}

const struct file_operations trace_remote_pipe_fops = {
	.open		= remote_pipe_open,
	.read		= remote_pipe_read,
	.splice_read	= remote_pipe_splice_read,
	.poll		= remote_pipe_poll,
	.release	= remote_pipe_release,
};
