// SPDX-License-Identifier: GPL-2.0-only
/*
 * Each millisecond a softirq takes half of the time of the CPU that loads the module. "in_guest"
 * counts those in the interrupt for which a vCPU had left the guest: KVM marks its task PF_VCPU
 * until then.
 */
#include <linux/delay.h>
#include <linux/hrtimer.h>
#include <linux/module.h>
#include <linux/sched.h>

static ulong in_guest;
module_param(in_guest, ulong, 0444);
static struct hrtimer timer;

static enum hrtimer_restart expired(struct hrtimer *unused)
{
	in_guest += !!(current->flags & PF_VCPU);
	udelay(500);
	hrtimer_forward_now(&timer, ms_to_ktime(1));
	return HRTIMER_RESTART;
}

#ifdef NO_HRTIMER_SETUP
static void hrtimer_setup(struct hrtimer *new, enum hrtimer_restart (*function)(struct hrtimer *),
			  clockid_t clock, enum hrtimer_mode mode)
{
	hrtimer_init(new, clock, mode);
	new->function = function;
}
#endif

static int __init flood_init(void)
{
	hrtimer_setup(&timer, expired, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_SOFT);
	hrtimer_start(&timer, ms_to_ktime(1), HRTIMER_MODE_REL_PINNED_SOFT);
	return 0;
}
module_init(flood_init);

static void __exit flood_exit(void)
{
	hrtimer_cancel(&timer);
}
module_exit(flood_exit);

MODULE_DESCRIPTION("Softirqs that take half of a CPU");
MODULE_LICENSE("GPL");
