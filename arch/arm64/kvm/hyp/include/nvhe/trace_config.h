/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The configuration of tracing at EL2, for all CPUs: which events are on, by which id
 * (events.c), the clock (clock.c), and whether EL2 has stopped tracing. Each change has a
 * generation. A CPU that has a copy of another generation copies the configuration again: see
 * trace_cpu.c.
 */
#ifndef __ARM64_KVM_HYP_NVHE_TRACE_CONFIG_H
#define __ARM64_KVM_HYP_NVHE_TRACE_CONFIG_H

#include <linux/atomic.h>
#include <linux/bits.h>
#include <linux/compiler.h>

#include <asm/kvm_hypevents_defs.h>

/* The state of an event: the id of its records while it is on, else 0; and bits. */
#define HYP_EVENT_ID		0xffff
#define HYP_EVENT_FILTERED	BIT(16)	/* it has a filter */
#define HYP_EVENT_TRIGGER	BIT(17)	/* it has a trigger */
#define HYP_EVENT_TIMED		BIT(18)	/* of hyp_enter and hyp_exit: a filter has stay_ns */

/* What puts an event on the slow path alone, and comes before its filter there */
#define HYP_EVENT_WATCHED	(HYP_EVENT_TRIGGER | HYP_EVENT_TIMED)
/* What makes trace_<event>() call event_write.c */
#define HYP_EVENT_ON		(HYP_EVENT_ID | HYP_EVENT_WATCHED)

extern u32 hyp_event_states[NR_HYP_EVENTS];

/* The generation. It is 0 until the first change. */
extern atomic64_t hyp_trace_config;

/* EL2 has stopped all CPUs: see trace.c. Triggers change it with a lock: see trigger.c. */
extern bool hyp_trace_stopped;

/* Call after each change. Events that begin later see it. */
static inline void hyp_trace_config_changed(void)
{
	atomic64_fetch_inc_release(&hyp_trace_config);	/* (E) */
}

/* Stop each CPU at its next event, or undo that. */
static inline void hyp_trace_set_stopped(bool stopped)
{
	WRITE_ONCE(hyp_trace_stopped, stopped);
	hyp_trace_config_changed();
}

#endif /* __ARM64_KVM_HYP_NVHE_TRACE_CONFIG_H */
