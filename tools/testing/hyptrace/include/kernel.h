/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What EL2's sources and the kernel's reader of a ring need of the rest of the kernel, for user
 * space: included before each of them. The headers that they name are empty files, see the
 * Makefile. What orderings order is said where they are used.
 */
#ifndef __HYPTRACE_KERNEL_H
#define __HYPTRACE_KERNEL_H

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include <sys/cdefs.h>

#define BIT(nr)			(1UL << (nr))

#include <shim.h>

#define NR_CPUS			8

/* 12, 14 and 16 as on arm64; less for pages that are soon full */
#define PAGE_SIZE		(1UL << (PAGE_SHIFT))

#define noinline		__attribute_noinline__
#define shim_aligned(bytes)	__aligned__(bytes)
#define __aligned(bytes)	__attribute__((shim_aligned(bytes)))
#define shim_format(a, b)	__format__(__printf__, a, b)
#define __printf(a, b)		__attribute__((shim_format(a, b)))
#define likely(x)		__builtin_expect(!!(x), 1)
#define unlikely(x)		__builtin_expect(!!(x), 0)
#define shim_used		__used__
#define __used			__attribute__((shim_used))
#define shim_section(name)	__section__(name)
#define __section(name)		__attribute__((shim_section(name)))
#define OPTIMIZER_HIDE_VAR(var)	({ asm ("" : "+r" (var)); })
#define EXPORT_SYMBOL_GPL(symbol)
/* No help for an index that was not checked: it stays out of range. */
#define array_index_nospec(index, size)	((void)(size), (index))

/* Accesses to memory, which have an order or not */
#define READ_ONCE(x)							\
	__builtin_choose_expr(__builtin_types_compatible_p(typeof(x), u32),	\
			      shim_load_word(&(x)), shim_load(&(x), RELAXED))
#define WRITE_ONCE(x, value)		shim_store(&(x), value, RELAXED)
#define smp_load_acquire(p)		shim_load(p, ACQUIRE)		/* all after it */
#define smp_store_release(p, value)	shim_store(p, value, RELEASE)	/* all before it */
#define smp_mb()			shim_fence_full()		/* all */
#define smp_rmb()			shim_fence_acquire()		/* loads */
#define smp_wmb()			shim_fence_release()		/* stores */
#define try_cmpxchg(p, old, new)	shim_exchange(p, old, new)

#define min(a, b)	({ typeof(a) __a = (a), __b = (b); __a < __b ? __a : __b; })
#define max(a, b)	({ typeof(a) __a = (a), __b = (b); __a > __b ? __a : __b; })
#define min_t(type, a, b) min((type)(a), (type)(b))
#define max3(a, b, c)	({ typeof(a) __m = max(a, b), __c = (c); __m > __c ? __m : __c; })

#define GENMASK(high, low)	((BIT((high) - (low) + 1) - 1) << (low))
#define U64_MAX			UINT64_MAX
#define ALIGN(x, a)		(((x) + (a) - 1) / (a) * (a))
/* The section of formats: the linker names its ends by that. */
#define HYP_PRINTK_SECTION	"hyp_printk"
#define IS_ALIGNED(x, a)	((x) % (a) == 0)
#define ARRAY_SIZE(array)	(sizeof(array) / sizeof((array)[0]))
#define static_assert(cond)	_Static_assert(cond, #cond)
#define BUILD_BUG_ON(cond)	_Static_assert(!(cond), #cond)
/* Where the compiler knows the condition only after it has optimized */
#define BUILD_BUG_ON_MSG(cond, msg)						\
do {										\
	void shim_wrong(void) __attribute__((__error__(msg)));			\
										\
	if (cond)								\
		shim_wrong();							\
} while (0)
#define COUNT_ARGS_X(a, b, c, d, e, f, g, n, ...) n
#define COUNT_ARGS(args...)	COUNT_ARGS_X(0, ##args, 6, 5, 4, 3, 2, 1, 0)
#define sizeof_field(type, member) sizeof(((type *)0)->member)
#define BITS_TO_LONGS(nr)	(((nr) + 63) / 64)
#define swap(a, b)		({ typeof(a) __old = (a); (a) = (b); (b) = __old; })
#define struct_size(p, member, nr) (sizeof(*(p)) + (nr) * sizeof(*(p)->member))
#define container_of(p, type, member) ((type *)((char *)(p) - offsetof(type, member)))

/* data_race(memcpy(...)) is shim_racy_memcpy(...): what it copies may be overwritten, too. */
#define data_race(expr)		shim_racy_##expr
#define memcpy(to, from, size)	shim_memcpy(to, from, size)
#define memset(to, byte, size)	shim_memset(to, byte, size)

/* Of 64-bit numbers alone */
static inline u64 get_unaligned_u64(const void *from)
{
	u64 value;

	memcpy(&value, from, sizeof(value));
	return value;
}

#define get_unaligned(from)	get_unaligned_u64(from)

#define cpu_relax()		shim_relax()
#define fsleep(us)		shim_relax()

/* Locks */
typedef struct { u64 held; } raw_spinlock_t;

#define raw_spin_lock_irqsave(lock, flags)	((flags) = shim_lock(&(lock)->held))
#define raw_spin_unlock_irqrestore(lock, flags)	((void)(flags), shim_unlock(&(lock)->held))
#define lockdep_assert_held(lock)	\
	({ if (!__atomic_load_n(&(lock)->held, __ATOMIC_RELAXED)) abort(); })

static inline raw_spinlock_t *shim_guard(raw_spinlock_t *lock)
{
	shim_lock(&lock->held);
	return lock;
}

static inline void shim_unguard(raw_spinlock_t **lock)
{
	shim_unlock(&(*lock)->held);
}

/* There is one kind of lock. */
#define scoped_guard(kind, lock)						\
	for (bool __once = true; __once; __once = false)			\
		for (raw_spinlock_t *__guard __attribute__((cleanup(shim_unguard))) = \
		     shim_guard(lock); __once && __guard; __once = false)

/* Memory, of which there is always enough */
#define GFP_KERNEL			0
#define GFP_KERNEL_ACCOUNT		0
#define __GFP_ZERO			0
#define kzalloc(size, gfp)		calloc(1, size)
#define kcalloc(nr, size, gfp)		calloc(nr, size)
#define kzalloc_node(size, gfp, node)	((void)(node), calloc(1, size))
#define kvzalloc_node(size, gfp, node)	((void)(node), calloc(1, size))
#define kfree(p)			free(p)
#define kvfree(p)			free(p)
#define __get_free_page(gfp)		((unsigned long)aligned_alloc(PAGE_SIZE, PAGE_SIZE))
#define free_page(page)			free((void *)(page))
#define cpu_to_node(cpu)		(cpu)
#define flush_kernel_vmap_range(page, size)

#define ERR_PTR(error)			((void *)(long)(error))
#define IS_ERR_OR_NULL(p)		((unsigned long)(p) - 1 >= -4096UL)

/* The one CPU, which is online */
struct cpumask;

#define nr_cpu_ids			1
#define for_each_possible_cpu(cpu)	for ((cpu) = 0; (cpu) < nr_cpu_ids; (cpu)++)
#define for_each_cpu(cpu, mask)		for ((void)(mask), (cpu) = 0; (cpu) < nr_cpu_ids; (cpu)++)
#define cpu_online(cpu)			true
#define smp_processor_id()		0
#define smp_call_function_single(cpu, call, arg, wait)	(call)(arg)
#define guard(kind)			shim_nothing

static inline void shim_nothing(void)
{
}

/* Lists */
struct list_head {
	struct list_head *next, *prev;
};

#define list_for_each_entry(entry, head, member)					\
	for ((entry) = container_of((head)->next, typeof(*(entry)), member);		\
	     &(entry)->member != (head);						\
	     (entry) = container_of((entry)->member.next, typeof(*(entry)), member))

static inline void INIT_LIST_HEAD(struct list_head *head)
{
	*head = (struct list_head){ head, head };
}

static inline void list_add(struct list_head *entry, struct list_head *head)
{
	*entry = (struct list_head){ head->next, head };
	head->next->prev = entry;
	head->next = entry;
}

static inline void list_del(struct list_head *entry)
{
	entry->next->prev = entry->prev;
	entry->prev->next = entry->next;
}

/* linux/ring_buffer.h */
#define RING_BUFFER_ALL_CPUS	(-1)

enum { RINGBUF_TYPE_DATA_TYPE_LEN_MAX = 28, RINGBUF_TYPE_TIME_EXTEND = 30 };

struct ring_buffer_event {
	u32	type_len:5, time_delta:27;
	u32	array[];
};

#endif /* __HYPTRACE_KERNEL_H */
