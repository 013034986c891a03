/* SPDX-License-Identifier: GPL-2.0-only */
/* The device between the guest's payload and its VMM, guest.c */
#ifndef HYP_TRACE_PAYLOAD_H
#define HYP_TRACE_PAYLOAD_H

#define DEVICE_DATA	0x00	/* w: a write to be counted */
#define DEVICE_WFI	0x08	/* r: WFIs still to be made */
#define DEVICE_OVER	0x10	/* w: the end; how many HVCs were refused */

#ifndef __ASSEMBLER__
extern const char payload[], payload_end[];
#endif

#endif
