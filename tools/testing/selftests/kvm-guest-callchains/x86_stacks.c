// SPDX-License-Identifier: GPL-2.0-only
#include <sys/ioctl.h>

#include <linux/kvm.h>

#include "stacks.h"
#include "x86_vm.h"

static const struct layout wide = { 64, 64, 4 }, large = { 64, 64, 4, 21 };
static const struct layout mixed = { 64, 32, 4 }, narrow = { 32, 32, 3 };

const struct guest guests[] = {
	{ "64-bit", &wide },
	{ "64-bit, pages of 2 MiB", &large },
	{ "compatibility mode", &mixed },
	{ "32-bit, PAE", &narrow },
};

const unsigned int nr_guests = sizeof(guests) / sizeof(*guests);

void make_known_calls(const struct vcpu *vcpu)
{
	static const struct spins work = { 20000, 20000, 2 };

	run_program(vcpu, &work);
}

static void set_sp(const struct vcpu *vcpu, uint64_t sp)
{
	struct kvm_regs regs;

	XIOCTL(vcpu->fd, KVM_GET_REGS, &regs);
	regs.rsp = sp;
	XIOCTL(vcpu->fd, KVM_SET_REGS, &regs);
}

void spin_in_kernel(const struct vcpu *vcpu, uint64_t sp)
{
	run_kernel(vcpu, kernel_code(vcpu->vm, k64_hostile), 0);
	set_sp(vcpu, sp);
}

void spin_in_program(const struct vcpu *vcpu, uint64_t sp)
{
	run_user(vcpu, user_code(vcpu->vm, k64_hostile), 0);
	set_sp(vcpu, sp);
}

void map_kernel_page(struct vm *vm, uint64_t va, uint64_t gpa)
{
	map(vm, va, gpa, 12, 0);
}
