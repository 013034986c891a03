// SPDX-License-Identifier: GPL-2.0
/*
 * A faultable tracepoint where no task may sleep, which is a mistake: the kernel complains, if
 * it has CONFIG_DEBUG_ATOMIC_SLEEP, although no probe is registered.
 */
#include <linux/module.h>
#include <linux/preempt.h>

#define CREATE_TRACE_POINTS
#include "faultable_atomic.h"

static int __init faultable_atomic_init(void)
{
	guard(preempt)();
	trace_faultable_atomic(0);
	return 0;
}

static void __exit faultable_atomic_exit(void)
{
}

module_init(faultable_atomic_init);
module_exit(faultable_atomic_exit);

MODULE_DESCRIPTION("Call a faultable tracepoint with preemption disabled");
MODULE_LICENSE("GPL");
