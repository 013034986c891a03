/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * SMCs that EL2 makes to the firmware
 */
#ifndef __ARM64_KVM_HYP_NVHE_ARM_SMCCC_H
#define __ARM64_KVM_HYP_NVHE_ARM_SMCCC_H

#include <linux/arm-smccc.h>

#include <nvhe/stay.h>
#include <nvhe/trace.h>

#define hyp_smccc_1_1_smc(...)				\
do {							\
	hyp_stay_leave_firmware(0);			\
	arm_smccc_1_1_smc(__VA_ARGS__);			\
	hyp_stay_resume();				\
} while (0)

/* A PSCI call may return at another place, or never. */
#define hyp_psci_1_1_smc(fn, ...)			\
do {							\
	unsigned long __fn = (fn);			\
	bool __parked;					\
							\
	hyp_stay_leave_firmware(__fn);			\
	__parked = hyp_trace_park();			\
	arm_smccc_1_1_smc(__fn, ##__VA_ARGS__);		\
	if (__parked)					\
		hyp_trace_unpark();			\
	hyp_stay_resume();				\
} while (0)

#endif /* __ARM64_KVM_HYP_NVHE_ARM_SMCCC_H */
