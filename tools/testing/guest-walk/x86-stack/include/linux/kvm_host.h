/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What arch/x86/kvm/guest_stack.c takes from the kernel: a vCPU, whose registers and segments
 * the test sets
 */
#ifndef __X86_GUEST_STACK_KVM_HOST_H
#define __X86_GUEST_STACK_KVM_HOST_H

#include <stdbool.h>
#include <stdint.h>

#include <linux/types.h>

/* In place of cpuid.h, kvm_cache_regs.h and x86.h */
#define ARCH_X86_KVM_CPUID_H
#define ASM_KVM_CACHE_REGS_H
#define ARCH_X86_KVM_X86_H

typedef u64 gpa_t;

#define U32_MAX			UINT32_MAX
#define U64_MAX			UINT64_MAX

enum { VCPU_SREG_CS, VCPU_SREG_SS, NR_SEGMENTS };

struct kvm {
	bool		is_encrypted;
};

struct kvm_vcpu_arch {
	u64		efer;
	u32		host_pkru, pkru;
	bool		guest_state_protected;
};

struct kvm_vcpu {
	struct kvm	*kvm;
	struct kvm_vcpu_arch arch;
	u64		rip, rbp, cr0, cr3, cr4, bases[NR_SEGMENTS];
	int		db, l, pa_bits;
	bool		is_nested, is_long, in_kernel;
};

struct kvm_guest_frame {
	u64		ip, fp, lower, upper;
	u8		word;
	bool		swap;
};

/* The CPU's */
extern u32 cpu_pkru;

static inline u32 read_pkru(void)
{
	return cpu_pkru;
}

static inline void write_pkru(u32 pkru)
{
	cpu_pkru = pkru;
}

#define kvm_x86_call(function)	x86_##function

static inline u64 x86_get_segment_base(struct kvm_vcpu *vcpu, int segment)
{
	return vcpu->bases[segment];
}

static inline void x86_get_cs_db_l_bits(struct kvm_vcpu *vcpu, int *db, int *l)
{
	*db = vcpu->db;
	*l = vcpu->l;
}

static inline bool x86_has_encrypted_memory(struct kvm *kvm)
{
	return kvm->is_encrypted;
}

static inline bool is_guest_mode(struct kvm_vcpu *vcpu)
{
	return vcpu->is_nested;
}

static inline bool is_long_mode(struct kvm_vcpu *vcpu)
{
	return vcpu->is_long;
}

static inline int cpuid_maxphyaddr(struct kvm_vcpu *vcpu)
{
	return vcpu->pa_bits;
}

static inline bool kvm_arch_vcpu_in_kernel(struct kvm_vcpu *vcpu)
{
	return vcpu->in_kernel;
}

static inline u64 kvm_rip_read(struct kvm_vcpu *vcpu)
{
	return vcpu->rip;
}

static inline u64 kvm_rbp_read(struct kvm_vcpu *vcpu)
{
	return vcpu->rbp;
}

static inline u64 kvm_read_cr0(struct kvm_vcpu *vcpu)
{
	return vcpu->cr0;
}

static inline u64 kvm_read_cr3(struct kvm_vcpu *vcpu)
{
	return vcpu->cr3;
}

static inline u64 kvm_read_cr4(struct kvm_vcpu *vcpu)
{
	return vcpu->cr4;
}

/* Of virt/kvm/guest_frame.c */
bool kvm_vcpu_read_word(struct kvm_vcpu *vcpu, gpa_t gpa, u64 *word, unsigned int size);

/* Of guest_stack.c */
bool kvm_arch_vcpu_first_frame(struct kvm_vcpu *vcpu, struct kvm_guest_frame *frame);
bool kvm_arch_vcpu_translate(struct kvm_vcpu *vcpu, u64 gva, gpa_t *gpa);
u32 kvm_arch_begin_guest_reads(struct kvm_vcpu *vcpu);
void kvm_arch_end_guest_reads(u32 pkru);

#endif
