// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tracing at EL2: the memory of the rings, and what is allowed in which state
 *
 * Each CPU has a ring (trace_ring.c). The host shares its meta page, and EL2 pins
 * that. EL2 itself shares and pins the host's pages of events. The ring's entries are in
 * pages that the host donates, so that under pKVM no link, offset or counter that EL2
 * relies on is in memory the host can write. Under plain nVHE the host is trusted and
 * maps all pages.
 *
 * States of a ring
 * ----------------
 *
 *	NONE --begin--> LOADING --end--> READY --pop--> UNLOADING --pop--> NONE
 *	                   |                                ^
 *	                   +--------------pop---------------+
 *
 * "begin" takes the meta page and the directory, add_leaf one page, add_pages up to
 * HYP_TRACE_HCALL_PAGES pages. "pop" returns as many or one, in reverse order. So the
 * time of a hypercall does not depend on the size of the ring.
 *
 * The writer of a ring
 * --------------------
 *
 * A CPU writes events while it is ON. EL2 is not preempted, so a CPU that runs a hypercall is
 * not in the middle of an event. An event needs no lock and no atomic operation
 * (event_write.c). A PSCI call sends a CPU to the firmware, from where it may not return.
 * Another CPU may then act in its place. @writer says which CPU may use the writer's part of
 * the ring:
 *
 *	OFF		none; the CPU writes no events
 *	ON		the ring's CPU
 *	PARKED		none; the CPU writes events when it is back
 *	HELD		another CPU, which also has the ring's lock
 *
 *	OFF    -> ON		enable, on the ring's CPU
 *	OFF    -> PARKED	enable, on another CPU
 *	ON     -> PARKED	park: the CPU goes to the firmware
 *	PARKED -> ON		unpark, or enable on the ring's CPU
 *	PARKED -> HELD		hold, on another CPU
 *	HELD   -> PARKED	release
 *	HELD   -> OFF		disable, on another CPU
 *	ON     -> OFF		disable, on the ring's CPU
 *
 * Only the ring's CPU makes itself ON, and only it ends that. So EL2 need not know where a CPU
 * is that is OFF. A CPU that went to the firmware before its ring was loaded has not parked.
 * Another CPU enables it all the same: it becomes PARKED, and ON when it is back. If such a CPU
 * runs, it stays PARKED and writes nothing until it enables itself.
 *
 * All but park and unpark have the ring's lock. Parking is one store. Unparking is one
 * compare-and-exchange of a word that only this CPU uses as a rule. A CPU has that cost only
 * while any CPU is enabled, which hyp_trace_nr_enabled says. Only a CPU that finds itself held
 * waits, and only for the ring's lock. SYSTEM_OFF and SYSTEM_RESET never wait, so that they
 * work after EL2 has panicked with any lock held.
 *
 * Without pKVM, PSCI calls do not pass through EL2, and no CPU parks. There the host disables
 * a CPU's tracing before the CPU goes offline. If it does not, the ring can't be unloaded.
 *
 * Stopping
 * --------
 *
 * EL2 itself can stop tracing on all CPUs, and go on: see stay_stop.c and trigger.c. It sets
 * hyp_trace_stopped. Each CPU then finds another generation of the configuration at its next
 * event, writes nothing, and counts nothing as lost. @writer stays as it is. The host learns of it
 * by __hyp_trace_is_stopped. If no trigger can make EL2 go on, the host disables the CPUs, and sets
 * hyp_trace_stopped as it wants it before it enables the first of them again. By then each CPU has
 * left EL2 since the host turned off what could stop tracing. So no CPU sets hyp_trace_stopped
 * afterwards for an old reason.
 *
 * Locking
 * -------
 *
 * Each ring has a lock, which covers its state and all but the writer's part of
 * struct trace_ring. It is held for one hypercall. No CPU holds the locks of two rings.
 * pKVM's own locks nest inside it.
 *
 * All arguments of the host come in registers, so that the host can't change them later.
 *
 * Memory ordering
 * ---------------
 *
 * All pairs of memory orderings of tracing at EL2, but for those of the rings. The table has
 * the form that trace_ring.c explains.
 *
 * (E) generation: E-config
 *	trace_config.h:hyp_trace_config_changed
 *   with
 *	trace_cpu.c:hyp_trace_cpu_prepare
 *
 *	A hypercall stores the clock or an event's state, or a CPU stores that tracing has
 *	stopped. It then increments the generation with release. A CPU whose copy has another
 *	generation loads the generation with acquire, then copies these. If they change
 *	meanwhile, so does the generation, and the CPU's next event copies again.
 *
 * (K) clock: K-clock, K-latest
 *	clock.c:hyp_clock_publish
 *   with
 *	clock.c:hyp_clock_try_get
 *
 *	A hypercall writes a new clock over the one before the latest, then stores the new
 *	number with release. A CPU loads the number with acquire, then that clock. The clock
 *	was the latest until the number changed: the hypercall stores the number, then, for the
 *	clock after the next one, writes over it; smp_wmb() between. The CPU loads the clock,
 *	then the number again; smp_rmb() between. If the number is the same, so is the clock.
 *
 * (F) on: F-on
 *	trace.c:hyp_trace_turn_off
 *   with
 *	trace.c:hyp_trace_is_off
 *
 *	A CPU commits its last event, then stores OFF with release. Another CPU loads OFF
 *	with acquire, then unloads or resets the ring.
 *
 * (P) parked: P-park, P-enabled
 *	trace.c:hyp_trace_park_cpu
 *	trace.c:hyp_trace_unpark
 *   with
 *	trace.c:hyp_trace_hold
 *	trace.c:hyp_trace_release
 *	trace.c:hyp_trace_turn_on
 *
 *	A CPU commits its last event, then stores PARKED with release. Another CPU
 *	exchanges PARKED for HELD with acquire, uses the writer's part of the ring, then
 *	stores PARKED with release. The CPU exchanges PARKED for ON with acquire before its
 *	next event. Only one of two exchanges sees the same PARKED: either the CPU sees all
 *	that the holder did, or the holder's exchange fails. A CPU that sees HELD takes the
 *	ring's lock, and so waits for the holder.
 *
 *	A CPU on its way to the firmware parks if it loads a hyp_trace_nr_enabled other than
 *	0. That load needs no barrier. A CPU that is ON was counted before: it incremented
 *	the number itself, or another CPU did, then stored PARKED with release, from which
 *	the CPU turned ON with acquire. The number does not become 0 again while the CPU is
 *	ON, and a CPU loads no older value of a word than one that happened before (Arm ARM,
 *	internal and external visibility). A CPU that is not ON has nothing to park, so it
 *	may load any value. On its way back, a CPU does not load the number: it might
 *	find 0 after it was disabled, and would keep its copy of the configuration.
 *
 * (I) stay: I-cell, I-start, I-next
 *	stay.c:hyp_stay_set_busy
 *	stay.c:hyp_stay_start
 *	stay.c:hyp_stay_stop
 *   with
 *	acct.c:hyp_acct_try_view
 *
 *	A CPU sets HYP_STAY_BUSY in hyp_stay.start, changes its cells and hyp_stay.cell, then
 *	stores another start, or 0, with release; smp_wmb() is between the bit and the changes.
 *	Another CPU loads the start with acquire, the cell, the start again, then the cell
 *	again; smp_rmb() is between these.
 *
 *	If the first load of the cell returns a part of a change, the second load of the start
 *	returns the busy bit that came before, or a later value (I-cell). That value can be the
 *	same as the first: 0, if the stay has ended since; or the start of a later stay, if the
 *	counter has not gone on. It was stored with release, after the change. So the second
 *	load of the cell returns the whole of it, and differs.
 *
 *	The counter is read between the two loads of the start. An ISB orders the second one after
 *	it. So the time that it makes is not more than what the CPU will add.
 *
 *	hyp_stay.cell is stored before the start of its stay, with release (I-start). That of a
 *	later stay is stored after the busy bit, as the changes are (I-next).
 *
 * (Q) filter program: Q-program
 *	filter.c:hyp_filter_set
 *   with
 *	filter.h:__hyp_filter_match
 *
 *	A hypercall stores a program, then the pointer to it with release. A CPU loads the
 *	pointer with acquire, then reads the program.
 *
 * (R) retired program: R-retired, R-later, R-outside
 *	filter.h:__hyp_filter_match
 *   with
 *	filter.c:hyp_filter_is_quiesced
 *
 *	A CPU stores @reading, then loads the pointer to the program. A hypercall stores a
 *	new pointer, then loads @reading. smp_mb() is between the two on both sides. So if
 *	@reading does not name the filter, the CPU's next load of the pointer returns the
 *	new program. The CPU clears @reading with release, after it has read the program.
 *	The hypercall loads @reading with acquire, then overwrites the program.
 *
 * (T) threshold: T-threshold
 *	stay_stop.c:hyp_stay_check
 *   with
 *	acct.c:hyp_acct_set_threshold
 *
 *	A CPU compares a stay with the threshold only if the stay is longer than the maximum of
 *	its cell. It stores the new maximum, then loads the threshold. A hypercall stores a new
 *	threshold; later ones clear the maxima. Both have smp_mb() between. If the CPU loads the
 *	old threshold, the maximum that it stored is one that is cleared. So no maximum stays
 *	that reaches the threshold and was not compared with it, and no later stay that does is
 *	missed.
 */
#include <linux/errno.h>
#include <linux/string.h>
#include <linux/trace_ring.h>

#include <asm/kvm_asm.h>
#include <asm/kvm_hyp.h>
#include <asm/kvm_mmu.h>

#include <nvhe/mem_protect.h>
#include <nvhe/memory.h>
#include <nvhe/spinlock.h>
#include <nvhe/trace.h>
#include <nvhe/trace_cpu.h>

/* How many CPUs are not OFF */
atomic_t hyp_trace_nr_enabled;

static bool hyp_trace_pfn_valid(u64 pfn)
{
	return pfn < BIT(52 - PAGE_SHIFT);
}

static bool hyp_trace_range_valid(u64 pfn, u64 nr_pages)
{
	return nr_pages && nr_pages <= HYP_TRACE_HCALL_PAGES && hyp_trace_pfn_valid(pfn) &&
	       hyp_trace_pfn_valid(pfn + nr_pages - 1);
}

static void *hyp_trace_pfn_to_virt(u64 pfn)
{
	return hyp_phys_to_virt(hyp_pfn_to_phys(pfn));
}

/**
 * hyp_trace_pin - pin a page that the host shares
 * @pfn:	the page
 * @va:		its address at EL2
 *
 * A page that has a pin, for tracing or for a vCPU, is refused: it has another use, and its
 * count must not overflow.
 *
 * Context: hypercall, with arguments from the host.
 * Return: 0, until hyp_trace_unpin(); -EINVAL for an argument out of range; -EBUSY if the page has
 * a pin; -EPERM if the host does not share it.
 */
int hyp_trace_pin(u64 pfn, void **va)
{
	int ret;

	if (!hyp_trace_pfn_valid(pfn))
		return -EINVAL;

	*va = hyp_trace_pfn_to_virt(pfn);
	if (!is_protected_kvm_enabled())
		return 0;

	ret = hyp_pin_shared_mem(*va, *va + PAGE_SIZE);
	if (ret)
		return ret;

	if (hyp_page_count(*va) == 1)
		return 0;

	hyp_unpin_shared_mem(*va, *va + PAGE_SIZE);
	return -EBUSY;
}

/**
 * hyp_trace_unpin - undo hyp_trace_pin()
 * @va:		the page's address at EL2
 */
void hyp_trace_unpin(void *va)
{
	if (is_protected_kvm_enabled())
		hyp_unpin_shared_mem(va, va + PAGE_SIZE);
}

/*
 * Share pages of the host's and pin them. Under pKVM the host may share none of them
 * before, so that no page is in two rings or of use to anything else at EL2.
 */
static int hyp_trace_share(u64 pfn, u64 nr_pages, void **va)
{
	if (!hyp_trace_range_valid(pfn, nr_pages))
		return -EINVAL;

	*va = hyp_trace_pfn_to_virt(pfn);
	return is_protected_kvm_enabled() ? __pkvm_host_share_pin_hyp(pfn, nr_pages) : 0;
}

/* If a page has another pin, for a vCPU, all pages stay shared. */
static void hyp_trace_unshare(void *va, u64 nr_pages)
{
	if (is_protected_kvm_enabled())
		__pkvm_host_unpin_unshare_hyp(hyp_virt_to_pfn(va), nr_pages);
}

/* Have the host donate a page, until hyp_trace_return(). */
static int hyp_trace_donate(u64 pfn, void **va)
{
	int ret = 0;

	if (!hyp_trace_pfn_valid(pfn))
		return -EINVAL;

	if (is_protected_kvm_enabled())
		ret = __pkvm_host_donate_hyp(pfn, 1);
	if (ret)
		return ret;

	*va = hyp_trace_pfn_to_virt(pfn);
	memset(*va, 0, PAGE_SIZE);
	return 0;
}

/*
 * Return a donated page. The host must not see what EL2 had there. The zeroes must reach
 * memory too, since the host may bypass the caches.
 */
static void hyp_trace_return(void *va)
{
	memset(va, 0, PAGE_SIZE);
	if (!is_protected_kvm_enabled())
		return;

	kvm_flush_dcache_to_poc(va, PAGE_SIZE);
	WARN_ON(__pkvm_hyp_donate_host(hyp_virt_to_pfn(va), 1));
}

/**
 * hyp_trace_ring_begin - begin to load the ring of a CPU
 * @trace:	the CPU
 * @meta_pfn:	a page shared by the host, for the meta page
 * @dir_pfn:	a page of the host, which it donates for the directory
 * @nr_pages:	pages that the ring will have, with the reader's
 *
 * Context: hypercall, with arguments from the host and the ring's lock, as all below.
 * Return: 0; -EINVAL for an argument out of range; -EBUSY if the CPU has a ring or
 * @meta_pfn has a pin; -EPERM for a page that the host does not share or own.
 */
int hyp_trace_ring_begin(struct hyp_trace_cpu *trace, u64 meta_pfn, u64 dir_pfn, u64 nr_pages)
{
	void *meta, *dir;
	int ret;

	hyp_assert_lock_held(&trace->lock);

	if (trace->state != HYP_TRACE_NONE)
		return -EBUSY;

	ret = hyp_trace_pin(meta_pfn, &meta);
	if (ret)
		return ret;

	ret = hyp_trace_donate(dir_pfn, &dir);
	if (ret)
		goto err_unpin;

	ret = trace_ring_init(&trace->ring, meta, dir, nr_pages);
	if (ret)
		goto err_return;

	memset(meta, 0, PAGE_SIZE);
	trace->state = HYP_TRACE_LOADING;
	return 0;

err_return:
	hyp_trace_return(dir);
err_unpin:
	hyp_trace_unpin(meta);
	return ret;
}

/**
 * hyp_trace_ring_add_leaf - donate a page for a ring's entries
 * @trace:	the CPU
 * @pfn:	the page
 *
 * Return: as hyp_trace_ring_begin(); -EBUSY if the ring is not being loaded; -ENOSPC if
 * it has all its leaf pages.
 */
int hyp_trace_ring_add_leaf(struct hyp_trace_cpu *trace, u64 pfn)
{
	void *leaf;
	int ret;

	hyp_assert_lock_held(&trace->lock);

	if (trace->state != HYP_TRACE_LOADING)
		return -EBUSY;

	ret = hyp_trace_donate(pfn, &leaf);
	if (ret)
		return ret;

	ret = trace_ring_add_leaf(&trace->ring, leaf);
	if (ret)
		hyp_trace_return(leaf);
	return ret;
}

/**
 * hyp_trace_ring_add_pages - share pages with EL2 and add them to a ring
 * @trace:	the CPU
 * @pfn:	the first page; its id is the number of pages added before
 * @nr_pages:	how many, HYP_TRACE_HCALL_PAGES at the most
 *
 * Return: as hyp_trace_ring_add_leaf(); -ENOSPC also if a leaf page is missing.
 */
int hyp_trace_ring_add_pages(struct hyp_trace_cpu *trace, u64 pfn, u64 nr_pages)
{
	void *pages;
	int ret;

	hyp_assert_lock_held(&trace->lock);

	if (trace->state != HYP_TRACE_LOADING)
		return -EBUSY;

	ret = hyp_trace_share(pfn, nr_pages, &pages);
	if (ret)
		return ret;

	ret = trace_ring_add_pages(&trace->ring, pages, nr_pages);
	if (ret)
		hyp_trace_unshare(pages, nr_pages);
	return ret;
}

/**
 * hyp_trace_ring_end - end loading the ring of a CPU
 * @trace:	the CPU
 *
 * Return: 0; -EINVAL if pages are missing; -EBUSY if the ring is not being loaded.
 */
int hyp_trace_ring_end(struct hyp_trace_cpu *trace)
{
	int ret;

	hyp_assert_lock_held(&trace->lock);

	if (trace->state != HYP_TRACE_LOADING)
		return -EBUSY;

	ret = trace_ring_start(&trace->ring);
	if (!ret)
		trace->state = HYP_TRACE_READY;
	return ret;
}

/* Whether the CPU has written its last event. The lock keeps it OFF. */
static bool hyp_trace_is_off(struct hyp_trace_cpu *trace)
{
	hyp_assert_lock_held(&trace->lock);

	return atomic_read_acquire(&trace->writer) == HYP_TRACE_OFF;	/* (F) */
}

/**
 * hyp_trace_ring_pop - return pages of a ring to the host
 * @trace:	the CPU
 *
 * The pages that were added last come first. Pages of events are unshared, up to
 * HYP_TRACE_HCALL_PAGES at consecutive addresses; other pages are returned one by one.
 *
 * Return: 1 if EL2 has more pages; 0 if the CPU has no ring any more; -EBUSY while the CPU
 * writes to the ring.
 */
int hyp_trace_ring_pop(struct hyp_trace_cpu *trace)
{
	struct trace_ring *ring = &trace->ring;
	unsigned int nr;
	void *page;

	hyp_assert_lock_held(&trace->lock);

	if (trace->state == HYP_TRACE_NONE)
		return 0;

	if (!hyp_trace_is_off(trace))
		return -EBUSY;

	trace->state = HYP_TRACE_UNLOADING;

	page = trace_ring_pop_pages(ring, HYP_TRACE_HCALL_PAGES, &nr);
	if (page) {
		hyp_trace_unshare(page, nr);
		return 1;
	}

	page = trace_ring_pop_leaf(ring);
	if (page) {
		hyp_trace_return(page);
		return 1;
	}

	hyp_trace_return(ring->dir);
	hyp_trace_unpin(ring->meta);
	trace->state = HYP_TRACE_NONE;
	return 0;
}

/*
 * Get the writer's part of the ring until hyp_trace_release(): the ring's CPU is this one, it is
 * OFF, or it is parked, and stays so. False if that CPU may be in the middle of an event.
 */
static bool hyp_trace_hold(struct hyp_trace_cpu *trace)
{
	hyp_assert_lock_held(&trace->lock);

	if (trace == this_cpu_ptr(&hyp_trace_cpu) || hyp_trace_is_off(trace))
		return true;

	return atomic_cmpxchg_acquire(&trace->writer, HYP_TRACE_PARKED,
				      HYP_TRACE_HELD) == HYP_TRACE_PARKED;	/* (P) */
}

static void hyp_trace_release(struct hyp_trace_cpu *trace)
{
	hyp_assert_lock_held(&trace->lock);

	if (atomic_read(&trace->writer) == HYP_TRACE_HELD)
		atomic_set_release(&trace->writer, HYP_TRACE_PARKED);	/* (P) */
}

static int hyp_trace_turn_on(struct hyp_trace_cpu *trace)
{
	hyp_assert_lock_held(&trace->lock);

	if (trace->state != HYP_TRACE_READY)
		return -ENODEV;

	if (hyp_trace_is_off(trace)) {
		trace->timing = 0;
		hyp_trace_config_changed();
		atomic_inc(&hyp_trace_nr_enabled);
		atomic_set_release(&trace->writer, HYP_TRACE_PARKED);	/* (P) */
	}
	if (trace == this_cpu_ptr(&hyp_trace_cpu))
		atomic_set(&trace->writer, HYP_TRACE_ON);
	return 0;
}

static int hyp_trace_turn_off(struct hyp_trace_cpu *trace)
{
	hyp_assert_lock_held(&trace->lock);

	if (hyp_trace_is_off(trace))
		return 0;
	if (!hyp_trace_hold(trace))
		return -EBUSY;

	if (trace == this_cpu_ptr(&hyp_trace_cpu))
		trace->config = 0;
	atomic_set_release(&trace->writer, HYP_TRACE_OFF);	/* (F) */
	atomic_dec(&hyp_trace_nr_enabled);
	return 0;
}

/**
 * hyp_trace_enable - enable or disable tracing on a CPU
 * @trace:	this CPU, or one that is in the firmware
 * @enable:	whether to enable it
 *
 * Return: 0; -ENODEV if the CPU has no complete ring; -EBUSY to disable another CPU that may
 * write.
 */
int hyp_trace_enable(struct hyp_trace_cpu *trace, bool enable)
{
	return enable ? hyp_trace_turn_on(trace) : hyp_trace_turn_off(trace);
}

/**
 * hyp_trace_swap_reader - exchange the reader's page of a CPU
 * @trace:	the CPU
 *
 * Return: as trace_ring_swap_reader(); -ENODEV if the CPU has no complete ring.
 */
int hyp_trace_swap_reader(struct hyp_trace_cpu *trace)
{
	hyp_assert_lock_held(&trace->lock);

	if (trace->state != HYP_TRACE_READY)
		return -ENODEV;

	return trace_ring_swap_reader(&trace->ring);
}

/**
 * hyp_trace_reset - clear the ring of a CPU
 * @trace:	this CPU, one that is parked, or one that does not write
 *
 * Return: 0; -ENODEV if the CPU has no complete ring; -EBUSY if it is another CPU that writes.
 */
int hyp_trace_reset(struct hyp_trace_cpu *trace)
{
	hyp_assert_lock_held(&trace->lock);

	if (trace->state != HYP_TRACE_READY)
		return -ENODEV;

	if (!hyp_trace_hold(trace))
		return -EBUSY;

	trace_ring_reset(&trace->ring);
	hyp_trace_release(trace);
	return 0;
}

/**
 * hyp_trace_set_overwrite - what the ring of a CPU does when all of it is unread
 * @trace:	as for hyp_trace_reset()
 * @overwrite:	whether it overwrites the oldest events, as at first, or drops new ones
 *
 * Return: as hyp_trace_reset().
 */
int hyp_trace_set_overwrite(struct hyp_trace_cpu *trace, bool overwrite)
{
	hyp_assert_lock_held(&trace->lock);

	if (trace->state != HYP_TRACE_READY)
		return -ENODEV;

	if (!hyp_trace_hold(trace))
		return -EBUSY;

	trace_ring_set_overwrite(&trace->ring, overwrite);
	hyp_trace_release(trace);
	return 0;
}

/**
 * hyp_trace_park_cpu - the slow path of hyp_trace_park()
 *
 * Never waits.
 *
 * Context: any at EL2, also after a panic.
 * Return: whether this CPU has parked: it writes no event until hyp_trace_unpark().
 */
bool hyp_trace_park_cpu(void)
{
	struct hyp_trace_cpu *trace = this_cpu_ptr(&hyp_trace_cpu);

	if (atomic_read(&trace->writer) != HYP_TRACE_ON)
		return false;

	atomic_set_release(&trace->writer, HYP_TRACE_PARKED);	/* (P) */
	return true;
}

/* Another CPU holds this one's ring. It has finished when this CPU gets the lock. */
static noinline u32 hyp_trace_unpark_held(struct hyp_trace_cpu *trace)
{
	u32 writer;

	hyp_spin_lock(&trace->lock);
	writer = atomic_read(&trace->writer);
	if (writer == HYP_TRACE_PARKED)
		atomic_set(&trace->writer, HYP_TRACE_ON);
	hyp_spin_unlock(&trace->lock);
	return writer;
}

/**
 * hyp_trace_unpark - this CPU is back from the firmware
 *
 * A CPU that was disabled meanwhile still has a copy of the configuration, and loses it here.
 * A CPU that the firmware turns on need not have parked.
 *
 * Context: any at EL2 with the MMU on, and before the CPU's next event.
 */
void hyp_trace_unpark(void)
{
	struct hyp_trace_cpu *trace = this_cpu_ptr(&hyp_trace_cpu);
	u32 writer = atomic_cmpxchg_acquire(&trace->writer, HYP_TRACE_PARKED,
					    HYP_TRACE_ON);	/* (P) */

	if (unlikely(writer == HYP_TRACE_HELD))
		writer = hyp_trace_unpark_held(trace);
	if (unlikely(writer == HYP_TRACE_OFF))
		trace->config = 0;
}
