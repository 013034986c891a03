// SPDX-License-Identifier: GPL-2.0-only
/*
 * Stopping tracing after a stay at EL2 that took too long
 *
 * The host sets a threshold. The CPU whose stay takes as long, or longer, writes the event
 * hyp_exit, as its last one, and stops tracing on all CPUs (trace.c). So the events before that
 * stay are not overwritten. Only one CPU does so: there is no threshold any more, until the host
 * sets one again.
 *
 * A stay is compared with the threshold only if it is the longest of its cell, so that others
 * cost nothing. The host clears the maxima when it has set a threshold. So each stay that
 * reaches the threshold is also the longest one, until one is found.
 *
 * Memory ordering: (T) is explained in trace.c.
 */
#include <linux/atomic.h>
#include <linux/compiler.h>

#include <asm/barrier.h>
#include <asm/kvm_asm.h>
#include <asm/kvm_hyp.h>

#include <nvhe/stay.h>
#include <nvhe/trace.h>
#include <nvhe/trace_config.h>

/* A stay of so many cycles of CNTPCT_EL0, or more, stops tracing; 0: none does. */
u64 hyp_stay_threshold;

/*
 * The host's own calls for accounting do not stop tracing: those that clear the maxima come when
 * the threshold is set, and take long.
 */
static bool hyp_stay_can_stop(const struct hyp_stay *stay, u64 cell)
{
	u64 reason = (struct hyp_acct_cell *)cell - stay->cells;

	switch (reason - HYP_ACCT_HCALL) {
	case __KVM_HOST_SMCCC_FUNC___hyp_acct_prepare:
	case __KVM_HOST_SMCCC_FUNC___hyp_acct_enable:
	case __KVM_HOST_SMCCC_FUNC___hyp_acct_read:
	case __KVM_HOST_SMCCC_FUNC___hyp_acct_set_threshold:
		return false;
	}

	return true;
}

/* The vCPU of the event: the one that is about to run */
static s16 hyp_stay_vcpu(u8 why)
{
	return why == HYP_EXIT_GUEST ? host_data_ptr(host_ctxt)->__hyp_running_vcpu->vcpu_id :
				       HYP_NO_VCPU;
}

/* What the caller will write is refused: tracing has stopped by then. */
static void hyp_stay_stop_tracing(u64 now, u8 why)
{
	if (READ_ONCE(hyp_stay_on) & HYP_STAY_EXIT)
		hyp_event_write_4(HYP_EVENT_hyp_exit, hyp_stay_fields(why, hyp_stay_vcpu(why)),
				  now);
	hyp_trace_set_stopped(true);
}

/**
 * hyp_stay_check - stop tracing if a stay has taken as long as the threshold
 * @now:	CNTPCT_EL0: its end
 * @stay:	of this CPU
 * @cell:	the address of its cell
 * @cycles:	how long it took, more than the last maximum of the cell
 * @why:	HYP_EXIT_HOST, ...
 *
 * Context: any at EL2, while accounting is on.
 * Return: @now.
 */
u64 hyp_stay_check(u64 now, const struct hyp_stay *stay, u64 cell, u64 cycles, u8 why)
{
	u64 threshold;

	smp_mb();						/* (T) */
	threshold = READ_ONCE(hyp_stay_threshold);
	if (threshold && cycles >= threshold && hyp_stay_can_stop(stay, cell) &&
	    try_cmpxchg(&hyp_stay_threshold, &threshold, 0))
		hyp_stay_stop_tracing(now, why);
	return now;
}
