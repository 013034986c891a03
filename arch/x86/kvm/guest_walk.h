/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef __KVM_X86_GUEST_WALK_H
#define __KVM_X86_GUEST_WALK_H

#include <linux/types.h>

struct kvm_vcpu;

/**
 * struct guest_walk - What a walk of a guest's page tables begins with
 * @vcpu: whose memory guest_walk_read() reads
 * @cr0: CR0
 * @cr3: CR3
 * @cr4: CR4
 * @efer: EFER
 * @pa_bits: how many bits a guest-physical address has
 * @user: the guest is in user mode, and may read only the pages of user mode
 */
struct guest_walk {
	struct kvm_vcpu	*vcpu;
	u64		cr0;
	u64		cr3;
	u64		cr4;
	u64		efer;
	u8		pa_bits;
	bool		user;
};

/* The levels of a table are as many entries at most. */
#define GUEST_WALK_MAX_READS	5

bool guest_walk_translate(const struct guest_walk *walk, u64 va, u64 *gpa);

/* Of the user of these: the entry at a guest-physical address, aligned to @size, 4 or 8 bytes */
bool guest_walk_read(const struct guest_walk *walk, u64 gpa, u64 *entry, unsigned int size);

#endif
