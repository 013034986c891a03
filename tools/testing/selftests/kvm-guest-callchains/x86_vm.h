/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A VM of x86 with page tables that the test makes, and what the guest runs
 */
#ifndef __GUEST_CALLCHAINS_X86_VM_H
#define __GUEST_CALLCHAINS_X86_VM_H

#include <linux/kvm.h>

#include "run.h"

/* Private memory, which older headers lack */
#ifndef KVM_CREATE_GUEST_MEMFD
#define KVM_X86_SW_PROTECTED_VM		1
#define KVM_CAP_VM_TYPES		235
#define KVM_MEM_GUEST_MEMFD		0x4
#define KVM_MEMORY_ATTRIBUTE_PRIVATE	0x8

struct kvm_userspace_memory_region2 {
	uint32_t	slot, flags;
	uint64_t	guest_phys_addr, memory_size, userspace_addr, guest_memfd_offset;
	uint32_t	guest_memfd, pad1;
	uint64_t	pad2[14];
};

struct kvm_memory_attributes {
	uint64_t	address, size, attributes, flags;
};

struct kvm_create_guest_memfd {
	uint64_t	size, flags, reserved[6];
};

#define KVM_SET_USER_MEMORY_REGION2	_IOW(KVMIO, 0x49, struct kvm_userspace_memory_region2)
#define KVM_SET_MEMORY_ATTRIBUTES	_IOW(KVMIO, 0xd2, struct kvm_memory_attributes)
#define KVM_CREATE_GUEST_MEMFD		_IOWR(KVMIO, 0xd4, struct kvm_create_guest_memfd)
#endif

/* In the memory: the descriptor tables, and the TSS */
#define SYSTEM		0x40000UL

/* Where a program has its stack, if there are page tables; it has the code where the VMM does */
#define USER_STACK_VA	0x7f0000UL

/**
 * struct layout - a guest's address space
 * @kernel_bits: 64 or 32
 * @user_bits: 64 or 32
 * @levels: of page tables; 0 if paging is off; 3 if it is PAE
 * @large: the kernel's memory is in pages of so many bits, or 0 for 12
 * @type: KVM_X86_SW_PROTECTED_VM if the VM may have private memory
 */
struct layout {
	unsigned int	kernel_bits, user_bits, levels, large, type;
};

/* Of 64-bit code and of 32-bit code */
#define DECLARE_LABELS(n)							\
	extern char k##n##_entry[], k##n##_outer[], k##n##_middle[],		\
		    k##n##_leaf[], k##n##_entry_ret[], k##n##_outer_ret[],	\
		    k##n##_middle_ret[], k##n##_spin[], k##n##_spin_end[],	\
		    u##n##_start[], u##n##_start_ret[], u##n##_outer_ret[],	\
		    u##n##_deep_ret[], u##n##_last_ret[], u##n##_spin[],	\
		    u##n##_spin_end[], k##n##_hostile[],	\
		    k##n##_writer[]

DECLARE_LABELS(64);
DECLARE_LABELS(32);

/* How often the guest spins in its kernel and its program, and how deep a function calls itself */
struct spins {
	uint32_t	kernel, user, depth;
};

uint64_t user_code(const struct vm *vm, const char *label);
void run_program(const struct vcpu *vcpu, const struct spins *spins);
void run_kernel(const struct vcpu *vcpu, uint64_t pc, uint64_t fp);
void run_user(const struct vcpu *vcpu, uint64_t pc, uint64_t fp);
void run_writer(const struct vcpu *vcpu, uint64_t writes, uint64_t nr);
void add_private_slot(const struct vm *vm, unsigned int slot, uint64_t gpa, void *memory,
		      uint64_t size);
void set_private(const struct vm *vm, uint64_t gpa, uint64_t size, bool private);
uint64_t *entry_at(struct vm *vm, uint64_t va, unsigned int level);
uint64_t *map(struct vm *vm, uint64_t va, uint64_t gpa, unsigned int shift, uint64_t flags);

#endif
