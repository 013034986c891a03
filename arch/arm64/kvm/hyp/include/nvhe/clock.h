/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The host's boot clock at EL2: see clock.c.
 */
#ifndef __ARM64_KVM_HYP_NVHE_CLOCK_H
#define __ARM64_KVM_HYP_NVHE_CLOCK_H

#include <linux/math64.h>
#include <linux/types.h>

#include <asm/alternative.h>
#include <asm/sysreg.h>

/**
 * struct hyp_clock - the factors that convert a count to a time
 * @mult:	ns a cycle, times 2 to the power of 64 - @shift
 * @base:	ns at count 0, modulo 2 to the power of 64
 * @shift:	a count is first shifted left by this, so that @mult fits in 64 bits
 *
 * The count may have 64 - @shift bits, hundreds of years of any frequency.
 */
struct hyp_clock {
	u64	mult;
	u64	base;
	u32	shift;
};

/*
 * CNTPCT_EL0, read after all earlier instructions. Later instructions may run before the
 * read: the time of the event is as good.
 */
static __always_inline u64 hyp_clock_count(void)
{
	u64 count;

	asm volatile(ALTERNATIVE("isb\n mrs %0, cntpct_el0",
				 "nop\n" __mrs_s("%0", SYS_CNTPCTSS_EL0),
				 ARM64_HAS_ECV)
		     : "=r" (count));
	return count;
}

/* The time of @count, ns */
static __always_inline u64 hyp_clock_ns(const struct hyp_clock *clock, u64 count)
{
	return mul_u64_u64_shr(count << clock->shift, clock->mult, 64) + clock->base;
}

bool hyp_clock_get(struct hyp_clock *clock);
int hyp_clock_set(u64 mult, u64 shift, u64 epoch_ns, u64 epoch_cycles);

#endif /* __ARM64_KVM_HYP_NVHE_CLOCK_H */
