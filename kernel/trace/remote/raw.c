// SPDX-License-Identifier: GPL-2.0-only
/*
 * trace_pipe_raw: a remote's events by the page, for programs
 *
 * The remote writes pages in the format of the kernel's ring buffer. splice() copies a page once.
 * read() copies it twice, since user space may fault, and events are consumed under a spinlock.
 * A program that maps the ring copies none. When a reader waits, what is refused and with which
 * error is as in the kernel's trace_pipe_raw. Unlike there, one read() can return several pages.
 *
 * Locking: trace_remote_raw.lock serialises the readers of one descriptor, and
 * trace_remote_read_lock() those of a CPU. No reader waits for events with either.
 * splice() waits with the pipe locked, as for any file.
 *
 * Memory ordering: (W) is explained in instance.c.
 */
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/pagemap.h>
#include <linux/pipe_fs_i.h>
#include <linux/poll.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/splice.h>
#include <linux/uaccess.h>

#include <uapi/linux/trace_mmap.h>

#include "remote.h"

/**
 * struct trace_remote_raw - an open file
 * @remote:	its remote
 * @buffer:	where from
 * @cpu:	whose events
 * @lock:	covers @page and @used
 * @page:	taken off the ring for read()
 * @used:	bytes of it that were read; PAGE_SIZE when none are left
 * @wake:	changes when waiters shall wake up
 * @closed:	a descriptor was closed: don't wait any more
 */
struct trace_remote_raw {
	struct trace_remote	*remote;
	struct trace_buffer	*buffer;
	int			cpu;
	struct mutex		lock;	/* covers the page for read() */
	void			*page;
	size_t			used;
	atomic_t		wake;
	bool			closed;
};

/* One that waits: until something happens that it did not know when it began. */
struct remote_raw_wait {
	struct trace_remote_raw	*raw;
	int			wake;
	bool			on;
};

static bool remote_raw_wait_cond(void *data)
{
	struct remote_raw_wait *wait = data;

	return atomic_read_acquire(&wait->raw->wake) != wait->wake ||	/* (W) */
	       READ_ONCE(wait->raw->closed) || (wait->on && !trace_remote_is_on(wait->raw->remote));
}

/* Wait for the ring to be @full percent full; for any event, if that is 0. */
static int remote_raw_wait(struct trace_remote_raw *raw, unsigned int full)
{
	struct remote_raw_wait wait = {
		.raw	= raw,
		.wake	= atomic_read_acquire(&raw->wake),	/* (W) */
		.on	= full && trace_remote_is_on(raw->remote),
	};

	return trace_remote_wait(raw->remote, raw->buffer, raw->cpu, full,
				 remote_raw_wait_cond, &wait);
}

static void remote_raw_wake(struct trace_remote_raw *raw)
{
	atomic_fetch_inc_release(&raw->wake);			/* (W) */
	ring_buffer_wake_waiters(raw->buffer, raw->cpu);
}

static int remote_raw_take(struct trace_remote_raw *raw, void *page, size_t len, bool full)
{
	int ret;

	trace_remote_read_lock(raw->remote, raw->cpu);
	trace_remote_records_sync(raw->remote);
	ret = ring_buffer_reader_read_page(raw->buffer, raw->cpu, page, len, full);
	trace_remote_read_unlock(raw->remote, raw->cpu);

	/* What is left can't be had any more. */
	return ret == -EAGAIN && trace_remote_has_ended(raw->remote) ? -ENODEV : ret;
}

/*
 * Have something on the page, which is read in pieces when @cnt is below a page's
 * size. Returns 1, 0 at the end, or an error.
 */
static int remote_raw_fill(struct trace_remote_raw *raw, struct file *file, size_t cnt)
{
	int ret;

	lockdep_assert_held(&raw->lock);

	while (raw->used >= PAGE_SIZE) {
		ret = remote_raw_take(raw, raw->page, cnt, false);
		if (!ret) {
			raw->used = 0;
			break;
		}

		if (ret == -ENODEV)
			return ret;
		if (ret == -EMSGSIZE || READ_ONCE(raw->closed))
			return 0;
		if (file->f_flags & O_NONBLOCK)
			return -EAGAIN;
		if (signal_pending(current))
			return -ERESTARTSYS;

		mutex_unlock(&raw->lock);
		trace_remote_pause(raw->buffer, raw->cpu);
		ret = remote_raw_wait(raw, 0);
		mutex_lock(&raw->lock);
		if (ret)
			return ret;
		cond_resched();
	}

	return 1;
}

/* Returns the bytes that were copied. What user space has no room for stays for the next read(). */
static size_t remote_raw_copy_page(struct trace_remote_raw *raw, char __user *ubuf, size_t cnt)
{
	lockdep_assert_held(&raw->lock);

	cnt = min(cnt, PAGE_SIZE - raw->used);
	cnt -= copy_to_user(ubuf, raw->page + raw->used, cnt);
	raw->used += cnt;
	return cnt;
}

/* Copy whole pages, as far as there are any. Returns the bytes that were copied. */
static size_t remote_raw_copy_pages(struct trace_remote_raw *raw, char __user *ubuf, size_t cnt)
{
	size_t copied = 0;

	while (raw->used >= PAGE_SIZE && cnt - copied >= PAGE_SIZE && !signal_pending(current)) {
		if (remote_raw_take(raw, raw->page, PAGE_SIZE, true))
			break;

		raw->used = 0;
		copied += remote_raw_copy_page(raw, ubuf + copied, PAGE_SIZE);
		cond_resched();
	}

	return copied;
}

static ssize_t remote_raw_read(struct file *file, char __user *ubuf, size_t cnt, loff_t *ppos)
{
	struct trace_remote_raw *raw = file->private_data;
	size_t copied;
	int ret;

	if (!cnt)
		return 0;

	guard(mutex)(&raw->lock);

	copied = remote_raw_copy_pages(raw, ubuf, cnt);
	if (copied)
		return copied;

	ret = remote_raw_fill(raw, file, cnt);
	if (ret <= 0)
		return ret;

	return remote_raw_copy_page(raw, ubuf, cnt) ?: -EFAULT;
}

static void remote_raw_spd_release(struct splice_pipe_desc *spd, unsigned int i)
{
	put_page(spd->pages[i]);
}

/* Take a page into @spd. Returns 0, or why there is none. */
static int remote_raw_splice_page(struct trace_remote_raw *raw, struct splice_pipe_desc *spd)
{
	struct page *page = alloc_page(GFP_KERNEL_ACCOUNT);
	int ret;

	if (!page)
		return -ENOMEM;

	ret = remote_raw_take(raw, page_address(page), PAGE_SIZE, true);
	if (ret) {
		put_page(page);
		return ret;
	}

	spd->partial[spd->nr_pages] = (struct partial_page){ .len = PAGE_SIZE };
	spd->pages[spd->nr_pages++] = page;
	return 0;
}

static int remote_raw_splice_pages(struct trace_remote_raw *raw, struct splice_pipe_desc *spd,
				   unsigned int nr)
{
	int ret = 0;

	nr = min(nr, spd->nr_pages_max);
	while (!ret && spd->nr_pages < nr)
		ret = remote_raw_splice_page(raw, spd);

	return spd->nr_pages ? 0 : ret;
}

/* Take pages, and if there are none wait once. Returns 0 with none after that. */
static int remote_raw_splice_fill(struct trace_remote_raw *raw, struct splice_pipe_desc *spd,
				  unsigned int nr, bool nonblock)
{
	int ret;

	ret = remote_raw_splice_pages(raw, spd, nr);
	if (ret != -EAGAIN || nonblock)
		return ret;

	ret = remote_raw_wait(raw, trace_remote_percent(raw->remote));
	if (ret)
		return ret;

	ret = remote_raw_splice_pages(raw, spd, nr);
	return ret == -EAGAIN ? 0 : ret;
}

/* What is left of a page that is read in pieces comes first. */
static bool remote_raw_in_pieces(struct trace_remote_raw *raw)
{
	guard(mutex)(&raw->lock);
	return raw->used < PAGE_SIZE;
}

static ssize_t remote_raw_splice_read(struct file *file, loff_t *ppos,
				      struct pipe_inode_info *pipe, size_t len,
				      unsigned int flags)
{
	struct trace_remote_raw *raw = file->private_data;
	struct partial_page partial[PIPE_DEF_BUFFERS];
	struct page *pages[PIPE_DEF_BUFFERS];
	struct splice_pipe_desc spd = {
		.pages		= pages,
		.partial	= partial,
		.nr_pages_max	= PIPE_DEF_BUFFERS,
		.ops		= &nosteal_pipe_buf_ops,
		.spd_release	= remote_raw_spd_release,
	};
	ssize_t ret;

	if (len < PAGE_SIZE || remote_raw_in_pieces(raw))
		return -EINVAL;
	if (splice_grow_spd(pipe, &spd))
		return -ENOMEM;

	ret = remote_raw_splice_fill(raw, &spd, len >> PAGE_SHIFT,
				     file->f_flags & O_NONBLOCK || flags & SPLICE_F_NONBLOCK);
	if (spd.nr_pages)
		ret = splice_to_pipe(pipe, &spd);

	splice_shrink_spd(&spd);
	return ret;
}

static __poll_t remote_raw_poll(struct file *file, poll_table *pt)
{
	struct trace_remote_raw *raw = file->private_data;

	return trace_remote_poll(raw->buffer, raw->cpu, file, pt);
}

static int remote_raw_get_reader(struct trace_remote_raw *raw, bool nonblock)
{
	int ret = 0;

	if (!nonblock)
		ret = remote_raw_wait(raw, trace_remote_percent(raw->remote));
	else if (trace_remote_has_ended(raw->remote))
		ret = -ENODEV;
	if (ret)
		return ret;

	trace_remote_read_lock(raw->remote, raw->cpu);
	trace_remote_records_sync(raw->remote);
	ret = ring_buffer_map_get_reader(raw->buffer, raw->cpu);
	trace_remote_read_unlock(raw->remote, raw->cpu);

	return ret;
}

static long remote_raw_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	struct trace_remote_raw *raw = file->private_data;

	switch (cmd) {
	case 0:
		remote_raw_wake(raw);
		return 0;
	case TRACE_MMAP_IOCTL_GET_READER:
		return remote_raw_get_reader(raw, file->f_flags & O_NONBLOCK);
	default:
		return -ENOTTY;
	}
}

static void remote_raw_vma_open(struct vm_area_struct *vma)
{
	struct trace_remote_raw *raw = vma->vm_file->private_data;

	ring_buffer_map_dup(raw->buffer, raw->cpu);
}

static void remote_raw_vma_close(struct vm_area_struct *vma)
{
	struct trace_remote_raw *raw = vma->vm_file->private_data;

	WARN_ON_ONCE(ring_buffer_unmap(raw->buffer, raw->cpu));
}

/* A mapping is the whole of it. */
static int remote_raw_vma_may_split(struct vm_area_struct *vma, unsigned long addr)
{
	return -EINVAL;
}

static const struct vm_operations_struct remote_raw_vm_ops = {
	.open		= remote_raw_vma_open,
	.close		= remote_raw_vma_close,
	.may_split	= remote_raw_vma_may_split,
};

/* The mapping has the file, and with it the rings. */
static int remote_raw_mmap(struct file *file, struct vm_area_struct *vma)
{
	struct trace_remote_raw *raw = file->private_data;
	int ret;

	ret = ring_buffer_map(raw->buffer, raw->cpu, vma);
	if (!ret)
		vma->vm_ops = &remote_raw_vm_ops;
	return ret;
}

static int remote_raw_alloc(struct trace_remote_raw **praw)
{
	struct trace_remote_raw *raw;

	raw = kzalloc(sizeof(*raw), GFP_KERNEL_ACCOUNT);
	if (!raw)
		return -ENOMEM;

	raw->page = (void *)__get_free_page(GFP_KERNEL_ACCOUNT);
	if (!raw->page) {
		kfree(raw);
		return -ENOMEM;
	}

	mutex_init(&raw->lock);
	raw->used = PAGE_SIZE;
	*praw = raw;
	return 0;
}

static void remote_raw_free(struct trace_remote_raw *raw)
{
	mutex_destroy(&raw->lock);
	free_page((unsigned long)raw->page);
	kfree(raw);
}

static int remote_raw_start(struct inode *inode, struct file *file)
{
	struct trace_remote_raw *raw;
	int ret;

	ret = remote_raw_alloc(&raw);
	if (ret)
		return ret;

	raw->remote = trace_remote_of(file);
	raw->buffer = trace_remote_get_reader(raw->remote);
	if (IS_ERR(raw->buffer)) {
		ret = PTR_ERR(raw->buffer);
		remote_raw_free(raw);
		return ret;
	}

	raw->cpu = trace_remote_file_nr(inode);
	file->private_data = raw;
	/* No position, and so no lock on it: readers of one descriptor don't block each other. */
	return stream_open(inode, file);
}

static int remote_raw_open(struct inode *inode, struct file *file)
{
	return trace_remote_open_with(inode, file, remote_raw_start);
}

static int remote_raw_flush(struct file *file, fl_owner_t id)
{
	struct trace_remote_raw *raw = file->private_data;

	WRITE_ONCE(raw->closed, true);
	remote_raw_wake(raw);
	return 0;
}

static int remote_raw_release(struct inode *inode, struct file *file)
{
	remote_raw_free(file->private_data);
	trace_remote_put_reader(trace_remote_of(file));
	return trace_remote_release(inode, file);
}

const struct file_operations trace_remote_raw_fops = {
	.open		= remote_raw_open,
	.read		= remote_raw_read,
	.splice_read	= remote_raw_splice_read,
	.poll		= remote_raw_poll,
	.unlocked_ioctl	= remote_raw_ioctl,
	.mmap		= remote_raw_mmap,
	.flush		= remote_raw_flush,
	.release	= remote_raw_release,
};
