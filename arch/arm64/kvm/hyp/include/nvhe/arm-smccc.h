/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * SMCs that EL2 makes to the firmware
 */
#ifndef __ARM64_KVM_HYP_NVHE_ARM_SMCCC_H
#define __ARM64_KVM_HYP_NVHE_ARM_SMCCC_H

#include <linux/arm-smccc.h>

#include <nvhe/trace.h>

#define hyp_smccc_1_1_smc(...)				\
do {							\
	trace_hyp_exit(HYP_EXIT_FIRMWARE, HYP_NO_VCPU);	\
	arm_smccc_1_1_smc(__VA_ARGS__);			\
	trace_hyp_enter(HYP_ENTER_FIRMWARE, HYP_NO_VCPU); \
} while (0)

/* A PSCI call may return at another place, or never. */
#define hyp_psci_1_1_smc(...)				\
do {							\
	bool __parked;					\
							\
	trace_hyp_exit(HYP_EXIT_FIRMWARE, HYP_NO_VCPU);	\
	__parked = hyp_trace_park();			\
	arm_smccc_1_1_smc(__VA_ARGS__);			\
	if (__parked)					\
		hyp_trace_unpark();			\
	trace_hyp_enter(HYP_ENTER_FIRMWARE, HYP_NO_VCPU); \
} while (0)

#endif /* __ARM64_KVM_HYP_NVHE_ARM_SMCCC_H */
