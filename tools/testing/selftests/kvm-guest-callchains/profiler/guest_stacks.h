/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef __GUEST_STACKS_H
#define __GUEST_STACKS_H

#include <linux/types.h>

#define MAX_FRAMES	127
#define MAX_STACKS	16384

/* The key of the map "counts" */
struct guest_stack {
	__u32	vmm;	/* The process */
	__u32	user;	/* Whether it is of the guest's user space */
	__u32	id;	/* In the map "stacks" */
};

#endif
