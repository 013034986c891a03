/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The calls of events: see asm/kvm_hypevents_site.h and event_site.c.
 */
#ifndef __ARM64_KVM_HYP_NVHE_EVENT_SITE_H
#define __ARM64_KVM_HYP_NVHE_EVENT_SITE_H

#include <linux/types.h>

/*
 * Whether the event may be on. This is one instruction, and another one if it may be. It
 * loads nothing from memory.
 */
static __always_inline bool hyp_event_may_be_on(const unsigned int nr)
{
	asm goto("1:	nop\n"
		 "	.pushsection .rodata.hyp_event_sites, \"a\"\n"
		 "	.align	2\n"
		 "	.long	1b - ., %l[on] - ., %c[nr]\n"
		 "	.popsection\n"
		 : : [nr] "i" (nr) : : on);
	return false;
on:
	return true;
}

int el2_event_sites_patch(u64 first);

#endif /* __ARM64_KVM_HYP_NVHE_EVENT_SITE_H */
