// SPDX-License-Identifier: GPL-2.0-only
/*
 * The boot clock for EL2
 *
 * EL2 computes the time as the timekeeper does, from the counter with a
 * multiplier and a shift, beginning at the time of one count. The timekeeper
 * calls here when it changes these, at most once a tick. The kernel updates EL2
 * if the rate has changed by more than the timekeeper's own dithering, the
 * clock was set, or a second has passed. Between two updates EL2 is off by that
 * dithering alone, some tens of ns.
 *
 * In suspend it counts on as the timekeeper will account for that time.
 *
 * Locking: hyp_clock.lock covers struct hyp_clock, and that EL2 gets updates in
 * order. The timekeeper calls with its own lock held, where nothing can be
 * scheduled; hence an irq_work. That may run on a CPU which is about to go, and
 * without KVM has no EL2 to call any more; hence a work, which updates EL2.
 */
#include <linux/clocksource.h>
#include <linux/irq_work.h>
#include <linux/kvm_host.h>
#include <linux/pvclock_gtod.h>
#include <linux/spinlock.h>
#include <linux/suspend.h>
#include <linux/timekeeper_internal.h>
#include <linux/timekeeping.h>
#include <linux/workqueue.h>

#include <asm/arch_timer.h>
#include <asm/kvm_asm.h>
#include <asm/virt.h>

#include "hyp_trace.h"

#define HYP_CLOCK_PERIOD	NSEC_PER_SEC

/* A rate that is off by less than one part in 2 ** 23 makes 0.12 us a period. */
#define HYP_CLOCK_RATE_SHIFT	23

/**
 * struct hyp_clock_base - a time, and the rate from there on
 * @mult:	ns a cycle, times 2 to the power of @shift
 * @shift:	of @mult
 * @ns:		the boot clock, ns, when the counter was
 * @cycles:	this
 */
struct hyp_clock_base {
	u32	mult;
	u32	shift;
	u64	ns;
	u64	cycles;
};

static void hyp_clock_irq_work(struct irq_work *irq_work);
static void hyp_clock_work(struct work_struct *work);
static int hyp_clock_notify(struct notifier_block *nb, unsigned long was_set, void *tk);

/**
 * struct hyp_clock - the timekeeper's clock, and EL2's
 * @lock:	taken for the rest
 * @now:	what the timekeeper has
 * @el2:	what EL2 has
 * @usable:	@now counts what EL2 can read
 * @irq_work:	schedules @work
 * @work:	updates EL2
 * @nb:		called by the timekeeper
 */
static struct hyp_clock {
	raw_spinlock_t		lock;	/* covers the bases */
	struct hyp_clock_base	now;
	struct hyp_clock_base	el2;
	bool			usable;
	struct irq_work		irq_work;
	struct work_struct	work;
	struct notifier_block	nb;
} hyp_clock = {
	.lock		= __RAW_SPIN_LOCK_UNLOCKED(hyp_clock.lock),
	.irq_work	= IRQ_WORK_INIT_HARD(hyp_clock_irq_work),
	.work		= __WORK_INITIALIZER(hyp_clock.work, hyp_clock_work),
	.nb		= { .notifier_call = hyp_clock_notify },
};

static bool hyp_clock_has_changed(const struct hyp_clock_base *now,
				  const struct hyp_clock_base *el2)
{
	return now->shift != el2->shift ||
	       abs_diff(now->mult, el2->mult) > 1 + (now->mult >> HYP_CLOCK_RATE_SHIFT) ||
	       now->ns - el2->ns >= HYP_CLOCK_PERIOD;
}

static int hyp_clock_update_locked(void)
{
	const struct hyp_clock_base *now = &hyp_clock.now;

	lockdep_assert_held(&hyp_clock.lock);

	if (!hyp_clock.usable)
		return -ENODEV;

	hyp_clock.el2 = *now;
	return hyp_trace_hypcall(__hyp_trace_set_clock, now->mult, now->shift, now->ns,
				 now->cycles);
}

/*
 * The timekeeper is suspended. The time until it resumes it will count by the
 * clock source's own rate, without the adjustments, and so must EL2: its events
 * come before the next update, and a time that is too far ahead stays. In plain
 * nVHE mode all but suspend-to-idle has taken KVM off EL2 by now.
 */
static void hyp_clock_suspend(const struct clocksource *clock)
{
	if (!is_protected_kvm_enabled() && pm_suspend_target_state != PM_SUSPEND_TO_IDLE)
		return;

	hyp_clock.now.mult = clock->mult;
	hyp_clock.now.shift = clock->shift;
	hyp_clock_update_locked();
}

/* Called by the timekeeper, with its lock held and interrupts off. */
static int hyp_clock_notify(struct notifier_block *nb, unsigned long was_set, void *data)
{
	const struct timekeeper *tk = data;
	const struct tk_read_base *tkr = &tk->tkr_mono;
	unsigned long flags;

	raw_spin_lock_irqsave(&hyp_clock.lock, flags);

	hyp_clock.usable = tkr->clock->id == CSID_ARM_ARCH_COUNTER;
	hyp_clock.now = (struct hyp_clock_base) {
		.mult	= tkr->mult,
		.shift	= tkr->shift,
		.ns	= ktime_to_ns(ktime_add(tkr->base, tk->offs_boot)) +
			  (tkr->xtime_nsec >> tkr->shift),
		.cycles	= tkr->cycle_last,
	};

	if (timekeeping_suspended)
		hyp_clock_suspend(tkr->clock);
	else if (was_set || hyp_clock_has_changed(&hyp_clock.now, &hyp_clock.el2))
		irq_work_queue(&hyp_clock.irq_work);

	raw_spin_unlock_irqrestore(&hyp_clock.lock, flags);
	return NOTIFY_OK;
}

static int hyp_clock_update(void)
{
	unsigned long flags;
	int ret;

	raw_spin_lock_irqsave(&hyp_clock.lock, flags);
	ret = hyp_clock_update_locked();
	raw_spin_unlock_irqrestore(&hyp_clock.lock, flags);
	return ret;
}

static void hyp_clock_irq_work(struct irq_work *irq_work)
{
	queue_work(system_unbound_wq, &hyp_clock.work);
}

static void hyp_clock_work(struct work_struct *work)
{
	if (hyp_clock_update())
		pr_warn_once("kvm: hyp_trace: the clock source has changed, times will drift\n");
}

/* Has a CPU a counter that can't be read as it is, but for an erratum's workaround? */
static bool hyp_clock_is_unstable(void)
{
#ifdef CONFIG_ARM_ARCH_TIMER_OOL_WORKAROUND
	const struct arch_timer_erratum_workaround *wa;
	int cpu;

	for_each_possible_cpu(cpu) {
		wa = per_cpu(timer_unstable_counter_workaround, cpu);
		if (wa && wa->read_cntpct_el0)
			return true;
	}
#endif
	return false;
}

/**
 * hyp_trace_clock_start - set EL2's clock, and keep it right
 * @priv:	not used
 *
 * Context: process context, may sleep; serialised with hyp_trace_clock_stop()
 * by the caller.
 * Return: 0, or -ENODEV when the host does not keep time by the architected
 * counter, or that is unstable.
 */
int hyp_trace_clock_start(void *priv)
{
	int ret;

	if (hyp_clock_is_unstable()) {
		pr_warn("kvm: hyp_trace: no tracing with an unstable counter\n");
		return -ENODEV;
	}

	/* This notifies at once. */
	pvclock_gtod_register_notifier(&hyp_clock.nb);
	ret = hyp_clock_update();
	if (ret) {
		hyp_trace_clock_stop(priv);
		pr_warn("kvm: hyp_trace: no tracing without the architected counter as clock source\n");
	}

	return ret;
}

/**
 * hyp_trace_clock_stop - leave EL2's clock alone
 * @priv:	not used
 *
 * Context: process context, may sleep.
 */
void hyp_trace_clock_stop(void *priv)
{
	pvclock_gtod_unregister_notifier(&hyp_clock.nb);
	irq_work_sync(&hyp_clock.irq_work);
	cancel_work_sync(&hyp_clock.work);
}
