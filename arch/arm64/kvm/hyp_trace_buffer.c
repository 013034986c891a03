// SPDX-License-Identifier: GPL-2.0-only
/*
 * The memory of the hypervisor's rings
 *
 * A ring is its pages and a meta page, shared with EL2, and a directory and
 * leaf pages for EL2's own use, which under pKVM become the hypervisor's. All
 * are allocated here, handed over a page a hypercall, and come back the same
 * way. If EL2 refuses to give a ring back its memory is leaked, with a
 * warning: it may still be written to.
 *
 * Nothing here is locked: one buffer is loaded or unloaded at a time, which
 * hyp_trace.c sees to.
 */
#include <linux/gfp.h>
#include <linux/kvm_host.h>
#include <linux/mm.h>
#include <linux/oom.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>

#include <asm/kvm_asm.h>
#include <asm/kvm_mmu.h>

#include "hyp/include/nvhe/trace_ring.h"
#include "hyp_trace.h"

#define HYP_TRACE_GFP	(GFP_KERNEL_ACCOUNT | __GFP_ZERO | __GFP_RETRY_MAYFAIL | __GFP_NOWARN)

/* Bytes of events a page has room for; the host's buffers are sized by it too. */
#define HYP_TRACE_PAGE_DATA	(PAGE_SIZE - sizeof(struct ring_buffer_writer_page))

static unsigned long hyp_trace_size_to_pages(unsigned long size)
{
	unsigned long nr = DIV_ROUND_UP(size, HYP_TRACE_PAGE_DATA) + 1;

	return max_t(unsigned long, nr, RB_WRITER_MIN_PAGES);
}

static u64 hyp_trace_pfn(void *page)
{
	return page_to_pfn(virt_to_page(page));
}

static void *hyp_trace_alloc_page(int cpu)
{
	struct page *page;

	cond_resched();
	if (fatal_signal_pending(current))
		return NULL;

	page = alloc_pages_node(cpu_to_node(cpu), HYP_TRACE_GFP, 0);
	return page ? page_address(page) : NULL;
}

static void hyp_trace_free_page(void *page)
{
	free_page((unsigned long)page);
}

static void *hyp_trace_alloc_shared_page(int cpu)
{
	void *page = hyp_trace_alloc_page(cpu);

	if (page && kvm_share_hyp(page, page + PAGE_SIZE)) {
		hyp_trace_free_page(page);
		return NULL;
	}

	return page;
}

static void hyp_trace_free_shared_page(void *page)
{
	kvm_unshare_hyp(page, page + PAGE_SIZE);
	hyp_trace_free_page(page);
}

/* For EL2 alone. Under pKVM it is donated later; without, EL2 needs a mapping. */
static void *hyp_trace_alloc_private_page(int cpu)
{
	if (is_protected_kvm_enabled())
		return hyp_trace_alloc_page(cpu);

	return hyp_trace_alloc_shared_page(cpu);
}

/* Allocate @nr pages into a new array; what was had is there on failure too. */
static int hyp_trace_alloc_pages(void ***pages, unsigned int nr, int cpu,
				 void *(*alloc)(int cpu))
{
	unsigned int i;

	*pages = kvcalloc(nr, sizeof(**pages), GFP_KERNEL_ACCOUNT);
	if (!*pages)
		return -ENOMEM;

	for (i = 0; i < nr; i++) {
		(*pages)[i] = alloc(cpu);
		if (!(*pages)[i])
			return -ENOMEM;
	}

	return 0;
}

static void hyp_trace_free_pages(void **pages, unsigned int nr, void (*free)(void *page))
{
	unsigned int i;

	for (i = 0; pages && i < nr && pages[i]; i++) {
		free(pages[i]);
		cond_resched();
	}

	kvfree(pages);
}

/**
 * struct hyp_trace_ring - the memory of one CPU's ring
 * @desc:	the pages and the meta page, shared
 * @dir:	the directory and the leaves, in one array; EL2's while loaded
 * @nr_private:	how many those are
 */
struct hyp_trace_ring {
	struct ring_buffer_writer_cpu	*desc;
	void				**dir;
	unsigned int			nr_private;
};

static int hyp_trace_ring_alloc(struct hyp_trace_ring *ring, int cpu)
{
	struct ring_buffer_writer_cpu *desc = ring->desc;
	int ret;

	desc->meta = hyp_trace_alloc_shared_page(cpu);
	if (!desc->meta)
		return -ENOMEM;

	ring->nr_private = 1 + TRACE_RING_LEAVES(desc->nr_pages);
	ret = hyp_trace_alloc_pages(&ring->dir, ring->nr_private, cpu,
				    hyp_trace_alloc_private_page);
	if (ret)
		return ret;

	return hyp_trace_alloc_pages(&desc->pages, desc->nr_pages, cpu,
				     hyp_trace_alloc_shared_page);
}

static void hyp_trace_ring_free(struct hyp_trace_ring *ring)
{
	struct ring_buffer_writer_cpu *desc = ring->desc;

	hyp_trace_free_pages(desc->pages, desc->nr_pages, hyp_trace_free_shared_page);
	hyp_trace_free_pages(ring->dir, ring->nr_private, hyp_trace_free_page);
	if (desc->meta)
		hyp_trace_free_shared_page(desc->meta);
}

/* Hand a ring to EL2. After a failure it is for hyp_trace_ring_unload(). */
static int hyp_trace_ring_load(struct hyp_trace_ring *ring, int cpu)
{
	struct ring_buffer_writer_cpu *desc = ring->desc;
	unsigned int i;
	int ret;

	ret = hyp_trace_hypcall(__hyp_trace_ring_begin, cpu, hyp_trace_pfn(desc->meta),
				hyp_trace_pfn(ring->dir[0]), desc->nr_pages);

	for (i = 1; !ret && i < ring->nr_private; i++)
		ret = hyp_trace_hypcall(__hyp_trace_ring_add_leaf, cpu,
					hyp_trace_pfn(ring->dir[i]));

	for (i = 0; !ret && i < desc->nr_pages; i++) {
		ret = hyp_trace_hypcall(__hyp_trace_ring_add_page, cpu,
					hyp_trace_pfn(desc->pages[i]));
		cond_resched();
	}

	return ret ?: hyp_trace_hypcall(__hyp_trace_ring_end, cpu);
}

/* Take back whatever EL2 has of the ring of @cpu. */
static int hyp_trace_ring_unload(int cpu)
{
	int ret;

	do {
		ret = hyp_trace_hypcall(__hyp_trace_ring_pop, cpu);
		cond_resched();
	} while (ret > 0);

	return ret;
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
 * @rings:	the memory of each, by CPU
 */
struct hyp_trace_memory {
	struct hyp_trace_buffer	buffer;
	struct hyp_trace_ring	*rings;
};

static void hyp_trace_memory_free(struct hyp_trace_memory *memory)
{
	int cpu;

	for_each_possible_cpu(cpu)
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
	writer->cpumask = cpu_possible_mask;
	writer->cpus = kcalloc(nr_cpu_ids, sizeof(*writer->cpus), GFP_KERNEL);
	memory->rings = kcalloc(nr_cpu_ids, sizeof(*memory->rings), GFP_KERNEL);
	if (!writer->cpus || !memory->rings)
		goto err_free;

	for_each_possible_cpu(cpu) {
		writer->cpus[cpu].nr_pages = hyp_trace_size_to_pages(size(cpu));
		memory->rings[cpu].desc = &writer->cpus[cpu];
	}

	return memory;

err_free:
	kfree(memory->rings);
	kfree(writer->cpus);
	kfree(memory);
	return NULL;
}

static int hyp_trace_memory_load_cpus(struct hyp_trace_memory *memory)
{
	int cpu, ret;

	for_each_possible_cpu(cpu) {
		ret = hyp_trace_ring_alloc(&memory->rings[cpu], cpu);
		if (ret)
			return fatal_signal_pending(current) ? -EINTR : ret;

		ret = hyp_trace_ring_load(&memory->rings[cpu], cpu);
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

	for_each_possible_cpu(cpu)
		ret = hyp_trace_ring_unload(cpu) ?: ret;

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
	return (TRACE_RING_MAX_PAGES - 1) * HYP_TRACE_PAGE_DATA;
}

/**
 * hyp_trace_buffer_load - allocate all rings and hand them to EL2
 * @size:	says how many bytes of events a CPU's shall hold, at the least;
 *		hyp_trace_buffer_max_size() at most
 *
 * Context: process context, may sleep; serialised by the caller.
 * Return: the buffer, for hyp_trace_buffer_unload(); an ERR_PTR() of -ENOMEM,
 * -EINTR when the task is being killed, or what EL2 refused with. Then all
 * memory is back.
 */
struct hyp_trace_buffer *hyp_trace_buffer_load(unsigned long (*size)(int cpu))
{
	struct hyp_trace_memory *memory;
	unsigned long nr_pages = 0;
	int cpu, ret;

	for_each_possible_cpu(cpu)
		nr_pages += hyp_trace_size_to_pages(size(cpu));

	/*
	 * A size that is out of the question shall not push others out first.
	 * A page takes more than itself: what describes it here and at EL2.
	 */
	if (nr_pages + nr_pages / 8 > si_mem_available())
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
