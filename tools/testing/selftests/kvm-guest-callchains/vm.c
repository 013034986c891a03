// SPDX-License-Identifier: GPL-2.0-only
/*
 * VMs of arm64
 */
#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <linux/kvm.h>

#include "vm.h"

#define PSTATE_EL1	0x3c5	/* EL1h, all masked */
#define PSTATE_EL0	0x3c0

#define REG(op1, crn, crm, op2)	ARM64_SYS_REG(3, op1, crn, crm, op2)
#define SCTLR_EL1	REG(0, 1, 0, 0)
#define CPACR_EL1	REG(0, 1, 0, 2)
#define TTBR0_EL1	REG(0, 2, 0, 0)
#define TTBR1_EL1	REG(0, 2, 0, 1)
#define TCR_EL1		REG(0, 2, 0, 2)
#define APIAKEYLO_EL1	REG(0, 2, 1, 0)
#define ELR_EL1		offsetof(struct kvm_regs, elr_el1)
#define MAIR_EL1	REG(0, 10, 2, 0)
#define VBAR_EL1	REG(0, 12, 0, 0)

static void set_one(const struct vcpu *vcpu, uint64_t id, uint64_t value)
{
	struct kvm_one_reg reg = { .id = id, .addr = (uintptr_t)&value };

	if (ioctl(vcpu->fd, KVM_SET_ONE_REG, &reg))
		err(1, "KVM_SET_ONE_REG %#lx", (unsigned long)id);
}

static uint64_t get_one(const struct vcpu *vcpu, uint64_t id)
{
	uint64_t value = 0;
	struct kvm_one_reg reg = { .id = id, .addr = (uintptr_t)&value };

	if (ioctl(vcpu->fd, KVM_GET_ONE_REG, &reg))
		err(1, "KVM_GET_ONE_REG %#lx", (unsigned long)id);
	return value;
}

void set_core(const struct vcpu *vcpu, size_t offset, uint64_t value)
{
	set_one(vcpu, KVM_REG_ARM64 | KVM_REG_SIZE_U64 | KVM_REG_ARM_CORE | offset / 4, value);
}

void set_register(const struct vcpu *vcpu, int reg, uint64_t value)
{
	set_core(vcpu, offsetof(struct kvm_regs, regs.regs[0]) + reg * 8, value);
}

/* Where EL1 has the guest's memory, and the code in it */
uint64_t kernel_va(const struct vm *vm, uint64_t offset)
{
	return -(1UL << vm->layout->va_bits) + offset;
}

uint64_t kernel_code(const struct vm *vm, const char *label)
{
	return kernel_va(vm, CODE + (label - guest_begin));
}

static unsigned int shift_of(const struct vm *vm, int level)
{
	return vm->layout->page_shift + (3 - level) * (vm->layout->page_shift - 3);
}

static int first_level(const struct vm *vm)
{
	int level = 3;

	while (shift_of(vm, level - 1) < vm->layout->va_bits)
		level--;
	return level;
}

static uint64_t new_table(struct vm *vm)
{
	vm->next_table += PAGE_64K;
	if (vm->next_table > MEMORY_SIZE)
		errx(1, "no room for more tables");
	return vm->next_table - PAGE_64K;
}

static uint64_t *entry_of(struct vm *vm, uint64_t table, uint64_t va, int level)
{
	uint64_t index = (va & ((1UL << vm->layout->va_bits) - 1)) >> shift_of(vm, level);

	if (level != first_level(vm))
		index &= (1UL << (vm->layout->page_shift - 3)) - 1;
	return (uint64_t *)(vm->memory + table) + index;
}

/* The descriptor of an address, in tables that are made as needed */
uint64_t *descriptor_of(struct vm *vm, bool upper, uint64_t va, int level)
{
	uint64_t table = vm->ttbr[upper], *entry;
	int at;

	for (at = first_level(vm); at < level; at++) {
		entry = entry_of(vm, table, va, at);
		if (!*entry)
			*entry = (MEMORY_IPA + new_table(vm)) | 3;
		table = (*entry & 0xffffffff0000UL) - MEMORY_IPA;
	}
	return entry_of(vm, table, va, level);
}

/* Normal memory, which EL0 can read and run, and shareable unless the bits are an address's */
void map(struct vm *vm, bool upper, uint64_t va, uint64_t ipa, uint64_t size, int level)
{
	uint64_t attributes = 1 << 10 | (upper ? 0 : 1 << 6 | 1UL << 53) | (level == 3 ? 3 : 1);
	uint64_t step = 1UL << shift_of(vm, level), at;

	if (!vm->layout->wide || vm->layout->page_shift == 16)
		attributes |= 3 << 8;
	for (at = 0; at < size; at += step)
		*descriptor_of(vm, upper, va + at, level) = (ipa + at) | attributes;
}

static void map_all(struct vm *vm)
{
	int level = vm->layout->block ? 2 : 3;
	uint64_t block = 1UL << shift_of(vm, level);

	vm->next_table = TABLES;
	vm->ttbr[0] = new_table(vm);
	vm->ttbr[1] = new_table(vm);
	map(vm, false, (uintptr_t)guest_begin, MEMORY_IPA + CODE, guest_end - guest_begin, 3);
	map(vm, false, USER_STACK_VA, MEMORY_IPA + USER_STACK, PAGE_64K, 3);
	map(vm, true, kernel_va(vm, 0), MEMORY_IPA, block > MEMORY_SIZE ? block : MEMORY_SIZE,
	    level);
}

static bool has_granule(const struct vm *vm, uint64_t mmfr0, uint64_t mmfr2)
{
	unsigned int tgran4 = mmfr0 >> 28 & 0xf, tgran64 = mmfr0 >> 24 & 0xf;
	unsigned int tgran16 = mmfr0 >> 20 & 0xf, range = mmfr2 >> 16 & 0xf;

	switch (vm->layout->page_shift) {
	case 12:
		return vm->layout->wide ? tgran4 == 1 : tgran4 != 15;
	case 14:
		return vm->layout->wide ? tgran16 == 2 : tgran16;
	default:
		return tgran64 != 15 && (vm->layout->va_bits <= 48 || range == 1);
	}
}

static void init_vcpu(const struct vcpu *vcpu)
{
	struct kvm_vcpu_init init = {};

	XIOCTL(vcpu->vm->fd, KVM_ARM_PREFERRED_TARGET, &init);
	if (vcpu->vm->layout->pauth)
		init.features[0] |= 1 << KVM_ARM_VCPU_PTRAUTH_ADDRESS |
				    1 << KVM_ARM_VCPU_PTRAUTH_GENERIC;
	if (vcpu->vm->layout->aarch32)
		init.features[0] |= 1 << KVM_ARM_VCPU_EL1_32BIT;
	XIOCTL(vcpu->fd, KVM_ARM_VCPU_INIT, &init);
}

/* Whether the CPU has what the layout needs: only a vCPU can say. */
static bool has_features(struct vm *vm)
{
	struct vcpu vcpu = { .vm = vm };
	bool has = true;

	if (vm->layout->pauth)
		has = ioctl(vm->kvm, KVM_CHECK_EXTENSION, KVM_CAP_ARM_PTRAUTH_ADDRESS) > 0;
	if (vm->layout->aarch32) {
		has = ioctl(vm->kvm, KVM_CHECK_EXTENSION, KVM_CAP_ARM_EL1_32BIT) > 0;
	} else if (has) {
		vcpu.fd = XIOCTL(vm->fd, KVM_CREATE_VCPU, 0);
		init_vcpu(&vcpu);
		has = has_granule(vm, get_one(&vcpu, REG(0, 0, 7, 0)),
				  get_one(&vcpu, REG(0, 0, 7, 2)));
		close(vcpu.fd);
	}
	close(vm->fd);
	return has;
}

/* Returns whether the CPU has such a layout. */
bool create_vm(struct vm *vm, const struct layout *layout)
{
	vm->layout = layout;
	vm->kvm = open("/dev/kvm", O_RDWR | O_CLOEXEC);
	if (vm->kvm < 0)
		err(1, "/dev/kvm");
	vm->fd = XIOCTL(vm->kvm, KVM_CREATE_VM, 0);
	if (!has_features(vm)) {
		close(vm->kvm);
		return false;
	}
	vm->fd = XIOCTL(vm->kvm, KVM_CREATE_VM, 0);
	make_memory(vm);
	memcpy(vm->memory + CODE, guest_begin, guest_end - guest_begin);
	map_all(vm);
	__builtin___clear_cache(vm->memory, vm->memory + MEMORY_SIZE);
	add_slot(vm, 0, MEMORY_IPA, vm->memory, MEMORY_SIZE);
	return true;
}

static uint64_t tcr_of(const struct layout *layout)
{
	static const uint64_t tg0[] = { [12] = 0, [14] = 2, [16] = 1 };
	static const uint64_t tg1[] = { [12] = 2, [14] = 1, [16] = 3 };
	uint64_t tcr = 64 - layout->va_bits;

	tcr |= tcr << 16 | tg0[layout->page_shift] << 14 | tg1[layout->page_shift] << 30;
	/* Tables are walked inner shareable, write-back; 40 bits of physical address. */
	tcr |= 0x35UL << 8 | 0x35UL << 24 | 2UL << 32;
	if (layout->tag)
		tcr |= 1UL << 37;
	if (layout->wide && layout->page_shift != 16)
		tcr |= 1UL << 59;
	return tcr;
}

/* At the start of EL1, with the MMU on */
void create_vcpu(struct vm *vm, struct vcpu *vcpu, int id)
{
	uint64_t sctlr = 0x30d00800 | 1 | 1 << 2 | 1 << 12;

	*vcpu = (struct vcpu) { .vm = vm };
	vcpu->fd = XIOCTL(vm->fd, KVM_CREATE_VCPU, id);
	init_vcpu(vcpu);
	vcpu->run_size = XIOCTL(vm->kvm, KVM_GET_VCPU_MMAP_SIZE, 0);
	vcpu->run = mmap(NULL, vcpu->run_size, PROT_READ | PROT_WRITE, MAP_SHARED, vcpu->fd, 0);
	if (vcpu->run == MAP_FAILED)
		err(1, "mmap");
	if (vm->layout->aarch32)
		return;
	if (vm->layout->pauth)
		sctlr |= 1UL << 31;
	set_one(vcpu, SCTLR_EL1, sctlr);
	set_one(vcpu, TCR_EL1, tcr_of(vm->layout));
	set_one(vcpu, TTBR0_EL1, MEMORY_IPA + vm->ttbr[0]);
	set_one(vcpu, TTBR1_EL1, MEMORY_IPA + vm->ttbr[1]);
	set_one(vcpu, MAIR_EL1, 0xff);
	set_one(vcpu, VBAR_EL1, kernel_code(vm, k_vectors));
	if (vm->layout->pauth)
		set_one(vcpu, APIAKEYLO_EL1, 0x0123456789abcdef);
	set_core(vcpu, offsetof(struct kvm_regs, regs.sp),
		 (USER_STACK_VA + PAGE_64K) | (uint64_t)vm->layout->tag << 56);
	set_core(vcpu, offsetof(struct kvm_regs, sp_el1), kernel_va(vm, KERNEL_STACK + PAGE_64K));
	set_core(vcpu, ELR_EL1, (uintptr_t)u_start);
	set_pc(vcpu, kernel_code(vm, k_start), false);
}

void set_pc(const struct vcpu *vcpu, uint64_t pc, bool el0)
{
	set_core(vcpu, offsetof(struct kvm_regs, regs.pstate), el0 ? PSTATE_EL0 : PSTATE_EL1);
	set_core(vcpu, offsetof(struct kvm_regs, regs.pc), pc);
}

/* In AArch32 state, with its interrupts masked; returns whether the CPU has that mode. */
bool set_aarch32(const struct vcpu *vcpu, uint64_t pc, uint64_t mode)
{
	uint64_t pstate = mode | 0x1c0;
	struct kvm_one_reg reg = {
		.id	= KVM_REG_ARM64 | KVM_REG_SIZE_U64 | KVM_REG_ARM_CORE |
			  offsetof(struct kvm_regs, regs.pstate) / 4,
		.addr	= (uintptr_t)&pstate,
	};

	if (ioctl(vcpu->fd, KVM_SET_ONE_REG, &reg))
		return false;
	set_core(vcpu, offsetof(struct kvm_regs, regs.pc), pc);
	return true;
}
