// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory of VMs and threads of vCPUs, for all architectures
 */
#include <err.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/kvm.h>

#include "run.h"

int xioctl(int fd, unsigned long request, unsigned long arg, const char *name)
{
	int ret = ioctl(fd, request, arg);

	if (ret < 0)
		err(1, "%s", name);
	return ret;
}

/* With a size of 0 it is removed. */
void add_slot(const struct vm *vm, unsigned int slot, uint64_t ipa, void *memory, uint64_t size)
{
	struct kvm_userspace_memory_region region = {
		.slot			= slot,
		.guest_phys_addr	= ipa,
		.memory_size		= size,
		.userspace_addr		= (uintptr_t)memory,
	};

	XIOCTL(vm->fd, KVM_SET_USER_MEMORY_REGION, &region);
}

/* With canaries around it */
void make_memory(struct vm *vm)
{
	uint64_t *canary, i;

	canary = mmap(NULL, 3 * MEMORY_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		      -1, 0);
	if (canary == MAP_FAILED)
		err(1, "mmap");
	for (i = 0; i < 3 * MEMORY_SIZE / sizeof(*canary); i++)
		canary[i] = CANARY;
	vm->memory = (char *)canary + MEMORY_SIZE;
	memset(vm->memory, 0, MEMORY_SIZE);
}

void destroy_vm(struct vm *vm)
{
	close(vm->fd);
	close(vm->kvm);
	munmap(vm->memory - MEMORY_SIZE, 3 * MEMORY_SIZE);
}

static void wake(int signal)
{
	(void)signal;
}

static void *run_vcpu(void *arg)
{
	struct vcpu *vcpu = arg;

	__atomic_store_n(&vcpu->tid, syscall(SYS_gettid), __ATOMIC_RELEASE);
	while (!__atomic_load_n(&vcpu->stop, __ATOMIC_ACQUIRE)) {
		if (!ioctl(vcpu->fd, KVM_RUN, 0))
			errx(1, "the guest left with exit reason %u", vcpu->run->exit_reason);
		if (errno == EINTR)
			continue;
		if (__atomic_load_n(&vcpu->orphan, __ATOMIC_ACQUIRE))
			break;
		err(1, "KVM_RUN");
	}
	return NULL;
}

/* Returns when the thread has its number. */
void start_vcpu(struct vcpu *vcpu)
{
	struct sigaction action = { .sa_handler = wake };

	sigaction(SIGUSR1, &action, NULL);
	errno = pthread_create(&vcpu->thread, NULL, run_vcpu, vcpu);
	if (errno)
		err(1, "pthread_create");
	while (!__atomic_load_n(&vcpu->tid, __ATOMIC_ACQUIRE))
		usleep(100);
}

/* It can be started again. */
void stop_vcpu(struct vcpu *vcpu)
{
	__atomic_store_n(&vcpu->stop, true, __ATOMIC_RELEASE);
	vcpu->run->immediate_exit = 1;
	pthread_kill(vcpu->thread, SIGUSR1);
	pthread_join(vcpu->thread, NULL);
	vcpu->run->immediate_exit = 0;
	vcpu->stop = false;
	vcpu->tid = 0;
}

void close_vcpu(struct vcpu *vcpu)
{
	munmap(vcpu->run, vcpu->run_size);
	close(vcpu->fd);
}

/* A VM with one vCPU. False: the CPU does not have the layout. */
bool create_vm_and_vcpu(struct vm *vm, struct vcpu *vcpu, const struct layout *layout)
{
	if (!create_vm(vm, layout))
		return false;
	create_vcpu(vm, vcpu, 0);
	return true;
}

void destroy_vm_and_vcpu(struct vm *vm, struct vcpu *vcpu)
{
	close_vcpu(vcpu);
	destroy_vm(vm);
}
