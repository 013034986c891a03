// SPDX-License-Identifier: GPL-2.0-only
/*
 * The hypervisor as a remote of tracing
 *
 *	kernel/trace/remote	files in tracefs, readers, filters, the life of the buffer
 *	  | struct trace_remote_ops
 *	hyp_trace.c		this file: a hypercall for each of these
 *	ring.c			the memory of a ring: allocated, shared, donated, loaded
 *	clock.c			the timekeeper's clock, passed to EL2
 *	events.c		the events: record, text, fields
 *	functions.c		EL2's functions: names, and which are traced
 *	accounting.c		accounting for the time at EL2, and its files
 *	boot.c			setup, and what the kernel's command line says
 *	hypcall.[ch]		the hypercalls, while EL2 has KVM's hypervisor
 *
 * In plain nVHE mode KVM may leave EL2 to the hyp stub while there is no VM. While the rings
 * are loaded, KVM's virtualization is kept enabled.
 */
#include <linux/bitmap.h>
#include <linux/delay.h>
#include <linux/kvm_host.h>
#include <linux/mutex.h>
#include <linux/timekeeping.h>
#include <linux/trace_remote_filter.h>
#include <linux/trace_ring.h>

#include <asm/kvm_asm.h>
#include <asm/kvm_hypevents_defs.h>
#include <asm/kvm_hyptrace.h>
#include <asm/virt.h>

#include "hyp_trace.h"

static DEFINE_MUTEX(hyp_trace_triggers_lock);	/* covers what follows */
static DECLARE_BITMAP(hyp_trace_triggers, NR_HYP_EVENTS); /* events that have a trigger */
static bool hyp_trace_may_switch;	/* one may have fired; also read without the lock */

static int hyp_trace_enable_cpu(void *priv, int cpu, bool enable)
{
	return hyp_trace_hypcall(__hyp_trace_enable, cpu, enable);
}

static int hyp_trace_swap_reader(void *priv, int cpu)
{
	return hyp_trace_hypcall(__hyp_trace_swap_reader, cpu);
}

static int hyp_trace_reset(void *priv, int cpu)
{
	return hyp_trace_hypcall(__hyp_trace_reset, cpu);
}

static int hyp_trace_set_overwrite(void *priv, int cpu, bool overwrite)
{
	return hyp_trace_hypcall(__hyp_trace_set_overwrite, cpu, overwrite);
}

/* What a trigger did that there is not any more has no effect from now on. */
static int hyp_trace_set_stopped(void *priv, bool stopped)
{
	guard(mutex)(&hyp_trace_triggers_lock);

	WRITE_ONCE(hyp_trace_may_switch,
		   stopped || !bitmap_empty(hyp_trace_triggers, NR_HYP_EVENTS));
	return hyp_trace_hypcall(__hyp_trace_set_stopped, stopped);
}

/* Without a trigger or a threshold there is no hypercall, which the trace would show. */
static bool hyp_trace_is_stopped(void *priv)
{
	return (READ_ONCE(hyp_trace_may_switch) || hyp_acct_may_stop()) &&
	       hyp_trace_hypcall(__hyp_trace_is_stopped) == 1;
}

/* Behind the events are the records of tracers. */
static int hyp_trace_event_id(unsigned int nr)
{
	if (nr < NR_HYP_LISTED_EVENTS)
		return trace_remote_event_id(&hyp_events[nr]);
	return trace_remote_tracer_id(nr - NR_HYP_LISTED_EVENTS);
}

/*
 * A state is set also if EL2 has it: a hypercall that sets it is cheaper than to trust that
 * nothing else in the kernel has made one.
 */
static int hyp_trace_set_events(void *priv, const unsigned long *on)
{
	int i, id, ret = 0;

	for (i = 0; i < NR_HYP_EVENTS && !ret; i++) {
		id = test_bit(i, on) ? hyp_trace_event_id(i) : 0;
		ret = hyp_trace_hypcall(__hyp_trace_set_event, i, id);
	}

	return ret;
}

/* How often a predicate is passed to EL2, and how long to wait before the next time */
#define HYP_TRACE_PRED_TRIES	1000
#define HYP_TRACE_PRED_WAIT_US	20

static int hyp_trace_add_pred(unsigned int nr, int index, const struct trace_remote_pred *pred)
{
	return hyp_trace_hypcall(__hyp_trace_add_pred, nr, index, pred->code, pred->val);
}

/*
 * The first predicate overwrites the program that was in use before the last one. EL2
 * refuses it while a CPU there may still read that program. An event is filtered within a
 * microsecond, unless another hypervisor has preempted the CPU.
 */
static int hyp_trace_add_first_pred(unsigned int nr, const struct trace_remote_pred *pred)
{
	int tries, ret = -EAGAIN;

	for (tries = 0; tries < HYP_TRACE_PRED_TRIES && ret == -EAGAIN; tries++) {
		if (tries)
			usleep_range(HYP_TRACE_PRED_WAIT_US, 5 * HYP_TRACE_PRED_WAIT_US);
		ret = hyp_trace_add_pred(nr, 0, pred);
	}

	return ret == -EAGAIN ? -EBUSY : ret;
}

/* @nr is that of an event, or of its trigger: HYP_TRIGGER_FILTER(). */
static int hyp_trace_add_preds(unsigned int nr, const struct trace_remote_pred *preds,
			       unsigned int nr_preds)
{
	int i, ret = 0;

	if (nr_preds)
		ret = hyp_trace_add_first_pred(nr, &preds[0]);
	for (i = 1; i < nr_preds && !ret; i++)
		ret = hyp_trace_add_pred(nr, i, &preds[i]);
	return ret;
}

static int hyp_trace_set_filter(void *priv, unsigned int nr,
				const struct trace_remote_pred *preds, unsigned int nr_preds)
{
	return hyp_trace_add_preds(nr, preds, nr_preds) ?:
	       hyp_trace_hypcall(__hyp_trace_set_filter, nr, nr_preds);
}

static int hyp_trace_set_trigger(void *priv, unsigned int nr,
				 const struct trace_remote_trigger *trigger)
{
	static const struct trace_remote_trigger none;
	int ret, action = HYP_TRIGGER_NONE;

	if (trigger)
		action = trigger->on ? HYP_TRIGGER_ON : HYP_TRIGGER_OFF;
	trigger = trigger ?: &none;

	guard(mutex)(&hyp_trace_triggers_lock);
	ret = hyp_trace_add_preds(HYP_TRIGGER_FILTER(nr), trigger->preds, trigger->nr_preds) ?:
	      hyp_trace_hypcall(__hyp_trace_set_trigger, nr, action, trigger->count,
				trigger->nr_preds);
	if (ret)
		return ret;

	__assign_bit(nr, hyp_trace_triggers, action);
	if (action)
		WRITE_ONCE(hyp_trace_may_switch, true);
	return 0;
}

static unsigned long hyp_trace_trigger_count(void *priv, unsigned int nr)
{
	return hyp_trace_hypcall(__hyp_trace_trigger_count, nr);
}

#ifdef CONFIG_KVM_HYP_TRACING_SELFTEST
static int hyp_trace_write_event(void *priv, u64 value)
{
	return hyp_trace_hypcall(__hyp_trace_write_event, value);
}
#endif

static const struct trace_remote_ops hyp_trace_ops = {
	.get		= hyp_trace_get,
	.put		= hyp_trace_put,
	.load_ring	= hyp_trace_load_ring,
	.unload_ring	= hyp_trace_unload_ring,
	.enable_cpu	= hyp_trace_enable_cpu,
	.swap_reader	= hyp_trace_swap_reader,
	.reset_ring	= hyp_trace_reset,
	.set_overwrite	= hyp_trace_set_overwrite,
	.clock		= ktime_get_boot_fast_ns,
	.start		= hyp_trace_clock_start,
	.stop		= hyp_trace_clock_stop,
#ifdef CONFIG_KVM_HYP_ACCOUNTING
	.set_on		= hyp_acct_set_tracing,
#endif
	.is_stopped	= hyp_trace_is_stopped,
	.set_stopped	= hyp_trace_set_stopped,
	.set_events	= hyp_trace_set_events,
	.set_filter	= hyp_trace_set_filter,
	.set_trigger	= hyp_trace_set_trigger,
	.trigger_count	= hyp_trace_trigger_count,
#ifdef CONFIG_KVM_HYP_TRACING_SELFTEST
	.write_event	= hyp_trace_write_event,
#endif
};

/* Under pKVM, EL2 traces a CPU until it is offline, and knows all CPUs that can come up. */
static struct trace_remote_desc hyp_trace_desc = {
	.name		= "hypervisor",
	.ops		= &hyp_trace_ops,
	.events		= hyp_events,
	.nr_events	= NR_HYP_LISTED_EVENTS,
#ifdef CONFIG_KVM_HYP_ACCOUNTING
	.files		= hyp_acct_files,
	.cpu_files	= hyp_acct_cpu_files,
#endif
#ifdef CONFIG_KVM_HYP_FUNCTION_TRACER
	.functions	= &hyp_functions,
#endif
	.max_pages	= TRACE_RING_MAX_PAGES,
	.has_tasks	= true,
};

/**
 * hyp_trace_register - register the hypervisor as a remote
 *
 * Context: process context, may sleep; once KVM is initialised.
 * Return: as trace_remote_create().
 */
struct trace_remote *hyp_trace_register(void)
{
	struct trace_remote *remote;

	hyp_trace_desc.own_hotplug = is_protected_kvm_enabled();
	remote = trace_remote_create(&hyp_trace_desc, NULL);
	if (!IS_ERR(remote))
		hyp_trace_remote = remote;
	return remote;
}

/**
 * hyp_trace_unregister - undo hyp_trace_register()
 * @remote:	what that returned
 *
 * Context: process context, may sleep.
 */
void hyp_trace_unregister(struct trace_remote *remote)
{
	trace_remote_destroy(remote);
	hyp_trace_remote = NULL;
}

#ifdef CONFIG_KVM_HYP_TRACING_DUMP
/**
 * hyp_trace_dump_panic - print the hypervisor's last events: it has panicked
 *
 * Context: any; the kernel panics next.
 */
void hyp_trace_dump_panic(void)
{
	trace_remote_dump_panic(hyp_trace_remote);
}
#endif
