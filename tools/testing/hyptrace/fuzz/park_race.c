// SPDX-License-Identifier: GPL-2.0-only
/*
 * A CPU writes events, goes to the firmware and returns, again and again. Meanwhile
 * others change the CPU's ring when it is parked, and only then, and set the clock. The
 * thread sanitizer finds accesses of two CPUs to the ring at once. The CPU never has a part
 * of one clock and a part of another.
 *
 * No CPU takes a lock on its way to the firmware, nor for an event before that: after a
 * panic no lock is released.
 *
 *	park_race [rounds]
 */
#include "race.h"

#define PAGES		4
#define DIR_PAGE	(PKVM_FIRST_PFN + 8)
#define LEAF_PAGE	(PKVM_FIRST_PFN + 9)
#define META_PAGE	PKVM_FIRST_PFN

/* What was seen of the ring of CPU 0; each counter has one thread that writes to it. */
static unsigned long nr_events, nr_clocks, nr_waits;
static unsigned long nr_done[EL2_CPUS], nr_busy[EL2_CPUS], nr_loads[EL2_CPUS];
static unsigned long rounds = 30000;
static bool over;

static void load(unsigned int cpu)
{
	int ret = hypercall(ring_begin, 0, META_PAGE, DIR_PAGE, PAGES);

	if (!ret)
		nr_loads[cpu]++;
	hypercall(ring_add_leaf, 0, LEAF_PAGE);
	hypercall(ring_add_pages, 0, META_PAGE + 1, PAGES);
	hypercall(ring_end, 0);
}

static void unload(void)
{
	unsigned int i;

	for (i = 0; hypercall(ring_pop, 0) == 1; i++)
		WARN_ON(i > PKVM_PAGES * rounds);
}

static void count(unsigned int cpu, int ret)
{
	if (!ret)
		nr_done[cpu]++;
	if (ret == -EBUSY)
		nr_busy[cpu]++;
}

/* A clock whose factor and base are the same */
static void set_clock(u64 *rnd)
{
	u64 mult = 1 + random_below(rnd, U32_MAX);

	WARN_ON(hyp_clock_set(mult, 32, mult << 32, 0));
}

static void check_clock(const struct hyp_clock *clock)
{
	static u64 last;

	WARN_ON(clock->mult != clock->base);
	nr_clocks += clock->mult != last;
	last = clock->mult;
}

static void any_call(unsigned int cpu, u64 *rnd)
{
	switch (random_below(rnd, 20)) {
	case 16 ... 19:
		set_clock(rnd);
		break;
	case 0:
		unload();
		break;
	case 1 ... 3:
		load(cpu);
		break;
	case 4 ... 6:
		count(cpu, hypercall(reset, 0));
		break;
	case 7:
		hypercall(swap_reader, 0);
		break;
	case 8 ... 9:
		count(cpu, hypercall(enable, 0, false));
		break;
	default:
		count(cpu, hypercall(enable, 0, true));
	}
}

static void *other_cpu(void *arg)
{
	u64 rnd = random_seed((uintptr_t)arg);

	el2_cpu = (uintptr_t)arg;
	while (!__atomic_load_n(&over, __ATOMIC_RELAXED))
		any_call(el2_cpu, &rnd);
	return NULL;
}

static void write_events(u64 *rnd)
{
	unsigned int nr = random_below(rnd, 8);
	struct hyp_trace_cpu *cpu = this_cpu_ptr(&hyp_trace_cpu);

	/* Others use the ring of a CPU that is not on. */
	if (nr && atomic_read(&cpu->writer) != HYP_TRACE_ON) {
		trace_selftest(nr);
		return;
	}

	for (; nr; nr--) {
		u64 before = cpu->ring.entries;

		trace_selftest(nr);
		WARN_ON(cpu->ring.entries != before + 1);
		check_clock(&cpu->clock);
		nr_events++;
	}
}

static void *this_cpu(void *arg)
{
	const u32 *writer = &this_cpu_ptr(&hyp_trace_cpu)->writer.counter;
	u64 rnd = random_seed(99);
	bool parked;
	unsigned long i;

	for (i = 0; i < rounds; i++) {
		write_events(&rnd);
		parked = hyp_trace_park();
		WARN_ON(__atomic_load_n(writer, __ATOMIC_RELAXED) == HYP_TRACE_ON);
		sched_yield();
		nr_waits += __atomic_load_n(writer, __ATOMIC_RELAXED) == HYP_TRACE_HELD;
		/* The firmware returns, or has reset the CPU. */
		if (parked || random_below(&rnd, 2))
			hyp_trace_unpark();
	}
	__atomic_store_n(&over, true, __ATOMIC_RELAXED);
	return NULL;
}

static unsigned long sum(const unsigned long *of)
{
	return of[1] + of[2] + of[3];
}

static void race(void)
{
	pthread_t threads[EL2_CPUS];
	uintptr_t cpu;

	shim = &pausing;
	pthread_create(&threads[0], NULL, this_cpu, NULL);
	for (cpu = 1; cpu < EL2_CPUS; cpu++)
		pthread_create(&threads[cpu], NULL, other_cpu, (void *)cpu);
	for (cpu = 0; cpu < EL2_CPUS; cpu++)
		pthread_join(threads[cpu], NULL);
	shim = NULL;

	printf("# %lu events, %lu clocks; of others' calls %lu done, %lu refused; %lu loads; "
	       "held %lu times\n",
	       nr_events, nr_clocks, sum(nr_done), sum(nr_busy), sum(nr_loads), nr_waits);
	/* Without these it was no race. */
	WARN_ON(!nr_events || !nr_clocks || !nr_waits);
	WARN_ON(!sum(nr_done) || !sum(nr_busy) || sum(nr_loads) < 2);
}

/*
 * A CPU panics with all locks held, after the clock was set; then the host turns the machine off,
 * from the CPU that writes events or from another one.
 */
static void off_after_panic(void)
{
	u64 rnd = 1;

	el2_cpu = 0;
	load(0);
	WARN_ON(hypercall(enable, 0, true));
	set_clock(&rnd);
	el2_has_panicked = true;
	for (el2_cpu = 0; el2_cpu < EL2_CPUS; el2_cpu++) {
		trace_selftest(1);
		hyp_trace_park();
		hyp_trace_unpark();
		hyp_trace_park();
	}
}

int main(int argc, char **argv)
{
	if (argc > 1)
		rounds = strtoul(argv[1], NULL, 0);
	pkvm_boot();
	pkvm_share(META_PAGE - PKVM_FIRST_PFN);
	WARN_ON(hypercall(set_event, HYP_EVENT_selftest, 1));
	race();

	WARN_ON(hypercall(enable, 0, false));
	unload();
	pkvm_check_all_given_back();
	off_after_panic();
	return 0;
}
