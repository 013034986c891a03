/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a CPU has for tracing: its ring, and a copy of the configuration, so that an
 * event needs nothing else.
 *
 * The configuration is the clock (clock.c) and which events are on, by which id
 * (events.c). It changes for all CPUs at once, and each change has a generation, by which
 * a CPU notices it: (E) of trace_ring.c.
 *
 * While a CPU does not write, the generation of its copy is 0. hyp_trace_config is not 0
 * after tracing was enabled on any CPU. So one comparison is enough for an event.
 */
#ifndef __ARM64_KVM_HYP_NVHE_TRACE_CPU_H
#define __ARM64_KVM_HYP_NVHE_TRACE_CPU_H

#include <linux/atomic.h>
#include <linux/percpu.h>
#include <linux/trace_ring.h>

#include <asm/kvm_hyp.h>
#include <asm/kvm_hypevents_defs.h>

#include <nvhe/clock.h>
#include <nvhe/filter.h>
#include <nvhe/spinlock.h>

enum hyp_trace_state {
	HYP_TRACE_NONE,
	HYP_TRACE_LOADING,
	HYP_TRACE_READY,
	HYP_TRACE_UNLOADING,
};

/* Who has the writer's part of a ring: see trace.c. */
enum hyp_trace_presence {
	HYP_TRACE_PRESENT,	/* the CPU: it may write events */
	HYP_TRACE_PARKED,	/* nobody: the CPU is in the firmware */
	HYP_TRACE_HELD,		/* another CPU, with the ring's lock */
};

/**
 * struct hyp_trace_cpu - tracing on one CPU
 * @ring:	the ring; what each event needs of it is at the begin
 * @config:	the generation that @clock and @types are copies of, or 0
 * @clock:	the clock
 * @host_ctxt:	the host's context on the CPU
 * @types:	of the events that are on and have no filter, what their header has before
 *		the pid; of others 0
 * @filter:	the filter that the CPU reads, see filter.c; NULL for none
 * @on:		the CPU writes to the ring
 * @presence:	enum hyp_trace_presence
 * @lock:	covers @state, @on and all but the writer's part of @ring
 * @state:	what may be done with the ring
 *
 * @config to @types are the CPU's own, and @config also the CPU's that clears @on.
 */
struct hyp_trace_cpu {
	struct trace_ring	ring;
	u64			config;
	struct hyp_clock	clock;
	struct kvm_cpu_context	*host_ctxt;
	u32			types[NR_HYP_EVENTS];
	const struct hyp_filter	*filter;
	bool			on;
	atomic_t		presence;
	hyp_spinlock_t		lock;
	enum hyp_trace_state	state;
};

DECLARE_PER_CPU(struct hyp_trace_cpu, hyp_trace_cpu);

extern atomic64_t hyp_trace_config;

/* After each change of the configuration, which from then on is seen by each event. */
static inline void hyp_trace_config_changed(void)
{
	atomic64_fetch_inc_release(&hyp_trace_config);	/* (E) */
}

/*
 * Whether @cpu, this one, has a copy of the latest configuration; and writes, if it has
 * an event's type. Before the first change there is nothing in either: 0 and 0 agree, on
 * a CPU without types.
 */
static __always_inline bool hyp_trace_cpu_is_ready(const struct hyp_trace_cpu *cpu)
{
	return cpu->config == atomic64_read(&hyp_trace_config);
}

/*
 * The task of the host's that this CPU runs.
 *
 * The host keeps its pid in CONTEXTIDR_EL1 if it is configured to. While a
 * guest's registers are loaded that is the guest's, and the host's is saved.
 * A wrong one, as a hostile host may write it, spoils the trace.
 */
static __always_inline s32 hyp_trace_cpu_pid(const struct hyp_trace_cpu *cpu)
{
	if (!IS_ENABLED(CONFIG_PID_IN_CONTEXTIDR))
		return 0;
	if (unlikely(cpu->host_ctxt->__hyp_running_vcpu))
		return ctxt_sys_reg(cpu->host_ctxt, CONTEXTIDR_EL1);
	return read_sysreg_el1(SYS_CONTEXTIDR);
}

void hyp_trace_cpu_prepare(struct hyp_trace_cpu *cpu);

#endif /* __ARM64_KVM_HYP_NVHE_TRACE_CPU_H */
