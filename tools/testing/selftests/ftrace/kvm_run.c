// SPDX-License-Identifier: GPL-2.0
/*
 * Load a vCPU of KVM on arm64 and put it again, many times. It executes nothing.
 */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#ifdef __aarch64__
#include <linux/kvm.h>

#define ROUNDS 100

static int check(int ret, const char *what)
{
	if (ret < 0) {
		perror(what);
		exit(1);
	}

	return ret;
}

int main(void)
{
	int kvm, vm, vcpu, size, i;
	struct kvm_vcpu_init init;
	struct kvm_run *run;

	kvm = check(open("/dev/kvm", O_RDWR), "/dev/kvm");
	vm = check(ioctl(kvm, KVM_CREATE_VM, 0), "KVM_CREATE_VM");
	vcpu = check(ioctl(vm, KVM_CREATE_VCPU, 0), "KVM_CREATE_VCPU");
	check(ioctl(vm, KVM_ARM_PREFERRED_TARGET, &init), "KVM_ARM_PREFERRED_TARGET");
	check(ioctl(vcpu, KVM_ARM_VCPU_INIT, &init), "KVM_ARM_VCPU_INIT");

	size = check(ioctl(kvm, KVM_GET_VCPU_MMAP_SIZE, 0), "KVM_GET_VCPU_MMAP_SIZE");
	run = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, vcpu, 0);
	if (run == MAP_FAILED)
		check(-1, "mmap");

	/* The vCPU is loaded, then KVM_RUN is interrupted */
	run->immediate_exit = 1;
	for (i = 0; i < ROUNDS; i++) {
		if (!ioctl(vcpu, KVM_RUN, 0) || errno != EINTR)
			check(-1, "KVM_RUN");
	}

	return 0;
}
#else
int main(void)
{
	fprintf(stderr, "not for this architecture\n");

	return 1;
}
#endif
