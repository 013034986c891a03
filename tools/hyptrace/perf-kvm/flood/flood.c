// SPDX-License-Identifier: GPL-2.0-only
/*
 * For tests: softirqs that take a known part of a CPU's time
 *
 * A timer of the CPU that loads the module raises a softirq each period. Its tasklet is busy for a
 * part of that. "in_guest" counts those that ran in the interrupt for which a vCPU had left the
 * guest: KVM marks the task PF_VCPU until this interrupt has been taken.
 */
#include <linux/delay.h>
#include <linux/hrtimer.h>
#include <linux/interrupt.h>
#include <linux/module.h>
#include <linux/sched.h>

static uint period_us = 1000;
module_param(period_us, uint, 0444);
MODULE_PARM_DESC(period_us, "Microseconds from a softirq to the next");

static uint busy_us = 500;
module_param(busy_us, uint, 0444);
MODULE_PARM_DESC(busy_us, "Microseconds that each takes");

static ulong in_guest;
module_param(in_guest, ulong, 0444);
MODULE_PARM_DESC(in_guest, "How many interrupted a guest");

static void flood_tasklet(struct tasklet_struct *tasklet)
{
	in_guest += !!(current->flags & PF_VCPU);
	udelay(busy_us);
}

static DECLARE_TASKLET(flood, flood_tasklet);
static struct hrtimer flood_timer;

static enum hrtimer_restart flood_expired(struct hrtimer *timer)
{
	tasklet_schedule(&flood);
	hrtimer_forward_now(timer, ns_to_ktime(period_us * NSEC_PER_USEC));
	return HRTIMER_RESTART;
}

static int __init flood_init(void)
{
	hrtimer_init(&flood_timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD);
	flood_timer.function = flood_expired;
	hrtimer_start(&flood_timer, ns_to_ktime(period_us * NSEC_PER_USEC), HRTIMER_MODE_REL_PINNED_HARD);
	return 0;
}
module_init(flood_init);

static void __exit flood_exit(void)
{
	hrtimer_cancel(&flood_timer);
	tasklet_kill(&flood);
}
module_exit(flood_exit);

MODULE_DESCRIPTION("Test: softirqs that take a known time");
MODULE_LICENSE("GPL");
