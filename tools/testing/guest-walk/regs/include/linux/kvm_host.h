/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What virt/kvm/guest_regs.c takes from the kernel
 */
#ifndef __GUEST_REGS_KVM_HOST_H
#define __GUEST_REGS_KVM_HOST_H

#include <stdbool.h>
#include <stddef.h>

#include <linux/kernel.h>
#include <linux/types.h>

/* In place of virt/kvm/kvm_mm.h */
#define __KVM_MM_H__

#define SZ_4K			0x1000
#define ALIGN_DOWN(x, a)	((x) & ~((typeof(x))(a) - 1))

enum { PERF_SAMPLE_REGS_ABI_NONE, PERF_SAMPLE_REGS_ABI_32, PERF_SAMPLE_REGS_ABI_64 };

typedef u64 gpa_t;

struct kvm_vcpu {
	bool		reads;
};

struct pt_regs {
	struct kvm_vcpu	*of;
};

struct kvm_guest_frame {
	u8		word;
	bool		swap;
};

bool access_ok(const void *from, size_t size);
unsigned long __copy_from_user_inatomic(void *to, const void *from, size_t size);

/* Of the architecture */
bool kvm_arch_vcpu_first_frame(struct kvm_vcpu *vcpu, struct kvm_guest_frame *frame);
bool kvm_arch_vcpu_translate(struct kvm_vcpu *vcpu, u64 gva, gpa_t *gpa);
void kvm_arch_vcpu_get_regs(struct kvm_vcpu *vcpu, struct pt_regs *regs);

/* Of guest_regs.c */
unsigned int kvm_guest_get_regs(struct pt_regs *regs);
unsigned int kvm_guest_copy_stack(void *to, u64 from, unsigned int size);

#endif
