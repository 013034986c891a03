// SPDX-License-Identifier: GPL-2.0-only
/*
 * VMs of x86: a kernel of 64 or 32 bits, and a program of as many or of fewer
 */
#include <err.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <linux/kvm.h>

#include "x86_vm.h"

#define PRESENT		0x63UL	/* and writable, accessed, dirty */
#define USER		0x04UL
#define LARGE		0x80UL

#define CR0_PE		0x1UL
#define CR0_ET		0x10UL
#define CR0_PG		0x80000000UL
#define CR4_PSE		0x10UL
#define CR4_PAE		0x20UL
#define CR4_LA57	0x1000UL
#define EFER_LME_LMA	0x500UL

/* The guest's descriptors, with the accessed bit set */
#define KERNEL_CODE64	1
#define KERNEL_CODE32	2
#define KERNEL_DATA	3
#define USER_CODE64	4
#define USER_CODE32	5
#define USER_DATA	6

static const uint64_t gdt[] = {
	[KERNEL_CODE64]	= 0x00af9b000000ffff,
	[KERNEL_CODE32]	= 0x00cf9b000000ffff,
	[KERNEL_DATA]	= 0x00cf93000000ffff,
	[USER_CODE64]	= 0x00affb000000ffff,
	[USER_CODE32]	= 0x00cffb000000ffff,
	[USER_DATA]	= 0x00cff3000000ffff,
};

#define TSS		(SYSTEM + 0x400)
#define TSS_SIZE	0x68
#define IDT		(SYSTEM + 0x1000)
#define SYSCALL_VECTOR	0x80

/* Where the kernel has the guest's memory, and the code in it */
uint64_t kernel_va(const struct vm *vm, uint64_t offset)
{
	if (!vm->layout->levels)
		return MEMORY_IPA + offset;
	if (vm->layout->kernel_bits == 32)
		return 0xc0000000UL + offset;
	return (vm->layout->levels == 5 ? 0xff00000000000000UL : 0xffff800000000000UL) + offset;
}

uint64_t kernel_code(const struct vm *vm, const char *label)
{
	return kernel_va(vm, CODE + (label - guest_begin));
}

uint64_t user_code(const struct vm *vm, const char *label)
{
	return vm->layout->levels ? (uintptr_t)label : MEMORY_IPA + CODE + (label - guest_begin);
}

static unsigned int index_bits(const struct vm *vm)
{
	return vm->layout->levels == 2 ? 10 : 9;
}

static uint64_t *entry_of(const struct vm *vm, uint64_t table, uint64_t va, unsigned int level)
{
	uint64_t index = va >> (12 + (level - 1) * index_bits(vm));

	index &= (1UL << index_bits(vm)) - 1;
	return (uint64_t *)(vm->memory + table + index * (vm->layout->levels == 2 ? 4 : 8));
}

static uint64_t new_table(struct vm *vm)
{
	vm->next_table += 0x1000;
	if (vm->next_table > MEMORY_SIZE)
		errx(1, "no room for more tables");
	return vm->next_table - 0x1000;
}

/* Entries of four bytes are written alone. */
static void set_entry(const struct vm *vm, uint64_t *entry, uint64_t value)
{
	memcpy(entry, &value, vm->layout->levels == 2 ? 4 : 8);
}

static uint64_t get_entry(const struct vm *vm, const uint64_t *entry)
{
	uint64_t value = 0;

	memcpy(&value, entry, vm->layout->levels == 2 ? 4 : 8);
	return value;
}

/* Map a page of @shift bits; returns its entry, in tables that are made as needed. */
uint64_t *map(struct vm *vm, uint64_t va, uint64_t gpa, unsigned int shift, uint64_t flags)
{
	unsigned int level = vm->layout->levels, last = (shift - 12) / index_bits(vm) + 1;
	uint64_t table = vm->ttbr[0], *entry, value;

	for (; level > last; level--) {
		entry = entry_of(vm, table, va, level);
		value = get_entry(vm, entry);
		if (!value) {
			/* The highest entries of PAE have no bits but this. */
			value = vm->layout->levels == 3 && level == 3 ? 1 : PRESENT | USER;
			value |= MEMORY_IPA + new_table(vm);
			set_entry(vm, entry, value);
		}
		table = (value & 0xfffffffff000UL) - MEMORY_IPA;
	}
	entry = entry_of(vm, table, va, level);
	set_entry(vm, entry, gpa | PRESENT | flags | (level > 1 ? LARGE : 0));
	return entry;
}

/* The entry of an address that is mapped, at a level that it has */
uint64_t *entry_at(struct vm *vm, uint64_t va, unsigned int level)
{
	uint64_t table = vm->ttbr[0];
	unsigned int at;

	for (at = vm->layout->levels; at > level; at--)
		table = (get_entry(vm, entry_of(vm, table, va, at)) & 0xfffffffff000UL) -
			MEMORY_IPA;
	return entry_of(vm, table, va, level);
}

static void map_range(struct vm *vm, uint64_t va, uint64_t gpa, uint64_t size, uint64_t flags)
{
	uint64_t at;

	for (at = 0; at < size; at += 0x1000)
		map(vm, va + at, gpa + at, 12, flags);
}

static void map_all(struct vm *vm)
{
	uint64_t page = vm->layout->large ? 1UL << vm->layout->large : 0x1000, at;

	vm->next_table = TABLES;
	if (!vm->layout->levels)
		return;
	vm->ttbr[0] = new_table(vm);
	map_range(vm, (uintptr_t)guest_begin, MEMORY_IPA + CODE, guest_end - guest_begin, USER);
	map_range(vm, USER_STACK_VA, MEMORY_IPA + USER_STACK, PAGE_64K, USER);
	for (at = 0; at < MEMORY_SIZE; at += page)
		map(vm, kernel_va(vm, at), MEMORY_IPA + at, vm->layout->large ?: 12, 0);
}

/* One gate, by which programs call the kernel, and its stack */
static void make_system(const struct vm *vm)
{
	bool wide = vm->layout->kernel_bits == 64;
	uint64_t entry = kernel_code(vm, wide ? k64_entry : k32_entry);
	uint64_t selector = (wide ? KERNEL_CODE64 : KERNEL_CODE32) << 3;
	uint64_t stack = kernel_va(vm, KERNEL_STACK + PAGE_64K);
	uint64_t gate[2] = {
		(entry & 0xffff) | selector << 16 | 0xeeUL << 40 | (entry >> 16 & 0xffff) << 48,
		entry >> 32,
	};

	memcpy(vm->memory + SYSTEM, gdt, sizeof(gdt));
	memcpy(vm->memory + IDT + SYSCALL_VECTOR * (wide ? 16 : 8), gate, wide ? 16 : 8);
	memcpy(vm->memory + TSS + 4, &stack, wide ? 8 : 4);
	if (!wide)
		*(uint32_t *)(vm->memory + TSS + 8) = KERNEL_DATA << 3;
}

static struct kvm_cpuid2 *supported_cpuid(const struct vm *vm)
{
	struct kvm_cpuid2 *cpuid = calloc(1, sizeof(*cpuid) + 256 * sizeof(*cpuid->entries));

	if (!cpuid)
		err(1, "calloc");
	cpuid->nent = 256;
	XIOCTL(vm->kvm, KVM_GET_SUPPORTED_CPUID, cpuid);
	return cpuid;
}

static bool has_features(const struct vm *vm)
{
	struct kvm_cpuid2 *cpuid = supported_cpuid(vm);
	const struct kvm_cpuid_entry2 *entry;
	bool la57 = false, large = false;
	unsigned int i;
	int types;

	for (i = 0; i < cpuid->nent; i++) {
		entry = &cpuid->entries[i];
		if (entry->function == 7 && entry->index == 0)
			la57 = entry->ecx & 1 << 16;
		if (entry->function == 0x80000001)
			large = entry->edx & 1 << 26;
	}
	free(cpuid);
	types = ioctl(vm->kvm, KVM_CHECK_EXTENSION, KVM_CAP_VM_TYPES);
	return (la57 || vm->layout->levels != 5) && (large || vm->layout->large != 30) &&
	       (!vm->layout->type || (types > 0 && types >> vm->layout->type & 1));
}

/* Returns whether the CPU has such a layout. */
bool create_vm(struct vm *vm, const struct layout *layout)
{
	vm->layout = layout;
	vm->kvm = open("/dev/kvm", O_RDWR | O_CLOEXEC);
	if (vm->kvm < 0)
		err(1, "/dev/kvm");
	if (!has_features(vm)) {
		close(vm->kvm);
		return false;
	}
	vm->fd = XIOCTL(vm->kvm, KVM_CREATE_VM, layout->type);
	make_memory(vm);
	memcpy(vm->memory + CODE, guest_begin, guest_end - guest_begin);
	map_all(vm);
	make_system(vm);
	add_slot(vm, 0, MEMORY_IPA, vm->memory, MEMORY_SIZE);
	return true;
}

/* Memory that may be private: where it is, the VMM's @memory is not the guest's. */
void add_private_slot(const struct vm *vm, unsigned int slot, uint64_t gpa, void *memory,
		      uint64_t size)
{
	struct kvm_create_guest_memfd create = { .size = size };
	struct kvm_userspace_memory_region2 region = {
		.slot			= slot,
		.flags			= KVM_MEM_GUEST_MEMFD,
		.guest_phys_addr	= gpa,
		.memory_size		= size,
		.userspace_addr		= (uintptr_t)memory,
	};

	region.guest_memfd = XIOCTL(vm->fd, KVM_CREATE_GUEST_MEMFD, &create);
	XIOCTL(vm->fd, KVM_SET_USER_MEMORY_REGION2, &region);
	close(region.guest_memfd);
}

void set_private(const struct vm *vm, uint64_t gpa, uint64_t size, bool private)
{
	struct kvm_memory_attributes attributes = {
		.address	= gpa,
		.size		= size,
		.attributes	= private ? KVM_MEMORY_ATTRIBUTE_PRIVATE : 0,
	};

	XIOCTL(vm->fd, KVM_SET_MEMORY_ATTRIBUTES, &attributes);
}

static struct kvm_segment segment(unsigned int index)
{
	uint64_t descriptor = gdt[index];

	return (struct kvm_segment) {
		.limit		= 0xffffffff,
		.selector	= index << 3 | (descriptor >> 45 & 3),
		.type		= descriptor >> 40 & 0xf,
		.s		= 1,
		.dpl		= descriptor >> 45 & 3,
		.present	= 1,
		.l		= descriptor >> 53 & 1,
		.db		= descriptor >> 54 & 1,
		.g		= 1,
	};
}

/* QEMU's emulation of 32-bit code takes no busy TSS, and KVM shows any as busy. */
static unsigned int tss_type(const struct vcpu *vcpu)
{
	return vcpu->vm->layout->kernel_bits == 64 ? 0xb : 0x9;
}

static void set_segments(const struct vcpu *vcpu, unsigned int code, unsigned int data)
{
	struct kvm_sregs sregs;

	XIOCTL(vcpu->fd, KVM_GET_SREGS, &sregs);
	sregs.cs = segment(code);
	sregs.ss = segment(data);
	sregs.ds = sregs.ss;
	sregs.es = sregs.ss;
	sregs.fs = sregs.ss;
	sregs.gs = sregs.ss;
	sregs.tr.type = tss_type(vcpu);
	XIOCTL(vcpu->fd, KVM_SET_SREGS, &sregs);
}

static void set_system(const struct vcpu *vcpu)
{
	const struct layout *layout = vcpu->vm->layout;
	struct kvm_sregs sregs;

	XIOCTL(vcpu->fd, KVM_GET_SREGS, &sregs);
	sregs.cr0 = CR0_PE | CR0_ET | (layout->levels ? CR0_PG : 0);
	sregs.cr3 = layout->levels ? MEMORY_IPA + vcpu->vm->ttbr[0] : 0;
	sregs.cr4 = layout->levels > 2 ? CR4_PAE : 0;
	if (layout->levels == 5)
		sregs.cr4 |= CR4_LA57;
	if (layout->large == 22)
		sregs.cr4 |= CR4_PSE;
	sregs.efer = layout->kernel_bits == 64 ? EFER_LME_LMA : 0;
	sregs.gdt.base = kernel_va(vcpu->vm, SYSTEM);
	sregs.gdt.limit = sizeof(gdt) - 1;
	sregs.idt.base = kernel_va(vcpu->vm, IDT);
	sregs.idt.limit = 0xfff;
	sregs.tr = (struct kvm_segment) {
		.base = kernel_va(vcpu->vm, TSS), .limit = TSS_SIZE - 1, .present = 1,
		.type = tss_type(vcpu), .selector = 0x38,
	};
	sregs.cs = segment(layout->kernel_bits == 64 ? KERNEL_CODE64 : KERNEL_CODE32);
	sregs.ss = segment(KERNEL_DATA);
	XIOCTL(vcpu->fd, KVM_SET_SREGS, &sregs);
}

/* In the kernel, with paging as the layout has it */
void create_vcpu(struct vm *vm, struct vcpu *vcpu, int id)
{
	struct kvm_cpuid2 *cpuid = supported_cpuid(vm);

	*vcpu = (struct vcpu) { .vm = vm };
	vcpu->fd = XIOCTL(vm->fd, KVM_CREATE_VCPU, id);
	XIOCTL(vcpu->fd, KVM_SET_CPUID2, cpuid);
	free(cpuid);
	vcpu->run_size = XIOCTL(vm->kvm, KVM_GET_VCPU_MMAP_SIZE, 0);
	vcpu->run = mmap(NULL, vcpu->run_size, PROT_READ | PROT_WRITE, MAP_SHARED, vcpu->fd, 0);
	if (vcpu->run == MAP_FAILED)
		err(1, "mmap");
	set_system(vcpu);
}

/* The program, from its start on, which calls the kernel */
void run_program(const struct vcpu *vcpu, const struct spins *spins)
{
	bool wide = vcpu->vm->layout->user_bits == 64;
	struct kvm_regs regs = {
		.rip	= user_code(vcpu->vm, wide ? u64_start : u32_start),
		.rsp	= (vcpu->vm->layout->levels ? USER_STACK_VA : MEMORY_IPA + USER_STACK) +
			  PAGE_64K,
		.rflags	= 2,
		.rbx	= spins->kernel,
		.rsi	= spins->user,
		.rdi	= spins->depth,
	};

	set_segments(vcpu, wide ? USER_CODE64 : USER_CODE32, USER_DATA);
	XIOCTL(vcpu->fd, KVM_SET_REGS, &regs);
}

void run_kernel(const struct vcpu *vcpu, uint64_t pc, uint64_t fp)
{
	struct kvm_regs regs = {
		.rip	= pc,
		.rsp	= kernel_va(vcpu->vm, KERNEL_STACK + PAGE_64K),
		.rbp	= fp,
		.rflags	= 2,
	};

	XIOCTL(vcpu->fd, KVM_SET_REGS, &regs);
}

/* As a program, which has no stack then */
void run_user(const struct vcpu *vcpu, uint64_t pc, uint64_t fp)
{
	bool wide = vcpu->vm->layout->user_bits == 64;
	struct kvm_regs regs = { .rip = pc, .rbp = fp, .rflags = 2 };

	set_segments(vcpu, wide ? USER_CODE64 : USER_CODE32, USER_DATA);
	XIOCTL(vcpu->fd, KVM_SET_REGS, &regs);
}

/* The kernel writes a list of addresses and words at full speed. */
void run_writer(const struct vcpu *vcpu, uint64_t writes, uint64_t nr)
{
	bool wide = vcpu->vm->layout->kernel_bits == 64;
	struct kvm_regs regs = {
		.rip	= kernel_code(vcpu->vm, wide ? k64_writer : k32_writer),
		.rsi	= writes,
		.rdi	= nr,
		.rflags	= 2,
	};

	XIOCTL(vcpu->fd, KVM_SET_REGS, &regs);
}
