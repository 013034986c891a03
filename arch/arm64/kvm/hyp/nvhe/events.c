// SPDX-License-Identifier: GPL-2.0-only
/*
 * Turning the hypervisor's trace events on and off, and filtering them
 *
 * The host names an event by its number in the event list, and passes the id for the
 * event's records. EL2 uses the id for nothing else: a wrong one spoils the trace.
 *
 * Locking: hyp_events_lock serialises the host's changes. Events read
 * hyp_event_states[] and their filters without it, or the copies that each CPU has of
 * the states: see trace_cpu.h.
 */
#include <linux/build_bug.h>
#include <linux/errno.h>
#include <linux/nospec.h>
#include <linux/limits.h>

#include <asm/barrier.h>
#include <asm/kvm_asm.h>

#include <nvhe/filter.h>
#include <nvhe/spinlock.h>
#include <nvhe/stay.h>
#include <nvhe/stay_length.h>
#include <nvhe/trace.h>
#include <nvhe/trace_config.h>
#include <nvhe/trigger.h>

/* What trace_<event>() tests: whether the event has an id in hyp_event_states[] */
#define HYP_EVENT(name, proto, fields, assign, printk)	u32 hyp_event_on_##name;
#include <asm/kvm_hypevents.h>

#define HYP_EVENT(name, proto, fields, assign, printk)	\
	[HYP_EVENT_##name] = &hyp_event_on_##name,
static u32 *const hyp_events_on[NR_HYP_EVENTS] = {
#include <asm/kvm_hypevents.h>
};

struct hyp_filter hyp_event_filters[NR_HYP_FILTERS];
static DEFINE_HYP_SPINLOCK(hyp_events_lock);

/* Bytes that a filter may read: a record, without strings and bitmasks, and values */
#define HYP_EVENT(name, proto, fields, assign, printk)	\
	[HYP_EVENT_##name] = sizeof(struct hyp_event_values_##name),
static const u16 hyp_event_sizes[NR_HYP_EVENTS] = {
#include <asm/kvm_hypevents.h>
};

static void hyp_event_set_state(u64 nr, u32 mask, u32 state)
{
	hyp_assert_lock_held(&hyp_events_lock);

	state |= hyp_event_states[nr] & ~mask;
	WRITE_ONCE(hyp_event_states[nr], state);
	hyp_trace_config_changed();

	WRITE_ONCE(*hyp_events_on[nr], !!(state & HYP_EVENT_ON));
	hyp_stay_set_event(nr, state & HYP_EVENT_ON);
	hyp_func_update_events();
}

/* A filter or a trigger has changed. That of hyp_exit may have the stay's length. */
static void hyp_events_set_timed(void)
{
	u32 timed = hyp_stay_length_is_used() ? HYP_EVENT_TIMED : 0;

	hyp_assert_lock_held(&hyp_events_lock);

	if (timed == (hyp_event_states[HYP_EVENT_hyp_exit] & HYP_EVENT_TIMED))
		return;

	hyp_stay_length_start();
	hyp_event_set_state(HYP_EVENT_hyp_enter, HYP_EVENT_TIMED, timed);
	hyp_event_set_state(HYP_EVENT_hyp_exit, HYP_EVENT_TIMED, timed);
}

/**
 * hyp_trace_set_event - set the state of an event, for all CPUs
 * @nr:		its number in the event list
 * @id:		the id of its records, or 0 to turn it off
 *
 * Context: hypercall, with arguments from the host.
 * Return: 0, or -EINVAL for an argument out of range.
 */
int hyp_trace_set_event(u64 nr, u64 id)
{
	if (nr >= NR_HYP_EVENTS || id > U16_MAX)
		return -EINVAL;

	nr = array_index_nospec(nr, NR_HYP_EVENTS);
	hyp_spin_lock(&hyp_events_lock);
	hyp_event_set_state(nr, HYP_EVENT_ID, id);
	hyp_spin_unlock(&hyp_events_lock);
	return 0;
}

/**
 * hyp_trace_add_pred - add a predicate to the next filter of an event, or of its trigger
 * @nr:		the event's number in the event list, or HYP_TRIGGER_FILTER() of that
 * @index:	which predicate it is, from 0
 * @code:	the predicate's trace_remote_pred_code()
 * @val:	its operand
 *
 * Context: hypercall, with arguments from the host.
 * Return: 0; -EINVAL for an argument out of range; -EAGAIN as hyp_filter_add(), and the
 * host retries. Then nothing has changed.
 */
int hyp_trace_add_pred(u64 nr, u64 index, u64 code, u64 val)
{
	int ret;

	if (nr >= NR_HYP_FILTERS)
		return -EINVAL;

	nr = array_index_nospec(nr, NR_HYP_FILTERS);
	hyp_spin_lock(&hyp_events_lock);
	ret = hyp_filter_add(&hyp_event_filters[nr], index, code, val,
			     hyp_event_sizes[nr % NR_HYP_EVENTS]);
	hyp_spin_unlock(&hyp_events_lock);
	return ret;
}

/**
 * hyp_trace_set_filter - filter an event by the predicates that were added
 * @nr:		its number in the event list
 * @nr_preds:	how many were added; 0 for no filter
 *
 * Context: hypercall, with arguments from the host.
 * Return: 0; or -EINVAL if they make no valid program. Then nothing has changed.
 */
int hyp_trace_set_filter(u64 nr, u64 nr_preds)
{
	int ret;

	if (nr >= NR_HYP_EVENTS)
		return -EINVAL;

	nr = array_index_nospec(nr, NR_HYP_EVENTS);
	hyp_spin_lock(&hyp_events_lock);
	ret = hyp_filter_set(&hyp_event_filters[nr], nr_preds);
	if (!ret) {
		hyp_event_set_state(nr, HYP_EVENT_FILTERED, nr_preds ? HYP_EVENT_FILTERED : 0);
		hyp_events_set_timed();
	}
	hyp_spin_unlock(&hyp_events_lock);
	return ret;
}

/**
 * hyp_trace_set_trigger - let an event turn tracing off or on
 * @nr:		its number in the event list
 * @action:	as hyp_trigger_set()
 * @count:	likewise
 * @nr_preds:	likewise
 *
 * Context: hypercall, with arguments from the host.
 * Return: as hyp_trigger_set().
 */
int hyp_trace_set_trigger(u64 nr, u64 action, u64 count, u64 nr_preds)
{
	int ret;

	if (nr >= NR_HYP_EVENTS)
		return -EINVAL;

	nr = array_index_nospec(nr, NR_HYP_EVENTS);
	hyp_spin_lock(&hyp_events_lock);
	ret = hyp_trigger_set(nr, action, count, nr_preds);
	if (!ret) {
		hyp_event_set_state(nr, HYP_EVENT_TRIGGER, action ? HYP_EVENT_TRIGGER : 0);
		hyp_events_set_timed();
	}
	hyp_spin_unlock(&hyp_events_lock);
	return ret;
}

/**
 * hyp_trace_trigger_count - how often the trigger of an event fires, still
 * @nr:		its number in the event list
 *
 * Context: hypercall, with arguments from the host.
 * Return: the count, -1 for no limit; 0 for an event that does not exist.
 */
s64 hyp_trace_trigger_count(u64 nr)
{
	if (nr >= NR_HYP_EVENTS)
		return 0;

	return hyp_trigger_count(array_index_nospec(nr, NR_HYP_EVENTS));
}

enum hyp_hcall_kind {
	HYP_HCALL_RETURNS,	/* something that the trace shows */
	HYP_HCALL_NOTHING,
	HYP_HCALL_UNKNOWN,
};

/* Each hypercall is in a list. There is no default: the compiler finds one that is in none. */
static __always_inline enum hyp_hcall_kind hyp_hcall_kind(enum __kvm_host_smccc_func id)
{
	switch (id) {
	/* A number. */
	case __KVM_HOST_SMCCC_FUNC___kvm_get_mdcr_el2:
	case __KVM_HOST_SMCCC_FUNC___pkvm_init:
	case __KVM_HOST_SMCCC_FUNC___pkvm_cpu_set_vector:
	case __KVM_HOST_SMCCC_FUNC___vgic_v3_get_gic_config:
	case __KVM_HOST_SMCCC_FUNC___pkvm_prot_finalize:
	case __KVM_HOST_SMCCC_FUNC___pkvm_host_share_hyp:
	case __KVM_HOST_SMCCC_FUNC___pkvm_host_unshare_hyp:
	case __KVM_HOST_SMCCC_FUNC___kvm_vcpu_run:
	case __KVM_HOST_SMCCC_FUNC___pkvm_init_vm:
	case __KVM_HOST_SMCCC_FUNC___pkvm_init_vcpu:
	case __KVM_HOST_SMCCC_FUNC___pkvm_teardown_vm:
	case __KVM_HOST_SMCCC_FUNC___hyp_trace_ring_begin:
	case __KVM_HOST_SMCCC_FUNC___hyp_trace_ring_add_leaf:
	case __KVM_HOST_SMCCC_FUNC___hyp_trace_ring_add_pages:
	case __KVM_HOST_SMCCC_FUNC___hyp_trace_ring_end:
	case __KVM_HOST_SMCCC_FUNC___hyp_trace_ring_pop:
	case __KVM_HOST_SMCCC_FUNC___hyp_trace_enable:
	case __KVM_HOST_SMCCC_FUNC___hyp_trace_swap_reader:
	case __KVM_HOST_SMCCC_FUNC___hyp_trace_reset:
	case __KVM_HOST_SMCCC_FUNC___hyp_trace_set_overwrite:
	case __KVM_HOST_SMCCC_FUNC___hyp_trace_set_event:
	case __KVM_HOST_SMCCC_FUNC___hyp_trace_add_pred:
	case __KVM_HOST_SMCCC_FUNC___hyp_trace_set_filter:
	case __KVM_HOST_SMCCC_FUNC___hyp_trace_set_clock:
	case __KVM_HOST_SMCCC_FUNC___hyp_trace_is_stopped:
	case __KVM_HOST_SMCCC_FUNC___hyp_trace_set_stopped:
	case __KVM_HOST_SMCCC_FUNC___hyp_trace_set_trigger:
	case __KVM_HOST_SMCCC_FUNC___hyp_trace_trigger_count:
	case __KVM_HOST_SMCCC_FUNC___hyp_acct_prepare:
	case __KVM_HOST_SMCCC_FUNC___hyp_acct_enable:
	case __KVM_HOST_SMCCC_FUNC___hyp_acct_read:
	case __KVM_HOST_SMCCC_FUNC___hyp_acct_set_threshold:
	case __KVM_HOST_SMCCC_FUNC___hyp_trace_write_event:
#ifdef CONFIG_KVM_HYP_FUNCTION_TRACER
	case __KVM_HOST_SMCCC_FUNC___hyp_trace_set_functions:
	case __KVM_HOST_SMCCC_FUNC___hyp_trace_set_graph:
#endif
		return HYP_HCALL_RETURNS;
	/* Nothing: the register still has the host's argument. */
	case __KVM_HOST_SMCCC_FUNC___kvm_enable_ssbs:
	case __KVM_HOST_SMCCC_FUNC___vgic_v3_init_lrs:
	case __KVM_HOST_SMCCC_FUNC___kvm_adjust_pc:
	case __KVM_HOST_SMCCC_FUNC___kvm_flush_vm_context:
	case __KVM_HOST_SMCCC_FUNC___kvm_tlb_flush_vmid_ipa:
	case __KVM_HOST_SMCCC_FUNC___kvm_tlb_flush_vmid_ipa_nsh:
	case __KVM_HOST_SMCCC_FUNC___kvm_tlb_flush_vmid:
	case __KVM_HOST_SMCCC_FUNC___kvm_tlb_flush_vmid_range:
	case __KVM_HOST_SMCCC_FUNC___kvm_flush_cpu_context:
	case __KVM_HOST_SMCCC_FUNC___kvm_timer_set_cntvoff:
	case __KVM_HOST_SMCCC_FUNC___vgic_v3_save_vmcr_aprs:
	case __KVM_HOST_SMCCC_FUNC___vgic_v3_restore_vmcr_aprs:
	case __KVM_HOST_SMCCC_FUNC___pkvm_vcpu_init_traps:
	/* An address of EL2, which the host gets, but not the trace. */
	case __KVM_HOST_SMCCC_FUNC___pkvm_create_private_mapping:
		return HYP_HCALL_NOTHING;
	}

	return HYP_HCALL_UNKNOWN;
}

/**
 * hyp_hcall_result - what the trace shows as the result of a hypercall
 * @id:		its number
 * @ret:	the register that has its result, if it has one
 *
 * Return: @ret; 0 for a hypercall without a result, and for one whose result is not the
 * trace's; HYP_HCALL_UNLISTED for any other one.
 */
s64 hyp_hcall_result(u64 id, s64 ret)
{
	if (hyp_hcall_kind(id) == HYP_HCALL_RETURNS)
		return ret;
	if (id == __KVM_HOST_SMCCC_FUNC___kvm_hyp_init || hyp_hcall_kind(id) == HYP_HCALL_NOTHING)
		return 0;
	return HYP_HCALL_UNLISTED;
}
