/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The unit of accounting
 */
#ifndef __ARM64_KVM_HYP_ACCT_CLOCK_H__
#define __ARM64_KVM_HYP_ACCT_CLOCK_H__

#include <linux/math64.h>
#include <linux/time64.h>
#include <linux/types.h>

#include <asm/arch_timer.h>
#include <asm/kvm_hypacct.h>

/* ns a cycle of CNTPCT_EL0, times 2^HYP_STAY_MULT_SHIFT */
static inline u64 hyp_acct_mult(void)
{
	return mul_u64_u64_div_u64(NSEC_PER_SEC, 1ULL << HYP_STAY_MULT_SHIFT,
				   arch_timer_get_rate());
}

#endif /* __ARM64_KVM_HYP_ACCT_CLOCK_H__ */
