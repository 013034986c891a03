// SPDX-License-Identifier: GPL-2.0-only
/*
 * The host's boot clock at EL2
 *
 * The host keeps time by the physical counter, CNTPCT_EL0, when it has EL2
 * (arch_counter_register()), and so does this: CNTPCT_EL0 read at EL2 has no
 * offset, whichever guest is loaded (Arm ARM, The Generic Timer). The host tells the
 * time at one count and the rate from there on, and does so again and again
 * to follow the adjustments of its clock.
 *
 * There are two banks. An update fills the one not in use, then stores @seq,
 * whose lowest bit names the bank, with release (pair E); hyp_trace_clock()
 * loads @seq with acquire, then the bank. Only an update that begins two after
 * the one it saw can tear what it reads. The host is not expected to be that
 * quick; if it is, the second reading is taken as it comes: only time is at
 * stake, and the ring does not let that go backwards.
 */
#include <asm/arch_timer.h>
#include <asm/barrier.h>
#include <asm/kvm_hyp.h>

#include <linux/math64.h>

#include <nvhe/clock.h>
#include <nvhe/spinlock.h>

struct hyp_clock_bank {
	u32	mult;
	u32	shift;
	u64	epoch_ns;
	u64	epoch_cycles;
};

static struct hyp_clock_bank hyp_clock_banks[2];
static u32 hyp_clock_seq;
static DEFINE_HYP_SPINLOCK(hyp_clock_lock);

static u64 hyp_clock_read(const struct hyp_clock_bank *bank)
{
	s64 cycles = __arch_counter_get_cntpct() - READ_ONCE(bank->epoch_cycles);

	/* The count may have been read before the epoch of a newer bank. */
	if (cycles < 0)
		cycles = 0;

	return READ_ONCE(bank->epoch_ns) +
	       mul_u64_u32_shr(cycles, READ_ONCE(bank->mult), READ_ONCE(bank->shift));
}

/**
 * hyp_trace_clock - the host's boot clock
 *
 * Return: ns; what the host makes of it, if the host is hostile.
 */
u64 hyp_trace_clock(void)
{
	u32 seq = smp_load_acquire(&hyp_clock_seq);	/* (E) */
	u64 ns = hyp_clock_read(&hyp_clock_banks[seq & 1]);

	/* The bank is read before @hyp_clock_seq is looked at again. */
	smp_rmb();
	if (likely(READ_ONCE(hyp_clock_seq) == seq))
		return ns;

	seq = smp_load_acquire(&hyp_clock_seq);		/* (E) */
	return hyp_clock_read(&hyp_clock_banks[seq & 1]);
}

/**
 * hyp_trace_clock_set - tell the time and the rate
 * @mult:	ns a cycle, times 2 to the power of @shift; 32 bits
 * @shift:	below 64
 * @epoch_ns:	the boot clock, ns, when CNTPCT_EL0 was
 * @epoch_cycles: this
 *
 * Context: any, with arguments from the host.
 * Return: 0, or -EINVAL for an argument out of range.
 */
int hyp_trace_clock_set(u64 mult, u64 shift, u64 epoch_ns, u64 epoch_cycles)
{
	struct hyp_clock_bank *bank;

	if (!mult || mult > U32_MAX || shift > 63)
		return -EINVAL;

	hyp_spin_lock(&hyp_clock_lock);
	bank = &hyp_clock_banks[(hyp_clock_seq + 1) & 1];
	WRITE_ONCE(bank->mult, mult);
	WRITE_ONCE(bank->shift, shift);
	WRITE_ONCE(bank->epoch_ns, epoch_ns);
	WRITE_ONCE(bank->epoch_cycles, epoch_cycles);
	smp_store_release(&hyp_clock_seq, hyp_clock_seq + 1);	/* (E) */
	hyp_spin_unlock(&hyp_clock_lock);

	return 0;
}
