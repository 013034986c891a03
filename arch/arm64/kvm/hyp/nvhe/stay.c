// SPDX-License-Identifier: GPL-2.0-only
/*
 * Stays at EL2: when they begin and end, and how long they take
 *
 * A stay is the time from an entry into EL2 to the next exit. A CPU leaves EL2 to the host, and
 * the stay ends; to a guest, whose exit begins the next stay; or to the firmware, whose return
 * resumes the stay. The times in a guest and in the firmware are gaps. Each CPU has cells for
 * the stays of each reason and for the gaps of each kind (asm/kvm_hypacct.h), and struct
 * hyp_stay for what is under way:
 *
 *	begin		from the host			stay
 *	end		to the host			stay
 *	leave_guest	to a guest			stay -> gap
 *	return_guest	from a guest			gap -> stay
 *	leave_firmware	to the firmware			stay -> gap
 *	resume		from there			gap -> rest of the stay
 *	cpu_entry	from there, at another place	gap -> stay
 *
 * The rest of a stay adds time to its cell, but no count, maximum or bucket.
 *
 * A vCPU has statistics, too. The host keeps them: the last stay of an exit ends after all that
 * EL2 can write to the vCPU. So the hypercall that runs a vCPU returns, in X2 and X3, the time at
 * EL2 and in the guest. The exits that EL2 handles itself are counted here, in the vCPU.
 *
 * Accounting can be turned on or off at any time. A stay or gap that was under way then is not
 * accounted for: hyp_stay.start is 0 then, see hyp_acct_prepare().
 *
 * The events hyp_enter and hyp_exit have the time that accounting uses. So times of both are the
 * same.
 *
 * The longest stay of a cell is compared with a threshold, see stay_stop.c.
 *
 * Memory ordering: (I) is explained in trace.c.
 */
#include <linux/bits.h>
#include <linux/build_bug.h>
#include <linux/compiler.h>
#include <linux/math64.h>
#include <linux/minmax.h>

#include <asm/barrier.h>

#include <nvhe/pkvm.h>
#include <nvhe/spinlock.h>
#include <nvhe/stay.h>
#include <nvhe/trap_handler.h>

u32 hyp_stay_on;
static DEFINE_HYP_SPINLOCK(hyp_stay_lock);

/* The reason of a guest's exit, by its exception class, less HYP_ACCT_GUEST_OTHER: 0 is that */
#define HYP_ACCT_CLASS(name)	\
	[ESR_ELx_EC_##name] = HYP_ACCT_GUEST_##name - HYP_ACCT_GUEST_OTHER,
const u8 hyp_stay_classes[ESR_ELx_EC_MAX + 1] = { HYP_ACCT_CLASSES(HYP_ACCT_CLASS) };

/**
 * hyp_stay_set - turn on or off what entries and exits do
 * @mask:	HYP_STAY_ACCOUNT, HYP_STAY_ENTER or HYP_STAY_EXIT
 * @on:		whether it is on
 *
 * Context: hypercall.
 */
void hyp_stay_set(u32 mask, bool on)
{
	hyp_spin_lock(&hyp_stay_lock);
	WRITE_ONCE(hyp_stay_on, (hyp_stay_on & ~mask) | (on ? mask : 0));
	hyp_spin_unlock(&hyp_stay_lock);
}

/**
 * hyp_stay_set_event - an event was turned on or off
 * @nr:		its number in the event list
 * @on:		whether it is on
 *
 * Context: hypercall.
 */
void hyp_stay_set_event(unsigned long nr, bool on)
{
	if (nr == HYP_EVENT_hyp_enter)
		hyp_stay_set(HYP_STAY_ENTER, on);
	if (nr == HYP_EVENT_hyp_exit)
		hyp_stay_set(HYP_STAY_EXIT, on);
}

/* Add to a counter that other CPUs read. Only this CPU writes it. */
static __always_inline void hyp_stay_add(u64 *counter, u64 n)
{
	WRITE_ONCE(*counter, *counter + n);
}

/* Cells change from here to hyp_stay_start(), or until none is under way. */
static __always_inline void hyp_stay_set_busy(struct hyp_stay *stay, u64 start)
{
	WRITE_ONCE(stay->start, start | HYP_STAY_BUSY);
	smp_wmb();					/* (I) */
}

/* What begins at @now is under way. Who sees the start sees the cell. */
static __always_inline void hyp_stay_start(struct hyp_stay *stay, u64 cell, u64 now)
{
	WRITE_ONCE(stay->cell, cell);
	smp_store_release(&stay->start, now);		/* (I) */
}

static __always_inline void hyp_stay_stop(struct hyp_stay *stay)
{
	smp_store_release(&stay->start, 0);		/* (I) */
}

/* CLZ of a time in ns is a bucket's place, but for a constant; the last bucket has the rest. */
static __always_inline unsigned int hyp_stay_bucket(const struct hyp_stay *stay, u64 cycles)
{
	u64 ns = mul_u64_u64_shr(cycles << (64 - HYP_STAY_MULT_SHIFT), stay->mult, 64);
	int clz = ns ? __builtin_clzll(ns) : 64;

	return max(clz - (64 - HYP_ACCT_NR_BUCKETS + 1), 0);
}

/* The rest of a stay adds time alone. Returns whether this is the longest stay of its cell. */
static __always_inline bool hyp_stay_count(const struct hyp_stay *stay, u64 of, u64 cycles)
{
	struct hyp_acct_cell *cell = (struct hyp_acct_cell *)of;

	if (unlikely(of & HYP_STAY_RESUMED)) {
		hyp_stay_add(&hyp_stay_cell(of)->total, cycles);
		return false;
	}

	hyp_stay_add(&cell->total, cycles);
	hyp_stay_add(&cell->buckets[hyp_stay_bucket(stay, cycles)], 1);
	if (likely(cycles <= READ_ONCE(cell->max)))
		return false;

	WRITE_ONCE(cell->max, cycles);
	return true;
}

/* Not to be seen by the compiler as @now, which it would keep in two registers, in all cases. */
static __always_inline u64 hyp_stay_longest(u64 now, const struct hyp_stay *stay, u64 cell,
					    u64 cycles, u8 why)
{
	OPTIMIZER_HIDE_VAR(now);
	return hyp_stay_check(now, stay, cell, cycles, why);
}

/* A stay of a cell ends, and a gap of some kind begins. Returns as hyp_stay_count(). */
static __always_inline bool hyp_stay_begin_gap(struct hyp_stay *stay, u64 cell, unsigned int gap,
					       u64 now)
{
	u64 start = stay->start;
	bool longest;

	hyp_stay_set_busy(stay, start);
	longest = hyp_stay_count(stay, cell, now - start);
	hyp_stay_start(stay, (u64)&stay->cells[gap], now);
	return longest;
}

/* A gap in the firmware ends. A stay begins, or goes on. */
static void hyp_stay_end_gap(struct hyp_stay *stay, u64 cell, u64 now)
{
	struct hyp_acct_cell *gap = hyp_stay_cell(stay->cell);
	u64 start = stay->start;

	hyp_stay_set_busy(stay, start);
	hyp_stay_add(&gap->total, now - start);
	hyp_stay_add(&gap->nr_gaps, 1);
	hyp_stay_start(stay, cell, now);
}

/* Add to a counter, and copy it to the host's vCPU. EL2 does not read the copy. */
static void hyp_stay_add_handled(u64 *counter, u64 n, u64 *copy)
{
	*counter += n;
	WRITE_ONCE(*copy, *counter);
}

/* The vCPU that the host has. In plain nVHE mode there is no other one. */
static struct kvm_vcpu *hyp_stay_host_vcpu(struct kvm_vcpu *vcpu)
{
	if (!is_protected_kvm_enabled())
		return vcpu;

	return container_of(vcpu, struct pkvm_hyp_vcpu, vcpu)->host_vcpu;
}

/* EL2 has handled an exit itself. */
static void hyp_stay_handled(const struct hyp_stay *stay, struct kvm_vcpu *vcpu, u64 cycles)
{
	struct hyp_acct_exits *exits = &vcpu->arch.hyp_acct.handled;
	struct hyp_acct_exits *copy = &hyp_stay_host_vcpu(vcpu)->arch.hyp_acct.handled;
	unsigned int bucket = HYP_ACCT_BUCKET(hyp_stay_bucket(stay, cycles));

	hyp_stay_add_handled(&exits->nr, 1, &copy->nr);
	hyp_stay_add_handled(&exits->hyp, cycles, &copy->hyp);
	hyp_stay_add_handled(&exits->guest, stay->guest, &copy->guest);
	hyp_stay_add_handled(&exits->hist[bucket], 1, &copy->hist[bucket]);
}

/* What is seldom to be done before a vCPU runs. Not inline, and one function, for the stack. */
static noinline u64 hyp_stay_leave_slow(u64 now, struct hyp_stay *stay, struct kvm_vcpu *vcpu,
					u64 cycles, u64 cell, bool longest)
{
	if (stay->run)
		hyp_stay_handled(stay, vcpu, cycles);
	else
		stay->run = cycles | HYP_STAY_RUN;

	return longest ? hyp_stay_longest(now, stay, cell, cycles, HYP_EXIT_GUEST) : now;
}

/* The hypercall that has run a vCPU returns what the last exit has taken. */
static void hyp_stay_end_run(struct hyp_stay *stay, u64 cycles)
{
	struct kvm_host_data *host = container_of(stay, struct kvm_host_data, stay);

	cpu_reg(&host->host_ctxt, 2) = stay->run + cycles;
	cpu_reg(&host->host_ctxt, 3) = stay->guest;
	stay->run = 0;
}

/**
 * __hyp_stay_begin - begin a stay: the CPU comes from the host
 * @now:	CNTPCT_EL0
 * @stay:	of this CPU
 * @reason:	enum hyp_acct_reason
 *
 * Context: any at EL2, while accounting is on; as all here.
 * Return: @now, as all here.
 */
u64 __hyp_stay_begin(u64 now, struct hyp_stay *stay, unsigned int reason)
{
	if (stay->cells)
		hyp_stay_start(stay, (u64)&stay->cells[reason], now);
	return now;
}

/**
 * __hyp_stay_end - end a stay: the CPU returns to the host
 * @now:	CNTPCT_EL0
 * @stay:	of this CPU
 *
 * Return: @now.
 */
u64 __hyp_stay_end(u64 now, struct hyp_stay *stay)
{
	u64 start = stay->start, cell;
	bool longest;

	if (!start)
		return now;

	hyp_stay_set_busy(stay, start);
	cell = stay->cell;
	longest = hyp_stay_count(stay, cell, now - start);
	if (unlikely(stay->run))
		hyp_stay_end_run(stay, now - start);
	hyp_stay_stop(stay);
	return longest ? hyp_stay_longest(now, stay, cell, now - start, HYP_EXIT_HOST) : now;
}

/**
 * __hyp_stay_leave_firmware - the CPU calls the firmware
 * @now:	CNTPCT_EL0
 * @stay:	of this CPU
 * @gap:	the kind of the gap that begins, enum hyp_acct_reason
 *
 * Return: @now.
 */
u64 __hyp_stay_leave_firmware(u64 now, struct hyp_stay *stay, unsigned int gap)
{
	u64 start = stay->start, cell = stay->cell;

	stay->left = cell;
	if (!start || !hyp_stay_begin_gap(stay, cell, gap, now))
		return now;

	return hyp_stay_longest(now, stay, cell, now - start, HYP_EXIT_FIRMWARE);
}

/**
 * __hyp_stay_resume - go on with a stay: the firmware has returned
 * @now:	CNTPCT_EL0
 * @stay:	of this CPU
 *
 * Return: @now.
 */
u64 __hyp_stay_resume(u64 now, struct hyp_stay *stay)
{
	if (stay->start)
		hyp_stay_end_gap(stay, stay->left | HYP_STAY_RESUMED, now);
	return now;
}

/**
 * __hyp_stay_cpu_entry - begin a stay: the firmware has turned the CPU on, or resumed it
 * @now:	CNTPCT_EL0
 * @stay:	of this CPU
 *
 * Return: @now.
 */
u64 __hyp_stay_cpu_entry(u64 now, struct hyp_stay *stay)
{
	if (!stay->start)
		return __hyp_stay_begin(now, stay, HYP_ACCT_CPU_ENTRY);

	hyp_stay_end_gap(stay, (u64)&stay->cells[HYP_ACCT_CPU_ENTRY], now);
	return now;
}

/**
 * __hyp_stay_leave_guest - the CPU runs a vCPU
 * @now:	CNTPCT_EL0
 * @stay:	of this CPU
 * @vcpu:	the vCPU
 *
 * Return: @now.
 */
u64 __hyp_stay_leave_guest(u64 now, struct hyp_stay *stay, struct kvm_vcpu *vcpu)
{
	u64 start = stay->start, cell;
	bool longest;

	if (!start)
		return now;

	cell = stay->cell;
	longest = hyp_stay_begin_gap(stay, cell, HYP_ACCT_IN_GUEST, now);
	if (unlikely(longest || stay->run))
		return hyp_stay_leave_slow(now, stay, vcpu, now - start, cell, longest);

	stay->run = (now - start) | HYP_STAY_RUN;
	return now;
}

/* The first cells are those of gaps: the address of that of guests is that of all cells. */
static_assert(HYP_ACCT_IN_GUEST == 0);

/**
 * __hyp_stay_return_guest - begin a stay: a vCPU has exited
 * @now:	CNTPCT_EL0
 * @stay:	of this CPU
 * @reason:	enum hyp_acct_reason
 *
 * The number of gaps is that of the stays that begin here.
 *
 * Return: @now.
 */
u64 __hyp_stay_return_guest(u64 now, struct hyp_stay *stay, unsigned int reason)
{
	struct hyp_acct_cell *cells = (struct hyp_acct_cell *)stay->cell;
	u64 start = stay->start;

	if (unlikely(!start))
		return __hyp_stay_begin(now, stay, reason);

	hyp_stay_set_busy(stay, start);
	hyp_stay_add(&cells[HYP_ACCT_IN_GUEST].total, now - start);
	stay->guest = now - start;
	hyp_stay_start(stay, (u64)&cells[reason], now);
	return now;
}
