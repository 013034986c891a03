/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What virt/kvm/guest_frame.c takes from the kernel: memslots, SRCU, and page tables of a VMM
 * that have one entry a level, which the test sets
 */
#ifndef __GUEST_FRAME_KVM_HOST_H
#define __GUEST_FRAME_KVM_HOST_H

#include <stdbool.h>
#include <string.h>

#include <linux/kconfig.h>
#include <linux/kernel.h>
#include <linux/types.h>

/* In place of virt/kvm/kvm_mm.h */
#define __KVM_MM_H__

#define SZ_4K			0x1000
#define IS_ALIGNED(x, a)	(((x) & ((typeof(x))(a) - 1)) == 0)
#define ALIGN_DOWN(x, a)	((x) & ~((typeof(x))(a) - 1))
#define BIT_ULL(n)		(1ULL << (n))
#define swab64(x)		__builtin_bswap64(x)
#define offset_in_page(x)	((unsigned long)(x) & (SZ_4K - 1))

typedef u64 gpa_t;
typedef u64 gfn_t;

struct mm_struct {
	int		number;
};

struct task_struct {
	struct mm_struct *mm;
};

extern struct task_struct *current;

struct srcu_struct {
	int		readers, nmi_readers;
};

struct kvm {
	struct mm_struct *mm;
	struct srcu_struct srcu;
};

struct kvm_vcpu {
	struct kvm	*kvm;
	int		cpu;
};

#define KVM_MEMSLOT_INVALID	0x10000UL

struct kvm_memory_slot {
	gfn_t		base_gfn;
	unsigned long	npages, userspace_addr;
	u32		flags;
};

struct kvm_memslots;

struct kvm_guest_frame {
	u64		ip, fp, lower, upper;
	u8		word;
	bool		swap;
};

#define PERF_CONTEXT_KERNEL	((u64)-128)
#define PERF_CONTEXT_MAX	((u64)-4095)

struct kvm_vcpu *kvm_get_running_vcpu(void);
bool kvm_arch_pmi_in_guest(struct kvm_vcpu *vcpu);
int smp_processor_id(void);
bool in_nmi(void);
int srcu_read_lock(struct srcu_struct *srcu);
void srcu_read_unlock(struct srcu_struct *srcu, int idx);
int __srcu_read_lock(struct srcu_struct *srcu);
void __srcu_read_unlock(struct srcu_struct *srcu, int idx);
struct kvm_memslots *kvm_vcpu_memslots(struct kvm_vcpu *vcpu);
struct kvm_memory_slot *search_memslots(struct kvm_memslots *slots, gfn_t gfn, bool approx);
bool pfn_valid(unsigned long pfn);
void pagefault_disable(void);
void pagefault_enable(void);
bool kvm_arch_has_private_mem(struct kvm *kvm);
bool kvm_mem_is_private(struct kvm *kvm, gfn_t gfn);
u32 kvm_arch_begin_guest_reads(struct kvm_vcpu *vcpu);
void kvm_arch_end_guest_reads(u32 state);

/* A read of user space, which fails if @can_read says so */
bool user_read_access_begin(const void *from, size_t size);
void user_read_access_end(void);
bool can_read(const void *from);

#define unsafe_get_user(x, from, label)			\
do {							\
	typeof(from) at = (from);			\
							\
	if (!can_read(at))				\
		goto label;				\
	(x) = *at;					\
} while (0)

static inline gfn_t gpa_to_gfn(gpa_t gpa)
{
	return gpa >> 12;
}

static inline unsigned long __gfn_to_hva_memslot(const struct kvm_memory_slot *slot, gfn_t gfn)
{
	return slot->userspace_addr + ((gfn - slot->base_gfn) << 12);
}

/* Of the architecture */
bool kvm_arch_vcpu_first_frame(struct kvm_vcpu *vcpu, struct kvm_guest_frame *frame);
bool kvm_arch_vcpu_translate(struct kvm_vcpu *vcpu, u64 gva, gpa_t *gpa);

/* Of guest_frame.c */
bool kvm_vcpu_read_word(struct kvm_vcpu *vcpu, gpa_t gpa, u64 *word, unsigned int size);
unsigned int kvm_guest_get_callchain(u64 *ips, unsigned int max);

/* An entry of the VMM's tables, at any level */
struct entry {
	bool		present, leaf, special, devmap;
	unsigned long	pfn;
};

#define pgd_t			struct entry
#define p4d_t			struct entry
#define pud_t			struct entry
#define pmd_t			struct entry
#define pte_t			struct entry

#define NR_LEVELS 5
extern struct entry vmm_tables[NR_LEVELS];

/* Which level was looked at; asserts the order and the address */
struct entry *next_level(int level, unsigned long hva);

#define pgd_offset(mm, hva)			((void)(mm), next_level(0, hva))
#define p4d_offset_lockless(p, v, hva)		((void)(p), (void)(v), next_level(1, hva))
#define pud_offset_lockless(p, v, hva)		((void)(p), (void)(v), next_level(2, hva))
#define pmd_offset_lockless(p, v, hva)		((void)(p), (void)(v), next_level(3, hva))
#define pte_offset_kernel(p, hva)		((void)(p), next_level(4, hva))
#define pmdp_get_lockless(p)			(*(p))
#define pgd_none(e)				(!(e).present)
#define p4d_present(e)				((e).present)
#define pud_present(e)				((e).present)
#define pmd_present(e)				((e).present)
#define pte_present(e)				((e).present)
#define pgd_leaf(e)				((e).leaf)
#define p4d_leaf(e)				((e).leaf)
#define pud_leaf(e)				((e).leaf)
#define pmd_leaf(e)				((e).leaf)
#define pud_pfn(e)				((e).pfn)
#define pmd_pfn(e)				((e).pfn)
#define pte_pfn(e)				((e).pfn)
#define pud_special(e)				((e).special)
#define pmd_special(e)				((e).special)
#define pte_special(e)				((e).special)
#define pud_devmap(e)				((e).devmap)
#define pmd_devmap(e)				((e).devmap)
#define pte_devmap(e)				((e).devmap)

#endif
