// SPDX-License-Identifier: GPL-2.0-only
#include <shim.h>

const struct shim *shim;

static void shim_fence(int order)
{
	if (shim && shim->fence)
		shim->fence(order);
}

SHIM_UNSANITIZED void shim_fence_full(void)
{
	shim_fence(__ATOMIC_SEQ_CST);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

SHIM_UNSANITIZED void shim_fence_acquire(void)
{
	shim_fence(__ATOMIC_ACQUIRE);
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
}

SHIM_UNSANITIZED void shim_fence_release(void)
{
	shim_fence(__ATOMIC_RELEASE);
	__atomic_thread_fence(__ATOMIC_RELEASE);
}
