// SPDX-License-Identifier: GPL-2.0-only
/*
 * For tests: a clock source that is not the architected counter
 *
 * It counts as that does, faster or slower by the parameter "ppm", and has an id of its own.
 * It is rated below, so that user space alone selects it.
 */
#include <linux/clocksource.h>
#include <linux/math64.h>
#include <linux/module.h>

#include <asm/arch_timer.h>

static int ppm;
module_param(ppm, int, 0444);
MODULE_PARM_DESC(ppm, "How much faster than the architected counter, in parts per million");

static u64 hyp_clocksource_read(struct clocksource *cs)
{
	return __arch_counter_get_cntvct();
}

static struct clocksource hyp_clocksource = {
	.name	= "hyp_clocksource",
	.rating	= 1,
	.read	= hyp_clocksource_read,
	.mask	= CLOCKSOURCE_MASK(56),
	.flags	= CLOCK_SOURCE_IS_CONTINUOUS,
	.owner	= THIS_MODULE,
};

/* The lower its reported frequency, the faster time advances. */
static int __init hyp_clocksource_init(void)
{
	u64 rate = div_u64((u64)arch_timer_get_cntfrq() * 1000000, 1000000 + ppm);

	return clocksource_register_hz(&hyp_clocksource, rate);
}
module_init(hyp_clocksource_init);

static void __exit hyp_clocksource_exit(void)
{
	clocksource_unregister(&hyp_clocksource);
}
module_exit(hyp_clocksource_exit);

MODULE_DESCRIPTION("Test: a clock source that EL2 can't read");
MODULE_LICENSE("GPL");
