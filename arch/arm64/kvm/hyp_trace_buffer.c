// SPDX-License-Identifier: GPL-2.0-only
/*
 * The memory of the hypervisor's rings
 *
 * A ring is its pages and a meta page, shared with EL2, and a directory and
 * leaf pages for EL2's own use, which under pKVM become the hypervisor's. All
 * are allocated here. Each hypercall hands over one page, or up to
 * HYP_TRACE_HCALL_PAGES pages of events at consecutive addresses; pages come back
 * the same way. EL2 shares and unshares the pages of events in these calls. If EL2
 * refuses to return a ring, its memory is leaked with a warning: EL2 may still
 * write to it.
 *
 * As with the host's buffers, a CPU that was never up has no ring, and the memory
 * is the system's: it is not charged to the task that happens to load the buffer.
 *
 * Guards
 * ------
 *
 * load_unaligned_zeropad() reads a word at any address, and so up to 7 bytes past the
 * end of the page it was asked for. The host has an exception table entry for a next
 * page that is not mapped in stage 1. If that page was donated to EL2, the abort is one
 * of stage 2, which host_stage2_idmap() refuses with -EPERM, and EL2 ends in BUG(). Only
 * the page before a donated one matters. So donated pages are in a block, behind a
 * page of ours that nobody passes to such functions, the guard:
 *
 *	| guard | directory | leaf | leaf | ...
 *
 * The guard of the first block is the meta page, which stays the host's to read: where
 * there is one block the guard costs no memory. A block of the default size is 5 pages
 * of 4 KiB, of an allocation of 8 whose rest is freed at once. Where no such block
 * is free there are several smaller ones, down to one donated page, each with a guard.
 *
 * Nothing here is locked: one buffer is loaded or unloaded at a time, and a CPU added
 * to one that stays, which hyp_trace.c sees to.
 */
#include <linux/cpu.h>
#include <linux/cpumask.h>
#include <linux/gfp.h>
#include <linux/kvm_host.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/oom.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>
#include <linux/trace_ring.h>

#include <asm/kvm_asm.h>
#include <asm/kvm_hypevents_defs.h>
#include <asm/kvm_mmu.h>

#include "hyp_trace.h"

#define HYP_TRACE_GFP	(GFP_KERNEL | __GFP_ZERO | __GFP_RETRY_MAYFAIL | __GFP_NOWARN)

/* ... of several pages, where fewer will do */
#define HYP_TRACE_TRY_GFP	(GFP_KERNEL | __GFP_ZERO | __GFP_NORETRY | __GFP_NOWARN)

/* Donated pages in one block, at the most: what the page allocator has, and a guard. */
#define HYP_TRACE_MAX_BLOCK	((1U << MAX_PAGE_ORDER) - 1)

static unsigned long hyp_trace_size_to_pages(unsigned long size)
{
	unsigned long nr = DIV_ROUND_UP(size, TRACE_RING_PAGE_DATA) + 1;

	return max_t(unsigned long, nr, RB_WRITER_MIN_PAGES);
}

static u64 hyp_trace_pfn(void *page)
{
	return page_to_pfn(virt_to_page(page));
}

static struct page *hyp_trace_alloc_order(int cpu, unsigned int order, gfp_t gfp)
{
	cond_resched();
	if (fatal_signal_pending(current))
		return NULL;

	return alloc_pages_node(cpu_to_node(cpu), gfp, order);
}

/* @nr pages in a row, to be freed one by one. */
static void *hyp_trace_alloc_block(int cpu, unsigned int nr)
{
	unsigned int order = order_base_2(nr), i;
	struct page *page = hyp_trace_alloc_order(cpu, order, HYP_TRACE_GFP);

	if (!page)
		return NULL;

	split_page(page, order);
	for (i = nr; i < 1U << order; i++)
		__free_page(page + i);
	return page_address(page);
}

static void hyp_trace_free_page(void *page)
{
	free_page((unsigned long)page);
}

/*
 * Without pKVM the host maps what EL2 uses. Under pKVM EL2 does so itself, when pages are
 * shared or donated.
 */
static int hyp_trace_map(void *from, unsigned int nr)
{
	if (is_protected_kvm_enabled())
		return 0;

	return kvm_share_hyp(from, from + nr * PAGE_SIZE) ? -ENOMEM : 0;
}

/*
 * Allocate at most @nr pages, at consecutive addresses: as many as a hypercall adds if
 * possible, else fewer. Returns how many; 0 for none.
 */
static unsigned int hyp_trace_alloc_run(void **pages, unsigned int nr, int cpu)
{
	unsigned int order = ilog2(min_t(unsigned int, nr, HYP_TRACE_HCALL_PAGES)), i;
	struct page *page = NULL;

	for (; order && !page; order -= !page)
		page = hyp_trace_alloc_order(cpu, order, HYP_TRACE_TRY_GFP);
	if (!page)
		page = hyp_trace_alloc_order(cpu, 0, HYP_TRACE_GFP);
	if (!page)
		return 0;

	split_page(page, order);
	for (i = 0; i < 1U << order; i++)
		pages[i] = page_address(page + i);
	return 1U << order;
}

/* Allocate the pages of events. After a failure those that were allocated are there. */
static int hyp_trace_alloc_pages(struct ring_buffer_writer_cpu *desc, int cpu)
{
	unsigned int i, nr;

	desc->pages = kvcalloc(desc->nr_pages, sizeof(*desc->pages), GFP_KERNEL);
	if (!desc->pages)
		return -ENOMEM;

	for (i = 0; i < desc->nr_pages; i += nr) {
		nr = hyp_trace_alloc_run(&desc->pages[i], desc->nr_pages - i, cpu);
		if (!nr || hyp_trace_map(desc->pages[i], nr))
			return -ENOMEM;
	}

	return 0;
}

static void hyp_trace_free_pages(struct ring_buffer_writer_cpu *desc)
{
	unsigned int i;

	for (i = 0; desc->pages && i < desc->nr_pages && desc->pages[i]; i++) {
		hyp_trace_free_page(desc->pages[i]);
		cond_resched();
	}

	kvfree(desc->pages);
}

/**
 * struct hyp_trace_ring - the memory of one CPU's ring
 * @desc:	the pages and the meta page, shared
 * @dir:	the directory and the leaves, in one array; EL2's while loaded
 * @guards:	by the index in @dir, the guard before a page that begins a block; else NULL
 * @nr_private:	how many pages @dir has
 * @nr_taken:	hypercalls that handed pages to EL2
 */
struct hyp_trace_ring {
	struct ring_buffer_writer_cpu	*desc;
	void				**dir;
	void				**guards;
	unsigned int			nr_private;
	unsigned int			nr_taken;
};

/* Allocate a block of at most @nr pages from the @i-th on. Returns how many; 0 for none. */
static unsigned int hyp_trace_alloc_private_block(struct hyp_trace_ring *ring, unsigned int i,
						  unsigned int nr, int cpu)
{
	unsigned int j;
	void *block;

	for (; nr; nr /= 2) {
		block = hyp_trace_alloc_block(cpu, nr + 1);
		if (block)
			break;
	}

	if (nr)
		ring->guards[i] = block;
	for (j = 0; j < nr; j++)
		ring->dir[i + j] = block + (j + 1) * PAGE_SIZE;
	return nr;
}

static int hyp_trace_alloc_private(struct hyp_trace_ring *ring, int cpu)
{
	unsigned int i, nr = HYP_TRACE_MAX_BLOCK;

	ring->dir = kvcalloc(ring->nr_private, sizeof(*ring->dir), GFP_KERNEL);
	ring->guards = kvcalloc(ring->nr_private, sizeof(*ring->guards), GFP_KERNEL);
	if (!ring->dir || !ring->guards)
		return -ENOMEM;

	for (i = 0; i < ring->nr_private; i += nr) {
		nr = hyp_trace_alloc_private_block(ring, i, min(nr, ring->nr_private - i), cpu);
		if (!nr)
			return -ENOMEM;
	}

	return 0;
}

static void hyp_trace_free_private(struct hyp_trace_ring *ring)
{
	unsigned int i;

	for (i = 0; ring->guards && ring->dir && i < ring->nr_private && ring->dir[i]; i++) {
		if (ring->guards[i])
			hyp_trace_free_page(ring->guards[i]);
		hyp_trace_free_page(ring->dir[i]);
		cond_resched();
	}

	kvfree(ring->guards);
	kvfree(ring->dir);
}

static int hyp_trace_map_private(struct hyp_trace_ring *ring)
{
	unsigned int i;
	int ret = 0;

	for (i = 0; i < ring->nr_private && !ret; i++)
		ret = hyp_trace_map(ring->dir[i], 1);
	return ret;
}

/* The guard of the first block. */
static int hyp_trace_share_meta(struct hyp_trace_ring *ring)
{
	void *meta = ring->guards[0];

	if (kvm_share_hyp(meta, meta + PAGE_SIZE))
		return -ENOMEM;

	ring->desc->meta = meta;
	return 0;
}

static int hyp_trace_ring_alloc(struct hyp_trace_ring *ring, int cpu)
{
	struct ring_buffer_writer_cpu *desc = ring->desc;
	int ret;

	ring->nr_private = 1 + TRACE_RING_LEAVES(desc->nr_pages);
	ret = hyp_trace_alloc_private(ring, cpu);
	if (!ret)
		ret = hyp_trace_map_private(ring);
	if (!ret)
		ret = hyp_trace_share_meta(ring);
	if (ret)
		return ret;

	return hyp_trace_alloc_pages(desc, cpu);
}

static void hyp_trace_ring_free(struct hyp_trace_ring *ring)
{
	struct ring_buffer_writer_cpu *desc = ring->desc;

	hyp_trace_free_pages(desc);
	if (desc->meta)
		kvm_unshare_hyp(desc->meta, (void *)desc->meta + PAGE_SIZE);
	hyp_trace_free_private(ring);

	*desc = (struct ring_buffer_writer_cpu){ };
	*ring = (struct hyp_trace_ring){ .desc = desc };
}

/* How many of @nr pages, from the first on, can be added with one hypercall? */
static unsigned int hyp_trace_run_length(void **pages, unsigned int nr)
{
	unsigned int i;

	for (i = 1; i < min_t(unsigned int, nr, HYP_TRACE_HCALL_PAGES); i++) {
		if (pages[i] != pages[0] + i * PAGE_SIZE)
			break;
	}

	return i;
}

/* Hand a ring to EL2. After a failure, hyp_trace_ring_unload() undoes it. */
static int hyp_trace_ring_load(struct hyp_trace_ring *ring, int cpu)
{
	struct ring_buffer_writer_cpu *desc = ring->desc;
	unsigned int i, nr;
	int ret;

	ret = hyp_trace_hypcall(__hyp_trace_ring_begin, cpu, hyp_trace_pfn(desc->meta),
				hyp_trace_pfn(ring->dir[0]), desc->nr_pages);
	ring->nr_taken += !ret;

	for (i = 1; !ret && i < ring->nr_private; i++) {
		ret = hyp_trace_hypcall(__hyp_trace_ring_add_leaf, cpu,
					hyp_trace_pfn(ring->dir[i]));
		ring->nr_taken += !ret;
	}

	for (i = 0; !ret && i < desc->nr_pages; i += nr) {
		nr = hyp_trace_run_length(&desc->pages[i], desc->nr_pages - i);
		ret = hyp_trace_hypcall(__hyp_trace_ring_add_pages, cpu,
					hyp_trace_pfn(desc->pages[i]), nr);
		ring->nr_taken += !ret;
		cond_resched();
	}

	return ret ?: hyp_trace_hypcall(__hyp_trace_ring_end, cpu);
}

/*
 * Have EL2 return the ring of @cpu. It takes as many hypercalls as loading at the most: EL2
 * merges pages that were added one after the other if their addresses are consecutive.
 */
static int hyp_trace_ring_unload(struct hyp_trace_ring *ring, int cpu)
{
	int ret = 0;

	while (ring->nr_taken) {
		ret = hyp_trace_hypcall(__hyp_trace_ring_pop, cpu);
		if (ret < 0)
			return ret;
		ring->nr_taken = ret ? ring->nr_taken - 1 : 0;
		cond_resched();
	}

	/* The last one says that EL2 has no more. */
	return ret ? -EIO : 0;
}

static int hyp_trace_swap_reader(struct ring_buffer_writer *writer, int cpu)
{
	return hyp_trace_hypcall(__hyp_trace_swap_reader, cpu);
}

static int hyp_trace_reset(struct ring_buffer_writer *writer, int cpu)
{
	return hyp_trace_hypcall(__hyp_trace_reset, cpu);
}

static const struct ring_buffer_writer_ops hyp_trace_writer_ops = {
	.swap_reader	= hyp_trace_swap_reader,
	.reset		= hyp_trace_reset,
};

/**
 * struct hyp_trace_memory - all rings
 * @buffer:	what the rest of the host sees of them
 * @cpus:	the CPUs that have one
 * @rings:	the memory of each, by CPU
 */
struct hyp_trace_memory {
	struct hyp_trace_buffer	buffer;
	struct cpumask		cpus;
	struct hyp_trace_ring	*rings;
};

static void hyp_trace_memory_free(struct hyp_trace_memory *memory)
{
	int cpu;

	for_each_cpu(cpu, &memory->cpus)
		hyp_trace_ring_free(&memory->rings[cpu]);

	kfree(memory->rings);
	kfree(memory->buffer.writer.cpus);
	kfree(memory);
}

static struct hyp_trace_memory *hyp_trace_memory_alloc(unsigned long (*size)(int cpu))
{
	struct hyp_trace_memory *memory = kzalloc(sizeof(*memory), GFP_KERNEL);
	struct ring_buffer_writer *writer;
	int cpu;

	if (!memory)
		return NULL;

	writer = &memory->buffer.writer;
	writer->ops = &hyp_trace_writer_ops;
	writer->clock = ktime_get_boot_fast_ns;
	writer->cpumask = &memory->cpus;
	cpumask_copy(&memory->cpus, &cpus_booted_once_mask);
	writer->cpus = kcalloc(nr_cpu_ids, sizeof(*writer->cpus), GFP_KERNEL);
	memory->rings = kcalloc(nr_cpu_ids, sizeof(*memory->rings), GFP_KERNEL);
	if (!writer->cpus || !memory->rings)
		goto err_free;

	for_each_possible_cpu(cpu)
		memory->rings[cpu].desc = &writer->cpus[cpu];
	for_each_cpu(cpu, &memory->cpus)
		writer->cpus[cpu].nr_pages = hyp_trace_size_to_pages(size(cpu));

	return memory;

err_free:
	kfree(memory->rings);
	kfree(writer->cpus);
	kfree(memory);
	return NULL;
}

static int hyp_trace_memory_load_cpu(struct hyp_trace_memory *memory, int cpu)
{
	int ret;

	ret = hyp_trace_ring_alloc(&memory->rings[cpu], cpu);
	if (ret)
		return fatal_signal_pending(current) ? -EINTR : ret;

	return hyp_trace_ring_load(&memory->rings[cpu], cpu);
}

static int hyp_trace_memory_load_cpus(struct hyp_trace_memory *memory)
{
	int cpu, ret;

	for_each_cpu(cpu, &memory->cpus) {
		ret = hyp_trace_memory_load_cpu(memory, cpu);
		if (ret)
			return ret;
	}

	memory->buffer.trace = ring_buffer_reader(&memory->buffer.writer);
	return PTR_ERR_OR_ZERO(memory->buffer.trace);
}

/* Who wants too much is killed for it first, as with the host's buffers. */
static int hyp_trace_memory_load(struct hyp_trace_memory *memory)
{
	int ret;

	set_current_oom_origin();
	ret = hyp_trace_memory_load_cpus(memory);
	clear_current_oom_origin();

	return ret;
}

static int hyp_trace_memory_unload(struct hyp_trace_memory *memory)
{
	int cpu, ret = 0;

	for_each_cpu(cpu, &memory->cpus)
		ret = hyp_trace_ring_unload(&memory->rings[cpu], cpu) ?: ret;

	if (ret) {
		WARN_ON_ONCE(!hyp_trace_has_ended());
		return ret;
	}

	hyp_trace_memory_free(memory);
	return 0;
}

/**
 * hyp_trace_buffer_max_size - how large a CPU's ring can be
 *
 * Return: bytes.
 */
unsigned long hyp_trace_buffer_max_size(void)
{
	return (TRACE_RING_MAX_PAGES - 1) * TRACE_RING_PAGE_DATA;
}

/*
 * A size that is out of the question shall not push others out first. A page takes more
 * than itself: what describes it here and at EL2.
 */
static bool hyp_trace_has_room(unsigned long nr_pages)
{
	return nr_pages + nr_pages / 8 <= si_mem_available();
}

/**
 * hyp_trace_buffer_load - allocate all rings and hand them to EL2
 * @size:	says how many bytes of events a CPU's shall hold, at the least;
 *		hyp_trace_buffer_max_size() at most
 *
 * CPUs that were never up have none, until hyp_trace_buffer_add_cpu().
 *
 * Context: process context, may sleep; serialised by the caller, with cpu_hotplug_lock.
 * Return: the buffer, for hyp_trace_buffer_unload(); an ERR_PTR() of -ENOMEM,
 * -EINTR when the task is being killed, or what EL2 refused with. Then all
 * memory is back.
 */
struct hyp_trace_buffer *hyp_trace_buffer_load(unsigned long (*size)(int cpu))
{
	struct hyp_trace_memory *memory;
	unsigned long nr_pages = 0;
	int cpu, ret;

	lockdep_assert_cpus_held();

	for_each_cpu(cpu, &cpus_booted_once_mask)
		nr_pages += hyp_trace_size_to_pages(size(cpu));
	if (!hyp_trace_has_room(nr_pages))
		return ERR_PTR(-ENOMEM);

	memory = hyp_trace_memory_alloc(size);
	if (!memory)
		return ERR_PTR(-ENOMEM);

	ret = hyp_trace_memory_load(memory);
	if (ret) {
		hyp_trace_memory_unload(memory);
		return ERR_PTR(ret);
	}

	return &memory->buffer;
}

/**
 * hyp_trace_buffer_unload - take all rings back from EL2, and free them
 * @buffer:	the buffer, that nobody reads; no CPU writes to it
 *
 * Context: process context, may sleep; serialised by the caller.
 */
void hyp_trace_buffer_unload(struct hyp_trace_buffer *buffer)
{
	ring_buffer_reader_free(buffer->trace);
	hyp_trace_memory_unload(container_of(buffer, struct hyp_trace_memory, buffer));
}

/* Undo hyp_trace_memory_load_cpu(), or what there is of it. */
static void hyp_trace_memory_unload_cpu(struct hyp_trace_memory *memory, int cpu)
{
	struct hyp_trace_ring *ring = &memory->rings[cpu];

	if (!WARN_ON_ONCE(hyp_trace_ring_unload(ring, cpu)))
		hyp_trace_ring_free(ring);
}

/**
 * hyp_trace_buffer_add_cpu - make a ring for another CPU, if it has none
 * @buffer:	the buffer, which may be in use
 * @cpu:	the CPU; it does not run
 * @size:	how many bytes of events it shall hold, at the least
 *
 * Context: process context, may sleep; serialised by the caller, with cpu_hotplug_lock.
 * Return: 0; else as hyp_trace_buffer_load(), and all memory is back.
 */
int hyp_trace_buffer_add_cpu(struct hyp_trace_buffer *buffer, int cpu, unsigned long size)
{
	struct hyp_trace_memory *memory = container_of(buffer, struct hyp_trace_memory, buffer);
	unsigned int nr_pages = hyp_trace_size_to_pages(size);
	int ret;

	lockdep_assert_cpus_held();

	if (cpumask_test_cpu(cpu, &memory->cpus))
		return 0;
	if (!hyp_trace_has_room(nr_pages))
		return -ENOMEM;

	buffer->writer.cpus[cpu].nr_pages = nr_pages;
	ret = hyp_trace_memory_load_cpu(memory, cpu);
	if (!ret)
		ret = ring_buffer_reader_add_cpu(buffer->trace, &buffer->writer, cpu);
	if (ret)
		hyp_trace_memory_unload_cpu(memory, cpu);
	else
		cpumask_set_cpu(cpu, &memory->cpus);
	return ret;
}
