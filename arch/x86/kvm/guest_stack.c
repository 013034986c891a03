// SPDX-License-Identifier: GPL-2.0-only
/*
 * The frames of an x86 guest's stack, for virt/kvm/guest_frame.c
 *
 * A frame record is what `push %rbp; mov %rsp, %rbp' leaves: where RBP points to, the
 * caller's RBP and the address to return to, of eight bytes in 64-bit code and of four in
 * 32-bit code.
 *
 * All of this runs where kvm_arch_pmi_in_guest() is true. The vCPU's thread is then at a
 * fixed place after the exit, with the VMCS or VMCB loaded, and not in the middle of a change
 * of the vCPU's caches of registers.
 */
#include <linux/kvm_host.h>

#include <asm/pkru.h>

#include "cpuid.h"
#include "guest_walk.h"
#include "kvm_cache_regs.h"
#include "x86.h"

bool guest_walk_read(const struct guest_walk *walk, u64 gpa, u64 *entry, unsigned int size)
{
	return kvm_vcpu_read_word(walk->vcpu, gpa, entry, size);
}

static bool is_flat(struct kvm_vcpu *vcpu)
{
	return !kvm_x86_call(get_segment_base)(vcpu, VCPU_SREG_CS) &&
	       !kvm_x86_call(get_segment_base)(vcpu, VCPU_SREG_SS);
}

/* How many bytes an address has; 0 if the code is of 16 bits, or a segment has a base */
static unsigned int word_size(struct kvm_vcpu *vcpu)
{
	int db, l;

	kvm_x86_call(get_cs_db_l_bits)(vcpu, &db, &l);
	if (l && is_long_mode(vcpu))
		return 8;

	return db && is_flat(vcpu) ? 4 : 0;
}

static u64 word_mask(const struct kvm_guest_frame *frame)
{
	return frame->word == 8 ? U64_MAX : U32_MAX;
}

/* The registers, or the memory, of an encrypted guest are not the host's to read. */
bool kvm_arch_vcpu_first_frame(struct kvm_vcpu *vcpu, struct kvm_guest_frame *frame)
{
	struct kvm *kvm = vcpu->kvm;

	if (vcpu->arch.guest_state_protected || is_guest_mode(vcpu) ||
	    kvm_x86_call(has_encrypted_memory)(kvm))
		return false;

	frame->word = word_size(vcpu);
	if (!frame->word)
		return false;

	frame->ip = kvm_rip_read(vcpu) & word_mask(frame);
	frame->fp = kvm_rbp_read(vcpu) & word_mask(frame);
	return true;
}

bool kvm_arch_vcpu_translate(struct kvm_vcpu *vcpu, u64 gva, gpa_t *gpa)
{
	struct guest_walk walk = {
		.vcpu		= vcpu,
		.cr0		= kvm_read_cr0(vcpu),
		.cr3		= kvm_read_cr3(vcpu),
		.cr4		= kvm_read_cr4(vcpu),
		.efer		= vcpu->arch.efer,
		.pa_bits	= cpuid_maxphyaddr(vcpu),
		/* As perf has it, which takes rings 1 and 2 for user mode, too */
		.user		= !kvm_arch_vcpu_in_kernel(vcpu),
	};

	return guest_walk_translate(&walk, gva, gpa);
}

/*
 * VMX takes an NMI before it loads the host's PKRU, and what the guest forbids itself is
 * nothing to the VMM's memory. Interrupts, and the NMIs of SVM, come later.
 */
u32 kvm_arch_begin_guest_reads(struct kvm_vcpu *vcpu)
{
	u32 pkru = read_pkru();

	write_pkru(vcpu->arch.host_pkru);
	return pkru;
}

void kvm_arch_end_guest_reads(u32 pkru)
{
	write_pkru(pkru);
}
