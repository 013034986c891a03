/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tracing on one CPU: its ring, and its copy of the configuration, so that an event needs
 * nothing else. See trace_cpu.c.
 */
#ifndef __ARM64_KVM_HYP_NVHE_TRACE_CPU_H
#define __ARM64_KVM_HYP_NVHE_TRACE_CPU_H

#include <linux/atomic.h>
#include <linux/build_bug.h>
#include <linux/nospec.h>
#include <linux/percpu.h>
#include <linux/string.h>
#include <linux/trace_ring.h>

#include <asm/kvm_hyp.h>
#include <asm/kvm_hypevents_defs.h>

#include <nvhe/clock.h>
#include <nvhe/filter.h>
#include <nvhe/spinlock.h>
#include <nvhe/trace_config.h>

enum hyp_trace_state {
	HYP_TRACE_NONE,
	HYP_TRACE_LOADING,
	HYP_TRACE_READY,
	HYP_TRACE_UNLOADING,
};

/* Which CPU may use the writer's part of a ring: see trace.c. */
enum hyp_trace_writer {
	HYP_TRACE_OFF,		/* none */
	HYP_TRACE_ON,		/* the ring's CPU: it writes events */
	HYP_TRACE_PARKED,	/* none: the ring's CPU is in the firmware */
	HYP_TRACE_HELD,		/* another CPU, which has the ring's lock */
};

/* Bits from which a hyp_trace_cpu.types has the type of an event that has a filter */
#define HYP_EVENT_TYPE_FILTERED	32

/**
 * struct hyp_trace_cpu - tracing on one CPU
 * @types:	by event: hyp_event_type(), if the event is on and is not on the slow path alone;
 *		from HYP_EVENT_TYPE_FILTERED on, if it has a filter
 * @ring:	the ring; it begins with what each event needs
 * @config:	the generation that @clock and @types are copies of, or 0
 * @clock:	the clock
 * @entered:	when the stay that is under way began, hyp_clock_count()
 * @timing:	the generation of that, see stay_length.c; or 0
 * @filter:	the filter that the CPU is reading, see filter.c; NULL for none
 * @writer:	enum hyp_trace_writer
 * @lock:	covers @state and all but the writer's part of @ring
 * @state:	what may be done with the ring
 *
 * Only the CPU itself uses @types, and @config to @timing. While it runs and is not
 * HYP_TRACE_ON, @config is 0. So it is from a CPU's first event after EL2 has stopped tracing.
 * @types comes first, so that no event adds its offset.
 */
struct hyp_trace_cpu {
	u64			types[NR_HYP_EVENTS];
	struct trace_ring	ring;
	u64			config;
	struct hyp_clock	clock;
	u64			entered;
	u32			timing;
	const struct hyp_filter	*filter;
	atomic_t		writer;
	hyp_spinlock_t		lock;
	enum hyp_trace_state	state;
};

DECLARE_PER_CPU(struct hyp_trace_cpu, hyp_trace_cpu);

/*
 * Whether @cpu, this one, has a copy of the latest generation. A CPU does so only while it
 * is HYP_TRACE_ON. Before the first change both generations are 0, and no event has a type.
 */
static __always_inline bool hyp_trace_cpu_is_ready(const struct hyp_trace_cpu *cpu)
{
	return cpu->config == atomic64_read(&hyp_trace_config);
}

/* Whether there is a CPU of this number, which the host passed */
static inline bool hyp_trace_cpu_exists(u64 *cpu)
{
	if (*cpu >= NR_CPUS)
		return false;

	*cpu = array_index_nospec(*cpu, NR_CPUS);
	return kvm_arm_hyp_percpu_base[*cpu];
}

/* The part of a record's header before the pid, by the event's state */
static __always_inline u32 hyp_event_type(u32 state)
{
	struct hyp_event_header header = { .type = state };
	u32 type;

	BUILD_BUG_ON(offsetof(struct hyp_event_header, pid) != sizeof(type));
	memcpy(&type, &header, sizeof(type));
	return type;
}

bool hyp_trace_cpu_prepare(struct hyp_trace_cpu *cpu);

#endif /* __ARM64_KVM_HYP_NVHE_TRACE_CPU_H */
