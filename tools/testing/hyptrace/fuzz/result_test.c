// SPDX-License-Identifier: GPL-2.0-only
/*
 * What host_hcall has as the result of a hypercall: the register's value, or 0 where there is no
 * result, or not one for the trace. A hypercall that is in no list of events.c has neither: 0
 * would read as success.
 */
#include <stdio.h>

#include EL2_SOURCE

/* What events.c needs, and no test calls */
u32 hyp_event_states[NR_HYP_EVENTS];
atomic64_t hyp_trace_config;
EL2_PER_THREAD unsigned int el2_locks;

int hyp_filter_add(struct hyp_filter *filter, u64 index, u64 code, u64 val, unsigned int size)
{
	abort();
}

int hyp_filter_set(struct hyp_filter *filter, u64 nr)
{
	abort();
}

int hyp_trigger_set(unsigned long nr, u64 action, u64 count, u64 nr_preds)
{
	return 0;
}

u64 hyp_trigger_count(unsigned long nr)
{
	return 0;
}

bool hyp_stay_length_is_used(void)
{
	return false;
}

void hyp_stay_length_start(void)
{
}

void hyp_stay_set_event(unsigned long nr, bool on)
{
	abort();
}

static s64 written;

/* The fields of host_hcall: id and invalid, and the result */
void hyp_event_write_16(unsigned long nr, u64 a, u64 b)
{
	written = b;
}

static int failed;

static void expect(const char *what, u64 id, bool invalid, s64 ret, s64 expected)
{
	hyp_event_on_host_hcall = true;
	trace_host_hcall(id, invalid, ret);
	if (written == expected)
		return;

	fprintf(stderr, "%s that returns %lld: ret=%lld\n", what, (long long)ret,
		(long long)written);
	failed = 1;
}

#define HCALL(name)	__KVM_HOST_SMCCC_FUNC___##name
#define UNLISTED	100000

int main(void)
{
	const s64 unknown = 0x7fffffffffffffff;

	expect("one with a result", HCALL(kvm_vcpu_run), false, 2, 2);
	expect("one with a result", HCALL(pkvm_host_share_hyp), false, -1, -1);
	expect("one without a result", HCALL(kvm_adjust_pc), false, 5, 0);
	expect("the first one", HCALL(kvm_hyp_init), false, 5, 0);
	expect("one with an address of EL2", HCALL(pkvm_create_private_mapping), false, 5, 0);
	expect("one that is refused", UNLISTED, true, -1, -1);
	expect("one that is not listed", UNLISTED, false, 0, unknown);
	expect("one that is not listed", UNLISTED, false, -22, unknown);
	return failed;
}
