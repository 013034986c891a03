// SPDX-License-Identifier: GPL-2.0-only
/*
 * All CPUs write an event whose trigger turns tracing off, and one whose trigger turns it on.
 * Each trigger fires as often as its count says, and tracing is on or off as the last one left it.
 * The CPU that turns tracing off writes that event as its last one.
 *
 * Then CPU 0 is alone: filters, counts and the length of a stay decide which events fire.
 *
 *	trigger_race [count]
 */
#include "race.h"

#define PAGES		3
#define CPU_PAGES	(PAGES + 3)
#define UNLIMITED	U64_MAX

static unsigned long rounds = 2000;
static bool over;
static unsigned long nr_events[EL2_CPUS];

static void load(unsigned int cpu)
{
	u64 pfn = PKVM_FIRST_PFN + cpu * CPU_PAGES;

	pkvm_share(cpu * CPU_PAGES);
	WARN_ON(hypercall(ring_begin, cpu, pfn, pfn + 1, PAGES));
	WARN_ON(hypercall(ring_add_leaf, cpu, pfn + 2));
	WARN_ON(hypercall(ring_add_pages, cpu, pfn + 3, PAGES));
	WARN_ON(hypercall(ring_end, cpu));
	el2_cpu = cpu;
	WARN_ON(hypercall(enable, cpu, true));
}

/* A trigger whose filter is one predicate: a field of @size bytes at @offset, compared by @op */
static void set_trigger(unsigned int nr, u64 action, u64 count, unsigned int offset, u8 size,
			u8 op, u64 val)
{
	u64 code = trace_remote_pred_code(offset, size, false, op, false, 2);

	WARN_ON(hypercall(add_pred, HYP_TRIGGER_FILTER(nr), 0, code, val));
	WARN_ON(hypercall(set_trigger, nr, action, count, 1));
}

static void set_trigger_of_all(unsigned int nr, u64 action, u64 count)
{
	WARN_ON(hypercall(set_trigger, nr, action, count, 0));
}

static u64 count_of(unsigned int nr)
{
	return hypercall(trigger_count, nr);
}

static void write_event(u64 *rnd)
{
	if (random_below(rnd, 2))
		trace_selftest(el2_cpu);
	else
		trace_host_smc(el2_cpu, true);
}

static void *writer(void *arg)
{
	u64 rnd = random_seed((uintptr_t)arg);

	el2_cpu = (uintptr_t)arg;
	while (!__atomic_load_n(&over, __ATOMIC_RELAXED)) {
		write_event(&rnd);
		nr_events[el2_cpu]++;
	}
	return NULL;
}

static bool is_over(void)
{
	return !count_of(HYP_EVENT_selftest) && !count_of(HYP_EVENT_host_smc);
}

/* Tracing goes off and on, each @rounds times, and is on in the end. */
static void race(void)
{
	pthread_t threads[EL2_CPUS];
	unsigned long events = 0, entries = 0;
	uintptr_t cpu;

	set_trigger_of_all(HYP_EVENT_selftest, HYP_TRIGGER_OFF, rounds);
	set_trigger_of_all(HYP_EVENT_host_smc, HYP_TRIGGER_ON, rounds);
	shim = &pausing;
	for (cpu = 0; cpu < EL2_CPUS; cpu++)
		pthread_create(&threads[cpu], NULL, writer, (void *)cpu);
	while (!is_over())
		sched_yield();
	__atomic_store_n(&over, true, __ATOMIC_RELAXED);
	for (cpu = 0; cpu < EL2_CPUS; cpu++)
		pthread_join(threads[cpu], NULL);
	shim = NULL;

	WARN_ON(hypercall(is_stopped));
	for (cpu = 0; cpu < EL2_CPUS; cpu++) {
		/* Without these it was no race. */
		WARN_ON(!nr_events[cpu]);
		events += nr_events[cpu];
		entries += hyp_trace_cpu[cpu].ring.entries;
	}
	printf("# %lu events, %lu written\n", events, entries);
	/* Each that turned tracing off or on was written itself. */
	WARN_ON(entries < 2 * rounds);
}

/* Whether an event was written, and what tracing is then */
static void expect(u64 id, bool written, bool stopped)
{
	const struct trace_ring *ring = &hyp_trace_cpu[el2_cpu].ring;
	u64 entries = ring->entries;

	trace_selftest(id);
	WARN_ON(ring->entries != entries + written);
	WARN_ON(hypercall(is_stopped) != stopped);
}

static void check_off(void)
{
	unsigned int id = offsetof(struct hyp_event_selftest, id);

	set_trigger(HYP_EVENT_selftest, HYP_TRIGGER_OFF, 2, id, 8, TRACE_REMOTE_EQ, 5);
	expect(4, true, false);
	expect(5, true, true);
	expect(5, false, true);
	WARN_ON(count_of(HYP_EVENT_selftest) != 1);
	hypercall(set_stopped, false);
	/* An event that is not enabled fires, and is not written. */
	WARN_ON(hypercall(set_event, HYP_EVENT_selftest, 0));
	expect(4, false, false);
	expect(5, false, true);
	WARN_ON(count_of(HYP_EVENT_selftest));
	hypercall(set_stopped, false);
	expect(5, false, false);
	WARN_ON(hypercall(set_event, HYP_EVENT_selftest, 1));
	expect(5, true, false);
}

static void check_on(void)
{
	unsigned int id = offsetof(struct hyp_event_selftest, id);

	hypercall(set_stopped, true);
	set_trigger(HYP_EVENT_selftest, HYP_TRIGGER_ON, UNLIMITED, id, 8, TRACE_REMOTE_GT, 5);
	expect(5, false, true);
	expect(6, true, false);
	expect(5, true, false);
	WARN_ON(count_of(HYP_EVENT_selftest) != UNLIMITED);
	hypercall(set_stopped, true);
	WARN_ON(hypercall(set_trigger, HYP_EVENT_selftest, HYP_TRIGGER_NONE, UNLIMITED, 0));
	expect(6, false, true);
	hypercall(set_stopped, false);
	WARN_ON(hypercall(set_trigger, HYP_EVENT_selftest, HYP_TRIGGER_ON + 1, 1, 0) != -EINVAL);
	WARN_ON(hypercall(set_trigger, NR_HYP_EVENTS, HYP_TRIGGER_ON, 1, 0) != -EINVAL);
	WARN_ON(hypercall(set_trigger, HYP_EVENT_selftest, HYP_TRIGGER_ON, 1, 1) != -EINVAL);
	WARN_ON(hypercall(trigger_count, NR_HYP_EVENTS));
}

/* A stay of so many cycles of a clock of 1 GHz, and whether it turns tracing off */
static void expect_stay(u64 cycles, bool entered, bool stopped)
{
	if (entered)
		trace_hyp_enter(HYP_ENTER_HVC, HYP_NO_VCPU);
	el2_count += cycles;
	trace_hyp_exit(HYP_EXIT_HOST, HYP_NO_VCPU);
	WARN_ON(hypercall(is_stopped) != stopped);
	hypercall(set_stopped, false);
}

/* Neither event is enabled. */
static void check_length(void)
{
	unsigned int offset = offsetof(struct hyp_event_values_hyp_exit, stay_ns);
	unsigned int pad = sizeof(struct hyp_event_hyp_exit);

	el2_count = 1;
	trace_hyp_enter(HYP_ENTER_HVC, HYP_NO_VCPU);
	set_trigger(HYP_EVENT_hyp_exit, HYP_TRIGGER_OFF, UNLIMITED, offset, 8, TRACE_REMOTE_GE,
		    100);
	expect_stay(1000, false, false);
	expect_stay(99, true, false);
	expect_stay(100, true, true);
	expect_stay(101, true, true);

	/* What began before the CPU was enabled has no length. */
	trace_hyp_enter(HYP_ENTER_HVC, HYP_NO_VCPU);
	WARN_ON(hypercall(enable, el2_cpu, false));
	WARN_ON(hypercall(enable, el2_cpu, true));
	expect_stay(1000, false, false);

	/* The bytes between the record and the length are zeroes. */
	set_trigger(HYP_EVENT_hyp_exit, HYP_TRIGGER_OFF, UNLIMITED, pad, 4, TRACE_REMOTE_EQ, 0);
	expect_stay(1, true, true);
	set_trigger(HYP_EVENT_hyp_exit, HYP_TRIGGER_OFF, UNLIMITED, pad, 4, TRACE_REMOTE_GT, 0);
	expect_stay(1, true, false);
	WARN_ON(hypercall(set_trigger, HYP_EVENT_hyp_exit, HYP_TRIGGER_NONE, 0, 0));
	WARN_ON(hyp_event_on_hyp_enter || hyp_event_on_hyp_exit);
}

int main(int argc, char **argv)
{
	unsigned int cpu;

	if (argc > 1)
		rounds = strtoul(argv[1], NULL, 0);
	pkvm_boot();
	WARN_ON(hyp_clock_set(1, 0, 0, 0));
	WARN_ON(hypercall(set_event, HYP_EVENT_selftest, 1));
	WARN_ON(hypercall(set_event, HYP_EVENT_host_smc, 2));
	for (cpu = 0; cpu < EL2_CPUS; cpu++)
		load(cpu);
	race();

	el2_cpu = 0;
	WARN_ON(hypercall(set_trigger, HYP_EVENT_host_smc, HYP_TRIGGER_NONE, 0, 0));
	check_off();
	check_on();
	check_length();
	return 0;
}
