// SPDX-License-Identifier: GPL-2.0-only
/*
 * ring_buffer_reader_base.c, which the kernel's ring_buffer.c includes, and of that file what it
 * uses: nothing waits, and there is no page for user space.
 */
typedef u64 local_t;
typedef struct { } arch_spinlock_t;
struct lock_class_key { };

#define local_set(local, value)		(*(local) = (value))
#define local_read(local)		(*(local))
#define atomic_set(counter, value)	(*(counter) = (value))
#define cpumask_set_cpu(cpu, mask)	(*(mask) |= BIT(cpu))
#define cpumask_test_cpu(cpu, mask)	((cpu) >= 0 && (cpu) < nr_cpu_ids && *(mask) & BIT(cpu))
#define zalloc_cpumask_var(mask, gfp)	(*(mask) = calloc(1, sizeof(**(mask))))
#define free_cpumask_var(mask)		free(mask)
#define for_each_buffer_cpu(buffer, cpu) for_each_possible_cpu(cpu)
#define cache_line_size()		64
#define raw_spin_lock_init(lock)	((lock)->held = 0)
#define lockdep_set_class(lock, key)	((void)(lock), (void)(key))
#define __ARCH_SPIN_LOCK_UNLOCKED	{ }
#define mutex_init(mutex)		((void)(mutex))
#define init_waitqueue_head(queue)	((void)(queue))
#define wq_has_sleeper(queue)		((void)(queue), false)
#define init_irq_work(work, call)	((void)(work))
#define irq_work_sync(work)		((void)(work))
#define free_pages(page, order)		free((void *)(page))

#define RB_FL_OVERWRITE		1
#define RB_MISSED_EVENTS	BIT(31)
#define RB_MISSED_STORED	BIT(30)
#define RB_MAX_SMALL_DATA	(RINGBUF_TYPE_DATA_TYPE_LEN_MAX * 4)
#define TS_SHIFT		27

struct buffer_data_page {
	u64		time_stamp;
	local_t		commit;
	unsigned char	data[];
};

struct buffer_page {
	struct list_head	list;
	unsigned int		read;
	u32			id:30, range:1;
	struct buffer_data_page	*page;
};

struct rb_irq_work {
	int	work, waiters, full_waiters;
};

struct ring_buffer_per_cpu {
	int			cpu, record_disabled, resize_disabled, mapped, mapping_lock;
	struct trace_buffer	*buffer;
	raw_spinlock_t		reader_lock;
	arch_spinlock_t		lock;
	struct { void *data; int order; } free_page;
	unsigned long		nr_pages;
	struct list_head	*pages, new_pages;
	struct buffer_page	*reader_page, *commit_page;
	unsigned long		lost_events, read, read_bytes;
	local_t			entries_bytes, entries, overrun, dropped_events;
	local_t			pages_touched, pages_read;
	struct trace_buffer_meta *meta_page;
	struct rb_irq_work	irq_work;
	struct rb_reader	*reader;
};

struct trace_buffer {
	unsigned int			flags, max_data_size;
	int				record_disabled, mutex;
	unsigned long			*cpumask;
	struct lock_class_key		*reader_lock_key;
	struct ring_buffer_per_cpu	**buffers;
	u64				(*clock)(void);
	struct rb_irq_work		irq_work;
	const struct rb_reader_ops	*reader_ops;
};

static void rb_update_meta_page(struct ring_buffer_per_cpu *cpu_buffer)
{
}

static void rb_wakeups(struct trace_buffer *buffer, struct ring_buffer_per_cpu *cpu_buffer)
{
}

static unsigned long rb_num_of_entries(struct ring_buffer_per_cpu *cpu_buffer)
{
	return cpu_buffer->entries - cpu_buffer->overrun - cpu_buffer->read;
}

#include "ring_buffer_reader_base.c"
