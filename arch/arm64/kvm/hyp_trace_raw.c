// SPDX-License-Identifier: GPL-2.0-only
/*
 * trace_pipe_raw: the hypervisor's events by the page, for programs
 *
 * A page is in the format of the host's ring buffer, which the events have at
 * EL2 already. It is copied once, by splice() and by read() of a whole page; who
 * wants none, maps the ring. What waits, what is refused and with which error is as in the
 * host's trace_pipe_raw; only that a read() of several pages has more than one.
 *
 * Locking: hyp_trace_raw.lock keeps apart the readers of one descriptor, and
 * hyp_trace_read_lock() those of a CPU. Nobody waits for events with either;
 * but splice() waits with the pipe locked, as anywhere.
 *
 * Ordering: who wants waiters to wake changes @wake, with release, before it
 * wakes them; a waiter loads it with acquire, before it waits and each time it
 * was woken.
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

#include "hyp_trace.h"

/**
 * struct hyp_trace_raw - an open file
 * @buffer:	where from
 * @cpu:	whose events
 * @lock:	covers @page and @used
 * @page:	taken off the ring for read()
 * @used:	bytes of it that were read; PAGE_SIZE when none are left
 * @wake:	changes when waiters shall wake up
 * @closed:	a descriptor was closed: don't wait any more
 */
struct hyp_trace_raw {
	struct trace_buffer	*buffer;
	int			cpu;
	struct mutex		lock;	/* covers the page for read() */
	void			*page;
	size_t			used;
	atomic_t		wake;
	bool			closed;
};

/* One that waits: until something happens that it did not know when it began. */
struct hyp_trace_raw_wait {
	struct hyp_trace_raw	*raw;
	int			wake;
	bool			on;
};

static bool hyp_trace_raw_wait_cond(void *data)
{
	struct hyp_trace_raw_wait *wait = data;

	return atomic_read_acquire(&wait->raw->wake) != wait->wake ||	/* (W) */
	       READ_ONCE(wait->raw->closed) || (wait->on && !hyp_trace_is_on());
}

/* Wait for the ring to be @full percent full; for any event, if that is 0. */
static int hyp_trace_raw_wait(struct hyp_trace_raw *raw, unsigned int full)
{
	struct hyp_trace_raw_wait wait = {
		.raw	= raw,
		.wake	= atomic_read_acquire(&raw->wake),	/* (W) */
		.on	= full && hyp_trace_is_on(),
	};

	return hyp_trace_wait(raw->buffer, raw->cpu, full, hyp_trace_raw_wait_cond, &wait);
}

static void hyp_trace_raw_wake(struct hyp_trace_raw *raw)
{
	atomic_fetch_inc_release(&raw->wake);			/* (W) */
	ring_buffer_wake_waiters(raw->buffer, raw->cpu);
}

static int hyp_trace_raw_take(struct hyp_trace_raw *raw, void *page, size_t len, bool full)
{
	int ret;

	hyp_trace_read_lock(raw->cpu);
	ret = ring_buffer_reader_read_page(raw->buffer, raw->cpu, page, len, full);
	hyp_trace_read_unlock(raw->cpu);

	/* What is left can't be had any more. */
	return ret == -EAGAIN && hyp_trace_has_ended() ? -ENODEV : ret;
}

/*
 * Have something on the page, which is read in pieces when @cnt is below a page's
 * size. Returns 1, 0 at the end, or an error.
 */
static int hyp_trace_raw_fill(struct hyp_trace_raw *raw, struct file *file, size_t cnt)
{
	int ret;

	lockdep_assert_held(&raw->lock);

	while (raw->used >= PAGE_SIZE) {
		ret = hyp_trace_raw_take(raw, raw->page, cnt, false);
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
		hyp_trace_pause(raw->buffer, raw->cpu);
		ret = hyp_trace_raw_wait(raw, 0);
		mutex_lock(&raw->lock);
		if (ret)
			return ret;
		cond_resched();
	}

	return 1;
}

static int hyp_trace_raw_take_user_page(struct hyp_trace_raw *raw, char __user *ubuf)
{
	int ret;

	hyp_trace_read_lock(raw->cpu);
	ret = ring_buffer_reader_copy_to_user(raw->buffer, raw->cpu, ubuf);
	hyp_trace_read_unlock(raw->cpu);

	return ret;
}

/* Whole pages, as far as there are: straight from the ring. Returns the bytes taken. */
static size_t hyp_trace_raw_take_user(struct hyp_trace_raw *raw, char __user *ubuf, size_t cnt)
{
	size_t taken = 0;
	int ret = 0;

	lockdep_assert_held(&raw->lock);

	if (raw->used < PAGE_SIZE)
		return 0;

	while (!ret && cnt - taken >= PAGE_SIZE && !signal_pending(current)) {
		ret = hyp_trace_raw_take_user_page(raw, ubuf + taken);
		if (ret == -EFAULT && !fault_in_writeable(ubuf + taken, PAGE_SIZE))
			ret = hyp_trace_raw_take_user_page(raw, ubuf + taken);
		if (!ret)
			taken += PAGE_SIZE;
		cond_resched();
	}

	return taken;
}

static ssize_t hyp_trace_raw_read(struct file *file, char __user *ubuf, size_t cnt, loff_t *ppos)
{
	struct hyp_trace_raw *raw = file->private_data;
	size_t left, taken;
	int ret;

	if (!cnt)
		return 0;

	guard(mutex)(&raw->lock);

	taken = hyp_trace_raw_take_user(raw, ubuf, cnt);
	if (taken)
		return taken;

	ret = hyp_trace_raw_fill(raw, file, cnt);
	if (ret <= 0)
		return ret;

	cnt = min(cnt, PAGE_SIZE - raw->used);
	left = copy_to_user(ubuf, raw->page + raw->used, cnt);
	if (left == cnt)
		return -EFAULT;

	raw->used += cnt - left;
	return cnt - left;
}

static void hyp_trace_raw_spd_release(struct splice_pipe_desc *spd, unsigned int i)
{
	put_page(spd->pages[i]);
}

/* Take a page into @spd. Returns 0, or why there is none. */
static int hyp_trace_raw_splice_page(struct hyp_trace_raw *raw, struct splice_pipe_desc *spd)
{
	struct page *page = alloc_page(GFP_KERNEL_ACCOUNT);
	int ret;

	if (!page)
		return -ENOMEM;

	ret = hyp_trace_raw_take(raw, page_address(page), PAGE_SIZE, true);
	if (ret) {
		put_page(page);
		return ret;
	}

	spd->partial[spd->nr_pages] = (struct partial_page){ .len = PAGE_SIZE };
	spd->pages[spd->nr_pages++] = page;
	return 0;
}

static int hyp_trace_raw_splice_pages(struct hyp_trace_raw *raw, struct splice_pipe_desc *spd,
				      unsigned int nr)
{
	int ret = 0;

	nr = min(nr, spd->nr_pages_max);
	while (!ret && spd->nr_pages < nr)
		ret = hyp_trace_raw_splice_page(raw, spd);

	return spd->nr_pages ? 0 : ret;
}

/* Take pages, and if there are none wait once. Returns 0 with none after that. */
static int hyp_trace_raw_splice_fill(struct hyp_trace_raw *raw, struct splice_pipe_desc *spd,
				     unsigned int nr, bool nonblock)
{
	int ret;

	ret = hyp_trace_raw_splice_pages(raw, spd, nr);
	if (ret != -EAGAIN || nonblock)
		return ret;

	ret = hyp_trace_raw_wait(raw, hyp_trace_get_percent());
	if (ret)
		return ret;

	ret = hyp_trace_raw_splice_pages(raw, spd, nr);
	return ret == -EAGAIN ? 0 : ret;
}

/* What is left of a page that is read in pieces comes first. */
static bool hyp_trace_raw_in_pieces(struct hyp_trace_raw *raw)
{
	guard(mutex)(&raw->lock);
	return raw->used < PAGE_SIZE;
}

static ssize_t hyp_trace_raw_splice_read(struct file *file, loff_t *ppos,
					 struct pipe_inode_info *pipe, size_t len,
					 unsigned int flags)
{
	struct hyp_trace_raw *raw = file->private_data;
	struct partial_page partial[PIPE_DEF_BUFFERS];
	struct page *pages[PIPE_DEF_BUFFERS];
	struct splice_pipe_desc spd = {
		.pages		= pages,
		.partial	= partial,
		.nr_pages_max	= PIPE_DEF_BUFFERS,
		.ops		= &nosteal_pipe_buf_ops,
		.spd_release	= hyp_trace_raw_spd_release,
	};
	ssize_t ret;

	if (len < PAGE_SIZE || hyp_trace_raw_in_pieces(raw))
		return -EINVAL;
	if (splice_grow_spd(pipe, &spd))
		return -ENOMEM;

	ret = hyp_trace_raw_splice_fill(raw, &spd, len >> PAGE_SHIFT,
					file->f_flags & O_NONBLOCK || flags & SPLICE_F_NONBLOCK);
	if (spd.nr_pages)
		ret = splice_to_pipe(pipe, &spd);

	splice_shrink_spd(&spd);
	return ret;
}

static __poll_t hyp_trace_raw_poll(struct file *file, poll_table *pt)
{
	struct hyp_trace_raw *raw = file->private_data;

	return hyp_trace_poll(raw->buffer, raw->cpu, file, pt);
}

static int hyp_trace_raw_get_reader(struct hyp_trace_raw *raw, bool nonblock)
{
	int ret;

	if (!nonblock) {
		ret = hyp_trace_raw_wait(raw, hyp_trace_get_percent());
		if (ret)
			return ret;
	}

	hyp_trace_read_lock(raw->cpu);
	ret = ring_buffer_map_get_reader(raw->buffer, raw->cpu);
	hyp_trace_read_unlock(raw->cpu);

	return ret;
}

static long hyp_trace_raw_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	struct hyp_trace_raw *raw = file->private_data;

	switch (cmd) {
	case 0:
		hyp_trace_raw_wake(raw);
		return 0;
	case TRACE_MMAP_IOCTL_GET_READER:
		return hyp_trace_raw_get_reader(raw, file->f_flags & O_NONBLOCK);
	default:
		return -ENOTTY;
	}
}

static void hyp_trace_raw_vma_open(struct vm_area_struct *vma)
{
	struct hyp_trace_raw *raw = vma->vm_file->private_data;

	ring_buffer_map_dup(raw->buffer, raw->cpu);
}

static void hyp_trace_raw_vma_close(struct vm_area_struct *vma)
{
	struct hyp_trace_raw *raw = vma->vm_file->private_data;

	WARN_ON_ONCE(ring_buffer_unmap(raw->buffer, raw->cpu));
}

/* A mapping is the whole of it. */
static int hyp_trace_raw_vma_may_split(struct vm_area_struct *vma, unsigned long addr)
{
	return -EINVAL;
}

static const struct vm_operations_struct hyp_trace_raw_vm_ops = {
	.open		= hyp_trace_raw_vma_open,
	.close		= hyp_trace_raw_vma_close,
	.may_split	= hyp_trace_raw_vma_may_split,
};

/* The mapping has the file, and with it the rings. */
static int hyp_trace_raw_mmap(struct file *file, struct vm_area_struct *vma)
{
	struct hyp_trace_raw *raw = file->private_data;
	int ret;

	ret = ring_buffer_map(raw->buffer, raw->cpu, vma);
	if (!ret)
		vma->vm_ops = &hyp_trace_raw_vm_ops;
	return ret;
}

static int hyp_trace_raw_alloc(struct hyp_trace_raw **praw)
{
	struct hyp_trace_raw *raw;

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

static void hyp_trace_raw_free(struct hyp_trace_raw *raw)
{
	mutex_destroy(&raw->lock);
	free_page((unsigned long)raw->page);
	kfree(raw);
}

static int hyp_trace_raw_open(struct inode *inode, struct file *file)
{
	struct hyp_trace_raw *raw;
	int ret;

	ret = hyp_trace_open(inode, file);
	if (!ret)
		ret = hyp_trace_raw_alloc(&raw);
	if (ret)
		return ret;

	raw->buffer = hyp_trace_get_reader();
	if (IS_ERR(raw->buffer)) {
		ret = PTR_ERR(raw->buffer);
		hyp_trace_raw_free(raw);
		return ret;
	}

	raw->cpu = hyp_trace_file_cpu(inode);
	file->private_data = raw;
	/* No position, and so no lock on it: readers of one descriptor don't block each other. */
	return stream_open(inode, file);
}

static int hyp_trace_raw_flush(struct file *file, fl_owner_t id)
{
	struct hyp_trace_raw *raw = file->private_data;

	WRITE_ONCE(raw->closed, true);
	hyp_trace_raw_wake(raw);
	return 0;
}

static int hyp_trace_raw_release(struct inode *inode, struct file *file)
{
	hyp_trace_raw_free(file->private_data);
	hyp_trace_put_reader();
	return 0;
}

const struct file_operations hyp_trace_raw_fops = {
	.open		= hyp_trace_raw_open,
	.read		= hyp_trace_raw_read,
	.splice_read	= hyp_trace_raw_splice_read,
	.poll		= hyp_trace_raw_poll,
	.unlocked_ioctl	= hyp_trace_raw_ioctl,
	.mmap		= hyp_trace_raw_mmap,
	.flush		= hyp_trace_raw_flush,
	.release	= hyp_trace_raw_release,
};
