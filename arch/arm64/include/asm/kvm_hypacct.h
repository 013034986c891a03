/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Accounting for the time at EL2: what the kernel and the hypervisor share
 *
 * A stay is the time from an entry into EL2 to the next exit. Each CPU has a cell for each
 * reason of a stay. See nvhe/stay.c.
 */
#ifndef __ARM64_KVM_HYPACCT_H
#define __ARM64_KVM_HYPACCT_H

#include <linux/bits.h>
#include <linux/sizes.h>
#include <linux/types.h>

#define HYP_ACCT_NR_BUCKETS	32

/* What a bucket's place in struct hyp_acct_cell is */
#define HYP_ACCT_BUCKET(nr)	(HYP_ACCT_NR_BUCKETS - 1 - (nr))

/**
 * struct hyp_acct_cell - the stays of one reason on one CPU, or the gaps of one kind
 * @total:	the time of them all, cycles of CNTPCT_EL0
 * @max:	of stays: the longest one, cycles
 * @nr_gaps:	of gaps: how many; 0 for guests, which have run as often as they have exited
 * @buckets:	of stays: how many took so long. Bucket 0 is for less than 1 ns, bucket N for
 *		2^(N-1) ns and more, but less than 2^N; the last one has no upper bound. So has
 *		KVM its logarithmic histograms (Documentation/virt/kvm/api.rst). Bucket N is at
 *		HYP_ACCT_BUCKET(N): the place is what CLZ returns, less a constant
 */
struct hyp_acct_cell {
	u64		total;
	union {
		u64	max;
		u64	nr_gaps;
	};
	u64		buckets[HYP_ACCT_NR_BUCKETS];
};

/**
 * struct hyp_acct_exits - exits of a vCPU, and what they took
 * @nr:		how many
 * @hyp:	the time at EL2, cycles of CNTPCT_EL0. An exit that the host handles takes two
 *		stays: that which it begins, and that from which the vCPU was run
 * @guest:	the time in the guest, cycles
 * @hist:	how many took so long at EL2, by the bucket
 */
struct hyp_acct_exits {
	u64		nr;
	u64		hyp;
	u64		guest;
	u64		hist[HYP_ACCT_NR_BUCKETS];
};

/**
 * struct hyp_acct_vcpu - accounting for a vCPU
 * @handled:	the exits that EL2 has handled itself, since the vCPU exists. EL2 writes it.
 *		Under pKVM it has its own, and writes a copy of what has changed to the host's
 * @seen:	what KVM's statistics have of @handled
 * @hyp_part:	what they lack of the time at EL2, less than a ns, times 2^HYP_STAY_MULT_SHIFT
 * @guest_part:	... and of the time in the guest
 * @mult:	as that of struct hyp_stay; 0 before the first exit
 */
struct hyp_acct_vcpu {
	struct hyp_acct_exits	handled;
	struct hyp_acct_exits	seen;
	u64			hyp_part;
	u64			guest_part;
	u64			mult;
};

/**
 * struct hyp_stay - the stay or the gap that is under way on a CPU
 * @start:	when it began, CNTPCT_EL0; 0 if none is accounted for. HYP_STAY_BUSY is set in it
 *		while the CPU changes a cell
 * @cell:	the address of its cell; HYP_STAY_RESUMED may be set in it
 * @left:	during a firmware call: the @cell that the stay goes on with
 * @mult:	ns a cycle, times 2^HYP_STAY_MULT_SHIFT
 * @cells:	the CPU's cells; NULL before accounting is first turned on
 * @run:	while a vCPU runs: the time of the stay from which it was run, and HYP_STAY_RUN;
 *		else 0
 * @guest:	how long it ran before its last exit
 */
struct hyp_stay {
	u64			start;
	u64			cell;
	u64			left;
	u64			mult;
	struct hyp_acct_cell	*cells;
	u64			run;
	u64			guest;
};

/* No counter has this bit: it counts for hundreds of years of any frequency. */
#define HYP_STAY_BUSY		BIT(63)

/* In a time: it is there. */
#define HYP_STAY_RUN		BIT(63)

/* The first part of the stay, up to the firmware call, has been counted. */
#define HYP_STAY_RESUMED	1UL

/* The factor of hyp_stay.mult: counts up to 2^48 cycles have a bucket. */
#define HYP_STAY_MULT_SHIFT	48

/* Room for all there are: see acct_names.c */
#define HYP_ACCT_NR_HCALLS	(48 + 2 * IS_ENABLED(CONFIG_KVM_HYP_FUNCTION_TRACER))
#define HYP_ACCT_NR_PSCI	21

/* The exception classes of a guest's exits that have a cell each; others share one. */
#define HYP_ACCT_CLASSES(CLASS)						\
	CLASS(UNKNOWN) CLASS(WFx) CLASS(CP15_32) CLASS(CP15_64)		\
	CLASS(CP14_MR) CLASS(CP14_LS) CLASS(FP_ASIMD) CLASS(CP10_ID)	\
	CLASS(PAC) CLASS(CP14_64) CLASS(HVC32) CLASS(HVC64)		\
	CLASS(SMC32) CLASS(SMC64) CLASS(SYS64) CLASS(SVE)		\
	CLASS(ERET) CLASS(IABT_LOW) CLASS(DABT_LOW) CLASS(FP_EXC64)	\
	CLASS(SERROR) CLASS(BREAKPT_LOW) CLASS(SOFTSTP_LOW)		\
	CLASS(WATCHPT_LOW) CLASS(BKPT32) CLASS(BRK64)

/*
 * Gaps, which are no time of EL2's, then the reasons of stays: those of the host, and the
 * exits of guests. A protected guest's exits have one reason, which does not say why.
 */
enum hyp_acct_reason {
	HYP_ACCT_IN_GUEST,
	HYP_ACCT_IN_FIRMWARE,
	HYP_ACCT_IN_IDLE,
	HYP_ACCT_NR_GAPS,

	HYP_ACCT_HCALL = HYP_ACCT_NR_GAPS,
	HYP_ACCT_HCALL_INVALID = HYP_ACCT_HCALL + HYP_ACCT_NR_HCALLS,
	HYP_ACCT_PSCI,
	HYP_ACCT_FFA = HYP_ACCT_PSCI + HYP_ACCT_NR_PSCI,
	HYP_ACCT_SMC,
	HYP_ACCT_ABORT,
	HYP_ACCT_CPU_ENTRY,

	/* In the order of ARM_EXCEPTION_*. A trap has a class; its place is another's. */
	HYP_ACCT_GUEST_IRQ,
	HYP_ACCT_GUEST_EL1_SERROR,
	HYP_ACCT_GUEST_PROTECTED,
	HYP_ACCT_GUEST_IL,
	HYP_ACCT_GUEST_OTHER,
#define HYP_ACCT_CLASS(name)	HYP_ACCT_GUEST_##name,
	HYP_ACCT_CLASSES(HYP_ACCT_CLASS)
#undef HYP_ACCT_CLASS
	NR_HYP_ACCT_REASONS
};

/* What accounting has for each CPU, at the most */
#define HYP_ACCT_MAX_SIZE	SZ_32K

/* What a hypercall copies to a page of the host's */
#define HYP_ACCT_PAGE_CELLS	(SZ_4K / sizeof(struct hyp_acct_cell))

#endif /* __ARM64_KVM_HYPACCT_H */
