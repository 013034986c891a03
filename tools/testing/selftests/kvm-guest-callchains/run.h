/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * VMs, for all architectures
 */
#ifndef __GUEST_CALLCHAINS_RUN_H
#define __GUEST_CALLCHAINS_RUN_H

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

#define PAGE_64K	0x10000UL

struct layout;

struct vm {
	int		kvm, fd;
	char		*memory;
	const struct layout *layout;
	uint64_t	next_table;
	uint64_t	ttbr[2];	/* The tables; x86 has the first one only. */
};

/* An orphan ends when KVM_RUN fails, since its VM is gone. */
struct vcpu {
	struct vm	*vm;
	int		fd;
	struct kvm_run	*run;
	size_t		run_size;
	pthread_t	thread;
	pid_t		tid;
	bool		stop, orphan;
};

extern char guest_begin[], guest_end[];

int xioctl(int fd, unsigned long request, unsigned long arg, const char *name);

#define XIOCTL(fd, request, arg) xioctl(fd, request, (unsigned long)(arg), #request)

void make_memory(struct vm *vm);
void add_slot(const struct vm *vm, unsigned int slot, uint64_t ipa, void *memory, uint64_t size);
void destroy_vm(struct vm *vm);
void start_vcpu(struct vcpu *vcpu);
void stop_vcpu(struct vcpu *vcpu);
void close_vcpu(struct vcpu *vcpu);
bool create_vm_and_vcpu(struct vm *vm, struct vcpu *vcpu, const struct layout *layout);
void destroy_vm_and_vcpu(struct vm *vm, struct vcpu *vcpu);

/* Of the architecture's own file */
bool create_vm(struct vm *vm, const struct layout *layout);
void create_vcpu(struct vm *vm, struct vcpu *vcpu, int id);
uint64_t kernel_va(const struct vm *vm, uint64_t offset);
uint64_t kernel_code(const struct vm *vm, const char *label);

#endif
