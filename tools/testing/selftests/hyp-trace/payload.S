/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * payload - what a vCPU of the guest runs
 *
 *   x19  HVCs to make
 *   x20  writes to the device to make
 *   x21  address of the device
 *   x22  HVCs that KVM has refused
 *   x23  whether to use FP before each write. If the host had the FP registers, EL2 handles the
 *	  trap and enters the guest again
 *
 * The HVC is a vendor hypervisor call that does not exist. KVM answers it in
 * x0 to x3, with NOT_SUPPORTED, so nothing is kept there.
 *
 * A WFI traps only while no interrupt is pending, and one of the host's may be
 * at any moment. So the device, that is KVM's count of trapped WFIs, says how
 * many are still to be made.
 */
#include "payload.h"

#define UNKNOWN_CALL	0xc7ff0000
#define CPACR_FPEN	(3 << 20)

	.section .rodata
	.globl	payload, payload_end
	.balign	4
payload:
	cbz	x19, 2f
1:	mov	w0, #UNKNOWN_CALL
	hvc	#0
	cmn	x0, #1
	cinc	x22, x22, eq
	sub	x19, x19, #1
	cbnz	x19, 1b

2:	cbz	x23, 3f
	mov	x0, #CPACR_FPEN
	msr	cpacr_el1, x0
	isb
3:	cbz	x20, 4f
	cbz	x23, 6f
	fmov	d0, x20
6:	str	w20, [x21, #DEVICE_DATA]
	sub	x20, x20, #1
	b	3b

4:	ldr	w1, [x21, #DEVICE_WFI]
	cbz	w1, 5f
	wfi
	b	4b

5:	str	w22, [x21, #DEVICE_OVER]
	b	.
payload_end:

	.section .note.GNU-stack, "", %progbits
