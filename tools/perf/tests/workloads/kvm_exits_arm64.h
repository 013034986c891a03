/* SPDX-License-Identifier: GPL-2.0 */
/* arm64's guest, which runs without caches. Included by kvm_exits.c alone. */
#define MEMORY_GPA	0x40000000UL
#define MEMORY_SIZE	0x20000UL	/* two pages of any size */
#define BLOCKS		0x10000UL	/* the second has a struct block for each vCPU */
#define DEVICE_GPA	0x10000000UL	/* no memory there: an exit */
#define GICD_IPA	0x08000000UL
#define GICR_IPA	0x080a0000UL
#define WAKE_PPI	20
#define PAYLOAD		0

static const char * const counter_names[] = {
	"exits", "hvc_exit_stat", "wfi_exit_stat", "mmio_exit_user",
};

/* To memory, and from there the next time */
static void flush(void *addr)
{
	asm volatile("dsb sy; dc civac, %0; dsb sy" : : "r" (addr) : "memory");
}

/* x19: the block; x20: the device. KVM answers an unknown hypercall in x0 to x3. */
asm("	.pushsection .rodata\n"
"	.globl kvm_exits_payload, kvm_exits_payload_end\n"
"	.balign 4\n"
"kvm_exits_payload:\n"
"1:	ldr	x21, [x19, #0]\n"
"	ldr	x22, [x19, #256]\n"
"	cmp	x21, x22\n"
"	b.ne	2f\n"
"	wfi\n"
"	b	1b\n"
"2:	ldr	x23, [x19, #8]\n"
"	cbz	x23, 4f\n"
"3:	mov	w0, #0xc7ff0000\n"
"	hvc	#0\n"
"	sub	x23, x23, #1\n"
"	cbnz	x23, 3b\n"
"4:	ldr	x23, [x19, #16]\n"
"	cbz	x23, 6f\n"
"5:	mrs	x0, id_aa64pfr0_el1\n"
"	sub	x23, x23, #1\n"
"	cbnz	x23, 5b\n"
"6:	ldr	x23, [x19, #24]\n"
"	cbz	x23, 8f\n"
"7:	str	w23, [x20]\n"
"	sub	x23, x23, #1\n"
"	cbz	x23, 8f\n"
"	ldr	w0, [x20, #8]\n"
"	sub	x23, x23, #1\n"
"	cbnz	x23, 7b\n"
"8:	str	x21, [x19, #256]\n"
"	b	1b\n"
"kvm_exits_payload_end:\n"
"	.popsection\n"
);

static void init_vm(void)
{
}

static void set_reg(const struct vcpu *vcpu, size_t offset, uint64_t value)
{
	struct kvm_one_reg reg = {
		.id	= KVM_REG_ARM64 | KVM_REG_SIZE_U64 | KVM_REG_ARM_CORE | offset / 4,
		.addr	= (uintptr_t)&value,
	};

	XIOCTL(vcpu->fd, KVM_SET_ONE_REG, &reg);
}

static void init_vcpu(const struct vcpu *vcpu)
{
	struct kvm_vcpu_init init;

	XIOCTL(vm_fd, KVM_ARM_PREFERRED_TARGET, &init);
	XIOCTL(vcpu->fd, KVM_ARM_VCPU_INIT, &init);
	set_reg(vcpu, offsetof(struct kvm_regs, regs.pc), MEMORY_GPA);
	set_reg(vcpu, offsetof(struct kvm_regs, regs.regs[19]),
		MEMORY_GPA + BLOCKS + vcpu->id * sizeof(struct block));
	set_reg(vcpu, offsetof(struct kvm_regs, regs.regs[20]), DEVICE_GPA);
}

static void set_gic(int fd, uint32_t group, uint64_t attr, uint64_t value)
{
	struct kvm_device_attr device_attr = {
		.group	= group,
		.attr	= attr,
		.addr	= (uintptr_t)&value,
	};

	XIOCTL(fd, KVM_SET_DEVICE_ATTR, &device_attr);
}

#define ICC_REG(crn, crm, op2)	(3UL << 14 | (crn) << 7 | (crm) << 3 | (op2))
#define ICC_PMR			ICC_REG(4, 6, 0)
#define ICC_IGRPEN1		ICC_REG(12, 12, 7)
#define GICR_IGROUPR0		0x10080
#define GICR_ISENABLER0		0x10100

/* One interrupt of each vCPU is enabled; none is ever taken. */
static void init_irqs(void)
{
	struct kvm_create_device device = { .type = KVM_DEV_TYPE_ARM_VGIC_V3 };
	unsigned long i;
	uint64_t cpu;

	XIOCTL(vm_fd, KVM_CREATE_DEVICE, &device);
	set_gic(device.fd, KVM_DEV_ARM_VGIC_GRP_ADDR, KVM_VGIC_V3_ADDR_TYPE_DIST, GICD_IPA);
	set_gic(device.fd, KVM_DEV_ARM_VGIC_GRP_ADDR, KVM_VGIC_V3_ADDR_TYPE_REDIST, GICR_IPA);
	set_gic(device.fd, KVM_DEV_ARM_VGIC_GRP_CTRL, KVM_DEV_ARM_VGIC_CTRL_INIT, 0);
	set_gic(device.fd, KVM_DEV_ARM_VGIC_GRP_DIST_REGS, 0, 2);
	for (i = 0; i < nr_vcpus; i++) {
		cpu = (uint64_t)i << KVM_DEV_ARM_VGIC_V3_MPIDR_SHIFT;
		set_gic(device.fd, KVM_DEV_ARM_VGIC_GRP_REDIST_REGS, cpu | GICR_IGROUPR0,
			1 << WAKE_PPI);
		set_gic(device.fd, KVM_DEV_ARM_VGIC_GRP_REDIST_REGS, cpu | GICR_ISENABLER0,
			1 << WAKE_PPI);
		set_gic(device.fd, KVM_DEV_ARM_VGIC_GRP_CPU_SYSREGS, cpu | ICC_PMR, 0xf8);
		set_gic(device.fd, KVM_DEV_ARM_VGIC_GRP_CPU_SYSREGS, cpu | ICC_IGRPEN1, 1);
	}
}

/* An interrupt ends a WFI even if it is masked. */
static void set_irq(const struct vcpu *vcpu, int level)
{
	struct kvm_irq_level irq = {
		.irq	= KVM_ARM_IRQ_TYPE_PPI << KVM_ARM_IRQ_TYPE_SHIFT |
			  (uint32_t)vcpu->id << KVM_ARM_IRQ_VCPU_SHIFT | WAKE_PPI,
		.level	= level,
	};

	XIOCTL(vm_fd, KVM_IRQ_LINE, &irq);
}

static void wake(const struct vcpu *vcpu)
{
	set_irq(vcpu, 1);
}

static void end_wake(const struct vcpu *vcpu)
{
	set_irq(vcpu, 0);
}
