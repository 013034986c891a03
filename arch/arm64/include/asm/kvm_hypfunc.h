/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Function tracing at EL2, as both sides know it: the two words at the begin of each function.
 *
 *	bti	c			only with BTI, and only of some functions
 *	mov	x9, x30			word 0; NOP until hyp_func_init() of the kernel
 *	nop				word 1; or BL hyp_func_trampoline while it is traced,
 *					or BL hyp_func_graph_trampoline if it can begin a graph
 *
 * Both NOP and BL are instructions that may replace each other while another CPU executes them (Arm
 * ARM, concurrent modification and execution of instructions). Word 0 is written before EL2 runs.
 */
#ifndef __ARM64_KVM_HYPFUNC_H
#define __ARM64_KVM_HYPFUNC_H

#include <linux/bits.h>
#include <linux/types.h>

#include <asm/hyp_image.h>

#define HYP_FUNC_SAVE_LR	0xaa1e03e9	/* mov x9, x30 */
#define HYP_FUNC_NOP		0xd503201f
#define HYP_FUNC_BTI_C		0xd503245f

/* The table of the linker: word 0 of each function that can be traced, EL2's addresses */
extern const unsigned long __hyp_functions_start[], __hyp_functions_end[];

/* What word 1 calls, EL2's func_entry.S */
extern char kvm_nvhe_sym(hyp_func_trampoline)[];
extern char kvm_nvhe_sym(hyp_func_graph_trampoline)[];

/* Functions that can be entered at once, and have their returns traced */
#define HYP_FUNC_DEPTH		48

/**
 * struct hyp_func_graph - which functions the tracer function_graph traces
 * @max_depth:	how deep, at the most; 1 is the outermost function alone, 0 is no limit
 * @only:	only those that hyp_func_graph_trampoline is called by, and what these call
 */
struct hyp_func_graph {
	u32	max_depth;
	u32	only;
};

extern struct hyp_func_graph kvm_nvhe_sym(hyp_func_graph);

/* Functions that a hypercall changes: it bounds its time. A word has a bit for each. */
#define HYP_FUNC_GROUP		16

/* Word 1 of a traced function: @from is its address, @to that of a trampoline. */
static inline u32 hyp_func_call(unsigned long from, unsigned long to)
{
	return 0x94000000 | ((to - from) >> 2 & GENMASK(25, 0));
}

#endif /* __ARM64_KVM_HYPFUNC_H */
