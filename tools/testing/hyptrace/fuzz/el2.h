/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What EL2's sources of tracing need of the rest of EL2, for user space: included before
 * each of them, in place of the headers that they name. What has to do with memory is
 * pkvm.c's.
 */
#ifndef __HYPTRACE_EL2_H
#define __HYPTRACE_EL2_H

#include <sched.h>

#include <kernel.h>
#include <hcalls.h>

#define CONFIG_KVM_HYP_TRACING		1
#define CONFIG_KVM_HYP_TRACING_SELFTEST	1
#define CONFIG_KVM_HYP_ACCOUNTING	1
#define IS_ENABLED(option)		1

#define offsetofend(type, member)	(offsetof(type, member) + sizeof_field(type, member))
#define SZ_4K				PAGE_SIZE
#define SZ_32K				0x8000
#define U16_MAX				0xffffU
#define U32_MAX				0xffffffffU

/* At EL2 that is its end. */
#define WARN_ON(condition)		do { if (condition) abort(); } while (0)

/* Sets all bytes of *obj behind a member. */
#define memset_after(obj, value, member)						\
	memset((char *)(obj) + offsetofend(typeof(*(obj)), member), value,		\
	       sizeof(*(obj)) - offsetofend(typeof(*(obj)), member))

#define __packed			__attribute__((packed))
#define __uninitialized			__attribute__((uninitialized))
#define __ro_after_init
#define _THIS_IP_			0

static inline int fls(u32 word)
{
	return word ? 32 - __builtin_clz(word) : 0;
}

static inline int fls64(u64 word)
{
	return word ? 64 - __builtin_clzll(word) : 0;
}

static inline u64 mul_u64_u64_shr(u64 a, u64 mul, unsigned int shift)
{
	return (u64)(((unsigned __int128)a * mul) >> shift);
}

typedef struct { u64 counter; } atomic64_t;

#define atomic64_read(v)		shim_load(&(v)->counter, RELAXED)
#define atomic64_read_acquire(v)	shim_load(&(v)->counter, ACQUIRE)

static inline void atomic64_fetch_inc_release(atomic64_t *v)
{
	shim_step(v);
	__atomic_fetch_add(&v->counter, 1, __ATOMIC_RELEASE);
}

typedef struct { u32 counter; } atomic_t;

#define atomic_read(v)			shim_load(&(v)->counter, RELAXED)
#define atomic_read_acquire(v)		shim_load(&(v)->counter, ACQUIRE)
#define atomic_set(v, value)		shim_store(&(v)->counter, value, RELAXED)
#define atomic_set_release(v, value)	shim_store(&(v)->counter, value, RELEASE)

static inline void atomic_inc(atomic_t *v)
{
	shim_step(v);
	__atomic_fetch_add(&v->counter, 1, __ATOMIC_RELAXED);
}

static inline void atomic_dec(atomic_t *v)
{
	shim_step(v);
	__atomic_fetch_sub(&v->counter, 1, __ATOMIC_RELAXED);
}

static inline u32 atomic_cmpxchg_acquire(atomic_t *v, u32 old, u32 new)
{
	shim_step(v);
	__atomic_compare_exchange_n(&v->counter, &old, new, false, __ATOMIC_ACQUIRE,
				    __ATOMIC_RELAXED);
	return old;
}

static inline u64 el2_xchg(u64 *p, u64 new)
{
	shim_step(p);
	return __atomic_exchange_n(p, new, __ATOMIC_SEQ_CST);
}

#define xchg(p, new)			el2_xchg(p, new)

/* CPUs that there are, of NR_CPUS that there can be; in a race each has a thread. */
#define EL2_CPUS			4

#ifdef EL2_RACE
#define EL2_PER_THREAD			__thread
#else
#define EL2_PER_THREAD
#endif

extern EL2_PER_THREAD unsigned int el2_cpu;
extern unsigned long kvm_arm_hyp_percpu_base[NR_CPUS];

#define DECLARE_PER_CPU(type, name)	extern type name[NR_CPUS]
#define DEFINE_PER_CPU(type, name)	type name[NR_CPUS]
#define per_cpu_ptr(ptr, cpu)		(&(*(ptr))[cpu])
#define this_cpu_ptr(ptr)		per_cpu_ptr(ptr, el2_cpu)

typedef struct { bool held; } hyp_spinlock_t;

extern EL2_PER_THREAD unsigned int el2_locks;	/* how many are held */

#define DEFINE_HYP_SPINLOCK(name)	hyp_spinlock_t name

/*
 * Outside a race there is one CPU: a lock that is held will never be released. In one, no
 * CPU releases a lock after a panic.
 */
#ifdef EL2_RACE
extern bool el2_has_panicked;
#else
#define el2_has_panicked	false
#endif

static inline void hyp_spin_lock(hyp_spinlock_t *lock)
{
	WARN_ON(el2_has_panicked);
	while (__atomic_exchange_n(&lock->held, true, __ATOMIC_ACQUIRE)) {
#ifdef EL2_RACE
		sched_yield();
#else
		abort();
#endif
	}
	el2_locks++;
}

static inline void hyp_assert_lock_held(hyp_spinlock_t *lock)
{
	WARN_ON(!__atomic_load_n(&lock->held, __ATOMIC_RELAXED));
}

static inline void hyp_spin_unlock(hyp_spinlock_t *lock)
{
	hyp_assert_lock_held(lock);
	__atomic_store_n(&lock->held, false, __ATOMIC_RELEASE);
	el2_locks--;
}

struct kvm_vcpu;

/* Registers */
struct kvm_cpu_context {
	u64		regs[31];
	struct kvm_vcpu	*__hyp_running_vcpu;
};

#include <asm/kvm_hypacct.h>

struct kvm_vcpu {
	u32	vcpu_id;
	bool	is_protected;
	struct {
		struct hyp_acct_vcpu	hyp_acct;
	} arch;
};

struct pkvm_hyp_vcpu {
	struct kvm_vcpu	vcpu;
	struct kvm_vcpu	*host_vcpu;
};

struct kvm_host_data {
	struct kvm_cpu_context	host_ctxt;
	struct hyp_stay		stay;
};

DECLARE_PER_CPU(struct kvm_host_data, kvm_host_data);

#define host_data_ptr(name)		(&this_cpu_ptr(&kvm_host_data)->name)
#define el2_host_ctxt			(*host_data_ptr(host_ctxt))

#define isb()				__asm__ volatile ("" : : : "memory")

#define cpu_reg(ctxt, r)		((ctxt)->regs[r])
#define DECLARE_REG(type, name, ctxt, r) type name = (type)cpu_reg(ctxt, r)

/* Guests, and why they exit */
extern EL2_PER_THREAD u64 el2_esr;

#define vcpu_is_protected(vcpu)		((vcpu)->is_protected)
#define read_sysreg_el2(name)		(el2_esr)
#define ARM_EXCEPTION_CODE(code)	((code) & 0x7fffffff)

enum {
	ARM_EXCEPTION_IRQ, ARM_EXCEPTION_EL1_SERROR, ARM_EXCEPTION_TRAP, ARM_EXCEPTION_IL,
};

#define ESR_ELx_EC_MAX			0x3f
#define ESR_ELx_EC(esr)			((esr) >> 26 & ESR_ELx_EC_MAX)

/* Classes as the architecture numbers them, in the order of HYP_ACCT_CLASSES */
enum {
	ESR_ELx_EC_UNKNOWN = 0x00, ESR_ELx_EC_WFx = 0x01, ESR_ELx_EC_CP15_32 = 0x03,
	ESR_ELx_EC_CP15_64 = 0x04, ESR_ELx_EC_CP14_MR = 0x05, ESR_ELx_EC_CP14_LS = 0x06,
	ESR_ELx_EC_FP_ASIMD = 0x07, ESR_ELx_EC_CP10_ID = 0x08, ESR_ELx_EC_PAC = 0x09,
	ESR_ELx_EC_CP14_64 = 0x0c, ESR_ELx_EC_HVC32 = 0x12, ESR_ELx_EC_HVC64 = 0x16,
	ESR_ELx_EC_SMC32 = 0x13, ESR_ELx_EC_SMC64 = 0x17, ESR_ELx_EC_SYS64 = 0x18,
	ESR_ELx_EC_SVE = 0x19, ESR_ELx_EC_ERET = 0x1a, ESR_ELx_EC_IABT_LOW = 0x20,
	ESR_ELx_EC_DABT_LOW = 0x24, ESR_ELx_EC_FP_EXC64 = 0x2c, ESR_ELx_EC_SERROR = 0x2f,
	ESR_ELx_EC_BREAKPT_LOW = 0x30, ESR_ELx_EC_SOFTSTP_LOW = 0x32,
	ESR_ELx_EC_WATCHPT_LOW = 0x34, ESR_ELx_EC_BKPT32 = 0x38, ESR_ELx_EC_BRK64 = 0x3c,
};

/* The counter: what the test says. */
extern u64 el2_count;

#define ALTERNATIVE(old, new, cap)	""
#define hyp_clock_count			hyp_clock_count_of_the_cpu
#include <nvhe/clock.h>
#undef hyp_clock_count
#define hyp_clock_count()		__atomic_load_n(&el2_count, __ATOMIC_RELAXED)

/* Memory */
#define hyp_pfn_to_phys(pfn)		((u64)(pfn) << PAGE_SHIFT)

static inline bool is_protected_kvm_enabled(void)
{
	return true;
}

void *hyp_phys_to_virt(u64 phys);
u64 hyp_virt_to_pfn(const void *va);
int hyp_pin_shared_mem(void *from, void *to);
void hyp_unpin_shared_mem(void *from, void *to);
int hyp_page_count(const void *va);
int __pkvm_host_share_pin_hyp(u64 pfn, u64 nr_pages);
int __pkvm_host_unpin_unshare_hyp(u64 pfn, u64 nr_pages);
void kvm_flush_dcache_to_poc(const void *va, size_t size);
int __pkvm_host_donate_hyp(u64 pfn, u64 nr_pages);
int __pkvm_hyp_donate_host(u64 pfn, u64 nr_pages);

/* el2.c */
void el2_boot(void);

#endif /* __HYPTRACE_EL2_H */
