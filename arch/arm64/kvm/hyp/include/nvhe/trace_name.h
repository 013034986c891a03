/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The name of a VM in events. It is the host's word, which EL2 uses for nothing else.
 */
#ifndef __ARM64_KVM_HYP_NVHE_TRACE_NAME_H
#define __ARM64_KVM_HYP_NVHE_TRACE_NAME_H

#include <linux/kvm_host.h>

#include <asm/kvm_mmu.h>

#ifdef CONFIG_KVM_HYP_TRACING

/* pKVM: keep the name that the host's VM has now. The host can change its own at any time. */
static inline void hyp_trace_copy_name(struct kvm *kvm, struct kvm *host_kvm)
{
	kvm->arch.trace_name.pid = READ_ONCE(host_kvm->arch.trace_name.pid);
	kvm->arch.trace_name.fd = READ_ONCE(host_kvm->arch.trace_name.fd);
}

static inline struct kvm_trace_name hyp_trace_name(struct kvm_vcpu *vcpu)
{
	struct kvm *kvm = kern_hyp_va(vcpu->kvm);

	return kvm->arch.trace_name;
}

#else /* !CONFIG_KVM_HYP_TRACING */

static inline void hyp_trace_copy_name(struct kvm *kvm, struct kvm *host_kvm) { }

static inline struct kvm_trace_name hyp_trace_name(struct kvm_vcpu *vcpu)
{
	return (struct kvm_trace_name) { };
}

#endif /* CONFIG_KVM_HYP_TRACING */

#endif /* __ARM64_KVM_HYP_NVHE_TRACE_NAME_H */
