/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef __ARM64_KVM_GUEST_WALK_H__
#define __ARM64_KVM_GUEST_WALK_H__

#include <linux/types.h>

struct kvm_vcpu;

/**
 * struct guest_walk - What a walk of a guest's stage-1 tables begins with
 * @vcpu: whose memory guest_walk_read() reads
 * @sctlr: SCTLR_EL1
 * @tcr: TCR_EL1
 * @ttbr: TTBR0_EL1 and TTBR1_EL1
 * @tcr2: TCR2_EL1, of which only what the guest has is set
 * @pire0: PIRE0_EL1: the permissions of EL0, if @tcr2 has PIE
 * @por_el0: POR_EL0: what they are reduced to, if @tcr2 has E0POE
 * @pa_bits: how many bits a guest-physical address has
 * @el0: the guest is at EL0, and may read only what EL0 may
 * @small_ttst: FEAT_TTST: regions of 64 KiB
 * @lpa2_4k: FEAT_LPA2 with pages of 4 KiB
 * @lpa2_16k: FEAT_LPA2 with pages of 16 KiB
 * @lva: FEAT_LVA: 52-bit addresses with pages of 64 KiB
 * @e0pd: FEAT_E0PD: a half may be closed to EL0
 * @hpds: FEAT_HPDS: TCR_EL1 may turn off the permissions in descriptors of tables
 */
struct guest_walk {
	struct kvm_vcpu	*vcpu;
	u64		sctlr;
	u64		tcr;
	u64		ttbr[2];
	u64		tcr2;
	u64		pire0;
	u64		por_el0;
	u8		pa_bits;
	bool		el0;
	bool		small_ttst;
	bool		lpa2_4k;
	bool		lpa2_16k;
	bool		lva;
	bool		e0pd;
	bool		hpds;
};

/* The levels of a table, from -1 to 3, are as many words at most. */
#define GUEST_WALK_MAX_READS	5

bool guest_walk_translate(const struct guest_walk *walk, u64 va, u64 *ipa);
u64 guest_walk_pac_mask(u64 tcr, bool upper);

/* Of the user of these: the word at a guest-physical address, which is aligned */
bool guest_walk_read(const struct guest_walk *walk, u64 ipa, u64 *word);

#endif
