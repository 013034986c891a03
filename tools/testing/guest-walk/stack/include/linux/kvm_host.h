/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What arch/arm64/kvm/guest_stack.c takes from the kernel: a vCPU, whose registers and features
 * the test sets
 */
#ifndef __GUEST_STACK_KVM_HOST_H
#define __GUEST_STACK_KVM_HOST_H

#include <stdbool.h>
#include <string.h>

#include <linux/types.h>

typedef u64 gpa_t;

enum sysreg {
	SCTLR_EL1, TCR_EL1, TTBR0_EL1, TTBR1_EL1, TCR2_EL1, PIRE0_EL1, POR_EL0, NR_SYSREGS
};

#define TCR2_EL1x_PIE		2UL
#define TCR2_EL1x_E0POE		4UL

struct kvm_s2_mmu {
	unsigned int	phys_shift;
};

struct kvm_arch {
	struct kvm_s2_mmu mmu;
	bool		is_protected;
	const char	*features;	/* those that the guest has, or NULL */
};

struct kvm {
	struct kvm_arch	arch;
};

struct kvm_vcpu {
	struct kvm	*kvm;
	u64		pc, regs[31], sysregs[NR_SYSREGS];
	bool		has_nv, is_32bit, is_privileged, is_big_endian;
};

struct thread_struct {
	u64		sctlr_user;
};

struct task_struct {
	struct thread_struct thread;
};

extern struct task_struct *current;
extern bool has_mte;

#define SCTLR_EL1_TCF0_MASK	(3UL << 38)

struct kvm_guest_frame {
	u64		ip, fp, lower, upper;
	u8		word;
	bool		swap;
};

#define kvm_phys_shift(mmu)			((mmu)->phys_shift)
#define kvm_has_feat(kvm, reg, field, limit)	has_feature(kvm, #reg " " #field " " #limit)
#define kvm_has_feat_enum			kvm_has_feat

static inline bool has_feature(const struct kvm *kvm, const char *name)
{
	return kvm->arch.features && strstr(kvm->arch.features, name);
}

/* The CPU: what it has, and the registers of EL1 with VHE */
enum cap { ARM64_HAS_TCR2 = 1, ARM64_HAS_S1PIE = 2, HAS_S1POE = 4 };

extern unsigned int cpu_caps;
extern bool cpu_has_vhe, is_pkvm;

/* A register that the CPU does not have ends the test. */
u64 read_cpu_register(enum sysreg reg);

#define SYS_TCR2_EL12		TCR2_EL1
#define SYS_PIRE0_EL12		PIRE0_EL1
#define read_sysreg_s(reg)	read_cpu_register(reg)
#define __vcpu_sys_reg(vcpu, reg)	((vcpu)->sysregs[reg])

static inline bool cpus_have_final_cap(enum cap cap)
{
	return cpu_caps & cap;
}

static inline bool system_supports_poe(void)
{
	return cpu_caps & HAS_S1POE;
}

static inline bool has_vhe(void)
{
	return cpu_has_vhe;
}

static inline bool is_protected_kvm_enabled(void)
{
	return is_pkvm;
}

static inline bool system_supports_mte(void)
{
	return has_mte;
}

static inline bool vcpu_is_protected(const struct kvm_vcpu *vcpu)
{
	return vcpu->kvm->arch.is_protected;
}

static inline bool vcpu_has_nv(const struct kvm_vcpu *vcpu)
{
	return vcpu->has_nv;
}

static inline bool vcpu_mode_is_32bit(const struct kvm_vcpu *vcpu)
{
	return vcpu->is_32bit;
}

static inline bool vcpu_mode_priv(const struct kvm_vcpu *vcpu)
{
	return vcpu->is_privileged;
}

static inline u64 *vcpu_pc(struct kvm_vcpu *vcpu)
{
	return &vcpu->pc;
}

static inline u64 vcpu_get_reg(const struct kvm_vcpu *vcpu, u8 reg)
{
	return vcpu->regs[reg];
}

static inline u64 vcpu_read_sys_reg(const struct kvm_vcpu *vcpu, enum sysreg reg)
{
	return vcpu->sysregs[reg];
}

static inline u64 vcpu_data_guest_to_host(const struct kvm_vcpu *vcpu, u64 data, unsigned int len)
{
	return vcpu->is_big_endian && len == 8 ? __builtin_bswap64(data) : data;
}

/* Of virt/kvm/guest_frame.c */
bool kvm_vcpu_read_word(struct kvm_vcpu *vcpu, gpa_t gpa, u64 *word, unsigned int size);

/* Of guest_stack.c */
unsigned long kvm_arch_vcpu_get_ip(struct kvm_vcpu *vcpu);
bool kvm_arch_vcpu_first_frame(struct kvm_vcpu *vcpu, struct kvm_guest_frame *frame);
bool kvm_arch_vcpu_translate(struct kvm_vcpu *vcpu, u64 gva, gpa_t *gpa);

#endif
