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
 * el2_clock_set() turns that into one multiplication and one addition for each event. Each
 * CPU has a copy: see trace_cpu.c.
 *
 * Locking: el2_clock_lock covers el2_clock. No event is traced under it.
 */
#include <linux/bitops.h>
#include <linux/errno.h>
#include <linux/limits.h>

#include <asm/kvm_hyp.h>

#include <nvhe/clock.h>
#include <nvhe/spinlock.h>
#include <nvhe/trace_config.h>

static struct el2_clock el2_clock;
static DEFINE_HYP_SPINLOCK(el2_clock_lock);

/**
 * el2_clock_get - get the latest clock
 * @clock:	where to copy it
 *
 * Context: any at EL2.
 */
void el2_clock_get(struct el2_clock *clock)
{
	hyp_spin_lock(&el2_clock_lock);
	*clock = el2_clock;
	hyp_spin_unlock(&el2_clock_lock);
}

/**
 * el2_clock_set - set the time and the rate
 * @mult:	ns a cycle, times 2 to the power of @shift; 32 bits
 * @shift:	below 64
 * @epoch_ns:	the boot clock, ns, at
 * @epoch_cycles: ... this value of CNTPCT_EL0
 *
 * Context: any, with arguments from the host.
 * Return: 0, or -EINVAL for an argument out of range.
 */
int el2_clock_set(u64 mult, u64 shift, u64 epoch_ns, u64 epoch_cycles)
{
	struct el2_clock clock = {};

	if (!mult || mult > U32_MAX || shift > 63)
		return -EINVAL;

	/* Bits of @mult before the binary point */
	if (fls(mult) > shift)
		clock.shift = fls(mult) - shift;

	clock.mult = mult << (64 - shift - clock.shift);
	clock.base = epoch_ns - el2_clock_ns(&clock, epoch_cycles);

	hyp_spin_lock(&el2_clock_lock);
	el2_clock = clock;
	hyp_spin_unlock(&el2_clock_lock);

	hyp_trace_config_changed();
	return 0;
}
