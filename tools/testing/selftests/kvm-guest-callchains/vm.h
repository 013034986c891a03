/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A VM with stage-1 tables that the test makes, and what the guest runs
 */
#ifndef __GUEST_CALLCHAINS_VM_H
#define __GUEST_CALLCHAINS_VM_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define MEMORY_IPA	0x40000000UL
#define MEMORY_SIZE	0x400000UL

/* The VMM has as much memory below and above, which is not the guest's. */
#define CANARY		0xffff8000ca9a5900UL

/* In the memory, each of 64 KiB, which is a page of any size */
#define CODE		0x00000UL
#define KERNEL_STACK	0x10000UL
#define USER_STACK	0x20000UL
#define SCRATCH		0x30000UL
#define TABLES		0x100000UL

/* Where EL0 has its stack, and EL1 all of the memory, from the start of its half */
#define USER_STACK_VA	0x7f0000UL
#define PAGE_64K	0x10000UL

/**
 * struct layout - a guest's address space
 * @page_shift: 12, 14 or 16
 * @va_bits: how large each half is
 * @wide: FEAT_LPA2, or FEAT_LPA with pages of 64 KiB
 * @block: EL1's memory is one block
 * @tag: the top byte of EL0's stack pointer, which is ignored
 * @pauth: addresses to return to are signed
 */
struct layout {
	unsigned int	page_shift, va_bits;
	bool		wide, block, pauth;
	uint8_t		tag;
};

struct vm {
	int		kvm, fd;
	char		*memory;
	struct layout	layout;
	uint64_t	next_table, ttbr[2];
};

struct vcpu {
	struct vm	*vm;
	int		fd;
	struct kvm_run	*run;
	pthread_t	thread;
	pid_t		tid;
	bool		stop;
};

extern char guest_begin[], guest_end[], k_vectors[], k_start[], k_hostile[], k_writer[];
extern char k_trap[], k_trap_mrs[];
extern char k_entry[], k_outer[], k_middle[], k_leaf[];
extern char k_entry_ret[], k_outer_ret[], k_middle_ret[], k_spin[], k_spin_end[];
extern char u_start[], u_outer[], u_deep[], u_leaf[], u_hostile[];
extern char u_start_ret[], u_outer_ret[], u_deep_ret[], u_last_ret[], u_spin[], u_spin_end[];

bool create_vm(struct vm *vm, const struct layout *layout);
void destroy_vm(struct vm *vm);
void create_vcpu(struct vm *vm, struct vcpu *vcpu, int id);
void set_core(const struct vcpu *vcpu, size_t offset, uint64_t value);
void set_register(const struct vcpu *vcpu, int reg, uint64_t value);
void set_pc(const struct vcpu *vcpu, uint64_t pc, bool el0);
void start_vcpu(struct vcpu *vcpu);
void stop_vcpu(struct vcpu *vcpu);
void close_vcpu(struct vcpu *vcpu);
void add_slot(const struct vm *vm, unsigned int slot, uint64_t ipa, void *memory, uint64_t size);
uint64_t kernel_va(const struct vm *vm, uint64_t offset);
uint64_t kernel_code(const struct vm *vm, const char *label);
void map(struct vm *vm, bool upper, uint64_t va, uint64_t ipa, uint64_t size, int level);
uint64_t *descriptor_of(struct vm *vm, bool upper, uint64_t va, int level);

#endif
