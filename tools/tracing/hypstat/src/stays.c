// SPDX-License-Identifier: GPL-2.0
/*
 * Makes stays at EL2 of events. On each CPU hyp_enter and hyp_exit alternate:
 *
 *	        hyp_enter                 hyp_exit
 *	 host ------------> stay at EL2 ------------> host, guest or firmware
 *
 * A __kvm_vcpu_run is two stays, before and after the guest. The events of the host between
 * two stays say who runs on the CPU.
 *
 * If events were lost, a stay that was open is dropped, and so is one of which only the end is
 * there: a loss cuts no stay in two. Both may be the same stay, which is counted once.
 */
#include <string.h>

#include "stays.h"

/**
 * stays_begin - begin with a CPU
 * @stays: the stays
 * @cpu: the CPU
 */
void stays_begin(struct stays *stays, int cpu)
{
	stays->cpu = cpu;
	stays->open = false;
	stays->before = BEFORE_NOTHING;
	stays->entered_at = 0;
	stays->guest.known = false;
	stays->last_hcall = NO_HCALL;
	stays->owner = (struct owner) { .irq = -1, .softirq = -1 };
	calls_begin(&stays->calls);
}

/**
 * stays_end - end with a CPU
 * @stays: the stays
 */
void stays_end(struct stays *stays)
{
	if (stays->open)
		stays->losses.partial++;
	stays->open = false;
}

static void lose_host(struct stays *stays, s64 count)
{
	if (count > 0)
		stays->losses.host += count;
	else
		stays->losses.host_unknown++;
	stays->owner = (struct owner) { .irq = -1, .softirq = -1 };
}

/**
 * stays_lost - events of the CPU were lost
 * @stays: the stays
 * @host: these are the host's
 * @count: how many, or -1 if that is not known
 */
void stays_lost(struct stays *stays, bool host, s64 count)
{
	if (host) {
		lose_host(stays, count);
		return;
	}
	if (count > 0)
		stays->losses.hyp += count;
	else
		stays->losses.hyp_unknown++;
	if (stays->open)
		stays->losses.dropped++;
	if (stays->before != BEFORE_LOSS_IN_STAY || stays->open)
		stays->before = stays->open ? BEFORE_LOSS_IN_STAY : BEFORE_LOSS;
	stays->open = false;
	stays->entered_at = 0;
	stays->guest.known = false;
	stays->last_hcall = NO_HCALL;
	calls_begin(&stays->calls);
}

static void end_of_guest(struct stays *stays, u64 ts)
{
	if (stays->entered_at && stays->guest.known && ts >= stays->entered_at)
		stays->ran(&stays->guest, stays->entered_at, ts, stays->cpu, stays->arg);
	stays->entered_at = 0;
}

/* Without sched events, the number of the task is known. */
static void set_owner(struct stays *stays, const struct event *event)
{
	stays->stay.owner = stays->owner;
	if (stays->owner.known || !event->pid)
		return;
	stays->stay.owner.known = true;
	stays->stay.owner.pid = event->pid;
}

static void enter(struct stays *stays, const struct event *event)
{
	struct stay *stay = &stays->stay;

	if (stays->open)
		stays->losses.unpaired++;
	end_of_guest(stays, event->ts);
	stays->open = true;
	stays->before = BEFORE_EVENTS;
	stay->cpu = stays->cpu;
	stay->begin = event->ts;
	stay->reason = event->values[ENTER_REASON];
	stay->hcall = NO_HCALL;
	stay->hcall_known = false;
	stay->entered = false;
	stay->exited = false;
	stay->guest.known = false;
	stay->last_hcall = stays->last_hcall;
	stay->last_guest = stays->guest;
	stay->nr_events = 0;
	stay->nr_functions = 0;
	if ((u64)event->values[ENTER_REASON] == stays->enter_psci)
		calls_restart(&stays->calls);
	calls_begin_stay(&stays->calls, event->ts);
	set_owner(stays, event);
}

/* A hyp_exit without its hyp_enter, which came before the recording or was lost */
static void exit_alone(struct stays *stays)
{
	if (stays->before == BEFORE_NOTHING)
		stays->losses.partial++;
	else if (stays->before == BEFORE_LOSS)
		stays->losses.dropped++;
	else if (stays->before == BEFORE_EVENTS)
		stays->losses.unpaired++;
	stays->before = BEFORE_EVENTS;
}

static void leave(struct stays *stays, const struct event *event)
{
	struct stay *stay = &stays->stay;

	stays->entered_at = (u64)event->values[ENTER_REASON] == stays->exit_guest ? event->ts : 0;
	calls_leave(&stays->calls, event->ts,
		    (u64)event->values[ENTER_REASON] == stays->exit_host);
	if (!stays->open) {
		exit_alone(stays);
		return;
	}
	stays->open = false;
	if (event->ts < stay->begin) {
		stays->losses.corrupt++;
		return;
	}
	stay->end = event->ts;
	stay->exit_reason = event->values[ENTER_REASON];
	stay->nr_functions = calls_longest(&stays->calls, stay->functions);
	stays->ended(stay, stays->arg);
}

static void keep(struct stay *stay, const struct event *event)
{
	struct inside *inside = &stay->events[stay->nr_events];

	if (stay->nr_events++ >= STAY_EVENTS)
		return;
	inside->ts = event->ts;
	inside->size = event->size < STAY_BYTES ? event->size : STAY_BYTES;
	memcpy(inside->data, event->data, inside->size);
}

static void hypercall(struct stays *stays, const struct event *event)
{
	stays->last_hcall = event->values[HCALL_ID];
	stays->stay.hcall = event->values[HCALL_ID];
	stays->stay.hcall_known = !event->values[HCALL_INVALID];
}

static void meet_guest(struct stays *stays, const struct event *event)
{
	stays->guest.known = true;
	stays->guest.vcpu = event->values[GUEST_VCPU];
	stays->guest.vm_pid = event->values[GUEST_VM_PID];
	stays->guest.vm_fd = event->values[GUEST_VM_FD];
	stays->stay.guest = stays->guest;
}

static void within(struct stays *stays, const struct event *event)
{
	switch (event->kind) {
	case KIND_HOST_HCALL:
		hypercall(stays, event);
		break;
	case KIND_GUEST_ENTER:
		meet_guest(stays, event);
		stays->stay.entered = true;
		break;
	case KIND_GUEST_EXIT:
		meet_guest(stays, event);
		stays->stay.exited = true;
		stays->stay.exit_code = event->values[GUEST_EXIT_CODE];
		stays->stay.esr = event->values[GUEST_ESR];
		break;
	default:
		break;
	}
	if (stays->open)
		keep(&stays->stay, event);
}

static void count_event(struct stays *stays, const struct event *event)
{
	if (!stays->nr_events++ || event->ts < stays->first)
		stays->first = event->ts;
	if (event->ts > stays->last)
		stays->last = event->ts;
}

static void switch_task(struct owner *owner, const struct event *event)
{
	unsigned int size = event->comm_size < COMM_SIZE ? event->comm_size : COMM_SIZE;

	owner->known = true;
	owner->pid = event->values[SWITCH_NEXT_PID];
	memset(owner->comm, 0, sizeof(owner->comm));
	memcpy(owner->comm, event->comm, size);
	owner->irq = -1;
	owner->softirq = -1;
}

/* Each event of the host says which task runs, but for its name. */
static void host_event(struct stays *stays, const struct event *event)
{
	struct owner *owner = &stays->owner;

	if (!owner->known || owner->pid != event->pid) {
		owner->known = true;
		owner->pid = event->pid;
		owner->comm[0] = '\0';
	}
	if (event->kind == KIND_SCHED_SWITCH)
		switch_task(owner, event);
	else if (event->kind == KIND_IRQ_ENTRY)
		owner->irq = event->values[IRQ_NUMBER];
	else if (event->kind == KIND_IRQ_EXIT)
		owner->irq = -1;
	else if (event->kind == KIND_SOFTIRQ_ENTRY)
		owner->softirq = event->values[IRQ_NUMBER];
	else if (event->kind == KIND_SOFTIRQ_EXIT)
		owner->softirq = -1;
}

/**
 * stays_event - go on with an event
 * @stays: the stays
 * @event: the next one of the CPU, in the order of time
 */
void stays_event(struct stays *stays, const struct event *event)
{
	switch (event->kind) {
	case KIND_HYP_ENTER:
		enter(stays, event);
		break;
	case KIND_HYP_EXIT:
		leave(stays, event);
		break;
	case KIND_HYP_OTHER:
	case KIND_HOST_HCALL:
	case KIND_GUEST_ENTER:
	case KIND_GUEST_EXIT:
		within(stays, event);
		break;
	case KIND_FUNC:
		calls_function(&stays->calls, event->ts, event->values[FUNC_IP]);
		break;
	case KIND_FUNC_RET:
		calls_return(&stays->calls, event->ts, event->values[FUNC_IP]);
		break;
	case KIND_CORRUPT:
		stays->losses.corrupt++;
		return;
	default:
		host_event(stays, event);
		return;
	}
	count_event(stays, event);
}

/**
 * stays_free - free what the stays of all CPUs needed
 * @stays: the stays
 */
void stays_free(struct stays *stays)
{
	calls_free(&stays->calls);
}
