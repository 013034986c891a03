// SPDX-License-Identifier: GPL-2.0-only
/*
 * Accounting for the time at EL2: what the host asks of it
 *
 * EL2 keeps the counters in its own memory (stay.c) and gives the host copies of them, each cell
 * as it was at one moment. Nothing that the host can write is read. What it passes is checked, and
 * spoils its own copy at the worst: a wrong factor puts times into wrong buckets, and a CPU that
 * was not prepared counts a time that is too long.
 *
 * The host resets the counters by subtracting a copy. EL2 only clears the maxima when it makes
 * that. A CPU may end a stay just then: its time is in the maximum that is cleared, which the
 * host gets, or in the next one.
 */
#include <linux/atomic.h>
#include <linux/build_bug.h>
#include <linux/errno.h>
#include <linux/minmax.h>
#include <linux/nospec.h>
#include <linux/percpu.h>
#include <linux/sizes.h>
#include <linux/string.h>

#include <asm/barrier.h>
#include <asm/kvm_asm.h>
#include <asm/kvm_hyp.h>

#include <nvhe/acct.h>
#include <nvhe/clock.h>
#include <nvhe/stay.h>
#include <nvhe/trace.h>
#include <nvhe/trace_cpu.h>
#include <nvhe/trap_handler.h>

/* How often a cell is copied. The CPU changes its cells some 20 ns of each stay. */
#define HYP_ACCT_TRIES		100

struct hyp_acct_cells {
	struct hyp_acct_cell	cell[NR_HYP_ACCT_REASONS];
};

static_assert(sizeof(struct hyp_acct_cells) + sizeof(struct hyp_stay) <= HYP_ACCT_MAX_SIZE);

static DEFINE_PER_CPU(struct hyp_acct_cells, hyp_acct_cells);

/* NULL for a CPU that does not exist. */
static struct hyp_stay *hyp_acct_stay(u64 cpu)
{
	return hyp_trace_cpu_exists(&cpu) ? &per_cpu_ptr(&kvm_host_data, cpu)->stay : NULL;
}

static bool hyp_acct_is_on(void)
{
	return READ_ONCE(hyp_stay_on) & HYP_STAY_ACCOUNT;
}

/**
 * hyp_acct_prepare - prepare a CPU, before accounting is turned on
 * @cpu:	this CPU, or one that is offline
 * @mult:	ns a cycle, times 2^HYP_STAY_MULT_SHIFT
 *
 * What is under way on the CPU is not accounted for.
 *
 * Context: hypercall, with arguments from the host, as all here.
 * Return: 0; -EINVAL for a CPU that does not exist; -EBUSY while accounting is on.
 */
int hyp_acct_prepare(u64 cpu, u64 mult)
{
	struct hyp_stay *stay = hyp_acct_stay(cpu);

	if (!stay)
		return -EINVAL;
	if (hyp_acct_is_on())
		return -EBUSY;

	WRITE_ONCE(stay->mult, mult);
	WRITE_ONCE(stay->start, 0);
	WRITE_ONCE(stay->run, 0);
	WRITE_ONCE(stay->cells, per_cpu_ptr(&hyp_acct_cells, cpu)->cell);
	return 0;
}

/**
 * hyp_acct_enable - turn accounting on or off, for all CPUs
 * @on:		whether it is on
 *
 * Return: 0.
 */
int hyp_acct_enable(bool on)
{
	hyp_stay_set(HYP_STAY_ACCOUNT, on);
	return 0;
}

/**
 * struct hyp_acct_view - what a CPU sees of another one's cell, and of what is under way
 * @start:	of hyp_stay
 * @of:		hyp_stay.cell
 * @now:	CNTPCT_EL0, while that was under way
 * @cell:	the cell
 */
struct hyp_acct_view {
	u64			start;
	u64			of;
	u64			now;
	struct hyp_acct_cell	cell;
};

static void hyp_acct_load(struct hyp_acct_cell *copy, const struct hyp_acct_cell *cell)
{
	unsigned int i;

	copy->total = READ_ONCE(cell->total);
	copy->max = READ_ONCE(cell->max);
	for (i = 0; i < HYP_ACCT_NR_BUCKETS; i++)
		copy->buckets[i] = READ_ONCE(cell->buckets[i]);
}

/* Whether a cell has counted anything since it was copied. Its maximum may have been cleared. */
static bool hyp_acct_has_counted(const struct hyp_acct_cell *cell,
				 const struct hyp_acct_cell *copy)
{
	unsigned int i;

	if (READ_ONCE(cell->total) != copy->total || READ_ONCE(cell->nr_gaps) > copy->nr_gaps)
		return true;

	for (i = 0; i < HYP_ACCT_NR_BUCKETS; i++) {
		if (READ_ONCE(cell->buckets[i]) != copy->buckets[i])
			return true;
	}

	return false;
}

/* The time of what is under way, if it is of a cell */
static u64 hyp_acct_under_way(const struct hyp_acct_view *view, const struct hyp_acct_cell *cell)
{
	if (!view->start || hyp_stay_cell(view->of) != cell || !hyp_acct_is_on())
		return 0;

	return view->now - view->start;
}

static bool hyp_acct_try_view(struct hyp_acct_view *view, const struct hyp_stay *stay,
			      const struct hyp_acct_cell *cell)
{
	view->start = smp_load_acquire(&stay->start);		/* (I) */
	if (view->start & HYP_STAY_BUSY)
		return false;

	view->of = READ_ONCE(stay->cell);
	hyp_acct_load(&view->cell, cell);
	view->now = hyp_clock_count();
	isb();
	smp_rmb();						/* (I) */
	if (READ_ONCE(stay->start) != view->start)
		return false;

	smp_rmb();						/* (I) */
	return !hyp_acct_has_counted(cell, &view->cell);
}

/* Copy a cell to a page of the host's, which EL2 does not read. */
static int hyp_acct_copy(struct hyp_acct_cell *copy, const struct hyp_stay *stay,
			 const struct hyp_acct_cell *cell)
{
	struct hyp_acct_view view;
	int tries;

	for (tries = 0; tries < HYP_ACCT_TRIES; tries++) {
		if (hyp_acct_try_view(&view, stay, cell)) {
			view.cell.total += hyp_acct_under_way(&view, cell);
			memcpy(copy, &view.cell, sizeof(*copy));
			return 0;
		}
		cpu_relax();
	}

	return -EAGAIN;
}

static int hyp_acct_copy_page(struct hyp_acct_cell *page, const struct hyp_stay *stay, u64 first,
			      bool clear)
{
	u64 i, end = min(first + HYP_ACCT_PAGE_CELLS, (u64)NR_HYP_ACCT_REASONS);
	struct hyp_acct_cell *cells = READ_ONCE(stay->cells);
	int ret;

	if (!cells)
		return 0;

	for (i = first; i < end; i++) {
		ret = hyp_acct_copy(page, stay, &cells[i]);
		if (ret)
			return i > first ? i - first : ret;
		if (clear && i >= HYP_ACCT_NR_GAPS)
			page->max = xchg(&cells[i].max, 0);
		page++;
	}

	return end - first;
}

/**
 * hyp_acct_read - copy cells of a CPU
 * @cpu:	the CPU
 * @pfn:	a page that the host shares
 * @first:	the first cell
 * @clear:	whether the maxima are cleared
 *
 * Return: how many cells were copied to the page; 0 if accounting was never on; -EINVAL for a CPU
 * or a cell that does not exist; -EAGAIN if the CPU changed the first cell each time that it was
 * read; else as hyp_trace_pin().
 */
int hyp_acct_read(u64 cpu, u64 pfn, u64 first, bool clear)
{
	struct hyp_stay *stay = hyp_acct_stay(cpu);
	void *page;
	int ret;

	if (!stay || first >= NR_HYP_ACCT_REASONS)
		return -EINVAL;

	ret = hyp_trace_pin(pfn, &page);
	if (ret)
		return ret;

	first = array_index_nospec(first, NR_HYP_ACCT_REASONS);
	ret = hyp_acct_copy_page(page, stay, first, clear);
	hyp_trace_unpin(page);
	return ret;
}

/**
 * hyp_acct_set_threshold - stop tracing after a stay that took so long
 * @cycles:	of CNTPCT_EL0, the least that stop tracing; 0 for no threshold
 *
 * The host then clears the maxima of all CPUs by hyp_acct_read(): see stay_stop.c.
 *
 * Return: 0.
 */
int hyp_acct_set_threshold(u64 cycles)
{
	WRITE_ONCE(hyp_stay_threshold, cycles);
	smp_mb();						/* (T) */
	return 0;
}

void handle___hyp_acct_prepare(struct kvm_cpu_context *host_ctxt)
{
	DECLARE_REG(u64, cpu, host_ctxt, 1);
	DECLARE_REG(u64, mult, host_ctxt, 2);

	cpu_reg(host_ctxt, 1) = hyp_acct_prepare(cpu, mult);
}

void handle___hyp_acct_enable(struct kvm_cpu_context *host_ctxt)
{
	DECLARE_REG(bool, on, host_ctxt, 1);

	cpu_reg(host_ctxt, 1) = hyp_acct_enable(on);
}

void handle___hyp_acct_read(struct kvm_cpu_context *host_ctxt)
{
	DECLARE_REG(u64, cpu, host_ctxt, 1);
	DECLARE_REG(u64, pfn, host_ctxt, 2);
	DECLARE_REG(u64, first, host_ctxt, 3);
	DECLARE_REG(bool, clear, host_ctxt, 4);

	cpu_reg(host_ctxt, 1) = hyp_acct_read(cpu, pfn, first, clear);
}

void handle___hyp_acct_set_threshold(struct kvm_cpu_context *host_ctxt)
{
	DECLARE_REG(u64, cycles, host_ctxt, 1);

	cpu_reg(host_ctxt, 1) = hyp_acct_set_threshold(cycles);
}
