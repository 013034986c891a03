// SPDX-License-Identifier: GPL-2.0-only
#undef memcpy
#undef memset

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

SHIM_UNSANITIZED u32 shim_load_racy(const void *word)
{
	return shim_load((const u32 *)word, RELAXED);
}

void shim_racy_memcpy(void *to, const void *from, size_t size)
{
	u32 *words = to;
	size_t i;

	for (i = 0; i < size / sizeof(u32); i++)
		words[i] = shim_load_racy((const u32 *)from + i);
}

/* From or to shared memory, word by word */
void shim_memcpy(void *to, const void *from, size_t size)
{
	const u32 *words = from;
	size_t i;

	if (!shim_is_shared(to) && !shim_is_shared(from)) {
		memcpy(to, from, size);
		return;
	}

	for (i = 0; i < size / sizeof(u32); i++)
		shim_store((u32 *)to + i, shim_load(words + i, RELAXED), RELAXED);
}

void shim_memset(void *to, int byte, size_t size)
{
	size_t i;

	if (!shim_is_shared(to)) {
		memset(to, byte, size);
		return;
	}

	for (i = 0; i < size / sizeof(u32); i++)
		shim_store((u32 *)to + i, byte * 0x01010101U, RELAXED);
}
