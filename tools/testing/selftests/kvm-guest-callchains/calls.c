// SPDX-License-Identifier: GPL-2.0-only
/*
 * The calls that payload.S makes on arm64, and the chains that its samples must have
 */
#include "chain.h"
#include "vm.h"

#define SPINS		20000

static void expect_kernel(const struct vm *vm)
{
	at_kernel = (struct expected) {
		.mark		= PERF_CONTEXT_GUEST_KERNEL,
		.spin		= kernel_code(vm, k_spin),
		.spin_end	= kernel_code(vm, k_spin_end),
		.callers	= { kernel_code(vm, k_middle_ret), kernel_code(vm, k_outer_ret),
				    kernel_code(vm, k_entry_ret) },
		.nr		= 3,
	};
}

static void expect_user(unsigned int depth)
{
	unsigned int i;

	at_user = (struct expected) {
		.mark		= PERF_CONTEXT_GUEST_USER,
		.spin		= (uintptr_t)u_spin,
		.spin_end	= (uintptr_t)u_spin_end,
	};
	at_user.callers[at_user.nr++] = (uintptr_t)u_last_ret;
	for (i = 0; i < depth && at_user.nr < MAX_CALLERS - 2; i++)
		at_user.callers[at_user.nr++] = (uintptr_t)u_deep_ret;
	at_user.callers[at_user.nr++] = (uintptr_t)u_outer_ret;
	at_user.callers[at_user.nr++] = (uintptr_t)u_start_ret;
}

/* A new vCPU will spin at EL0, where a function calls itself so often, and at EL1. */
void make_calls(const struct vcpu *vcpu, unsigned int depth)
{
	set_register(vcpu, 19, SPINS);
	set_register(vcpu, 20, SPINS);
	set_register(vcpu, 21, depth);
	expect_kernel(vcpu->vm);
	expect_user(depth);
}
