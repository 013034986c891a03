/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The hypercalls of tracing
 */
#ifndef __ARM64_KVM_HYP_TRACE_HYPCALL_H__
#define __ARM64_KVM_HYP_TRACE_HYPCALL_H__

#include <linux/arm-smccc.h>
#include <linux/kvm_host.h>
#include <linux/preempt.h>

struct trace_remote;

extern struct trace_remote *hyp_trace_remote;

bool hyp_trace_has_ended(void);
int hyp_trace_get(void *priv);
void hyp_trace_put(void *priv);

/*
 * A hypercall of tracing, with four arguments at the most. Returns what it returns, a long; -ENODEV
 * when EL2 does not know the call, as the hyp stub does not, and after tracing has ended for good.
 *
 * EL2 takes whole registers. arm_smccc_1_1_hvc() would leave the upper bits of one undefined if the
 * argument is shorter than that.
 */
#define hyp_trace_hypcall(f, ...)						\
({									\
	struct arm_smccc_res __res;					\
	long __ret = -ENODEV;						\
									\
	preempt_disable();						\
	if (!hyp_trace_has_ended()) {					\
		u64 __args[4] = { __VA_ARGS__ };			\
									\
		arm_smccc_1_1_hvc(KVM_HOST_SMCCC_FUNC(f), __args[0],	\
				  __args[1], __args[2], __args[3], &__res); \
		if (__res.a0 == SMCCC_RET_SUCCESS)			\
			__ret = __res.a1;				\
	}								\
	preempt_enable();						\
	__ret;								\
})

#endif /* __ARM64_KVM_HYP_TRACE_HYPCALL_H__ */
