// SPDX-License-Identifier: GPL-2.0-only
/*
 * Accounting for the time at EL2: the statistics of a vCPU
 *
 *	hyp_exits	exits, those that EL2 has handled itself, too
 *	hyp_ns		the time at EL2
 *	guest_ns	the time in the guest
 *	hyp_hist	a histogram of the time at EL2 that each exit took
 *
 * They are among KVM's binary statistics (KVM_GET_STATS_FD), and in debugfs, in the directories of
 * the VM and of the vCPU. They grow while accounting is on.
 *
 * The hypercall that runs a vCPU returns the times of the exit that ended it. EL2 counts the exits
 * that it handles itself (nvhe/stay.c), in the vCPU; what has changed there is added here.
 *
 * Only the vCPU's thread changes anything here, but that root may clear a statistic in debugfs.
 */
#include <linux/bits.h>
#include <linux/debugfs.h>
#include <linux/kvm_host.h>
#include <linux/math64.h>
#include <linux/percpu.h>

#include <asm/kvm_hypacct_vcpu.h>
#include <asm/virt.h>

#include "acct_clock.h"

DEFINE_PER_CPU(struct hyp_acct_run, hyp_acct_run);

#define HYP_ACCT_PART_OF_NS	GENMASK_ULL(HYP_STAY_MULT_SHIFT - 1, 0)

/* Add a time to a statistic; @part is what that lacks of a ns. Returns the time in ns. */
static __always_inline u64 hyp_acct_add_time(const struct hyp_acct_vcpu *acct, u64 cycles,
					     u64 *stat, u64 *part)
{
	u64 ns = mul_u64_u64_shr(cycles, acct->mult, HYP_STAY_MULT_SHIFT);
	u64 parts = *part + ((cycles * acct->mult) & HYP_ACCT_PART_OF_NS);

	*stat += ns + (parts >> HYP_STAY_MULT_SHIFT);
	*part = parts & HYP_ACCT_PART_OF_NS;
	return ns;
}

/* Returns the time at EL2 in ns. */
static __always_inline u64 hyp_acct_add_times(struct kvm_vcpu *vcpu, u64 hyp, u64 guest)
{
	struct hyp_acct_vcpu *acct = &vcpu->arch.hyp_acct;

	hyp_acct_add_time(acct, guest, &vcpu->stat.guest_ns, &acct->guest_part);
	return hyp_acct_add_time(acct, hyp, &vcpu->stat.hyp_ns, &acct->hyp_part);
}

/* How much a counter of EL2's has grown */
static u64 hyp_acct_see(u64 *seen, const u64 *counter)
{
	u64 before = *seen;

	*seen = READ_ONCE(*counter);
	return *seen - before;
}

/* Add the exits that EL2 has handled since this was last called. */
static noinline void hyp_acct_add_handled(struct kvm_vcpu *vcpu)
{
	const struct hyp_acct_exits *handled = &vcpu->arch.hyp_acct.handled;
	struct hyp_acct_exits *seen = &vcpu->arch.hyp_acct.seen;
	unsigned int i;

	vcpu->stat.hyp_exits += hyp_acct_see(&seen->nr, &handled->nr);
	hyp_acct_add_times(vcpu, hyp_acct_see(&seen->hyp, &handled->hyp),
			   hyp_acct_see(&seen->guest, &handled->guest));
	for (i = 0; i < HYP_ACCT_NR_BUCKETS; i++)
		vcpu->stat.hyp_hist[i] += hyp_acct_see(&seen->hist[i], &handled->hist[i]);
}

static noinline void hyp_acct_init_vcpu(struct hyp_acct_vcpu *acct)
{
	acct->mult = hyp_acct_mult();
}

/**
 * __kvm_hyp_acct_exit - the slow path of kvm_hyp_acct_exit()
 * @vcpu:	the vCPU
 */
void __kvm_hyp_acct_exit(struct kvm_vcpu *vcpu)
{
	u64 hyp = __this_cpu_read(hyp_acct_run.hyp) & ~HYP_STAY_RUN;
	u64 guest = __this_cpu_read(hyp_acct_run.guest);
	struct hyp_acct_vcpu *acct = &vcpu->arch.hyp_acct;

	if (unlikely(!acct->mult))
		hyp_acct_init_vcpu(acct);

	vcpu->stat.hyp_exits++;
	KVM_STATS_LOG_HIST_UPDATE(vcpu->stat.hyp_hist, hyp_acct_add_times(vcpu, hyp, guest));
	if (READ_ONCE(acct->handled.nr) != acct->seen.nr)
		hyp_acct_add_handled(vcpu);
}

/**
 * kvm_arch_create_vcpu_debugfs - create a vCPU's files
 * @vcpu:	the vCPU
 * @dir:	its directory
 *
 * VHE has no stays at EL2.
 *
 * Context: process context, may sleep.
 */
void kvm_arch_create_vcpu_debugfs(struct kvm_vcpu *vcpu, struct dentry *dir)
{
	if (is_kernel_in_hyp_mode())
		return;

	debugfs_create_u64("hyp_exits", 0444, dir, &vcpu->stat.hyp_exits);
	debugfs_create_u64("hyp_ns", 0444, dir, &vcpu->stat.hyp_ns);
	debugfs_create_u64("guest_ns", 0444, dir, &vcpu->stat.guest_ns);
}
