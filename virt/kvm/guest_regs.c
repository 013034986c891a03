// SPDX-License-Identifier: GPL-2.0-only
/*
 * The registers and the stack of a guest, for the samples of perf.
 *
 * perf unwinds the stack of a guest without frame pointers later on, by the call frame
 * information of the guest's kernel. What is said in guest_frame.c holds here, too: the same
 * guests are refused, and no memory is read but ordinary memory that the guest's own tables map.
 * A copy has a bound, the size that the event asks for, which is less than 64 KiB; each page of
 * it is translated once.
 */
#include <linux/kvm_host.h>
#include <linux/minmax.h>
#include <linux/perf_event.h>
#include <linux/uaccess.h>

#include "guest_frame.h"
#include "kvm_mm.h"

/*
 * The stack of a guest of the other byte order would be taken for one of the host's, so that it
 * is refused, too.
 */
static struct kvm_vcpu *find_vcpu(struct kvm_guest_frame *frame)
{
	struct kvm_vcpu *vcpu = kvm_guest_readable_vcpu();

	return vcpu && kvm_arch_vcpu_first_frame(vcpu, frame) && !frame->swap ? vcpu : NULL;
}

/**
 * kvm_guest_get_regs - the registers of the guest that was interrupted
 * @regs: receives them
 *
 * Return: PERF_SAMPLE_REGS_ABI_64 or _32; PERF_SAMPLE_REGS_ABI_NONE if there are none.
 */
unsigned int kvm_guest_get_regs(struct pt_regs *regs)
{
	struct kvm_guest_frame frame = {};
	struct kvm_vcpu *vcpu = find_vcpu(&frame);

	if (!vcpu)
		return PERF_SAMPLE_REGS_ABI_NONE;

	kvm_arch_vcpu_get_regs(vcpu, regs);
	return frame.word == sizeof(u64) ? PERF_SAMPLE_REGS_ABI_64 : PERF_SAMPLE_REGS_ABI_32;
}

/* Within a page of the guest */
static bool copy_within(struct kvm_vcpu *vcpu, void *to, u64 from, unsigned int size)
{
	u64 page = ALIGN_DOWN(from, FRAME_PAGE_SIZE);
	unsigned long hva;
	gpa_t gpa;

	if (!kvm_arch_vcpu_translate(vcpu, page, &gpa))
		return false;

	hva = kvm_guest_find_memory(vcpu, gpa);
	if (!hva)
		return false;

	hva += from - page;
	return access_ok((void __user *)hva, size) &&
	       !__copy_from_user_inatomic(to, (void __user *)hva, size);
}

/**
 * kvm_guest_copy_stack - copy memory of the guest that was interrupted
 * @to: receives it
 * @from: the guest's virtual address
 * @size: how many bytes, less than 64 KiB
 *
 * Return: how many bytes were copied; the next one is not mapped, not in core, or not ordinary
 *	   memory.
 */
unsigned int kvm_guest_copy_stack(void *to, u64 from, unsigned int size)
{
	struct kvm_guest_frame frame = {};
	struct kvm_vcpu *vcpu = find_vcpu(&frame);
	struct kvm_guest_reads reads;
	unsigned int done = 0, part;

	if (!vcpu)
		return 0;

	kvm_guest_begin_reads(vcpu, &reads);
	while (done < size) {
		part = min_t(u64, size - done,
			     FRAME_PAGE_SIZE - (from + done) % FRAME_PAGE_SIZE);
		if (from + done < from || !copy_within(vcpu, to + done, from + done, part))
			break;
		done += part;
	}
	kvm_guest_end_reads(vcpu, &reads);
	return done;
}
