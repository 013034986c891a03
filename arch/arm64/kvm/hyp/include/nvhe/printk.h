/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Text at EL2: see printk.c.
 */
#ifndef __ARM64_KVM_HYP_NVHE_PRINTK_H
#define __ARM64_KVM_HYP_NVHE_PRINTK_H

#include <linux/types.h>

/* Arguments of a hyp_trace_printk() */
#define HYP_PRINTK_MAX_ARGS	6

unsigned int hyp_format(char *buf, unsigned int size, const char *fmt, const u64 *args,
			unsigned int nr_args);

#endif /* __ARM64_KVM_HYP_NVHE_PRINTK_H */
