// SPDX-License-Identifier: GPL-2.0-only
/*
 * The frames of a guest's stack, for the samples of perf.
 *
 * All of this runs in the interrupt or NMI that the guest was left for, on the thread of
 * its vCPU. The guest's other vCPUs run meanwhile, and write its page tables and stacks as
 * they like. So:
 *
 * - Each word is read once, into a local variable, and then checked.
 * - Each loop has a bound: a frame takes two words, each of which may have to be translated,
 *   and a translation takes as many words as the guest's page tables have levels.
 * - Nothing is written, no page is faulted in, and no lock is taken: memslots are found
 *   under SRCU, the VMM's page tables are walked with interrupts disabled.
 * - What is not ordinary memory of the VMM is not read. A memslot may have the registers of
 *   a device in it, where a read has effects.
 */
#include <linux/kvm_host.h>
#include <linux/perf_event.h>
#include <linux/pgtable.h>
#include <linux/uaccess.h>

#include "kvm_mm.h"

/* That of the frame's cache: the smallest page that a guest may have */
#define FRAME_PAGE_SIZE		SZ_4K

/* No page begins there. */
#define NO_PAGE			1

static bool is_memory(unsigned long pfn, bool special, bool devmap)
{
	return !special && !devmap && pfn_valid(pfn);
}

/*
 * Whether the VMM has a page of ordinary memory there. It may map another one meanwhile; the
 * guest can't. Interrupts are disabled, so that the tables are not freed.
 */
static bool is_memory_at(struct mm_struct *mm, unsigned long hva)
{
	pgd_t *pgdp, pgd;
	p4d_t *p4dp, p4d;
	pud_t *pudp, pud;
	pmd_t *pmdp, pmd;
	pte_t pte;

	pgdp = pgd_offset(mm, hva);
	pgd = READ_ONCE(*pgdp);
	if (pgd_none(pgd) || pgd_leaf(pgd))
		return false;

	p4dp = p4d_offset_lockless(pgdp, pgd, hva);
	p4d = READ_ONCE(*p4dp);
	if (!p4d_present(p4d) || p4d_leaf(p4d))
		return false;

	pudp = pud_offset_lockless(p4dp, p4d, hva);
	pud = READ_ONCE(*pudp);
	if (!pud_present(pud))
		return false;
	if (pud_leaf(pud))
		return is_memory(pud_pfn(pud), pud_special(pud), pud_devmap(pud));

	pmdp = pmd_offset_lockless(pudp, pud, hva);
	pmd = pmdp_get_lockless(pmdp);
	if (!pmd_present(pmd))
		return false;
	if (pmd_leaf(pmd))
		return is_memory(pmd_pfn(pmd), pmd_special(pmd), pmd_devmap(pmd));

	pte = READ_ONCE(*pte_offset_kernel(&pmd, hva));
	return pte_present(pte) && is_memory(pte_pfn(pte), pte_special(pte), pte_devmap(pte));
}

/**
 * kvm_vcpu_read_word - read a word of a guest's memory in an interrupt or NMI
 * @vcpu: the vCPU that was interrupted
 * @gpa: a guest-physical address, aligned to @size
 * @word: the result, as it is in memory
 * @size: 4 or 8 bytes
 *
 * The caller holds vcpu->kvm->srcu.
 *
 * Return: whether there is ordinary memory, and in core.
 */
bool kvm_vcpu_read_word(struct kvm_vcpu *vcpu, gpa_t gpa, u64 *word, unsigned int size)
{
	struct kvm_memory_slot *slot;
	unsigned long hva;
	u32 half;

	if (!IS_ALIGNED(gpa, size))
		return false;

	slot = search_memslots(kvm_vcpu_memslots(vcpu), gpa_to_gfn(gpa), false);
	if (!slot || slot->flags & KVM_MEMSLOT_INVALID)
		return false;

	hva = __gfn_to_hva_memslot(slot, gpa_to_gfn(gpa)) + offset_in_page(gpa);
	if (!is_memory_at(current->mm, hva))
		return false;

	if (size == sizeof(*word))
		return !copy_from_user_nofault(word, (void __user *)hva, sizeof(*word));
	if (copy_from_user_nofault(&half, (void __user *)hva, sizeof(half)))
		return false;
	*word = half;
	return true;
}

static bool read_virt(struct kvm_vcpu *vcpu, struct perf_guest_frame *frame, u64 addr, u64 *word)
{
	u64 page = ALIGN_DOWN(addr, FRAME_PAGE_SIZE);

	if (page != frame->page) {
		if (!kvm_arch_vcpu_translate(vcpu, page, &frame->gpa))
			return false;
		frame->page = page;
	}
	return kvm_vcpu_read_word(vcpu, frame->gpa + (addr - page), word, frame->word);
}

/*
 * SRCU's own check knows of architectures where a reader in an NMI is not safe, and warns of
 * one on any.
 */
static int lock_memslots(struct kvm *kvm) __acquires(&kvm->srcu)
{
	BUILD_BUG_ON(IS_ENABLED(CONFIG_NEED_SRCU_NMI_SAFE));

	return in_nmi() ? __srcu_read_lock(&kvm->srcu) : srcu_read_lock(&kvm->srcu);
}

static void unlock_memslots(struct kvm *kvm, int idx) __releases(&kvm->srcu)
{
	if (in_nmi())
		__srcu_read_unlock(&kvm->srcu, idx);
	else
		srcu_read_unlock(&kvm->srcu, idx);
}

/* The vCPU whose registers and memory can be read here, or NULL */
static struct kvm_vcpu *readable_vcpu(void)
{
	struct kvm_vcpu *vcpu = kvm_get_running_vcpu();

	if (!kvm_arch_pmi_in_guest(vcpu) || vcpu->cpu != smp_processor_id() ||
	    current->mm != vcpu->kvm->mm)
		return NULL;
	return vcpu;
}

int kvm_guest_first_frame(struct perf_guest_frame *frame)
{
	struct kvm_vcpu *vcpu = readable_vcpu();

	if (!vcpu)
		return 0;
	frame->page = NO_PAGE;
	return kvm_arch_vcpu_first_frame(vcpu, frame);
}

int kvm_guest_next_frame(struct perf_guest_frame *frame)
{
	struct kvm_vcpu *vcpu = readable_vcpu();
	u64 record[2];
	bool good;
	int idx;

	if (!vcpu)
		return 0;

	idx = lock_memslots(vcpu->kvm);
	good = read_virt(vcpu, frame, frame->fp, &record[0]) &&
	       read_virt(vcpu, frame, frame->fp + frame->word, &record[1]);
	unlock_memslots(vcpu->kvm, idx);
	if (good)
		kvm_arch_vcpu_next_frame(vcpu, frame, record);
	return good;
}
