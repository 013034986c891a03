/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What each architecture has for the tests of stacks
 */
#ifndef __GUEST_CALLCHAINS_STACKS_H
#define __GUEST_CALLCHAINS_STACKS_H

#include "run.h"

/* Where a program has its stack */
#define USER_STACK_VA	0x7f0000UL

struct guest {
	const char		*name;
	const struct layout	*layout;
};

/* The first one has pages of 4 KiB, without blocks, and 64-bit code. */
extern const struct guest guests[];
extern const unsigned int nr_guests;

void make_known_calls(const struct vcpu *vcpu);

/* Spin there with this stack pointer. */
void spin_in_kernel(const struct vcpu *vcpu, uint64_t sp);
void spin_in_program(const struct vcpu *vcpu, uint64_t sp);

/* A page of 4 KiB */
void map_kernel_page(struct vm *vm, uint64_t va, uint64_t gpa);

#endif
