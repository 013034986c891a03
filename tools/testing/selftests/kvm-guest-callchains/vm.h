/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A VM of arm64 with stage-1 tables that the test makes, and what the guest runs
 */
#ifndef __GUEST_CALLCHAINS_VM_H
#define __GUEST_CALLCHAINS_VM_H

#include "run.h"

/* Where EL0 has its stack, and EL1 all of the memory, from the start of its half */
#define USER_STACK_VA	0x7f0000UL

/**
 * struct layout - a guest's address space
 * @page_shift: 12, 14 or 16
 * @va_bits: how large each half is
 * @wide: FEAT_LPA2, or FEAT_LPA with pages of 64 KiB
 * @block: EL1's memory is one block
 * @tag: the top byte of EL0's stack pointer, which is ignored
 * @pauth: addresses to return to are signed
 * @aarch32: EL1 is in AArch32 state, with the MMU off
 */
struct layout {
	unsigned int	page_shift, va_bits;
	bool		wide, block, pauth, aarch32;
	uint8_t		tag;
};

extern char k_vectors[], k_start[], k_hostile[], k_writer[];
extern char k_trap[], k_trap_mrs[], k_count[];
extern char k_entry[], k_outer[], k_middle[], k_leaf[];
extern char k_entry_ret[], k_outer_ret[], k_middle_ret[], k_spin[], k_spin_end[];
extern char u_start[], u_outer[], u_deep[], u_leaf[], u_hostile[];
extern char u_start_ret[], u_outer_ret[], u_deep_ret[], u_last_ret[], u_spin[], u_spin_end[];

void set_core(const struct vcpu *vcpu, size_t offset, uint64_t value);
void set_register(const struct vcpu *vcpu, int reg, uint64_t value);
void set_pc(const struct vcpu *vcpu, uint64_t pc, bool el0);
bool set_aarch32(const struct vcpu *vcpu, uint64_t pc, uint64_t mode);
void map(struct vm *vm, bool upper, uint64_t va, uint64_t ipa, uint64_t size, int level);
uint64_t *descriptor_of(struct vm *vm, bool upper, uint64_t va, int level);

/* Of calls.c */
void make_calls(const struct vcpu *vcpu, unsigned int depth);

#endif
