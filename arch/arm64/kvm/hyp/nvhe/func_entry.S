/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where a traced function of EL2 goes when it is entered, and where it returns to
 *
 * Both are reached from a function that follows the procedure call standard, so X9 to X17 are free.
 * EL2 does not use the SIMD registers.
 */
#include <linux/linkage.h>

#include <asm/assembler.h>

	.text

/*
 * Word 1 of the function has called this. X9 is the function's LR, LR is the address behind
 * word 1. hyp_func_enter() may change the former. The function goes on before its PACIASP.
 *
 * RET needs no landing pad at its target, as BR would.
 */
.macro hyp_func_entry enter
	stp	x29, x30, [sp, #-96]!
	mov	x29, sp
	stp	x0, x1, [sp, #16]
	stp	x2, x3, [sp, #32]
	stp	x4, x5, [sp, #48]
	stp	x6, x7, [sp, #64]
	stp	x8, x9, [sp, #80]

	sub	x1, x30, #8
	mov	x2, x9
	add	x3, sp, #96
	bl	\enter

	ldp	x0, x1, [sp, #16]
	ldp	x2, x3, [sp, #32]
	ldp	x4, x5, [sp, #48]
	ldp	x6, x7, [sp, #64]
	ldp	x8, x30, [sp, #80]
	ldp	x29, x9, [sp], #96
	ret	x9
.endm

SYM_CODE_START(hyp_func_trampoline)
	hyp_func_entry hyp_func_enter
SYM_CODE_END(hyp_func_trampoline)

/* The function is in set_graph_function. */
SYM_CODE_START(hyp_func_graph_trampoline)
	hyp_func_entry hyp_func_graph_enter
SYM_CODE_END(hyp_func_graph_trampoline)

/* A traced function has returned to this. X0 and X1 may have its result. */
SYM_CODE_START(hyp_func_return)
	stp	x0, x1, [sp, #-32]!

	mov	x0, sp
	bl	hyp_func_exit

	ldr	x30, [sp, #16]
	ldp	x0, x1, [sp], #32
	ret
SYM_CODE_END(hyp_func_return)
