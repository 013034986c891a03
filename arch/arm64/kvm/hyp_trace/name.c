// SPDX-License-Identifier: GPL-2.0-only
/*
 * The names of VMs in the hypervisor's events
 */
#include <linux/kvm_host.h>
#include <linux/sched.h>

/**
 * kvm_arch_set_vm_fd - name a VM as its directory in debugfs, kvm/<pid>-<fd>, is named
 * @kvm:	the VM, which the current task creates
 * @fd:		its file descriptor
 */
void kvm_arch_set_vm_fd(struct kvm *kvm, int fd)
{
	kvm->arch.trace_name.pid = task_pid_nr(current);
	kvm->arch.trace_name.fd = fd;
}
