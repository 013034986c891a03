// SPDX-License-Identifier: GPL-2.0-only
/*
 * How long a stay at EL2 took, for filters and triggers of hyp_exit
 *
 * The length is no field of the record. A filter or a trigger that has it puts hyp_enter and
 * hyp_exit on the slow path (HYP_EVENT_TIMED), also if they are not enabled: hyp_enter takes the
 * time, and hyp_exit computes the length. Without one, this costs nothing.
 *
 * A length that is not known is 0: that of a stay which began before the CPU was enabled, or
 * before the first such filter was set.
 */
#include <linux/build_bug.h>
#include <linux/compiler.h>
#include <linux/string.h>

#include <nvhe/filter.h>
#include <nvhe/stay_length.h>
#include <nvhe/trace.h>
#include <nvhe/trace_cpu.h>

/* How often a first filter of lengths was set. What was taken before is no begin of a stay. */
static u32 hyp_stay_timing;

static_assert(offsetof(struct hyp_event_values_hyp_exit, stay_ns) >=
	      sizeof(struct hyp_event_hyp_exit));

/**
 * hyp_stay_length_is_used - does the filter or the trigger of hyp_exit have the length?
 *
 * Context: hypercall; the caller serialises changes of filters.
 * Return: whether it does.
 */
bool hyp_stay_length_is_used(void)
{
	unsigned int offset = offsetof(struct hyp_event_values_hyp_exit, stay_ns);

	return hyp_filter_reads(&hyp_event_filters[HYP_EVENT_hyp_exit], offset) ||
	       hyp_filter_reads(&hyp_event_filters[HYP_TRIGGER_FILTER(HYP_EVENT_hyp_exit)],
				offset);
}

/**
 * hyp_stay_length_start - forget the begins of stays
 *
 * Context: hypercall; the caller serialises it.
 */
void hyp_stay_length_start(void)
{
	WRITE_ONCE(hyp_stay_timing, hyp_stay_timing + 1 ?: 1);
}

static u64 hyp_stay_length_ns(const struct hyp_trace_cpu *cpu, u64 count)
{
	if (cpu->timing != READ_ONCE(hyp_stay_timing))
		return 0;

	return hyp_clock_ns(&cpu->clock, count) - hyp_clock_ns(&cpu->clock, cpu->entered);
}

/**
 * hyp_stay_length_add - take the begin of a stay, or add its length to the record of its end
 * @cpu:	this CPU
 * @nr:		the event, HYP_EVENT_hyp_enter or HYP_EVENT_hyp_exit; others are left alone
 * @record:	its record
 * @count:	its time, hyp_clock_count()
 * @values:	room for the record and the length
 *
 * Context: any at EL2, after hyp_trace_cpu_prepare().
 * Return: what filters and triggers evaluate: @record or @values.
 */
const void *hyp_stay_length_add(struct hyp_trace_cpu *cpu, unsigned long nr, const void *record,
				u64 count, struct hyp_event_values_hyp_exit *values)
{
	if (nr == HYP_EVENT_hyp_enter) {
		cpu->entered = count;
		cpu->timing = READ_ONCE(hyp_stay_timing);
	}
	if (nr != HYP_EVENT_hyp_exit)
		return record;

	/* The bytes between the two must not be those of EL2's stack: a filter may compare them. */
	memset(values, 0, sizeof(*values));
	memcpy(&values->record, record, sizeof(values->record));
	values->stay_ns = hyp_stay_length_ns(cpu, count);
	return values;
}
