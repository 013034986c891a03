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
 * As with the kernel's own buffers, the memory is the system's. It is not charged to the task
 * that happens to load the buffer.
 *
 * Guards
 * ------
 *
 * load_unaligned_zeropad() reads a word at any address, and so up to 7 bytes past the
 * end of the page it was asked for. The host has an exception table entry for a next
 * page that is not mapped in stage 1. If that page was donated to EL2, the abort is one
 * of stage 2, which host_stage2_idmap() refuses with -EPERM, and EL2 ends in BUG(). Only
 * the page before a donated one matters. So donated pages are in a block, behind a
 * page of ours that is never passed to such functions, the guard:
 *
 *	| guard | directory | leaf | leaf | ...
 *
 * The guard of the first block is the meta page, which stays the host's to read: where
 * there is one block the guard costs no memory. A block of the default size is 5 pages
 * of 4 KiB, of an allocation of 8 whose rest is freed at once. Where no such block
 * is free there are several smaller ones, down to one donated page, each with a guard.
 *
 * Nothing here is locked: kernel/trace/remote loads or unloads one ring at a time.
 */
#include <linux/cpu.h>
#include <linux/gfp.h>
#include <linux/kvm_host.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
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

static DEFINE_PER_CPU(struct hyp_trace_ring, hyp_trace_rings);

/**
 * hyp_trace_unload_ring - take the ring of a CPU back from EL2, and free it
 * @priv:	not used
 * @cpu:	the CPU, which does not write to the ring
 * @desc:	the ring
 *
 * Context: process context, may sleep; serialised by the caller.
 */
void hyp_trace_unload_ring(void *priv, int cpu, struct ring_buffer_writer_cpu *desc)
{
	struct hyp_trace_ring *ring = per_cpu_ptr(&hyp_trace_rings, cpu);

	if (hyp_trace_ring_unload(ring, cpu))
		WARN_ON_ONCE(!hyp_trace_has_ended());
	else
		hyp_trace_ring_free(ring);
}

/**
 * hyp_trace_load_ring - allocate the ring of a CPU, and pass it to EL2
 * @priv:	not used
 * @cpu:	the CPU
 * @desc:	the ring, with the number of its pages
 *
 * Context: process context, may sleep; serialised by the caller.
 * Return: 0; -ENOMEM; -EINTR when the task is being killed; or what EL2 refused with. After
 * an error all memory is back.
 */
int hyp_trace_load_ring(void *priv, int cpu, struct ring_buffer_writer_cpu *desc)
{
	struct hyp_trace_ring *ring = per_cpu_ptr(&hyp_trace_rings, cpu);
	int ret;

	*ring = (struct hyp_trace_ring){ .desc = desc };
	ret = hyp_trace_ring_alloc(ring, cpu);
	if (ret && fatal_signal_pending(current))
		ret = -EINTR;
	if (!ret)
		ret = hyp_trace_ring_load(ring, cpu);
	if (ret)
		hyp_trace_unload_ring(priv, cpu, desc);
	return ret;
}
