// SPDX-License-Identifier: GPL-2.0-only
/*
 * The host's boot clock at EL2
 *
 * The host keeps time by the physical counter, CNTPCT_EL0, when it has EL2
 * (arch_counter_register()), and so does this: CNTPCT_EL0 read at EL2 has no
 * offset, whichever guest is loaded (Arm ARM, The Generic Timer). The host tells the
 * time at one count and the rate from there on, and does so again and again
 * to follow the adjustments of its clock.
 *
 * What it tells is made one multiplication and one addition here, once, and each
 * CPU takes a copy when it sees by hyp_trace_config that there is a newer one: see
 * trace_cpu.h.
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
 * el2_clock_get - have the latest clock
 * @clock:	where to
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
 * el2_clock_set - tell the time and the rate
 * @mult:	ns a cycle, times 2 to the power of @shift; 32 bits
 * @shift:	below 64
 * @epoch_ns:	the boot clock, ns, when CNTPCT_EL0 was
 * @epoch_cycles: this
 *
 * Context: any, with arguments from the host.
 * Return: 0, or -EINVAL for an argument out of range.
 */
int el2_clock_set(u64 mult, u64 shift, u64 epoch_ns, u64 epoch_cycles)
{
	struct el2_clock clock = {};

	if (!mult || mult > U32_MAX || shift > 63)
		return -EINVAL;

	/* What @mult has left of the binary point */
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
