// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tracing on one CPU: its ring, and its copy of the configuration
 *
 * An event needs the clock and the event's type. Each CPU has a copy of them, with the
 * generation of the configuration that it copied (trace_config.h). An event compares that with
 * the latest generation: (E) of trace.c.
 *
 * While a CPU does not write, the generation of its copy is 0. The latest generation is not
 * 0 after tracing was enabled on any CPU. So one comparison is enough for an event, and also
 * stops a CPU when EL2 stops all of them.
 */
#include <linux/compiler.h>

#include <asm/kvm_hyp.h>

#include <nvhe/trace_cpu.h>

u32 hyp_event_states[NR_HYP_EVENTS];
atomic64_t hyp_trace_config;
bool hyp_trace_stopped;
DEFINE_PER_CPU(struct hyp_trace_cpu, hyp_trace_cpu);

/* For filter.c; NULL for a CPU that does not exist. */
const struct hyp_filter **hyp_filter_reading(unsigned int cpu)
{
	if (!kvm_arm_hyp_percpu_base[cpu])
		return NULL;

	return &per_cpu_ptr(&hyp_trace_cpu, cpu)->filter;
}

/* hyp_event_type(), for the path that the event takes */
static u64 hyp_event_types(u32 state)
{
	u64 type = hyp_event_type(state);

	if (state & HYP_EVENT_WATCHED)
		return 0;

	return state & HYP_EVENT_FILTERED ? type << HYP_EVENT_TYPE_FILTERED : type;
}

/**
 * hyp_trace_cpu_prepare - copy the latest configuration
 * @cpu:	this CPU, which writes to its ring
 *
 * Context: any at EL2.
 * Return: whether the CPU may write: false if EL2 has stopped tracing.
 */
bool hyp_trace_cpu_prepare(struct hyp_trace_cpu *cpu)
{
	u64 config = atomic64_read_acquire(&hyp_trace_config);	/* (E) */
	bool has_clock = hyp_clock_get(&cpu->clock);
	unsigned int nr;

	/* Triggers need the clock also when tracing is stopped. */
	if (unlikely(READ_ONCE(hyp_trace_stopped))) {
		cpu->config = 0;
		return false;
	}

	for (nr = 0; nr < NR_HYP_EVENTS; nr++)
		cpu->types[nr] = hyp_event_types(READ_ONCE(hyp_event_states[nr]));
	/* Without the latest clock, this event has an older one, and the next event tries again. */
	cpu->config = has_clock ? config : 0;
	return true;
}
