// SPDX-License-Identifier: GPL-2.0-only
#include <stddef.h>

#include <linux/kvm.h>

#include "stacks.h"
#include "vm.h"

static const struct layout pages_4k = { 12, 48 }, blocks = { 12, 48, .block = true };
static const struct layout pages_64k = { 16, 48 };

const struct guest guests[] = {
	{ "pages of 4 KiB", &pages_4k },
	{ "blocks", &blocks },
	{ "pages of 64 KiB", &pages_64k },
};

const unsigned int nr_guests = sizeof(guests) / sizeof(*guests);

void make_known_calls(const struct vcpu *vcpu)
{
	make_calls(vcpu, 2);
}

void spin_in_kernel(const struct vcpu *vcpu, uint64_t sp)
{
	set_core(vcpu, offsetof(struct kvm_regs, sp_el1), sp);
	set_register(vcpu, 29, 0);
	set_pc(vcpu, kernel_code(vcpu->vm, k_hostile), false);
}

void spin_in_program(const struct vcpu *vcpu, uint64_t sp)
{
	set_core(vcpu, offsetof(struct kvm_regs, regs.sp), sp);
	set_register(vcpu, 29, 0);
	set_pc(vcpu, (uintptr_t)u_hostile, true);
}

void map_kernel_page(struct vm *vm, uint64_t va, uint64_t gpa)
{
	map(vm, true, va, gpa, 0x1000, 3);
}
