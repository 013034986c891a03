/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the guest runs: functions whose call chains are known, at EL0 and EL1
 *
 * All functions keep frame records, and the innermost one spins. With pointer authentication,
 * paciasp signs the return address; else it is a NOP.
 *
 *   x19: how often EL1 spins		x20: how often EL0 does
 *   x21: how deep u_deep() calls itself
 *
 * The pages are at their own addresses at EL0, so that perf finds the functions of EL0 in
 * the file of the VMM.
 */
	.arch	armv8-a
	.section .guest, "ax"
	.balign	0x10000
	.globl	guest_begin, guest_end

#define FUNCTION(name)	.globl name; .type name, %function; name
#define END(name)	.size name, . - name
#define ENTER		hint #25 /* paciasp */; stp x29, x30, [sp, #-16]!; mov x29, sp
#define LEAVE		ldp x29, x30, [sp], #16; hint #29 /* autiasp */; ret

guest_begin:

/* Only a system call of EL0 is expected. */
	.globl	k_vectors
k_vectors:
	.rept	8
	b	.
	.balign	0x80
	.endr
	b	k_entry
	.balign	0x80
	.rept	7
	b	.
	.balign	0x80
	.endr

FUNCTION(k_entry):
	sub	sp, sp, #32
	stp	x29, x30, [sp]
	stp	xzr, xzr, [sp, #16]
	add	x29, sp, #16
	bl	k_outer
	.globl	k_entry_ret
k_entry_ret:
	ldp	x29, x30, [sp], #32
	eret
	END(k_entry)

FUNCTION(k_outer):
	ENTER
	bl	k_middle
	.globl	k_outer_ret
k_outer_ret:
	LEAVE
	END(k_outer)

FUNCTION(k_middle):
	ENTER
	bl	k_leaf
	.globl	k_middle_ret
k_middle_ret:
	LEAVE
	END(k_middle)

FUNCTION(k_leaf):
	ENTER
	mov	x0, x19
	.globl	k_spin, k_spin_end
k_spin:
	sub	x0, x0, #1
	cbnz	x0, k_spin
k_spin_end:
	LEAVE
	END(k_leaf)

/* To EL0: the caller sets ELR_EL1. */
FUNCTION(k_start):
	mov	x29, #0
	msr	spsr_el1, xzr
	eret
	END(k_start)

/* At EL1, with the frame pointer x29 that the VMM sets */
FUNCTION(k_hostile):
	b	.
	END(k_hostile)

/*
 * Reads a register that the host emulates, and spins up to 8191 times, by a random number in
 * x20: without it, samples would hit the same instructions all the time.
 */
FUNCTION(k_trap):
	mov	x29, #0
1:	eor	x20, x20, x20, lsl #13
	eor	x20, x20, x20, lsr #7
	eor	x20, x20, x20, lsl #17
	and	x0, x20, #0x1fff
	orr	x0, x0, #1
2:	sub	x0, x0, #1
	cbnz	x0, 2b
	.globl	k_trap_mrs
k_trap_mrs:
	mrs	x1, id_aa64pfr0_el1
	b	1b
	END(k_trap)

/* Counts in the word at x0: four instructions a time */
FUNCTION(k_count):
	ldr	x1, [x0]
	add	x1, x1, #1
	str	x1, [x0]
	b	k_count
	END(k_count)

/* Writes a list of the VMM at full speed: x1 entries at x0, each an address and a word */
FUNCTION(k_writer):
1:	mov	x3, x0
	mov	x4, x1
2:	ldp	x5, x6, [x3], #16
	str	x6, [x5]
	sub	x4, x4, #1
	cbnz	x4, 2b
	dsb	ishst
	tlbi	vmalle1is
	dsb	ish
	b	1b
	END(k_writer)

FUNCTION(u_start):
	mov	x29, #0
	mov	x30, #0
1:	bl	u_outer
	.globl	u_start_ret
u_start_ret:
	svc	#0
	b	1b
	END(u_start)

FUNCTION(u_outer):
	ENTER
	mov	x1, x21
	bl	u_deep
	.globl	u_outer_ret
u_outer_ret:
	LEAVE
	END(u_outer)

FUNCTION(u_deep):
	ENTER
	cbz	x1, 1f
	sub	x1, x1, #1
	bl	u_deep
	.globl	u_deep_ret
u_deep_ret:
	b	2f
1:	bl	u_leaf
	.globl	u_last_ret
u_last_ret:
2:	LEAVE
	END(u_deep)

FUNCTION(u_leaf):
	ENTER
	mov	x0, x20
	.globl	u_spin, u_spin_end
u_spin:
	sub	x0, x0, #1
	cbnz	x0, u_spin
u_spin_end:
	LEAVE
	END(u_leaf)

FUNCTION(u_hostile):
	b	.
	END(u_hostile)

	.balign	0x10000
guest_end:
	.section .note.GNU-stack, "", %progbits
