/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What an x86 guest runs: functions whose call chains are known, of 64-bit and of 32-bit
 * code, in its kernel and in a program
 *
 * All of them keep frame records, and spin in the innermost one.
 *
 *   EBX: how often the kernel spins	ESI: how often the program does
 *   EDI: how deep u_deep() calls itself
 *
 * The program calls the kernel by INT 0x80. No code has an address in it, so that it runs
 * wherever it is mapped.
 */
	.section .guest, "ax"
	.balign	0x10000
	.globl	guest_begin, guest_end

.macro enter bp, sp
	push	\bp
	mov	\sp, \bp
.endm

.macro leaves name, bp
	pop	\bp
	ret
	.size	\name, . - \name
.endm

/* A label that the VMM knows */
.macro label name
	.globl	\name
\name:
.endm

/* One that perf knows, too */
.macro function name
	.type	\name, @function
label	\name
.endm

.macro functions n, bp, sp, ax, bx, dx, si
	.code\n

function k\n\()_entry
	push	\bp
	push	$0
	push	$0
	mov	\sp, \bp
	call	k\n\()_outer
label k\n\()_entry_ret
	add	$(\n / 4), \sp
	pop	\bp
.if \n == 64
	iretq
.else
	iret
.endif
	.size	k\n\()_entry, . - k\n\()_entry

function k\n\()_outer
	enter	\bp, \sp
	call	k\n\()_middle
label k\n\()_outer_ret
	leaves	k\n\()_outer, \bp

function k\n\()_middle
	enter	\bp, \sp
	call	k\n\()_leaf
label k\n\()_middle_ret
	leaves	k\n\()_middle, \bp

function k\n\()_leaf
	enter	\bp, \sp
	mov	%ebx, %eax
label k\n\()_spin
	dec	%eax
	jnz	k\n\()_spin
label k\n\()_spin_end
	leaves	k\n\()_leaf, \bp

/* In the kernel, with whatever frame pointer the VMM sets */
label k\n\()_hostile
	jmp	k\n\()_hostile

/*
 * In the kernel: writes what the VMM gives, at full speed. ESI: the list of writes, each an
 * address and a word; EDI: how many
 */
label k\n\()_writer
	mov	\si, \dx
	mov	%edi, %ecx
2:	mov	(\dx), \ax
	mov	\n / 8(\dx), \bx
	mov	\bx, (\ax)
	add	$(\n / 4), \dx
	dec	%ecx
	jnz	2b
	mov	%cr3, \ax
	mov	\ax, %cr3
	jmp	k\n\()_writer

function u\n\()_start
	xor	%ebp, %ebp
1:	call	u\n\()_outer
label u\n\()_start_ret
	int	$0x80
	jmp	1b
	.size	u\n\()_start, . - u\n\()_start

function u\n\()_outer
	enter	\bp, \sp
	mov	%edi, %ecx
	call	u\n\()_deep
label u\n\()_outer_ret
	leaves	u\n\()_outer, \bp

function u\n\()_deep
	enter	\bp, \sp
	test	%ecx, %ecx
	jz	1f
	dec	%ecx
	call	u\n\()_deep
label u\n\()_deep_ret
	jmp	2f
1:	call	u\n\()_leaf
label u\n\()_last_ret
2:	leaves	u\n\()_deep, \bp

function u\n\()_leaf
	enter	\bp, \sp
	mov	%esi, %eax
label u\n\()_spin
	dec	%eax
	jnz	u\n\()_spin
label u\n\()_spin_end
	leaves	u\n\()_leaf, \bp
.endm

guest_begin:
	functions 64, %rbp, %rsp, %rax, %rbx, %rdx, %rsi
	functions 32, %ebp, %esp, %eax, %ebx, %edx, %esi
	.balign	0x10000
guest_end:
	.section .note.GNU-stack, "", %progbits
