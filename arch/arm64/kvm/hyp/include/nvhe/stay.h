/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Stays at EL2: each entry and each exit calls here, for the events hyp_enter and hyp_exit and
 * for accounting. See stay.c.
 *
 * One word says whether any of these is on. While it is 0, a call is three instructions: an
 * address, a load and a branch. Arguments are computed only if it is not.
 */
#ifndef __ARM64_KVM_HYP_NVHE_STAY_H
#define __ARM64_KVM_HYP_NVHE_STAY_H

#include <linux/bits.h>
#include <linux/build_bug.h>
#include <linux/container_of.h>
#include <linux/kvm_host.h>
#include <uapi/linux/psci.h>

#include <asm/esr.h>
#include <asm/kvm_emulate.h>
#include <asm/kvm_hyp.h>
#include <asm/kvm_hypacct.h>

#include <nvhe/clock.h>
#include <nvhe/trace.h>

#ifdef CONFIG_KVM_HYP_ACCOUNTING

/* Why hyp_stay_on is not 0 */
#define HYP_STAY_ACCOUNT	BIT(0)	/* accounting is on */
#define HYP_STAY_ENTER		BIT(1)	/* the event hyp_enter is */
#define HYP_STAY_EXIT		BIT(2)	/* the event hyp_exit is */

extern u32 hyp_stay_on;
extern const u8 hyp_stay_classes[ESR_ELx_EC_MAX + 1];

void hyp_stay_set(u32 mask, bool on);
void hyp_stay_set_event(unsigned long nr, bool on);

u64 __hyp_stay_begin(u64 now, struct hyp_stay *stay, unsigned int reason);
u64 __hyp_stay_end(u64 now, struct hyp_stay *stay);
u64 __hyp_stay_leave_firmware(u64 now, struct hyp_stay *stay, unsigned int gap);
u64 __hyp_stay_resume(u64 now, struct hyp_stay *stay);
u64 __hyp_stay_cpu_entry(u64 now, struct hyp_stay *stay);
u64 __hyp_stay_leave_guest(u64 now, struct hyp_stay *stay, struct kvm_vcpu *vcpu);
u64 __hyp_stay_return_guest(u64 now, struct hyp_stay *stay, unsigned int reason);

/* stay_stop.c */
extern u64 hyp_stay_threshold;

u64 hyp_stay_check(u64 now, const struct hyp_stay *stay, u64 cell, u64 cycles, u8 why);

/* The cell that @cell of struct hyp_stay is the address of */
static __always_inline struct hyp_acct_cell *hyp_stay_cell(u64 cell)
{
	return (struct hyp_acct_cell *)(cell & ~HYP_STAY_RESUMED);
}

/* The fields of an event are a word, as in memory. */
static __always_inline u32 hyp_stay_fields(u8 why, s16 vcpu)
{
	return why | (u32)vcpu << 16;
}

static_assert(offsetof(struct hyp_event_hyp_enter, reason) == sizeof(struct hyp_event_header));
static_assert(offsetof(struct hyp_event_hyp_enter, vcpu) ==
	      offsetof(struct hyp_event_hyp_enter, reason) + 2);

/*
 * Account by __hyp_stay_<how>(), and write the event, with the same time. The function returns the
 * time, which so stays in its register.
 */
#define hyp_stay_call(how, bit, event, why, vcpu, stay, args...)		\
do {										\
	u32 __on = READ_ONCE(hyp_stay_on);					\
	u64 __now;								\
										\
	if (likely(!__on))							\
		break;								\
										\
	__now = hyp_clock_count();						\
	if (__on & HYP_STAY_ACCOUNT)						\
		__now = __hyp_stay_##how(__now, stay, ##args);			\
	if (__on & (bit))							\
		hyp_event_write_4(event, hyp_stay_fields(why, vcpu), __now);	\
} while (0)

#define hyp_stay_enter(how, why, vcpu, stay, args...)				\
	hyp_stay_call(how, HYP_STAY_ENTER, HYP_EVENT_hyp_enter, HYP_ENTER_##why, vcpu, stay, ##args)
#define hyp_stay_exit(how, why, vcpu, stay, args...)				\
	hyp_stay_call(how, HYP_STAY_EXIT, HYP_EVENT_hyp_exit, HYP_EXIT_##why, vcpu, stay, ##args)

static __always_inline struct hyp_stay *hyp_stay_of(struct kvm_cpu_context *host_ctxt)
{
	return &container_of(host_ctxt, struct kvm_host_data, host_ctxt)->stay;
}

#else /* !CONFIG_KVM_HYP_ACCOUNTING */

static inline void hyp_stay_set_event(unsigned long nr, bool on) { }

/* What remains are the events. */
#define hyp_stay_enter(how, why, vcpu, stay, ...)		\
do {								\
	if (trace_hyp_enter_enabled())				\
		trace_hyp_enter(HYP_ENTER_##why, vcpu);		\
} while (0)
#define hyp_stay_exit(how, why, vcpu, stay, ...)		\
do {								\
	if (trace_hyp_exit_enabled())				\
		trace_hyp_exit(HYP_EXIT_##why, vcpu);		\
} while (0)

#endif /* CONFIG_KVM_HYP_ACCOUNTING */

/* The number of a PSCI function, whichever the calling convention */
static __always_inline u32 hyp_stay_psci(u64 func_id)
{
	return ((u32)func_id & ~PSCI_0_2_64BIT) - PSCI_0_2_FN_BASE;
}

/* The reason of an SMC of the host. PSCI_0_2_FN_BASE is also that of FF-A, from 0x60 on. */
static __always_inline unsigned int hyp_stay_smc(u64 func_id)
{
	u32 nr = hyp_stay_psci(func_id);

	if (nr < HYP_ACCT_NR_PSCI)
		return HYP_ACCT_PSCI + nr;
	return nr >= 0x60 && nr <= 0xff ? HYP_ACCT_FFA : HYP_ACCT_SMC;
}

/* A CPU that a PSCI call turns off or suspends is idle. Other calls are work of the firmware. */
static __always_inline unsigned int hyp_stay_gap(u64 func_id)
{
	switch (func_id & ~PSCI_0_2_64BIT) {
	case PSCI_0_2_FN_CPU_SUSPEND:
	case PSCI_0_2_FN_CPU_OFF:
	case PSCI_1_0_FN_CPU_FREEZE:
	case PSCI_1_0_FN_CPU_DEFAULT_SUSPEND:
	case PSCI_1_0_FN_SYSTEM_SUSPEND:
		return HYP_ACCT_IN_IDLE;
	}

	return HYP_ACCT_IN_FIRMWARE;
}

#ifdef CONFIG_KVM_HYP_ACCOUNTING
/* The reason of a guest's exit. Why a protected guest exits is its own. */
static __always_inline unsigned int hyp_stay_guest(struct kvm_vcpu *vcpu, u64 exit_code)
{
	unsigned int code;

	if (vcpu_is_protected(vcpu))
		return HYP_ACCT_GUEST_PROTECTED;

	code = ARM_EXCEPTION_CODE(exit_code);
	if (code == ARM_EXCEPTION_TRAP)
		return HYP_ACCT_GUEST_OTHER +
		       hyp_stay_classes[ESR_ELx_EC(read_sysreg_el2(SYS_ESR))];
	return code <= ARM_EXCEPTION_IL ? HYP_ACCT_GUEST_IRQ + code : HYP_ACCT_GUEST_OTHER;
}

static_assert(ARM_EXCEPTION_EL1_SERROR + HYP_ACCT_GUEST_IRQ == HYP_ACCT_GUEST_EL1_SERROR);
static_assert(ARM_EXCEPTION_IL + HYP_ACCT_GUEST_IRQ == HYP_ACCT_GUEST_IL);
#endif

/**
 * hyp_stay_begin_hcall - the host has made a hypercall
 * @host_ctxt:	the context of the host on this CPU
 * @id:		the hypercall's number, if it has one
 *
 * Context: any at EL2, as all below.
 */
static __always_inline void hyp_stay_begin_hcall(struct kvm_cpu_context *host_ctxt,
						 unsigned long id)
{
	hyp_stay_enter(begin, HVC, HYP_NO_VCPU, hyp_stay_of(host_ctxt), HYP_ACCT_HCALL + id);
}

/**
 * hyp_stay_begin_invalid - the host has made a hypercall that there is not
 * @host_ctxt:	the context of the host on this CPU
 */
static __always_inline void hyp_stay_begin_invalid(struct kvm_cpu_context *host_ctxt)
{
	hyp_stay_enter(begin, HVC, HYP_NO_VCPU, hyp_stay_of(host_ctxt), HYP_ACCT_HCALL_INVALID);
}

/**
 * hyp_stay_begin_smc - the host has made an SMC
 * @host_ctxt:	the context of the host on this CPU
 * @func_id:	the function
 */
static __always_inline void hyp_stay_begin_smc(struct kvm_cpu_context *host_ctxt, u64 func_id)
{
	hyp_stay_enter(begin, SMC, HYP_NO_VCPU, hyp_stay_of(host_ctxt), hyp_stay_smc(func_id));
}

/**
 * hyp_stay_begin_abort - the host's stage 2 has no translation
 * @host_ctxt:	the context of the host on this CPU
 */
static __always_inline void hyp_stay_begin_abort(struct kvm_cpu_context *host_ctxt)
{
	hyp_stay_enter(begin, ABORT, HYP_NO_VCPU, hyp_stay_of(host_ctxt), HYP_ACCT_ABORT);
}

/**
 * hyp_stay_cpu_entry - the firmware has turned this CPU on, or resumed it
 * @host_ctxt:	the context of the host on this CPU
 */
static __always_inline void hyp_stay_cpu_entry(struct kvm_cpu_context *host_ctxt)
{
	hyp_stay_enter(cpu_entry, PSCI, HYP_NO_VCPU, hyp_stay_of(host_ctxt));
}

/**
 * hyp_stay_end - return to the host
 * @host_ctxt:	its context on this CPU
 */
static __always_inline void hyp_stay_end(struct kvm_cpu_context *host_ctxt)
{
	hyp_stay_exit(end, HOST, HYP_NO_VCPU, hyp_stay_of(host_ctxt));
}

/**
 * hyp_stay_leave_firmware - call the firmware in the middle of a stay
 * @func_id:	the function, if it may be of PSCI; else 0
 */
static __always_inline void hyp_stay_leave_firmware(u64 func_id)
{
	hyp_stay_exit(leave_firmware, FIRMWARE, HYP_NO_VCPU, host_data_ptr(stay),
		      hyp_stay_gap(func_id));
}

/**
 * hyp_stay_resume - the firmware has returned
 */
static __always_inline void hyp_stay_resume(void)
{
	hyp_stay_enter(resume, FIRMWARE, HYP_NO_VCPU, host_data_ptr(stay));
}

/**
 * hyp_stay_leave_guest - run a vCPU
 * @host_ctxt:	the context of the host on this CPU
 * @vcpu:	the vCPU
 */
static __always_inline void hyp_stay_leave_guest(struct kvm_cpu_context *host_ctxt,
						 struct kvm_vcpu *vcpu)
{
	hyp_stay_exit(leave_guest, GUEST, vcpu->vcpu_id, hyp_stay_of(host_ctxt), vcpu);
}

/**
 * hyp_stay_return_guest - a vCPU has exited
 * @host_ctxt:	the context of the host on this CPU
 * @vcpu:	the vCPU
 * @exit_code:	how, ARM_EXCEPTION_*
 */
static __always_inline void hyp_stay_return_guest(struct kvm_cpu_context *host_ctxt,
						  struct kvm_vcpu *vcpu, u64 exit_code)
{
	hyp_stay_enter(return_guest, GUEST, vcpu->vcpu_id, hyp_stay_of(host_ctxt),
		       hyp_stay_guest(vcpu, exit_code));
}

#endif /* __ARM64_KVM_HYP_NVHE_STAY_H */
