// SPDX-License-Identifier: GPL-2.0-only
/*
 * Triggers: events that turn tracing off or on, on all CPUs
 *
 * An event can have one trigger. It fires if the event matches the trigger's filter, which is not
 * the event's own, and if tracing is not as the trigger wants it. So a trigger turns tracing off
 * once, however many CPUs have a matching event at the same time, and its count says how often
 * tracing was turned off. The event need not be enabled.
 *
 * "Off" is hyp_trace_stopped: EL2 stops all CPUs, each at its next event. The CPUs stay enabled,
 * and evaluate triggers. So tracing can be turned on again by an event of any of them. The CPU
 * whose event turns tracing off has written that event as its last one; one that turns tracing on
 * writes it as its first.
 *
 * Locking: hyp_trigger_lock covers the actions, the counts, and that hyp_trace_stopped changes
 * with them. It is the innermost lock of EL2: an event can be written with any other one held.
 * No event is written with it, and nothing waits. hyp_trigger_fire() takes it only if the trigger
 * is likely to fire.
 */
#include <linux/compiler.h>
#include <linux/errno.h>

#include <asm/kvm_asm.h>
#include <asm/kvm_hyp.h>
#include <asm/kvm_hypevents_defs.h>

#include <nvhe/spinlock.h>
#include <nvhe/trace.h>
#include <nvhe/trace_cpu.h>
#include <nvhe/trigger.h>

/* The count of a trigger that fires without limit */
#define HYP_TRIGGER_UNLIMITED	U64_MAX

/**
 * struct hyp_trigger - what an event does to tracing
 * @count:	how often it does so, still
 * @action:	HYP_TRIGGER_NONE, ...
 */
struct hyp_trigger {
	u64	count;
	u32	action;
};

static struct hyp_trigger hyp_triggers[NR_HYP_EVENTS];
static DEFINE_HYP_SPINLOCK(hyp_trigger_lock);

/**
 * hyp_trigger_set - set the trigger of an event, by the filter that was added
 * @nr:		the event, below NR_HYP_EVENTS
 * @action:	HYP_TRIGGER_OFF or HYP_TRIGGER_ON; HYP_TRIGGER_NONE for no trigger
 * @count:	how often it fires, at the most; U64_MAX for no limit
 * @nr_preds:	how many predicates were added; 0 for no filter
 *
 * Context: hypercall, with arguments from the host; the caller serialises it.
 * Return: 0; -EINVAL for an argument out of range, or a filter that is not valid. Then nothing
 * has changed.
 */
int hyp_trigger_set(unsigned long nr, u64 action, u64 count, u64 nr_preds)
{
	int ret;

	if (action > HYP_TRIGGER_ON)
		return -EINVAL;

	hyp_spin_lock(&hyp_trigger_lock);
	ret = hyp_filter_set(&hyp_event_filters[HYP_TRIGGER_FILTER(nr)], nr_preds);
	if (!ret) {
		WRITE_ONCE(hyp_triggers[nr].count, count);
		WRITE_ONCE(hyp_triggers[nr].action, action);
	}
	hyp_spin_unlock(&hyp_trigger_lock);
	return ret;
}

/**
 * hyp_trigger_count - how often a trigger fires, still
 * @nr:		its event, below NR_HYP_EVENTS
 *
 * Context: any.
 * Return: the count; U64_MAX for no limit.
 */
u64 hyp_trigger_count(unsigned long nr)
{
	return READ_ONCE(hyp_triggers[nr].count);
}

/* Without the lock: what is likely to fire */
static bool hyp_trigger_may_fire(const struct hyp_trigger *trigger, u32 action)
{
	return READ_ONCE(trigger->action) == action && READ_ONCE(trigger->count) &&
	       READ_ONCE(hyp_trace_stopped) == (action == HYP_TRIGGER_ON);
}

static bool hyp_trigger_try_fire(struct hyp_trigger *trigger, u32 action)
{
	hyp_assert_lock_held(&hyp_trigger_lock);

	if (!hyp_trigger_may_fire(trigger, action))
		return false;

	if (trigger->count != HYP_TRIGGER_UNLIMITED)
		WRITE_ONCE(trigger->count, trigger->count - 1);
	hyp_trace_set_stopped(action == HYP_TRIGGER_OFF);
	return true;
}

/**
 * hyp_trigger_fire - turn tracing off or on, if the trigger of an event says so
 * @cpu:	this CPU, HYP_TRACE_ON
 * @nr:		the event, below NR_HYP_EVENTS
 * @action:	the one that may be done now, HYP_TRIGGER_OFF or HYP_TRIGGER_ON
 * @values:	the event's record, and the values behind it
 *
 * Context: any at EL2.
 * Return: whether it fired.
 */
bool hyp_trigger_fire(struct hyp_trace_cpu *cpu, unsigned long nr, u32 action, const void *values)
{
	struct hyp_trigger *trigger = &hyp_triggers[nr];
	bool fired;

	if (!hyp_trigger_may_fire(trigger, action) ||
	    !hyp_filter_match(&hyp_event_filters[HYP_TRIGGER_FILTER(nr)], &cpu->filter, values))
		return false;

	hyp_spin_lock(&hyp_trigger_lock);
	fired = hyp_trigger_try_fire(trigger, action);
	hyp_spin_unlock(&hyp_trigger_lock);
	return fired;
}
