/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The text of a hyp_trace_printk(): see printk.c.
 */
#ifndef __ARM64_KVM_HYP_TRACE_PRINTK_H__
#define __ARM64_KVM_HYP_TRACE_PRINTK_H__

#include <asm/kvm_hypevents_defs.h>

const char *hyp_printk_text(char *buf, size_t size, const struct hyp_event_hyp_printk *record,
			    unsigned int len);

#endif /* __ARM64_KVM_HYP_TRACE_PRINTK_H__ */
