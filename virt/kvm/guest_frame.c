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
 *   and a translation takes as many words as the guest's page tables have levels. The costs
 *   of all frames have a bound, too: perf limits the rate of samples of the whole host by
 *   how long they take, so that a guest must not make them longer than the host's own ones.
 * - Nothing is written, no page is faulted in, and no lock is taken: memslots are found
 *   under SRCU, the VMM's page tables are walked with interrupts disabled.
 * - What is not ordinary memory of the VMM is not read. A memslot may have the registers of
 *   a device in it, where a read has effects. Nor is private memory: the VMM has shared
 *   memory at its address.
 */
#include <linux/kvm_host.h>
#include <linux/perf_event.h>
#include <linux/pgtable.h>
#include <linux/swab.h>
#include <linux/uaccess.h>

#include "guest_frame.h"
#include "kvm_mm.h"

/* No page begins there. */
#define NO_PAGE			1

/* How often a chain may go to a lower address: to another stack, as that of interrupts */
#define STACK_SWITCHES		3

/*
 * What a chain may cost, where a frame costs 1, and each page that has to be translated for
 * records PAGE_COST, which is how much longer that takes: as many frames as there is room for,
 * in one page, or fewer in more pages. A stack of the host that is as deep takes about as long;
 * tools/testing/selftests/kvm-guest-callchains/cost.c measures both.
 */
#define PAGE_COST		24
#define CHAIN_COST(frames)	((frames) + PAGE_COST)

/**
 * struct stack_walk - A walk of the stack of a guest
 * @vcpu: the vCPU that was interrupted
 * @page: the virtual page that was translated last, which has the records of several frames
 * @hva: where the VMM has it
 * @cost: what is left of CHAIN_COST()
 * @switches: how often the stack has gone to a lower address
 */
struct stack_walk {
	struct kvm_vcpu	*vcpu;
	u64		page;
	unsigned long	hva;
	unsigned int	cost;
	unsigned int	switches;
};

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

/* Where the VMM has the guest's memory, or 0 unless that is ordinary memory, and in core */
unsigned long kvm_guest_find_memory(struct kvm_vcpu *vcpu, gpa_t gpa)
{
	gfn_t gfn = gpa_to_gfn(gpa);
	struct kvm_memory_slot *slot;
	unsigned long hva;

	slot = search_memslots(kvm_vcpu_memslots(vcpu), gfn, false);
	if (!slot || slot->flags & KVM_MEMSLOT_INVALID)
		return 0;
	if (kvm_arch_has_private_mem(vcpu->kvm) && kvm_mem_is_private(vcpu->kvm, gfn))
		return 0;

	hva = __gfn_to_hva_memslot(slot, gfn) + offset_in_page(gpa);
	return is_memory_at(current->mm, hva) ? hva : 0;
}

/* The callers have disabled page faults. */
static bool read_word(unsigned long hva, u64 *word, unsigned int size)
{
	void __user *from = (void __user *)hva;
	u32 half;

	if (!user_read_access_begin(from, size))
		return false;
	if (size == sizeof(*word)) {
		unsafe_get_user(*word, (u64 __user *)from, fault);
	} else {
		unsafe_get_user(half, (u32 __user *)from, fault);
		*word = half;
	}
	user_read_access_end();
	return true;

fault:
	user_read_access_end();
	return false;
}

static bool read_two_words(unsigned long hva, u64 words[2], unsigned int size)
{
	void __user *from = (void __user *)hva;
	u32 halves[2];

	if (!user_read_access_begin(from, 2 * size))
		return false;
	if (size == sizeof(*words)) {
		unsafe_get_user(words[0], (u64 __user *)from, fault);
		unsafe_get_user(words[1], (u64 __user *)from + 1, fault);
	} else {
		unsafe_get_user(halves[0], (u32 __user *)from, fault);
		unsafe_get_user(halves[1], (u32 __user *)from + 1, fault);
		words[0] = halves[0];
		words[1] = halves[1];
	}
	user_read_access_end();
	return true;

fault:
	user_read_access_end();
	return false;
}

/**
 * kvm_vcpu_read_word - read a word of a guest's memory in an interrupt or NMI
 * @vcpu: the vCPU that was interrupted
 * @gpa: a guest-physical address, aligned to @size
 * @word: the result, as it is in memory
 * @size: 4 or 8 bytes
 *
 * For kvm_arch_vcpu_translate() alone: kvm->srcu is held then, and page faults are disabled.
 *
 * Return: whether there is ordinary memory, and in core.
 */
bool kvm_vcpu_read_word(struct kvm_vcpu *vcpu, gpa_t gpa, u64 *word, unsigned int size)
{
	unsigned long hva;

	if (!IS_ALIGNED(gpa, size))
		return false;

	hva = kvm_guest_find_memory(vcpu, gpa);
	return hva && read_word(hva, word, size);
}

static bool pay(struct stack_walk *walk, unsigned int cost)
{
	if (walk->cost < cost)
		return false;

	walk->cost -= cost;
	return true;
}

/* If it fails the walk ends. */
static bool find_page(struct stack_walk *walk, u64 page)
{
	gpa_t gpa;

	if (!pay(walk, PAGE_COST) || !kvm_arch_vcpu_translate(walk->vcpu, page, &gpa))
		return false;

	walk->hva = kvm_guest_find_memory(walk->vcpu, gpa);
	if (!walk->hva)
		return false;
	walk->page = page;
	return true;
}

/* The words at @fp, which is aligned to @size: the second one may be in the next page. */
static bool read_record(struct stack_walk *walk, u64 fp, u64 record[2], unsigned int size)
{
	u64 page = ALIGN_DOWN(fp, FRAME_PAGE_SIZE), offset = fp - page;

	if (page != walk->page && !find_page(walk, page))
		return false;
	if (offset + size < FRAME_PAGE_SIZE)
		return read_two_words(walk->hva + offset, record, size);

	return read_word(walk->hva + offset, &record[0], size) &&
	       find_page(walk, page + FRAME_PAGE_SIZE) &&
	       read_word(walk->hva, &record[1], size);
}

/*
 * An address that perf takes for a mark is none: the rest of the chain would be taken for
 * the host's.
 */
static bool is_code(u64 ip)
{
	return ip && ip < (u64)PERF_CONTEXT_MAX;
}

/* Whether the stack goes on at @fp, after the record at @last: another one may be lower. */
static bool is_caller(struct stack_walk *walk, u64 fp, u64 last)
{
	return fp > last || (fp && fp < last && ++walk->switches <= STACK_SWITCHES);
}

/* Inline, as it is done for each frame of each sample */
static void decode(struct kvm_guest_frame *frame, const u64 record[2])
{
	u64 fp = record[0], ip = record[1];

	if (frame->swap) {
		fp = swab64(fp);
		ip = swab64(ip);
	}
	frame->fp = fp;
	frame->ip = ip & BIT_ULL(55) ? ip | frame->upper : ip & ~frame->lower;
}

/* Make the frame that of its caller. */
static bool next_frame(struct stack_walk *walk, struct kvm_guest_frame *frame)
{
	u64 fp = frame->fp, record[2];

	if (!IS_ALIGNED(fp, frame->word) || !pay(walk, 1) ||
	    !read_record(walk, fp, record, frame->word))
		return false;

	decode(frame, record);
	/* The address is one, even if it is the last. */
	if (!is_caller(walk, frame->fp, fp))
		frame->fp = 0;
	return is_code(frame->ip);
}

static unsigned int walk_stack(struct stack_walk *walk, struct kvm_guest_frame *frame, u64 *ips,
			       unsigned int max)
{
	unsigned int nr = 0;

	do {
		ips[nr++] = frame->ip;
	} while (nr < max && frame->fp && next_frame(walk, frame));
	return nr;
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
struct kvm_vcpu *kvm_guest_readable_vcpu(void)
{
	struct kvm_vcpu *vcpu = kvm_get_running_vcpu();

	if (!kvm_arch_pmi_in_guest(vcpu) || vcpu->cpu != smp_processor_id() ||
	    current->mm != vcpu->kvm->mm)
		return NULL;
	return vcpu;
}

void kvm_guest_begin_reads(struct kvm_vcpu *vcpu, struct kvm_guest_reads *reads)
{
	reads->idx = lock_memslots(vcpu->kvm);
	reads->state = kvm_arch_begin_guest_reads(vcpu);
	pagefault_disable();
}

void kvm_guest_end_reads(struct kvm_vcpu *vcpu, const struct kvm_guest_reads *reads)
{
	pagefault_enable();
	kvm_arch_end_guest_reads(reads->state);
	unlock_memslots(vcpu->kvm, reads->idx);
}

/**
 * kvm_guest_get_callchain - the call chain of the guest that was interrupted
 * @ips: receives the addresses, from that which was interrupted on
 * @max: how many there is room for
 *
 * Return: how many there are; 0 if the guest has no chain.
 */
unsigned int kvm_guest_get_callchain(u64 *ips, unsigned int max)
{
	struct stack_walk walk = { .page = NO_PAGE, .cost = CHAIN_COST(max) };
	struct kvm_vcpu *vcpu = kvm_guest_readable_vcpu();
	struct kvm_guest_frame frame = {};
	struct kvm_guest_reads reads;
	unsigned int nr;

	if (!max || !vcpu || !kvm_arch_vcpu_first_frame(vcpu, &frame) || !is_code(frame.ip))
		return 0;

	walk.vcpu = vcpu;
	kvm_guest_begin_reads(vcpu, &reads);
	nr = walk_stack(&walk, &frame, ips, max);
	kvm_guest_end_reads(vcpu, &reads);
	return nr;
}
