// SPDX-License-Identifier: GPL-2.0-only
/*
 * The boot clock for EL2
 *
 * EL2 computes the time from the counter that the host keeps time by; it must
 * be told the time at one count and the rate. The rate is that of the boot
 * clock between two snapshots, which follows whatever adjusts the host's
 * clock; while tracing is on it is measured again every second, but not while
 * the system suspends.
 */
#include <linux/clocksource_ids.h>
#include <linux/delay.h>
#include <linux/kvm_host.h>
#include <linux/math64.h>
#include <linux/timekeeping.h>
#include <linux/workqueue.h>

#include <asm/kvm_asm.h>

#include "hyp_trace.h"

#define HYP_CLOCK_PERIOD	HZ

/*
 * The first rate comes from so short a time. A snapshot is exact to 1 ns, the
 * rate to 0.4 parts in a million: not 1 us off when the next one comes.
 */
#define HYP_CLOCK_FIRST_MS	5

static void hyp_clock_work(struct work_struct *work);
static DECLARE_DELAYED_WORK(hyp_clock_dwork, hyp_clock_work);

/* The last snapshot; touched by hyp_trace_clock_start(), then by the work. */
static struct system_time_snapshot hyp_clock_last;

static int hyp_clock_snapshot(struct system_time_snapshot *snap)
{
	ktime_get_snapshot(snap);
	return snap->cs_id == CSID_ARM_ARCH_COUNTER ? 0 : -ENODEV;
}

/* @mult and @shift such that cycles * mult >> shift is ns, as near as may be. */
static void hyp_clock_rate(u64 ns, u64 cycles, u32 *mult, u32 *shift)
{
	u64 m;

	for (*shift = 31; *shift; (*shift)--) {
		m = mul_u64_u64_div_u64(ns, 1ULL << *shift, cycles);
		if (m <= U32_MAX)
			break;
	}

	*mult = m;
}

/* Tell EL2 the time of @now, and the rate since the last snapshot. */
static int hyp_clock_update(const struct system_time_snapshot *now)
{
	u64 ns = ktime_to_ns(ktime_sub(now->boot, hyp_clock_last.boot));
	u64 cycles = now->cycles - hyp_clock_last.cycles;
	u32 mult, shift;

	if (!cycles || (s64)ns <= 0)
		return -ENODEV;

	hyp_clock_rate(ns, cycles, &mult, &shift);
	hyp_clock_last = *now;
	return kvm_call_hyp_nvhe(__hyp_trace_set_clock, mult, shift,
				 ktime_to_ns(now->boot), now->cycles);
}

static void hyp_clock_work(struct work_struct *work)
{
	struct system_time_snapshot now;

	if (hyp_clock_snapshot(&now) || hyp_clock_update(&now))
		pr_warn_once("kvm: hyp_trace: the clock source has changed, times will drift\n");

	queue_delayed_work(system_freezable_wq, &hyp_clock_dwork, HYP_CLOCK_PERIOD);
}

/**
 * hyp_trace_clock_start - set EL2's clock, and keep it right
 *
 * Context: process context, may sleep; serialised with hyp_trace_clock_stop()
 * by the caller.
 * Return: 0, or -ENODEV when the host does not keep time by the architected
 * counter.
 */
int hyp_trace_clock_start(void)
{
	struct system_time_snapshot now;
	int ret;

	ret = hyp_clock_snapshot(&hyp_clock_last);
	if (!ret) {
		fsleep(HYP_CLOCK_FIRST_MS * USEC_PER_MSEC);
		ret = hyp_clock_snapshot(&now);
	}
	if (!ret)
		ret = hyp_clock_update(&now);
	if (ret) {
		pr_warn("kvm: hyp_trace: no tracing without the architected counter as clock source\n");
		return ret;
	}

	queue_delayed_work(system_freezable_wq, &hyp_clock_dwork, HYP_CLOCK_PERIOD);
	return 0;
}

/**
 * hyp_trace_clock_stop - leave EL2's clock alone
 *
 * Context: process context, may sleep.
 */
void hyp_trace_clock_stop(void)
{
	cancel_delayed_work_sync(&hyp_clock_dwork);
}
