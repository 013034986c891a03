/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Function tracing at EL2: see func.c.
 */
#ifndef __ARM64_KVM_HYP_NVHE_FUNC_H
#define __ARM64_KVM_HYP_NVHE_FUNC_H

#include <linux/kvm_host.h>
#include <linux/types.h>

#include <nvhe/trace_vcpu.h>

struct kvm_cpu_context;

#ifdef CONFIG_KVM_HYP_FUNCTION_TRACER

/**
 * struct hyp_func_regs - what hyp_func_trampoline saves, below the function's stack pointer
 * @fp:		X29
 * @pc:		the address behind word 1
 * @args:	X0 to X8
 * @lr:		where the function returns to
 */
struct hyp_func_regs {
	unsigned long	fp;
	unsigned long	pc;
	unsigned long	args[9];
	unsigned long	lr;
};

/**
 * struct hyp_func_exit_regs - what hyp_func_return saves, likewise
 * @results:	X0 and X1
 * @lr:		where the function returns to
 * @unused:	keeps the stack pointer aligned
 */
struct hyp_func_exit_regs {
	unsigned long	results[2];
	unsigned long	lr;
	unsigned long	unused;
};

/* func_entry.S, which has the offsets as numbers */
extern char hyp_func_return[];

/* func.c */
void hyp_func_enter(unsigned long unused, unsigned long word, unsigned long lr,
		    unsigned long sp);
void hyp_func_graph_enter(unsigned long unused, unsigned long word, unsigned long lr,
			  unsigned long sp);
void hyp_func_exit(struct hyp_func_exit_regs *regs);
void hyp_func_reset(void);
void hyp_func_pause(void);
void hyp_func_resume(void);
void hyp_func_restore_frames(unsigned long fp);

/* A protected guest's vCPU is loaded on this CPU. Which functions run says why it exits. */
static inline void hyp_func_load_vcpu(struct kvm_vcpu *vcpu)
{
	if (!hyp_trace_may_see(vcpu))
		hyp_func_pause();
}

/* func_patch.c */
int hyp_func_set(u64 group, u64 mask, u64 begins);
int hyp_func_set_graph(u64 max_depth, u64 only);
void handle___hyp_trace_set_functions(struct kvm_cpu_context *host_ctxt);
void handle___hyp_trace_set_graph(struct kvm_cpu_context *host_ctxt);

#else

static inline void hyp_func_reset(void) { }
static inline void hyp_func_pause(void) { }
static inline void hyp_func_resume(void) { }
static inline void hyp_func_load_vcpu(struct kvm_vcpu *vcpu) { }
static inline void hyp_func_restore_frames(unsigned long fp) { }

#endif /* CONFIG_KVM_HYP_FUNCTION_TRACER */

#endif /* __ARM64_KVM_HYP_NVHE_FUNC_H */
