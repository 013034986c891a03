/* SPDX-License-Identifier: GPL-2.0 */
/* x86's guest, in real mode, for AMD's SVM. Included by kvm_exits.c alone. */
#define MEMORY_GPA	0UL
#define MEMORY_SIZE	0x20000UL
#define PAYLOAD		0x1000UL
#define BLOCKS		0x10000UL	/* a struct block for each vCPU */
#define STACKS		0x1000UL	/* behind them */
#define STACK_SIZE	64
#define DEVICE_GPA	0xd0000UL	/* no memory there: an exit */
#define NMI_VECTOR	2
#define NMI_MODE	(4 << 8)	/* of an MSI's data: how it is delivered */
#define APIC_GPA	0xfee00000U

static const char * const counter_names[] = {
	"exits", "hypercalls", "halt_exits", "mmio_exits",
};

/*
 * DS:DI: the block; ES: the device. KVM answers an unknown hypercall in EAX.
 *
 * An NMI ends a HLT. Its handler makes the round, so that none can come between a look at the
 * block and the HLT. It is called once without a round, so that all that it touches is mapped.
 */
asm("	.pushsection .rodata\n"
"	.globl kvm_exits_payload, kvm_exits_payload_end, kvm_exits_nmi\n"
"	.code16\n"
"kvm_exits_payload:\n"
"	int	$2\n"
"1:	hlt\n"
"	jmp	1b\n"
"kvm_exits_nmi:\n"
"	movl	(%di), %eax\n"
"	cmpl	256(%di), %eax\n"
"	je	7f\n"
"	movl	8(%di), %esi\n"
"	testl	%esi, %esi\n"
"	jz	3f\n"
"2:	movl	$0x7fff0000, %eax\n"
"	vmmcall\n"
"	decl	%esi\n"
"	jnz	2b\n"
"3:	movl	16(%di), %esi\n"
"	testl	%esi, %esi\n"
"	jz	5f\n"
"4:	xorl	%eax, %eax\n"
"	cpuid\n"
"	decl	%esi\n"
"	jnz	4b\n"
"5:	movl	24(%di), %esi\n"
"	testl	%esi, %esi\n"
"	jz	7f\n"
"6:	movl	%esi, %es:(0)\n"
"	decl	%esi\n"
"	jz	7f\n"
"	movl	%es:(8), %eax\n"
"	decl	%esi\n"
"	jnz	6b\n"
"7:	movl	(%di), %eax\n"
"	movl	%eax, 256(%di)\n"
"	iretw\n"
"kvm_exits_payload_end:\n"
"	.code64\n"
"	.popsection\n"
);
extern const char kvm_exits_nmi[];

static void flush(void *addr __maybe_unused)
{
}

/* The entry of the vector table has an offset and a segment, which is 0. */
static void init_vm(void)
{
	uint32_t *vectors = memory;

	vectors[NMI_VECTOR] = PAYLOAD + (kvm_exits_nmi - kvm_exits_payload);
	XIOCTL(vm_fd, KVM_CREATE_IRQCHIP, 0);
}

static void set_segment(struct kvm_segment *segment, uint32_t base)
{
	segment->base = base;
	segment->selector = base >> 4;
}

/* The first vCPU alone can run at once. */
static void init_vcpu(const struct vcpu *vcpu)
{
	struct kvm_mp_state state = { .mp_state = KVM_MP_STATE_RUNNABLE };
	struct kvm_regs regs = {
		.rip	= PAYLOAD,
		.rdi	= vcpu->id * sizeof(struct block),
		.rsp	= STACKS + (vcpu->id + 1) * STACK_SIZE,
		.rflags	= 2,
	};
	struct kvm_sregs sregs;

	XIOCTL(vcpu->fd, KVM_GET_SREGS, &sregs);
	set_segment(&sregs.cs, 0);
	set_segment(&sregs.ds, BLOCKS);
	set_segment(&sregs.ss, BLOCKS);
	set_segment(&sregs.es, DEVICE_GPA);
	XIOCTL(vcpu->fd, KVM_SET_SREGS, &sregs);
	XIOCTL(vcpu->fd, KVM_SET_REGS, &regs);
	XIOCTL(vcpu->fd, KVM_SET_MP_STATE, &state);
}

/* KVM maps the APICs of all vCPUs that there are when the state of one is set. */
static void init_irqs(void)
{
	struct kvm_lapic_state state;

	XIOCTL(vcpus[0].fd, KVM_GET_LAPIC, &state);
	XIOCTL(vcpus[0].fd, KVM_SET_LAPIC, &state);
}

static void wake(const struct vcpu *vcpu)
{
	struct kvm_msi msi = {
		.address_lo	= APIC_GPA | vcpu->id << 12,
		.data		= NMI_MODE,
	};

	XIOCTL(vm_fd, KVM_SIGNAL_MSI, &msi);
}

/* An NMI ends by itself. */
static void end_wake(const struct vcpu *vcpu __maybe_unused)
{
}
