/* SPDX-License-Identifier: GPL-2.0 */
/* What is known of why a recording has no sample of a guest */
#ifndef __PERF_KVM_NO_SAMPLES_H
#define __PERF_KVM_NO_SAMPLES_H

#include <stdio.h>
#include <linux/types.h>

struct evlist;
struct evsel;

/**
 * struct kvm_vm_exits - how often the vCPUs of a VM have left their guest
 * @vm_pid:	the VM's directory in debugfs is kvm/<vm_pid>-<vm_fd>
 * @vm_fd:	see @vm_pid
 * @exits:	as KVM has counted
 */
struct kvm_vm_exits {
	u32 vm_pid;
	u32 vm_fd;
	u64 exits;
};

/**
 * struct kvm_exits - those of all VMs at one time
 * @vms:	the VMs
 * @nr:		how many
 * @err:	a negative error if KVM's counts can't be read
 */
struct kvm_exits {
	struct kvm_vm_exits *vms;
	u32 nr;
	int err;
};

void kvm_exits__read(struct kvm_exits *exits);
void kvm_exits__exit(struct kvm_exits *exits);

void kvm_no_samples__fprintf_event(struct evsel *evsel, const u64 *count, FILE *fp);
void kvm_no_samples__fprintf_exits(const struct kvm_exits *before, const struct kvm_exits *after,
				   FILE *fp);
void kvm_no_samples__fprintf(struct evlist *evlist, const struct kvm_exits *before, FILE *fp);

#endif /* __PERF_KVM_NO_SAMPLES_H */
