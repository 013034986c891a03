// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit: the events of several CPUs are merged by time, then by the number of the CPU. The heaps
 * may have more CPUs than the machine.
 */
#include <linux/min_heap.h>
#include <linux/prandom.h>

#include "../remote.h"
#include "test.h"

#define MERGE_TEST_CPUS		37
#define MERGE_TEST_EVENTS	1000
#define MERGE_TEST_ROUNDS	20

/**
 * struct merge_test - CPUs with random events
 * @merge:	the heap
 * @rnd:	the events' times, and how many there are
 * @ts:		time of the last event that a CPU has added, by CPU; U64_MAX if it has none
 * @left:	events to come from a CPU after that one
 * @nr:		events in all
 * @entries:	memory of the heap
 */
struct merge_test {
	struct trace_remote_merge	merge;
	struct rnd_state		rnd;
	u64				ts[MERGE_TEST_CPUS];
	unsigned int			left[MERGE_TEST_CPUS];
	unsigned int			nr;
	struct trace_remote_merge_entry	entries[MERGE_TEST_CPUS];
};

/* Many times are equal. */
static u64 merge_test_delta(struct merge_test *m)
{
	return prandom_u32_state(&m->rnd) % 4;
}

static struct merge_test *merge_test_make(struct kunit *test)
{
	struct merge_test *m = kunit_kzalloc(test, sizeof(*m), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, m);
	min_heap_init(&m->merge, m->entries, MERGE_TEST_CPUS);
	KUNIT_EXPECT_EQ(test, -1, trace_remote_merge_first(&m->merge));
	return m;
}

/* A CPU in four has no event at all. */
static void merge_test_fill(struct merge_test *m, u64 base)
{
	unsigned int cpu;

	m->nr = 0;
	for (cpu = 0; cpu < MERGE_TEST_CPUS; cpu++) {
		m->ts[cpu] = U64_MAX;
		if (!(prandom_u32_state(&m->rnd) % 4))
			continue;
		m->left[cpu] = prandom_u32_state(&m->rnd) % MERGE_TEST_EVENTS;
		m->ts[cpu] = base + merge_test_delta(m);
		m->nr += 1 + m->left[cpu];
		trace_remote_merge_add(&m->merge, cpu, m->ts[cpu]);
	}
}

/* The CPU of the earliest event, by a search of all CPUs */
static int merge_test_first(struct merge_test *m)
{
	int cpu, first = -1;

	for (cpu = 0; cpu < MERGE_TEST_CPUS; cpu++)
		if (m->ts[cpu] != U64_MAX && (first < 0 || m->ts[cpu] < m->ts[first]))
			first = cpu;
	return first;
}

static void merge_test_next(struct merge_test *m, int cpu)
{
	if (m->left[cpu]) {
		m->left[cpu]--;
		m->ts[cpu] += merge_test_delta(m);
		trace_remote_merge_update(&m->merge, m->ts[cpu]);
	} else {
		m->ts[cpu] = U64_MAX;
		trace_remote_merge_pop(&m->merge);
	}
}

static void merge_test_order(struct kunit *test, u64 base)
{
	struct merge_test *m = merge_test_make(test);
	unsigned int round, nr;
	int cpu;

	prandom_seed_state(&m->rnd, 1);
	for (round = 0; round < MERGE_TEST_ROUNDS; round++) {
		merge_test_fill(m, base);
		for (nr = 0; (cpu = trace_remote_merge_first(&m->merge)) >= 0; nr++) {
			KUNIT_ASSERT_EQ(test, merge_test_first(m), cpu);
			merge_test_next(m, cpu);
		}
		KUNIT_ASSERT_EQ(test, m->nr, nr);
		cond_resched();
	}
}

static void merge_test_early(struct kunit *test)
{
	merge_test_order(test, 0);
}

/* Times that would be negative if they were signed */
static void merge_test_late(struct kunit *test)
{
	merge_test_order(test, S64_MAX - MERGE_TEST_EVENTS);
}

/* The heap of a reader has room for each possible CPU. */
static void merge_test_clear(struct kunit *test)
{
	struct trace_remote_merge merge;
	int cpu;

	KUNIT_ASSERT_EQ(test, 0, trace_remote_merge_init(&merge));
	for (cpu = 0; cpu < nr_cpu_ids; cpu++)
		trace_remote_merge_add(&merge, cpu, nr_cpu_ids - cpu);
	KUNIT_EXPECT_EQ(test, nr_cpu_ids - 1, trace_remote_merge_first(&merge));
	trace_remote_merge_clear(&merge);
	KUNIT_EXPECT_EQ(test, -1, trace_remote_merge_first(&merge));
	trace_remote_merge_add(&merge, 0, 1);
	KUNIT_EXPECT_EQ(test, 0, trace_remote_merge_first(&merge));
	trace_remote_merge_free(&merge);
}

static struct kunit_case merge_test_cases[] = {
	KUNIT_CASE(merge_test_early),
	KUNIT_CASE(merge_test_late),
	KUNIT_CASE(merge_test_clear),
	{}
};

static struct kunit_suite merge_test_suite = {
	.name = "trace_remote_merge",
	.test_cases = merge_test_cases,
};

kunit_test_suite(merge_test_suite);
