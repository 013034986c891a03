// SPDX-License-Identifier: GPL-2.0-only
/*
 * The host's boot clock at EL2
 *
 * A host that was booted at EL2 keeps time by the physical counter, CNTPCT_EL0
 * (arch_counter_register()), and so does this clock. At EL2, CNTPCT_EL0 has no offset,
 * whichever guest is loaded (Arm ARM, The Generic Timer). The host passes the time at one
 * count, and the rate from there on. It does so periodically, to follow the adjustments of
 * its own clock.
 *
 * hyp_clock_set() turns that into one multiplication and one addition for each event. Each
 * CPU has a copy: see trace_cpu.c.
 *
 * There are two clocks, the latest one and the one before it. hyp_clock_seq counts the clocks
 * that were set, and its lowest bit is the place of the latest. A new clock overwrites the one
 * before it. So a CPU that copies the latest clock fails only if another one comes meanwhile.
 *
 * Locking: hyp_clock_lock serialises hyp_clock_set(). A CPU that writes an event takes no lock:
 * it may be on its way to the firmware after a panic.
 *
 * Memory ordering: (K) is explained in trace.c.
 */
#include <linux/bitops.h>
#include <linux/compiler.h>
#include <linux/errno.h>
#include <linux/limits.h>

#include <asm/barrier.h>
#include <asm/kvm_hyp.h>

#include <nvhe/clock.h>
#include <nvhe/spinlock.h>
#include <nvhe/trace_config.h>

/* How often a copy is tried. The host may set the clock at any rate. */
#define HYP_CLOCK_TRIES	3

static struct hyp_clock hyp_clocks[2];
static u32 hyp_clock_seq;
static DEFINE_HYP_SPINLOCK(hyp_clock_lock);

static bool hyp_clock_try_get(struct hyp_clock *clock)
{
	u32 seq = smp_load_acquire(&hyp_clock_seq);	/* (K) */
	const struct hyp_clock *latest = &hyp_clocks[seq % 2];
	struct hyp_clock copy = {
		.mult	= READ_ONCE(latest->mult),
		.base	= READ_ONCE(latest->base),
		.shift	= READ_ONCE(latest->shift),
	};

	smp_rmb();					/* (K) */
	if (READ_ONCE(hyp_clock_seq) != seq)
		return false;

	*clock = copy;
	return true;
}

/**
 * hyp_clock_get - get the latest clock
 * @clock:	where to copy it; not changed if that fails
 *
 * Takes no lock. Fails if the host sets one clock after the other meanwhile.
 *
 * Context: any at EL2.
 * Return: whether @clock has it.
 */
bool hyp_clock_get(struct hyp_clock *clock)
{
	int tries;

	for (tries = 0; tries < HYP_CLOCK_TRIES; tries++) {
		if (hyp_clock_try_get(clock))
			return true;
	}

	return false;
}

static void hyp_clock_publish(const struct hyp_clock *clock)
{
	u32 seq = hyp_clock_seq + 1;
	struct hyp_clock *next = &hyp_clocks[seq % 2];

	hyp_assert_lock_held(&hyp_clock_lock);

	smp_wmb();					/* (K) */
	WRITE_ONCE(next->mult, clock->mult);
	WRITE_ONCE(next->base, clock->base);
	WRITE_ONCE(next->shift, clock->shift);
	smp_store_release(&hyp_clock_seq, seq);		/* (K) */
}

/**
 * hyp_clock_set - set the time and the rate
 * @mult:	ns a cycle, times 2 to the power of @shift; 32 bits
 * @shift:	below 64
 * @epoch_ns:	the boot clock, ns, at
 * @epoch_cycles: ... this value of CNTPCT_EL0
 *
 * Context: any, with arguments from the host.
 * Return: 0, or -EINVAL for an argument out of range.
 */
int hyp_clock_set(u64 mult, u64 shift, u64 epoch_ns, u64 epoch_cycles)
{
	struct hyp_clock clock = {};

	if (!mult || mult > U32_MAX || shift > 63)
		return -EINVAL;

	/* Bits of @mult before the binary point */
	if (fls(mult) > shift)
		clock.shift = fls(mult) - shift;

	clock.mult = mult << (64 - shift - clock.shift);
	clock.base = epoch_ns - hyp_clock_ns(&clock, epoch_cycles);

	hyp_spin_lock(&hyp_clock_lock);
	hyp_clock_publish(&clock);
	hyp_spin_unlock(&hyp_clock_lock);

	hyp_trace_config_changed();
	return 0;
}
