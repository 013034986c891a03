// SPDX-License-Identifier: GPL-2.0-only
/*
 * For tests: a host that attacks EL2 through tracing
 *
 * Runs when it is loaded, under pKVM, while the kernel's own tracing is off and its buffer is
 * not loaded. First it loads a ring, and makes each hypercall with invalid arguments before it
 * makes it with valid ones. Then threads on all CPUs make the hypercalls of tracing in random
 * order with random arguments, and write random bytes to shared pages, while a CPU goes offline
 * and online. Then the module unloads all rings, and the host must own each page again, so that
 * it can share and donate it. Parameters:
 *
 *	seed, calls	seed of the random numbers, number of hypercalls. With 0 calls, the
 *			module only loads a ring
 *	ring_cpu	the CPU of that ring. A CPU that was never online has no ring in the
 *			kernel's own buffer: then other CPUs can be traced meanwhile
 *	same		all CPUs make the same calls, at about the same time
 *	wrong		number of unexpected results, which are in the log
 *	hyp_pfn		a page of the hypervisor; required
 *	made, accepted	hypercalls made, and hypercalls that EL2 accepted
 *	loaded		rings that the attackers completed
 *	swapped		swaps of a reader's page
 *	stolen		pages that the host does not own at the end
 *	offline		number of times that a CPU went offline
 *
 * The module never accesses a page that EL2 may own: pKVM would panic, with or without tracing.
 */
#include <linux/arm-smccc.h>
#include <linux/completion.h>
#include <linux/cpu.h>
#include <linux/delay.h>
#include <linux/gfp.h>
#include <linux/kthread.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/prandom.h>
#include <linux/sched/task.h>
#include <linux/smp.h>

#include <asm/kvm_asm.h>
#include <asm/kvm_hypevents_defs.h>

static ulong seed = 1;
module_param(seed, ulong, 0444);
static ulong calls = 100000;
module_param(calls, ulong, 0444);
static ulong ring_cpu;
module_param(ring_cpu, ulong, 0444);
static bool same;
module_param(same, bool, 0444);
static ulong hyp_pfn;
module_param(hyp_pfn, ulong, 0444);
static ulong made;
module_param(made, ulong, 0444);
static ulong accepted;
module_param(accepted, ulong, 0444);
static ulong loaded;
module_param(loaded, ulong, 0444);
static ulong swapped;
module_param(swapped, ulong, 0444);
static ulong stolen;
module_param(stolen, ulong, 0444);
static ulong wrong;
module_param(wrong, ulong, 0444);
static ulong offline;
module_param(offline, ulong, 0444);

/*
 * Pages that stay shared; pages of rings, at consecutive addresses, which are shared and
 * unshared; and pages that EL2 may own. All CPUs write to the first two kinds.
 * The page after the rings' pages stays shared too, so that EL2 refuses pages that reach it:
 * a later page may be the kernel's.
 */
#define NR_SHARED	24
#define RING_ORDER	5
#define NR_RING		(BIT(RING_ORDER) - 1)
#define NR_GIVEN	48

static struct page *shared_pages[NR_SHARED];
static struct page *ring_pages;
static struct page *given_pages[NR_GIVEN];

/**
 * struct attacker - a thread on a CPU
 * @rnd:	state of its random numbers
 * @cpu:	the CPU
 * @calls:	number of hypercalls to make
 * @made:	number of hypercalls made
 * @accepted:	number of hypercalls that EL2 accepted
 * @loaded:	rings that it completed
 * @swapped:	pages that were exchanged for it
 * @done:	it has ended
 * @task:	its thread
 */
struct attacker {
	struct rnd_state	rnd;
	int			cpu;
	unsigned long		calls;
	unsigned long		made;
	unsigned long		accepted;
	unsigned long		loaded;
	unsigned long		swapped;
	struct completion	done;
	struct task_struct	*task;
};

static DEFINE_PER_CPU(struct attacker, attackers);

#define hyp(f, args...)							\
({									\
	struct arm_smccc_res __res;					\
									\
	arm_smccc_1_1_hvc(KVM_HOST_SMCCC_FUNC(f), ##args, &__res);	\
	WARN_ON_ONCE(__res.a0 != SMCCC_RET_SUCCESS);			\
	(long)(int)__res.a1;						\
})

/* A hypercall that must return @expected */
#define expect(expected, f, args...)					\
	expect_result(#f, __LINE__, hyp(f, ##args), expected)

static void expect_result(const char *name, int line, long ret, long expected)
{
	if (ret == expected)
		return;

	wrong++;
	pr_info("line %d: %s: %ld, not %ld\n", line, name, ret, expected);
}

/* A hypercall of an attacker, counted */
#define attack(a, f, args...)	attacked(a, hyp(f, ##args))

static long attacked(struct attacker *a, long ret)
{
	a->made++;
	a->accepted += ret >= 0;
	cond_resched();
	return ret;
}

static u32 below(struct attacker *a, u32 n)
{
	return prandom_u32_state(&a->rnd) % n;
}

static u64 any_u64(struct attacker *a)
{
	u64 value = prandom_u32_state(&a->rnd);

	return (value << 32 | prandom_u32_state(&a->rnd)) >> below(a, 64);
}

static u64 any_cpu(struct attacker *a)
{
	const u64 odd[] = { nr_cpu_ids, 255, 256, 4096, U32_MAX, U64_MAX, any_u64(a) };

	return below(a, 8) ? below(a, nr_cpu_ids) : odd[below(a, ARRAY_SIZE(odd))];
}

static u64 shared_pfn(struct attacker *a)
{
	return page_to_pfn(shared_pages[below(a, NR_SHARED)]);
}

static u64 ring_pfn(struct attacker *a)
{
	return page_to_pfn(ring_pages) + below(a, NR_RING);
}

static u64 pfn_after_rings(void)
{
	return page_to_pfn(ring_pages) + NR_RING;
}

static u64 given_pfn(struct attacker *a)
{
	return page_to_pfn(given_pages[below(a, NR_GIVEN)]);
}

/* No page that the kernel uses: EL2 keeps donated pages. */
static u64 any_pfn(struct attacker *a)
{
	const u64 odd[] = {
		0, 1, hyp_pfn, BIT(52 - PAGE_SHIFT) - 1, BIT(52 - PAGE_SHIFT), BIT(63), U64_MAX,
		BIT(30) + below(a, 1000), any_u64(a) | BIT(40),
	};

	switch (below(a, 8)) {
	case 0:
		return odd[below(a, ARRAY_SIZE(odd))];
	case 1 ... 3:
		return shared_pfn(a);
	default:
		return given_pfn(a);
	}
}

static u64 any_nr_pages(struct attacker *a)
{
	const u64 odd[] = {
		0, 1, 2, PAGE_SIZE, 1 << 20, U32_MAX, BIT(32) + 3, U64_MAX, any_u64(a),
	};

	return below(a, 4) ? 3 + below(a, 4) : odd[below(a, ARRAY_SIZE(odd))];
}

static u64 any_nr_added(struct attacker *a)
{
	return below(a, 8) ? 1 + below(a, HYP_TRACE_HCALL_PAGES) : any_nr_pages(a);
}

/*
 * EL2 shares pages that the host owns, and writes to them, so the kernel must use none of them.
 * Only a ring's page is followed by other pages of the module.
 */
static void any_add_pages(struct attacker *a)
{
	u64 cpu = any_cpu(a), nr = any_nr_added(a);

	if (below(a, 8))
		attack(a, __hyp_trace_ring_add_pages, cpu, ring_pfn(a), nr);
	else if (nr > HYP_TRACE_HCALL_PAGES)
		attack(a, __hyp_trace_ring_add_pages, cpu, any_pfn(a), nr);
	else
		attack(a, __hyp_trace_ring_add_pages, cpu, any_pfn(a), (u64)1);
}

/* Write random bytes to a page that is or may be shared. */
static void corrupt(struct attacker *a)
{
	struct page *any = below(a, 2) ? shared_pages[below(a, NR_SHARED)] :
					 ring_pages + below(a, NR_RING);
	u8 *page = page_address(any);
	u32 nr = below(a, 64);

	while (nr--)
		WRITE_ONCE(page[below(a, below(a, 2) ? 256 : PAGE_SIZE)], any_u64(a));
}

/* Load a valid ring, which succeeds if no other CPU interferes. */
static void load_ring(struct attacker *a)
{
	u64 cpu = below(a, 4) ? a->cpu : below(a, nr_cpu_ids), nr = 3 + below(a, 10), run;
	long ret = -EAGAIN;
	unsigned int i;

	for (i = 0; i < 8 && ret; i++)
		ret = attack(a, __hyp_trace_ring_begin, cpu, shared_pfn(a), given_pfn(a), nr);
	for (i = 0; i < 8 && attack(a, __hyp_trace_ring_add_leaf, cpu, given_pfn(a)); i++)
		;
	for (i = 0; i < 40 && nr; i++) {
		run = 1 + below(a, min_t(u64, nr, HYP_TRACE_HCALL_PAGES));
		if (!attack(a, __hyp_trace_ring_add_pages, cpu, ring_pfn(a), run))
			nr -= run;
	}
	a->loaded += !attack(a, __hyp_trace_ring_end, cpu);
}

static void write_events(struct attacker *a)
{
	u32 nr = below(a, 50);

	attack(a, __hyp_trace_enable, (u64)a->cpu, (u64)1);
	while (nr--) {
		attack(a, __hyp_trace_write_event, any_u64(a));
		if (!below(a, 8))
			corrupt(a);
	}
}

/* Often nearly valid, to get past the first checks */
static u64 any_pred(struct attacker *a)
{
	if (below(a, 2))
		return any_u64(a);

	return (u64)below(a, 40) * 4 | (u64)(4 << below(a, 2)) << 16 | (u64)below(a, 8) << 24 |
	       (u64)below(a, 40) << 32 | (u64)below(a, 8) << 40;
}

static void any_filter(struct attacker *a)
{
	u64 nr = below(a, 8) ? below(a, 20) : any_u64(a), i, preds = below(a, 5);

	for (i = 0; i < preds; i++)
		attack(a, __hyp_trace_add_pred, nr, below(a, 4) ? i : any_u64(a), any_pred(a),
		       any_u64(a));
	attack(a, __hyp_trace_set_filter, nr, below(a, 4) ? preds : any_u64(a));
}

static void any_clock(struct attacker *a)
{
	const u64 odd[] = { 0, 1, U32_MAX, BIT(32), BIT(63), U64_MAX, any_u64(a) };

	attack(a, __hyp_trace_set_clock, below(a, 2) ? 1 + below(a, 1000) : odd[below(a, 7)],
	       (u64)below(a, 70), odd[below(a, 7)], odd[below(a, 7)]);
}

/* Set the clock while other CPUs read it. */
static void set_clocks(struct attacker *a)
{
	u32 nr = below(a, 8) ? 1 : 100;

	while (nr--)
		any_clock(a);
}

/* Enable all events without filters: each CPU that has a ring writes from now on. */
static void stream_all(struct attacker *a)
{
	u64 i;

	for (i = 0; i < 24; i++) {
		attack(a, __hyp_trace_set_event, i, i + 1);
		attack(a, __hyp_trace_set_filter, i, (u64)0);
	}
}

#ifdef CONFIG_KVM_HYP_FUNCTION_TRACER
/* Trace any functions, also while another CPU turns the same ones off. */
static void any_functions(struct attacker *a)
{
	u64 mask = below(a, 8) ? below(a, 65536) : any_u64(a);

	attack(a, __hyp_trace_set_functions, below(a, 8) ? below(a, 40) : any_u64(a), mask,
	       below(a, 8) ? mask & any_u64(a) : any_u64(a));
	if (below(a, 8) == 0)
		attack(a, __hyp_trace_set_graph, below(a, 2) ? below(a, 60) : any_u64(a),
		       (u64)below(a, 3));
}

static void no_functions(struct attacker *a)
{
	u64 group = 0;

	while (!attack(a, __hyp_trace_set_functions, group, (u64)0, (u64)0))
		group++;
	attack(a, __hyp_trace_set_graph, (u64)0, (u64)0);
}
#else
static void any_functions(struct attacker *a)
{
}

static void no_functions(struct attacker *a)
{
}
#endif

static void any_call(struct attacker *a)
{
	switch (below(a, 21)) {
	case 0:
		attack(a, __hyp_trace_ring_begin, any_cpu(a), any_pfn(a), any_pfn(a),
		       any_nr_pages(a));
		break;
	case 1:
		attack(a, __hyp_trace_ring_add_leaf, any_cpu(a), any_pfn(a));
		break;
	case 2:
		any_add_pages(a);
		break;
	case 3:
		attack(a, __hyp_trace_ring_end, any_cpu(a));
		break;
	case 4:
		attack(a, __hyp_trace_ring_pop, any_cpu(a));
		break;
	case 5:
		attack(a, __hyp_trace_enable, any_cpu(a), (u64)below(a, 2));
		break;
	case 6:
		attack(a, __hyp_trace_enable, (u64)a->cpu, (u64)below(a, 2));
		break;
	case 7 ... 8:
		a->swapped += attack(a, __hyp_trace_swap_reader, any_cpu(a)) >= 0;
		break;
	case 9:
		if (below(a, 2))
			attack(a, __hyp_trace_reset, any_cpu(a));
		else
			attack(a, __hyp_trace_set_overwrite, any_cpu(a), any_u64(a));
		break;
	case 10:
		attack(a, __hyp_trace_set_event, below(a, 4) ? below(a, 24) : any_u64(a),
		       any_u64(a));
		break;
	case 11:
		any_filter(a);
		break;
	case 12:
		set_clocks(a);
		break;
	case 13:
		attack(a, __pkvm_host_share_hyp, below(a, 2) ? given_pfn(a) : ring_pfn(a));
		break;
	case 14:
		attack(a, __pkvm_host_unshare_hyp, below(a, 2) ? given_pfn(a) : ring_pfn(a));
		break;
	case 15 ... 16:
		load_ring(a);
		break;
	case 17:
		write_events(a);
		break;
	case 18:
		stream_all(a);
		break;
	case 19:
		any_functions(a);
		break;
	default:
		corrupt(a);
	}
}

static int attacker_run(void *data)
{
	struct attacker *a = data;

	load_ring(a);
	while (a->made < a->calls)
		any_call(a);

	complete(&a->done);
	return 0;
}

static void start_attacker(int cpu)
{
	struct attacker *a = per_cpu_ptr(&attackers, cpu);

	a->cpu = cpu;
	a->calls = calls / num_possible_cpus();
	prandom_seed_state(&a->rnd, seed + (same ? 0 : cpu));
	init_completion(&a->done);
	a->task = kthread_create(attacker_run, a, "attacker/%d", cpu);
	if (IS_ERR(a->task)) {
		a->task = NULL;
		complete(&a->done);
		return;
	}
	get_task_struct(a->task);
	set_cpus_allowed_ptr(a->task, cpumask_of(cpu));
	wake_up_process(a->task);
}

static bool attackers_done(void)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		if (!completion_done(&per_cpu_ptr(&attackers, cpu)->done))
			return false;
	}

	return true;
}

/*
 * The last CPU goes offline and online repeatedly, unless it is the only one. Its attacker runs
 * on other CPUs meanwhile.
 */
static void disturb(void)
{
	unsigned int cpu = nr_cpu_ids - 1;
	struct attacker *a = per_cpu_ptr(&attackers, cpu);

	while (!attackers_done()) {
		if (cpu && !remove_cpu(cpu)) {
			offline++;
			msleep(20);
			add_cpu(cpu);
			if (a->task)
				set_cpus_allowed_ptr(a->task, cpumask_of(cpu));
		}
		msleep(50);
	}
}

static void attack_on_all(void)
{
	struct attacker *a;
	int cpu;

	for_each_possible_cpu(cpu)
		start_attacker(cpu);

	disturb();
	for_each_possible_cpu(cpu) {
		a = per_cpu_ptr(&attackers, cpu);
		wait_for_completion(&a->done);
		no_functions(a);
		if (a->task)
			put_task_struct(a->task);
		made += a->made;
		accepted += a->accepted;
		loaded += a->loaded;
		swapped += a->swapped;
	}
}

/* EL2 accepts valid pages only, and each step only once. */
#define STEP_PAGES	11

static void try_begin(u64 meta, u64 dir, u64 other)
{
	expect(-EPERM, __hyp_trace_ring_begin, (u64)ring_cpu, meta, dir, (u64)3);
	expect(0, __pkvm_host_share_hyp, meta);
	expect(-EPERM, __pkvm_host_share_hyp, meta);
	expect(-EPERM, __hyp_trace_ring_begin, (u64)ring_cpu, meta, meta, (u64)3);
	expect(-EPERM, __hyp_trace_ring_begin, (u64)ring_cpu, meta, (u64)hyp_pfn, (u64)3);
	expect(-EPERM, __hyp_trace_ring_begin, (u64)ring_cpu, (u64)hyp_pfn, dir, (u64)3);
	expect(-EINVAL, __hyp_trace_ring_begin, (u64)ring_cpu, meta, dir, (u64)2);
	expect(-EINVAL, __hyp_trace_ring_begin, (u64)ring_cpu, meta, dir, BIT(32) + 3);
	expect(-EINVAL, __hyp_trace_ring_begin, (u64)ring_cpu, meta, dir, U64_MAX);
	expect(0, __pkvm_host_unshare_hyp, meta);
	expect(-EPERM, __pkvm_host_unshare_hyp, meta);
	expect(0, __pkvm_host_share_hyp, meta);
	expect(0, __hyp_trace_ring_begin, (u64)ring_cpu, meta, dir, (u64)STEP_PAGES);
	expect(-EBUSY, __hyp_trace_ring_begin, (u64)ring_cpu, meta, dir, (u64)STEP_PAGES);
	expect(-EBUSY, __pkvm_host_unshare_hyp, meta);
	expect(-EPERM, __pkvm_host_share_hyp, dir);
	expect(-EPERM, __hyp_trace_ring_add_leaf, (u64)ring_cpu, dir);
	expect(-EPERM, __hyp_trace_ring_add_pages, (u64)ring_cpu, dir, (u64)1);
	expect(-ENOSPC, __hyp_trace_ring_add_pages, (u64)ring_cpu, other, (u64)1);
	/* The refused hypercall has unshared it again. */
	expect(-EPERM, __pkvm_host_unshare_hyp, other);
}

static void try_not_ready(void)
{
	expect(-ENODEV, __hyp_trace_swap_reader, (u64)ring_cpu);
	expect(-ENODEV, __hyp_trace_reset, (u64)ring_cpu);
	expect(-ENODEV, __hyp_trace_set_overwrite, (u64)ring_cpu, (u64)0);
	expect(-EINVAL, __hyp_trace_ring_pop, (u64)nr_cpu_ids);
}

/* Invalid numbers, and pages of which the host does not own one exclusively, are refused. */
static void try_wrong_pages(u64 meta, u64 pages)
{
	const u64 end = BIT(52 - PAGE_SHIFT);

	expect(-EPERM, __hyp_trace_ring_add_pages, (u64)ring_cpu, meta, (u64)1);
	expect(-EPERM, __hyp_trace_ring_add_pages, (u64)ring_cpu, (u64)hyp_pfn, (u64)1);
	expect(-EINVAL, __hyp_trace_ring_add_pages, (u64)ring_cpu, pages, (u64)0);
	expect(-EINVAL, __hyp_trace_ring_add_pages, (u64)ring_cpu, pages,
	       (u64)HYP_TRACE_HCALL_PAGES + 1);
	expect(-EINVAL, __hyp_trace_ring_add_pages, (u64)ring_cpu, pages, BIT(32) + 1);
	expect(-EINVAL, __hyp_trace_ring_add_pages, (u64)ring_cpu, pages, U64_MAX);
	expect(-EINVAL, __hyp_trace_ring_add_pages, (u64)ring_cpu, end - 1, (u64)2);
	expect(-EINVAL, __hyp_trace_ring_add_pages, (u64)ring_cpu, U64_MAX, (u64)2);

	expect(0, __pkvm_host_share_hyp, pages + 3);
	expect(-EPERM, __hyp_trace_ring_add_pages, (u64)ring_cpu, pages, (u64)4);
	expect(-EPERM, __pkvm_host_unshare_hyp, pages);
	expect(-EPERM, __pkvm_host_unshare_hyp, pages + 2);
	expect(0, __pkvm_host_unshare_hyp, pages + 3);
}

/* Add as many pages as a hypercall accepts, then two, then the last one. */
static void try_pages(u64 meta, u64 leaf, u64 other, u64 pages)
{
	const u64 runs[][2] = { { 0, 8 }, { 8, 2 }, { 10, 1 } };
	unsigned int i;

	BUILD_BUG_ON(HYP_TRACE_HCALL_PAGES != 8 || STEP_PAGES != 11);
	expect(0, __hyp_trace_ring_add_leaf, (u64)ring_cpu, leaf);
	expect(-EPERM, __hyp_trace_ring_add_leaf, (u64)ring_cpu, leaf);
	expect(-ENOSPC, __hyp_trace_ring_add_leaf, (u64)ring_cpu, other);
	try_wrong_pages(meta, pages);
	expect(-EINVAL, __hyp_trace_ring_end, (u64)ring_cpu);
	for (i = 0; i < ARRAY_SIZE(runs); i++) {
		u64 first = pages + runs[i][0], nr = runs[i][1];

		expect(0, __hyp_trace_ring_add_pages, (u64)ring_cpu, first, nr);
		expect(-EBUSY, __pkvm_host_unshare_hyp, first + nr - 1);
		expect(-EPERM, __hyp_trace_ring_add_pages, (u64)ring_cpu, first, nr);
		expect(-EPERM, __hyp_trace_ring_add_leaf, (u64)ring_cpu, first);
		expect(i < 2 ? -EINVAL : 0, __hyp_trace_ring_end, (u64)ring_cpu);
		if (!i)
			expect(-ENOSPC, __hyp_trace_ring_add_pages, (u64)ring_cpu, pages + 8,
			       (u64)4);
	}
	expect(-EBUSY, __hyp_trace_ring_end, (u64)ring_cpu);
	expect(-EBUSY, __hyp_trace_ring_add_leaf, (u64)ring_cpu, other);
	expect(-EBUSY, __hyp_trace_ring_add_pages, (u64)ring_cpu, other, (u64)1);
}

/* Pop the pages, by as many as a hypercall returns, then the leaf. */
static void try_unload(u64 meta, u64 pages)
{
	unsigned int i;

	expect(0, __hyp_trace_swap_reader, (u64)ring_cpu);
	expect(-ENODATA, __hyp_trace_swap_reader, (u64)ring_cpu);
	expect(0, __hyp_trace_reset, (u64)ring_cpu);
	expect(0, __hyp_trace_set_overwrite, (u64)ring_cpu, (u64)0);
	expect(-EINVAL, __hyp_trace_set_overwrite, (u64)nr_cpu_ids, (u64)0);
	for (i = 0; i < 3; i++) {
		expect(1, __hyp_trace_ring_pop, (u64)ring_cpu);
		expect(-ENODEV, __hyp_trace_swap_reader, (u64)ring_cpu);
		expect(-EBUSY, __hyp_trace_ring_end, (u64)ring_cpu);
		expect(-EPERM, __pkvm_host_unshare_hyp, pages + 3);
		expect(i ? -EPERM : -EBUSY, __pkvm_host_unshare_hyp, pages + 2);
	}
	expect(-EBUSY, __pkvm_host_unshare_hyp, meta);
	expect(0, __hyp_trace_ring_pop, (u64)ring_cpu);
	expect(0, __hyp_trace_ring_pop, (u64)ring_cpu);
	for (i = 0; i < STEP_PAGES; i++)
		expect(-EPERM, __pkvm_host_unshare_hyp, pages + i);
	expect(0, __pkvm_host_unshare_hyp, meta);
}

/* Load and unload a ring, with invalid arguments of each step before valid ones. */
static void try_steps(void)
{
	u64 pfns[4], pages = page_to_pfn(ring_pages);
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(pfns); i++)
		pfns[i] = page_to_pfn(given_pages[i]);

	try_begin(pfns[0], pfns[1], pfns[3]);
	try_not_ready();
	try_pages(pfns[0], pfns[2], pfns[3], pages);
	try_unload(pfns[0], pages);
	try_not_ready();
}

static void stop_writing(void *unused)
{
	hyp(__hyp_trace_enable, (u64)smp_processor_id(), (u64)0);
}

/* Stop tracing and unload all rings, as the kernel's own tracing does. */
static void take_back(void)
{
	unsigned int i;
	int cpu;

	on_each_cpu(stop_writing, NULL, 1);
	for (i = 0; i < 64; i++) {
		hyp(__hyp_trace_set_event, (u64)i, (u64)0);
		hyp(__hyp_trace_set_filter, (u64)i, (u64)0);
	}
	for_each_possible_cpu(cpu) {
		while (hyp(__hyp_trace_ring_pop, (u64)cpu) > 0)
			cond_resched();
	}
	for (i = 0; i < NR_GIVEN; i++)
		hyp(__pkvm_host_unshare_hyp, page_to_pfn(given_pages[i]));
	for (i = 0; i < NR_RING; i++)
		hyp(__pkvm_host_unshare_hyp, page_to_pfn(ring_pages) + i);
	for (i = 0; i < NR_SHARED; i++)
		hyp(__pkvm_host_unshare_hyp, page_to_pfn(shared_pages[i]));
}

/* Attack on all CPUs, then unload all rings. */
static void attack_all_out(void)
{
	unsigned int i;

	for (i = 0; i < NR_SHARED; i++)
		WARN_ON(hyp(__pkvm_host_share_hyp, page_to_pfn(shared_pages[i])));
	WARN_ON(hyp(__pkvm_host_share_hyp, pfn_after_rings()));
	attack_on_all();
	take_back();
	/* The attackers cannot have unshared this page. */
	expect(0, __pkvm_host_unshare_hyp, pfn_after_rings());
}

/* The host owns a page if it can share or donate it. Both are undone. */
static bool is_ours(struct page *page, struct page *other)
{
	u64 pfn = page_to_pfn(page), meta = page_to_pfn(other);
	bool ours;

	ours = !hyp(__pkvm_host_share_hyp, pfn) && !hyp(__pkvm_host_unshare_hyp, pfn);
	ours = ours && !hyp(__pkvm_host_share_hyp, meta);
	ours = ours && !hyp(__hyp_trace_ring_begin, (u64)ring_cpu, meta, pfn, (u64)3);
	ours = ours && !hyp(__hyp_trace_ring_pop, (u64)ring_cpu);
	return ours && !hyp(__pkvm_host_unshare_hyp, meta);
}

static void give_back(struct page *page, struct page *other)
{
	if (page && is_ours(page, other))
		__free_page(page);
	else
		stolen++;
}

static int alloc_pages_of(struct page **pages, unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++) {
		pages[i] = alloc_page(GFP_KERNEL);
		if (!pages[i])
			return -ENOMEM;
	}

	return 0;
}

static int alloc_ring_pages(void)
{
	ring_pages = alloc_pages(GFP_KERNEL, RING_ORDER);
	if (!ring_pages)
		return -ENOMEM;

	split_page(ring_pages, RING_ORDER);
	return 0;
}

static void free_ring_pages(void)
{
	unsigned int i;

	for (i = 0; ring_pages && i <= NR_RING; i++)
		__free_page(ring_pages + i);
}

static void free_pages_of(struct page **pages, unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr && pages[i]; i++)
		__free_page(pages[i]);
}

static int __init hyp_hostile_init(void)
{
	struct page *other;
	unsigned int i;
	int ret;

	/* Without pKVM, EL2 trusts the host. */
	if (!hyp_pfn)
		return -EINVAL;

	other = alloc_page(GFP_KERNEL);
	ret = other ? alloc_pages_of(shared_pages, NR_SHARED) : -ENOMEM;
	ret = ret ?: alloc_pages_of(given_pages, NR_GIVEN);
	ret = ret ?: alloc_ring_pages();
	if (ret) {
		if (other)
			__free_page(other);
		free_pages_of(shared_pages, NR_SHARED);
		free_pages_of(given_pages, NR_GIVEN);
		free_ring_pages();
		return ret;
	}

	while (!calls && hyp(__hyp_trace_ring_pop, (u64)ring_cpu) > 0)
		cond_resched();
	try_steps();
	/* After a failed step, EL2 may use pages of the kernel's own tracing. */
	if (!wrong && calls)
		attack_all_out();

	for (i = 0; i < NR_SHARED; i++)
		give_back(shared_pages[i], other);
	for (i = 0; i <= NR_RING; i++)
		give_back(ring_pages + i, other);
	for (i = 0; i < NR_GIVEN; i++)
		give_back(given_pages[i], other);
	__free_page(other);
	return 0;
}

static void __exit hyp_hostile_exit(void)
{
}

module_init(hyp_hostile_init);
module_exit(hyp_hostile_exit);

MODULE_DESCRIPTION("Test: a host that is hostile to EL2");
MODULE_LICENSE("GPL");
