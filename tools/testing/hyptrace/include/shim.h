/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The kernel's accesses to shared memory, on the compiler's atomics, which the
 * thread sanitizer understands. Each has a step before it, and what it loads
 * and stores can be passed to a model of memory: see machine.c.
 */
#ifndef __HYPTRACE_SHIM_H
#define __HYPTRACE_SHIM_H

#include <linux/types.h>

/**
 * struct shim - what a test does at each access; any member may be NULL
 * @step:	called before an access to @addr
 * @load:	returns what a load sees, which need not be the latest value
 * @store:	called before a store
 * @exchange:	called after a compare-and-exchange, done or failed
 * @fence:	called for a barrier between loads (acquire), stores (release) or all (seq_cst)
 * @relax:	called where one waits for another
 * @lock:	takes a lock
 * @unlock:	releases it
 */
struct shim {
	void (*step)(const void *addr);
	u64 (*load)(const void *addr, u64 latest, int order);
	void (*store)(const void *addr, u64 old, u64 new, int order);
	void (*exchange)(const void *addr, u64 seen, u64 new, bool done);
	void (*fence)(int order);
	void (*relax)(void);
	void (*lock)(u64 *held);
	void (*unlock)(u64 *held);
};

/* Set and cleared only while a single thread runs. */
extern const struct shim *shim;

/*
 * What the writer shares the reader has at other addresses, at which there is no memory: it can be
 * accessed by what is below, and by nothing else. So no access of the reader escapes.
 */
#define SHIM_SHARED	BIT(55)

#define shim_is_shared(p)	((uintptr_t)(p) & SHIM_SHARED)
#define shim_real(p)		((typeof(p))((uintptr_t)(p) & ~SHIM_SHARED))

static inline void *shim_share(void *memory)
{
	return (void *)((uintptr_t)memory | SHIM_SHARED);
}

static inline void shim_step(const void *addr)
{
	if (shim && shim->step)
		shim->step(addr);
}

static inline u64 shim_seen(const void *addr, u64 latest, int order)
{
	return shim && shim->load ? shim->load(addr, latest, order) : latest;
}

#define shim_load(p, order) ({						\
	typeof(p) __p = shim_real(p);					\
									\
	shim_step(__p);							\
	(typeof(*__p))shim_seen(__p, (u64)__atomic_load_n(__p, __ATOMIC_##order), \
				__ATOMIC_##order);			\
})

#define shim_store(p, value, order) ({					\
	typeof(p) __p = shim_real(p);					\
	typeof(*__p) __value = (value);					\
									\
	shim_step(__p);							\
	if (shim && shim->store)					\
		shim->store(__p, (u64)*__p, (u64)__value,		\
			    __ATOMIC_##order);				\
	__atomic_store_n(__p, __value, __ATOMIC_##order);		\
})

/* As in the kernel: a full barrier when done, no order at all when failed. */
static inline bool shim_exchange(u64 *p, u64 *old, u64 new)
{
	bool done;

	shim_step(p);
	done = __atomic_compare_exchange_n(p, old, new, false,
					   __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
	if (shim && shim->exchange)
		shim->exchange(p, *old, new, done);
	return done;
}

/*
 * The thread sanitizer does not know fences. It need not: what they order are
 * atomic accesses, and what is read without owning it is checked afterwards.
 */
#define SHIM_UNSANITIZED	__attribute__((no_sanitize("thread")))

void shim_fence_full(void);
void shim_fence_acquire(void);
void shim_fence_release(void);

static inline void shim_relax(void)
{
	if (shim && shim->relax)
		shim->relax();
}

static inline int shim_lock(u64 *held)
{
	u64 old = 0;

	if (shim && shim->lock) {
		shim->lock(held);
		return 0;
	}
	while (!shim_exchange(held, &old, 1)) {
		old = 0;
		shim_relax();
	}
	return 0;
}

static inline void shim_unlock(u64 *held)
{
	if (shim && shim->unlock)
		shim->unlock(held);
	else
		shim_store(held, 0, RELEASE);
}

/* Words at addresses that may be shared. A writer may overwrite what is loaded with "racy". */
u32 shim_load_racy(const void *word);
static inline u32 shim_load_word(const void *word)
{
	return shim_is_shared(word) ? shim_load_racy(word) : shim_load((const u32 *)word, RELAXED);
}

void shim_racy_memcpy(void *to, const void *from, size_t size);
void shim_memcpy(void *to, const void *from, size_t size);
void shim_memset(void *to, int byte, size_t size);

#endif /* __HYPTRACE_SHIM_H */
