/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef __KVM_GUEST_FRAME_H
#define __KVM_GUEST_FRAME_H

#include <linux/kvm_host.h>

/* The smallest page that a guest may have */
#define FRAME_PAGE_SIZE		SZ_4K

/**
 * struct kvm_guest_reads - What kvm_guest_end_reads() restores
 * @state: of the architecture
 * @idx: of the lock of the memslots
 */
struct kvm_guest_reads {
	u32	state;
	int	idx;
};

struct kvm_vcpu *kvm_guest_readable_vcpu(void);

/* Around kvm_arch_vcpu_translate(), kvm_guest_find_memory(), and reads of what that finds */
void kvm_guest_begin_reads(struct kvm_vcpu *vcpu, struct kvm_guest_reads *reads);
void kvm_guest_end_reads(struct kvm_vcpu *vcpu, const struct kvm_guest_reads *reads);
unsigned long kvm_guest_find_memory(struct kvm_vcpu *vcpu, gpa_t gpa);

#endif
