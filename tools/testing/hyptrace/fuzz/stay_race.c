// SPDX-License-Identifier: GPL-2.0-only
/*
 * Accounting: a CPU enters EL2 and leaves it in any order that there can be. What it has counted is
 * compared with a model. Accounting is turned off and on, and a host passes what is wrong.
 *
 * Then other CPUs copy the cells meanwhile, and clear maxima. Each stay of a reason takes the
 * same time. So a copy has whole stays, and a part of the one that is under way.
 *
 * Another CPU sets a threshold that each stay reaches, and clears the maxima: the next whole stay
 * stops tracing.
 *
 *	stay_race [rounds]
 */
#include "race.h"

#include <nvhe/acct.h>
#include <nvhe/stay.h>

/* The factor of a counter of 1 GHz: a cycle is a ns. */
#define MULT		BIT(HYP_STAY_MULT_SHIFT)

static unsigned long rounds = 30000;
static bool over;

#define check(condition)	WARN_ON(!(condition))

static void pass(u64 cycles)
{
	__atomic_fetch_add(&el2_count, cycles, __ATOMIC_RELAXED);
}

/* What the CPU ought to have counted */
static struct hyp_acct_cell model[NR_HYP_ACCT_REASONS];

static unsigned int bucket(u64 ns)
{
	return ns ? min(64 - __builtin_clzll(ns), HYP_ACCT_NR_BUCKETS - 1) : 0;
}

static void model_stay(unsigned int reason, u64 cycles, bool rest)
{
	model[reason].total += cycles;
	if (rest)
		return;

	model[reason].max = max(model[reason].max, cycles);
	model[reason].buckets[HYP_ACCT_BUCKET(bucket(cycles))]++;
}

static void model_gap(unsigned int reason, u64 cycles)
{
	model[reason].total += cycles;
	if (reason != HYP_ACCT_IN_GUEST)
		model[reason].nr_gaps++;
}

/* A time from less than a ns to hours */
static u64 any_time(u64 *rnd)
{
	return random_below(rnd, 1ULL << random_below(rnd, 44));
}

static struct kvm_cpu_context *ctxt(void)
{
	return host_data_ptr(host_ctxt);
}

static const u8 classes[] = { ESR_ELx_EC_WFx, ESR_ELx_EC_HVC64, ESR_ELx_EC_BRK64, 0x3f };

static const unsigned int class_reasons[] = {
	HYP_ACCT_GUEST_WFx, HYP_ACCT_GUEST_HVC64, HYP_ACCT_GUEST_BRK64, HYP_ACCT_GUEST_OTHER
};

static const unsigned int code_reasons[] = {
	[ARM_EXCEPTION_IRQ] = HYP_ACCT_GUEST_IRQ,
	[ARM_EXCEPTION_EL1_SERROR] = HYP_ACCT_GUEST_EL1_SERROR,
	[ARM_EXCEPTION_IL] = HYP_ACCT_GUEST_IL,
	[ARM_EXCEPTION_IL + 1] = HYP_ACCT_GUEST_OTHER,
};

/* EL2's vCPU, and the host's */
static struct kvm_vcpu host_vcpu;
static struct pkvm_hyp_vcpu hyp_vcpu = { .host_vcpu = &host_vcpu };

/**
 * struct run - what a vCPU ought to have counted, and the run that is under way
 * @handled:	exits that EL2 has handled
 * @running:	whether the vCPU has been run since the CPU came from the host
 * @before:	how long EL2 took before that
 * @guest:	how long the vCPU ran the last time
 */
static struct run {
	struct hyp_acct_exits	handled;
	bool			running;
	u64			before;
	u64			guest;
} run;

/* The vCPU is run, at first or after an exit; EL2 took so long before. */
static void model_run(u64 at_el2, u64 in_guest)
{
	if (!run.running) {
		run.running = true;
		run.before = at_el2;
	} else {
		run.handled.nr++;
		run.handled.hyp += at_el2;
		run.handled.guest += run.guest;
		run.handled.hist[bucket(at_el2)]++;
	}
	run.guest = in_guest;
}

/* The results and the copies are those of a model. There are no results if no vCPU was run. */
static void check_run(u64 at_el2)
{
	check(ctxt()->regs[2] == (run.running ? (run.before + at_el2) | HYP_STAY_RUN : 0));
	check(ctxt()->regs[3] == (run.running ? run.guest : 0));
	check(!memcmp(&run.handled, &hyp_vcpu.vcpu.arch.hyp_acct.handled, sizeof(run.handled)));
	check(!memcmp(&run.handled, &host_vcpu.arch.hyp_acct.handled, sizeof(run.handled)));
	run.running = false;
}

/* A guest runs, and exits for any reason, which is returned. */
static unsigned int run_guest(u64 *rnd, u64 cycles)
{
	unsigned int code = random_below(rnd, ARRAY_SIZE(code_reasons));
	unsigned int class = random_below(rnd, ARRAY_SIZE(classes));
	struct kvm_vcpu *vcpu = &hyp_vcpu.vcpu;

	vcpu->is_protected = !random_below(rnd, 4);
	hyp_stay_leave_guest(ctxt(), vcpu);
	pass(cycles);
	el2_esr = (u64)classes[class] << 26;
	hyp_stay_return_guest(ctxt(), vcpu, code);

	if (vcpu->is_protected)
		return HYP_ACCT_GUEST_PROTECTED;
	return code == ARM_EXCEPTION_TRAP ? class_reasons[class] : code_reasons[code];
}

/* The rest of a stay in which guests run, or the firmware is called, and its end */
static void go_on(u64 *rnd, unsigned int reason)
{
	bool rest = false;
	u64 at_el2, away;

	ctxt()->regs[2] = 0;
	ctxt()->regs[3] = 0;
	for (;;) {
		at_el2 = any_time(rnd);
		away = any_time(rnd);
		pass(at_el2);
		model_stay(reason, at_el2, rest);
		switch (random_below(rnd, 3)) {
		case 0:
			model_run(at_el2, away);
			reason = run_guest(rnd, away);
			model_gap(HYP_ACCT_IN_GUEST, away);
			rest = false;
			break;
		case 1:
			hyp_stay_leave_firmware(PSCI_0_2_FN_CPU_ON);
			pass(away);
			hyp_stay_resume();
			model_gap(HYP_ACCT_IN_FIRMWARE, away);
			rest = true;
			break;
		default:
			hyp_stay_end(ctxt());
			check_run(at_el2);
			return;
		}
	}
}

/* The firmware turns the CPU off, and on. */
static void power_cycle(u64 *rnd)
{
	u64 at_el2 = any_time(rnd), away = any_time(rnd);

	hyp_stay_begin_smc(ctxt(), PSCI_0_2_FN_CPU_OFF);
	pass(at_el2);
	model_stay(HYP_ACCT_PSCI + 2, at_el2, false);
	hyp_stay_leave_firmware(PSCI_0_2_FN_CPU_OFF);
	pass(away);
	model_gap(HYP_ACCT_IN_IDLE, away);
	hyp_stay_cpu_entry(ctxt());
	go_on(rnd, HYP_ACCT_CPU_ENTRY);
}

static void any_stay(u64 *rnd)
{
	unsigned int hcall = random_below(rnd, HYP_ACCT_NR_HCALLS);

	pass(any_time(rnd));
	switch (random_below(rnd, 8)) {
	case 0:
		hyp_stay_begin_smc(ctxt(), PSCI_0_2_FN64_BASE + 20);
		return go_on(rnd, HYP_ACCT_PSCI + 20);
	case 1:
		hyp_stay_begin_smc(ctxt(), 0x84000063);
		return go_on(rnd, HYP_ACCT_FFA);
	case 2:
		hyp_stay_begin_smc(ctxt(), random_below(rnd, 2) ? 0x84000015 : 0x8200ff01);
		return go_on(rnd, HYP_ACCT_SMC);
	case 3:
		hyp_stay_begin_abort(ctxt());
		return go_on(rnd, HYP_ACCT_ABORT);
	case 4:
		hyp_stay_begin_invalid(ctxt());
		return go_on(rnd, HYP_ACCT_HCALL_INVALID);
	case 5:
		return power_cycle(rnd);
	default:
		hyp_stay_begin_hcall(ctxt(), hcall);
		return go_on(rnd, HYP_ACCT_HCALL + hcall);
	}
}

/* A page of EL2's memory that the host shares */
static struct hyp_acct_cell *shared_page(unsigned int cpu)
{
	return hyp_phys_to_virt(hyp_pfn_to_phys(PKVM_FIRST_PFN + cpu));
}

/* Copy a cell of CPU 0; another CPU may change it each time. */
static bool copy_and_clear(struct hyp_acct_cell *cell, unsigned int reason, bool clear)
{
	int ret = hyp_acct_read(0, PKVM_FIRST_PFN + el2_cpu, reason, clear);

	check(ret == 1 || ret == -EAGAIN);
	memcpy(cell, shared_page(el2_cpu), sizeof(*cell));
	return ret == 1;
}

static bool copy(struct hyp_acct_cell *cell, unsigned int reason)
{
	return copy_and_clear(cell, reason, false);
}

static void check_model(void)
{
	struct hyp_acct_cell cell;
	unsigned int reason;

	for (reason = 0; reason < NR_HYP_ACCT_REASONS; reason++) {
		check(copy(&cell, reason));
		check(!memcmp(&cell, &model[reason], sizeof(cell)));
	}
}

static void turn(bool on)
{
	if (on)
		check(!hyp_acct_prepare(0, MULT));
	check(!hyp_acct_enable(on));
}

/* What was under way when accounting was turned on or off is not counted. */
static void change_in_a_stay(bool in_gap)
{
	struct hyp_stay *stay = host_data_ptr(stay);
	struct kvm_vcpu *vcpu = &hyp_vcpu.vcpu;

	hyp_stay_begin_hcall(ctxt(), 1);
	pass(100);
	if (in_gap) {
		model_stay(HYP_ACCT_HCALL + 1, 100, false);
		hyp_stay_leave_guest(ctxt(), vcpu);
		pass(100);
	}
	turn(false);
	if (in_gap)
		hyp_stay_return_guest(ctxt(), vcpu, ARM_EXCEPTION_IRQ);
	hyp_stay_end(ctxt());
	check_model();

	hyp_stay_begin_hcall(ctxt(), 1);
	if (in_gap)
		hyp_stay_leave_guest(ctxt(), vcpu);
	turn(true);
	pass(100);
	if (in_gap) {
		hyp_stay_return_guest(ctxt(), vcpu, ARM_EXCEPTION_IRQ);
		pass(5);
		model_stay(HYP_ACCT_GUEST_IRQ, 5, false);
	}
	ctxt()->regs[2] = 0;
	hyp_stay_end(ctxt());
	check(!stay->start && !ctxt()->regs[2]);
	check_model();
}

/* A reader adds what is under way. */
static void check_under_way(void)
{
	struct hyp_acct_cell cell;
	struct kvm_vcpu *vcpu = &hyp_vcpu.vcpu;

	hyp_stay_begin_abort(ctxt());
	pass(7);
	check(copy(&cell, HYP_ACCT_ABORT));
	check(cell.total == model[HYP_ACCT_ABORT].total + 7);
	check(copy(&cell, HYP_ACCT_IN_GUEST));
	check(cell.total == model[HYP_ACCT_IN_GUEST].total);
	hyp_stay_leave_guest(ctxt(), vcpu);
	model_stay(HYP_ACCT_ABORT, 7, false);
	pass(9);
	check(copy(&cell, HYP_ACCT_IN_GUEST));
	check(cell.total == model[HYP_ACCT_IN_GUEST].total + 9);
	check(copy(&cell, HYP_ACCT_ABORT));
	check(cell.total == model[HYP_ACCT_ABORT].total);
	hyp_stay_return_guest(ctxt(), vcpu, ARM_EXCEPTION_IRQ);
	model_gap(HYP_ACCT_IN_GUEST, 9);
	hyp_stay_end(ctxt());
	model_stay(HYP_ACCT_GUEST_IRQ, 0, false);
	check_model();
}

/* Any factor selects a bucket. */
static void check_factors(u64 *rnd)
{
	struct hyp_acct_cell before, after;
	unsigned int i;
	u64 n = 0;

	turn(false);
	check(copy(&before, HYP_ACCT_SMC));
	for (i = 0; i < 1000; i++) {
		check(!hyp_acct_prepare(0, random_next(rnd)));
		check(!hyp_acct_enable(true));
		hyp_stay_begin_smc(ctxt(), 0);
		pass(random_next(rnd) >> 16);
		hyp_stay_end(ctxt());
		turn(false);
	}
	check(copy(&after, HYP_ACCT_SMC));
	for (i = 0; i < HYP_ACCT_NR_BUCKETS; i++)
		n += after.buckets[i] - before.buckets[i];
	check(n == 1000);
	model[HYP_ACCT_SMC] = after;
	check_model();
	turn(true);
}

static void check_refusals(void)
{
	check(hyp_acct_prepare(EL2_CPUS, 1) == -EINVAL);
	check(hyp_acct_prepare(NR_CPUS, 1) == -EINVAL);
	check(hyp_acct_prepare(0, 1) == -EBUSY);
	check(hyp_acct_read(NR_CPUS, PKVM_FIRST_PFN, 0, false) == -EINVAL);
	check(hyp_acct_read(0, PKVM_FIRST_PFN, NR_HYP_ACCT_REASONS, false) == -EINVAL);
	check(hyp_acct_read(0, PKVM_FIRST_PFN + 9, 0, false) == -EPERM);
	check(hyp_acct_read(1, PKVM_FIRST_PFN, 0, false) == 0);

	/* A CPU that was not prepared does not count. */
	el2_cpu = 1;
	hyp_stay_begin_abort(ctxt());
	hyp_stay_end(ctxt());
	hyp_stay_cpu_entry(ctxt());
	hyp_stay_end(ctxt());
	check(hyp_acct_read(1, PKVM_FIRST_PFN + 1, 0, false) == 0);
	el2_cpu = 0;
	check_model();
}

/* A threshold is set, as the host does it. */
static void arm(u64 cycles, unsigned int reason)
{
	struct hyp_acct_cell cell;

	hyp_trace_set_stopped(false);
	check(!hyp_acct_set_threshold(cycles));
	while (!copy_and_clear(&cell, reason, true))
		continue;
}

static void stay_of(unsigned int hcall, u64 cycles)
{
	hyp_stay_begin_hcall(ctxt(), hcall);
	pass(cycles);
	hyp_stay_end(ctxt());
	model_stay(HYP_ACCT_HCALL + hcall, cycles, false);
}

#define HCALL	__KVM_HOST_SMCCC_FUNC___kvm_flush_vm_context

/* Stays stop tracing, once. Gaps, the rest of a stay and the host's calls for accounting do not. */
static void check_threshold(void)
{
	const unsigned int reason = HYP_ACCT_HCALL + HCALL;
	struct kvm_vcpu vcpu = { };

	stay_of(HCALL, 5000);
	arm(1000, reason);
	model[reason].max = 0;
	stay_of(HCALL, 999);
	check(!hyp_trace_stopped);

	stay_of(__KVM_HOST_SMCCC_FUNC___hyp_acct_read, 1ULL << 40);
	stay_of(__KVM_HOST_SMCCC_FUNC___hyp_acct_set_threshold, 1ULL << 40);
	check(!hyp_trace_stopped);

	hyp_stay_begin_hcall(ctxt(), HCALL);
	pass(10);
	model_stay(reason, 10, false);
	hyp_stay_leave_firmware(0);
	pass(1ULL << 40);
	model_gap(HYP_ACCT_IN_FIRMWARE, 1ULL << 40);
	hyp_stay_resume();
	pass(2000);
	model_stay(reason, 2000, true);
	host_data_ptr(host_ctxt)->__hyp_running_vcpu = &vcpu;
	hyp_stay_leave_guest(ctxt(), &vcpu);
	pass(1ULL << 40);
	model_gap(HYP_ACCT_IN_GUEST, 1ULL << 40);
	hyp_stay_return_guest(ctxt(), &vcpu, ARM_EXCEPTION_IL);
	pass(10);
	model_stay(HYP_ACCT_GUEST_IL, 10, false);
	hyp_stay_end(ctxt());
	check(!hyp_trace_stopped);

	stay_of(HCALL, 1000);
	check(hyp_trace_stopped && !hyp_stay_threshold);
	hyp_trace_set_stopped(false);
	stay_of(HCALL, 7000);
	check(!hyp_trace_stopped);
	check_model();
}

static unsigned int steps_to_stay;

/* While CPU 1 clears a maximum, CPU 0 ends a stay, at any access to memory. */
static void stay_at_step(const void *addr)
{
	if (!steps_to_stay || --steps_to_stay)
		return;

	el2_cpu = 0;
	stay_of(HCALL, 1ULL << 42);
	el2_cpu = 1;
}

static void check_no_maximum_is_lost(void)
{
	static const struct shim in_between = { .step = stay_at_step };
	const unsigned int reason = HYP_ACCT_HCALL + HCALL;
	struct hyp_acct_cell cleared, after;
	unsigned int i, step;

	for (i = 1; i < 1000; i++) {
		step = i;
		steps_to_stay = i;
		el2_cpu = 1;
		shim = &in_between;
		check(copy_and_clear(&cleared, reason, true));
		shim = NULL;
		el2_cpu = 0;
		check(copy(&after, reason));
		check(max(cleared.max, after.max) == model[reason].max);
		model[reason].max = after.max;
		if (steps_to_stay)
			break;
	}
	steps_to_stay = 0;
	check(step > HYP_ACCT_NR_BUCKETS && step < 1000);
	check_model();
}

static void check_alone(void)
{
	unsigned int i, reason;
	u64 rnd = 1;

	hyp_stay_begin_abort(ctxt());
	hyp_stay_end(ctxt());
	turn(true);
	check_model();
	for (i = 0; i < 3000; i++)
		any_stay(&rnd);
	check_model();
	check_under_way();
	change_in_a_stay(false);
	change_in_a_stay(true);
	check_factors(&rnd);
	check_refusals();
	check_threshold();
	check_no_maximum_is_lost();

	for (reason = 0; reason < NR_HYP_ACCT_REASONS; reason++) {
		check(hyp_acct_read(0, PKVM_FIRST_PFN, reason, true) == 1);
		check(!memcmp(shared_page(0), &model[reason], sizeof(model[reason])));
		if (reason >= HYP_ACCT_NR_GAPS)
			model[reason].max = 0;
	}
	check_model();
}

/* What the readers have seen; each counter has one thread that writes to it. */
static unsigned long nr_copies[EL2_CPUS], nr_failures[EL2_CPUS], nr_parts[EL2_CPUS];
static struct hyp_acct_cell start_of_race[NR_HYP_ACCT_REASONS];

/* How long each stay of a reason, and each gap, takes */
static u64 time_of(unsigned int reason)
{
	return 100 + 10 * reason;
}

static u64 since_start(const struct hyp_acct_cell *cell, unsigned int reason)
{
	u64 n = 0;
	unsigned int i;

	for (i = 0; i < HYP_ACCT_NR_BUCKETS; i++)
		n += cell->buckets[i] - start_of_race[reason].buckets[i];
	return n;
}

static void read_cell(unsigned int reason, u64 *last, bool clear)
{
	struct hyp_acct_cell cell;
	u64 n, total, part;

	if (!copy_and_clear(&cell, reason, clear)) {
		nr_failures[el2_cpu]++;
		return;
	}

	n = since_start(&cell, reason);
	total = cell.total - start_of_race[reason].total;
	part = total - n * time_of(reason);
	check(total >= n * time_of(reason) && part <= time_of(reason));
	check(total >= *last);
	*last = total;
	nr_copies[el2_cpu]++;
	nr_parts[el2_cpu] += part && part < time_of(reason);
}

static const unsigned int raced[] = {
	HYP_ACCT_ABORT, HYP_ACCT_GUEST_IRQ, HYP_ACCT_HCALL + 5,
};

static void *other_cpu(void *arg)
{
	u64 last[ARRAY_SIZE(raced)] = { };
	u64 rnd = random_seed((uintptr_t)arg);
	unsigned int i;

	el2_cpu = (uintptr_t)arg;
	while (!__atomic_load_n(&over, __ATOMIC_RELAXED)) {
		i = random_below(&rnd, ARRAY_SIZE(raced));
		read_cell(raced[i], &last[i], !random_below(&rnd, 10));
	}
	return NULL;
}

/* In two parts, so that others see the first one */
static void pass_time_of(unsigned int reason)
{
	pass(time_of(reason) / 2);
	sched_yield();
	pass(time_of(reason) - time_of(reason) / 2);
}

static void *this_cpu(void *arg)
{
	struct kvm_vcpu *vcpu = &hyp_vcpu.vcpu;
	unsigned long i;

	for (i = 0; i < rounds; i++) {
		hyp_stay_begin_abort(ctxt());
		pass_time_of(HYP_ACCT_ABORT);
		hyp_stay_end(ctxt());
		hyp_stay_begin_hcall(ctxt(), 5);
		pass_time_of(HYP_ACCT_HCALL + 5);
		hyp_stay_leave_guest(ctxt(), vcpu);
		pass(7);
		hyp_stay_return_guest(ctxt(), vcpu, ARM_EXCEPTION_IRQ);
		pass_time_of(HYP_ACCT_GUEST_IRQ);
		hyp_stay_end(ctxt());
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
	unsigned int reason;
	uintptr_t cpu;

	for (reason = 0; reason < NR_HYP_ACCT_REASONS; reason++)
		check(copy(&start_of_race[reason], reason));

	shim = &pausing;
	pthread_create(&threads[0], NULL, this_cpu, NULL);
	for (cpu = 1; cpu < EL2_CPUS; cpu++)
		pthread_create(&threads[cpu], NULL, other_cpu, (void *)cpu);
	for (cpu = 0; cpu < EL2_CPUS; cpu++)
		pthread_join(threads[cpu], NULL);
	shim = NULL;

	printf("# %lu copies, %lu of them with a part of a stay; %lu failed\n", sum(nr_copies),
	       sum(nr_parts), sum(nr_failures));
	/* Without these it was no race. */
	check(sum(nr_copies) && sum(nr_parts));
	for (reason = 0; reason < ARRAY_SIZE(raced); reason++) {
		struct hyp_acct_cell cell;

		check(copy(&cell, raced[reason]));
		check(since_start(&cell, raced[reason]) == rounds);
	}
}

/* How many stays have ended */
static unsigned long nr_stays;

static void *stay_on(void *arg)
{
	while (!__atomic_load_n(&over, __ATOMIC_RELAXED)) {
		hyp_stay_begin_hcall(ctxt(), HCALL);
		pass(100);
		hyp_stay_end(ctxt());
		__atomic_fetch_add(&nr_stays, 1, __ATOMIC_SEQ_CST);
	}
	return NULL;
}

/* Wait until a stay that begins later has ended. */
static void wait_for_stay(void)
{
	unsigned long next = __atomic_load_n(&nr_stays, __ATOMIC_SEQ_CST) + 2;

	while (__atomic_load_n(&nr_stays, __ATOMIC_SEQ_CST) < next)
		sched_yield();
}

static void *stop_others(void *arg)
{
	unsigned long i;

	el2_cpu = 1;
	for (i = 0; i < rounds; i++) {
		arm(100, HYP_ACCT_HCALL + HCALL);
		wait_for_stay();
		check(READ_ONCE(hyp_trace_stopped) && !READ_ONCE(hyp_stay_threshold));
	}
	__atomic_store_n(&over, true, __ATOMIC_RELAXED);
	return NULL;
}

/* Each time that a threshold is set, a stay finds it. */
static void race_to_stop(void)
{
	pthread_t threads[2];

	over = false;
	shim = &pausing;
	pthread_create(&threads[0], NULL, stay_on, NULL);
	pthread_create(&threads[1], NULL, stop_others, NULL);
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	shim = NULL;
}

int main(int argc, char **argv)
{
	unsigned int cpu;

	if (argc > 1)
		rounds = strtoul(argv[1], NULL, 0);
	el2_count = 1000;
	pkvm_boot();
	for (cpu = 0; cpu < EL2_CPUS; cpu++)
		pkvm_share(cpu);
	check_alone();
	race();
	race_to_stop();
	return 0;
}
