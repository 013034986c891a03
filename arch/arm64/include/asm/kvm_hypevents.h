/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The list of the hypervisor's trace events, for both sides: an entry becomes
 * trace_<event>() at EL2, and the event's files and text in the kernel. A new event needs
 * one entry here and one call at EL2.
 *
 * There is no include guard: a file defines HYP_EVENT() and the macros of fields and text
 * that it needs, then includes this one. See asm/kvm_hypevents_defs.h.
 *
 * HE_PROTO() has the arguments of trace_<event>(); HE_ASSIGN() fills in __entry from
 * them, and HE_PRINTK() is its text. HE_STRUCT() has the fields:
 *
 *	he_field(type, name)		a number
 *	he_named(type, name, names)	a number that has names, as a list of { number, "name" };
 *					__print_named(name, names) prints the name, and filters
 *					know it
 *	he_array(type, name, len)	numbers; __print_array() or __print_hex() prints them
 *	he_string(name, src)		a copy of the string src, of 127 characters at most;
 *					filled in by __assign_str(name), __get_str(name) is it
 *	he_bitmask(name, nr_bits)	filled in by __assign_bitmask(name, src, nr_bits),
 *					__get_bitmask(name) prints it
 *	__print_function(name)		the function that a number is the kernel's address of; its
 *					conversion is HE_FUNCTION
 *	he_value(type, name)		a number that is not in the record: EL2 knows it when it
 *					evaluates a filter or a trigger
 *	he_printk(fmt, buf)		of hyp_printk alone: the address of a format, and what
 *					it formats; __get_text(fmt, buf) prints the text
 */

#ifndef he_field
#define he_field(type, name)
#endif
#ifndef he_named
#define he_named(type, name, names...)	he_field(type, name)
#endif
#ifndef he_array
#define he_array(type, name, len)
#endif
#ifndef he_string
#define he_string(name, src)
#endif
#ifndef he_bitmask
#define he_bitmask(name, nr_bits)
#endif
#ifndef he_value
#define he_value(type, name)
#endif
#ifndef he_printk
#define he_printk(fmt, buf)		he_field(u64, fmt)
#endif
#ifndef HE_PRINTK
#define HE_PRINTK(fmt, args...)
#endif

/*
 * Each entry into EL2 and each exit. The time at EL2 is from a hyp_enter to the next hyp_exit:
 * stay_ns. libtraceevent extends the sign of 16 bits for %hd alone.
 */
#define HE_NO_VALUE
#define HYP_EVENT_ENTRY_EXIT(ename, values, reasons...)			\
HYP_EVENT(ename,							\
	HE_PROTO(u8 reason, s16 vcpu),					\
	HE_STRUCT(							\
		he_named(u8, reason, reasons)				\
		he_field(s16, vcpu)					\
		values							\
	),								\
	HE_ASSIGN(							\
		__entry->reason = reason;				\
		__entry->vcpu = vcpu;					\
	),								\
	HE_PRINTK("reason=%s vcpu=%hd", __print_named(reason, reasons),	\
		  __entry->vcpu)					\
)
HYP_EVENT_ENTRY_EXIT(hyp_enter, HE_NO_VALUE, HYP_ENTER_NAMES)
HYP_EVENT_ENTRY_EXIT(hyp_exit, he_value(u64, stay_ns), HYP_EXIT_NAMES)
#undef HYP_EVENT_ENTRY_EXIT
#undef HE_NO_VALUE

/*
 * A hypercall of the host, after it was done or refused. An id that does not fit is
 * U32_MAX, which is no hypercall either. In place of a result that EL2 does not know, the text
 * has unlisted=1.
 */
HYP_EVENT(host_hcall,
	HE_PROTO(u64 id, bool invalid, s64 ret),
	HE_STRUCT(
		he_named(u32, id, HYP_HCALL_NAMES)
		he_field(u8, invalid)
		he_field(s64, ret)
	),
	HE_ASSIGN(
		__entry->id = id > U32_MAX ? U32_MAX : id;
		__entry->invalid = invalid;
		__entry->ret = invalid ? ret : hyp_hcall_result(id, ret);
	),
	HE_PRINTK("id=%u name=%s invalid=%u %s=%lld", __entry->id,
		  __print_named(id, HYP_HCALL_NAMES), __entry->invalid,
		  __entry->ret == HYP_HCALL_UNLISTED ? "unlisted" : "ret",
		  __entry->ret == HYP_HCALL_UNLISTED ? 1 : __entry->ret)
)

/* An SMC of the host, before it is forwarded, if it is */
HYP_EVENT(host_smc,
	HE_PROTO(u64 id, bool forwarded),
	HE_STRUCT(
		he_named(u64, id, HYP_SMC_NAMES)
		he_field(u8, forwarded)
	),
	HE_ASSIGN(
		__entry->id = id;
		__entry->forwarded = forwarded;
	),
	HE_PRINTK("id=0x%llx name=%s forwarded=%u", __entry->id,
		  __print_named(id, HYP_SMC_NAMES), __entry->forwarded)
)

/* The host has accessed an address that its stage 2 does not map. */
HYP_EVENT(host_mem_abort,
	HE_PROTO(u64 esr, u64 addr),
	HE_STRUCT(
		he_field(u64, esr)
		he_field(u64, addr)
	),
	HE_ASSIGN(
		__entry->esr = esr;
		__entry->addr = addr;
	),
	HE_PRINTK("esr=0x%llx ec=%s addr=0x%llx", __entry->esr,
		  show_hyp_ec(__entry->esr), __entry->addr)
)

/* Memory changes hands, or that is refused. */
HYP_EVENT(mem_transition,
	HE_PROTO(u8 op, u64 pfn, u64 nr_pages, int ret),
	HE_STRUCT(
		he_field(u64, pfn)
		he_field(u32, nr_pages)
		he_field(s16, ret)
		he_named(u8, op, HYP_MEM_NAMES)
	),
	HE_ASSIGN(
		__entry->pfn = pfn;
		__entry->nr_pages = nr_pages;
		__entry->ret = ret;
		__entry->op = op;
	),
	HE_PRINTK("op=%s pfn=0x%llx nr_pages=%u ret=%hd", __print_named(op, HYP_MEM_NAMES),
		  __entry->pfn, __entry->nr_pages, __entry->ret)
)

/*
 * An FF-A call of the host, and its result. EL2 does not keep a4. a0 has the call's status, or
 * the version. It is last, because programs know the fields before it.
 */
HYP_EVENT(host_ffa_call,
	HE_PROTO(u64 func_id, u64 res_a0, u64 res_a1, u64 res_a2, u64 res_a3, bool handled,
		 int err),
	HE_STRUCT(
		he_named(u64, func_id, HYP_SMC_NAMES)
		he_field(u64, res_a1)
		he_field(u64, res_a2)
		he_field(u64, res_a3)
		he_field(u64, res_a4)
		he_field(s32, handled)
		he_field(s32, err)
		he_field(u64, res_a0)
	),
	HE_ASSIGN(
		__entry->func_id = func_id;
		__entry->res_a1 = res_a1;
		__entry->res_a2 = res_a2;
		__entry->res_a3 = res_a3;
		__entry->res_a4 = 0;
		__entry->handled = handled;
		__entry->err = err;
		__entry->res_a0 = res_a0;
	),
	HE_PRINTK(
	"func_id=0x%llx name=%s res=0x%llx,0x%llx,0x%llx,0x%llx handled=%d err=%d res_a0=0x%llx",
		  __entry->func_id, __print_named(func_id, HYP_SMC_NAMES), __entry->res_a1,
		  __entry->res_a2, __entry->res_a3, __entry->res_a4, __entry->handled,
		  __entry->err, __entry->res_a0)
)

/* A PSCI call to the firmware, for the host */
HYP_EVENT(psci_call,
	HE_PROTO(u32 fn, u64 arg0, u64 arg1, u64 arg2),
	HE_STRUCT(
		he_named(u32, fn, HYP_SMC_NAMES)
		he_field(u64, arg0)
		he_field(u64, arg1)
		he_field(u64, arg2)
	),
	HE_ASSIGN(
		__entry->fn = fn;
		__entry->arg0 = arg0;
		__entry->arg1 = arg1;
		__entry->arg2 = arg2;
	),
	HE_PRINTK("fn=0x%x name=%s arg0=0x%llx arg1=0x%llx arg2=0x%llx", __entry->fn,
		  __print_named(fn, HYP_SMC_NAMES), __entry->arg0, __entry->arg1, __entry->arg2)
)

/* A vCPU is about to run. vm_pid and vm_fd name its VM, as struct kvm_trace_name does. */
HYP_EVENT(guest_enter,
	HE_PROTO(u32 vcpu, s32 vm_pid, s32 vm_fd),
	HE_STRUCT(
		he_field(u32, vcpu)
		he_field(s32, vm_pid)
		he_field(s32, vm_fd)
	),
	HE_ASSIGN(
		__entry->vcpu = vcpu;
		__entry->vm_pid = vm_pid;
		__entry->vm_fd = vm_fd;
	),
	HE_PRINTK("vcpu=%u vm_pid=%d vm_fd=%d", __entry->vcpu, __entry->vm_pid, __entry->vm_fd)
)

/*
 * A vCPU has run. An interrupt has no esr, and only a stage-2 fault has an ipa. A protected guest
 * has none of these, and no elr.
 */
HYP_EVENT(guest_exit,
	HE_PROTO(u32 vcpu, u32 exit_code, u64 esr, u64 elr, u64 ipa, s32 vm_pid, s32 vm_fd,
		 bool serror),
	HE_STRUCT(
		he_field(u32, vcpu)
		he_named(u32, exit_code, kvm_arm_exception_type)
		he_field(u64, esr)
		he_field(u64, elr)
		he_field(u64, ipa)
		he_field(s32, vm_pid)
		he_field(s32, vm_fd)
		he_field(u8, serror)
	),
	HE_ASSIGN(
		__entry->vcpu = vcpu;
		__entry->exit_code = exit_code;
		__entry->esr = esr;
		__entry->elr = elr;
		__entry->ipa = ipa;
		__entry->vm_pid = vm_pid;
		__entry->vm_fd = vm_fd;
		__entry->serror = serror;
	),
	HE_PRINTK(
	"vcpu=%u exit_code=%s esr=0x%llx ec=%s elr=0x%llx ipa=0x%llx vm_pid=%d vm_fd=%d serror=%u",
		  __entry->vcpu, __print_named(exit_code, kvm_arm_exception_type), __entry->esr,
		  show_hyp_ec(__entry->esr), __entry->elr, __entry->ipa, __entry->vm_pid,
		  __entry->vm_fd, __entry->serror)
)

/* A protected guest was trapped doing what it may not. No esr, as above. */
HYP_EVENT(vcpu_illegal_trap,
	HE_PROTO(u64 esr, u32 vcpu, s32 vm_pid, s32 vm_fd),
	HE_STRUCT(
		he_field(u64, esr)
		he_field(u32, vcpu)
		he_field(s32, vm_pid)
		he_field(s32, vm_fd)
	),
	HE_ASSIGN(
		__entry->esr = esr;
		__entry->vcpu = vcpu;
		__entry->vm_pid = vm_pid;
		__entry->vm_fd = vm_fd;
	),
	HE_PRINTK("esr=0x%llx ec=%s vcpu=%u vm_pid=%d vm_fd=%d", __entry->esr,
		  show_hyp_ec(__entry->esr), __entry->vcpu, __entry->vm_pid, __entry->vm_fd)
)

/* EL2's allocator allocates pages (pfn=0: it has none), and frees them. */
#define HYP_EVENT_PAGES(ename)						\
HYP_EVENT(ename,							\
	HE_PROTO(u64 pfn, u8 order),					\
	HE_STRUCT(							\
		he_field(u64, pfn)					\
		he_field(u8, order)					\
	),								\
	HE_ASSIGN(							\
		__entry->pfn = pfn;					\
		__entry->order = order;					\
	),								\
	HE_PRINTK("pfn=0x%llx order=%u", __entry->pfn, __entry->order)	\
)
HYP_EVENT_PAGES(hyp_alloc)
HYP_EVENT_PAGES(hyp_free)
#undef HYP_EVENT_PAGES

/*
 * A hyp_trace_printk(). The arguments follow the structure. The record is struct bprint_entry, also
 * by its id: see nvhe/printk.h.
 */
HYP_EVENT(hyp_printk,
	HE_PROTO(u64 ip, u64 fmt),
	HE_STRUCT(
		he_field(unsigned long, ip)
		he_printk(fmt, buf)
	),
	HE_ASSIGN(
		__entry->ip = ip;
		__entry->fmt = fmt;
	),
	HE_PRINTK("%s", __get_text(fmt, buf))
)

#ifdef CONFIG_KVM_HYP_FUNCTION_TRACER
/* A function of EL2 that set_ftrace_filter selects is entered. parent_ip is where it was called. */
HYP_EVENT(func,
	HE_PROTO(u64 ip, u64 parent_ip),
	HE_STRUCT(
		he_field(u64, ip)
		he_field(u64, parent_ip)
	),
	HE_ASSIGN(
		__entry->ip = ip;
		__entry->parent_ip = parent_ip;
	),
	HE_PRINTK(HE_FUNCTION " <-" HE_FUNCTION, __print_function(ip),
		  __print_function(parent_ip))
)

/* Such a function returns. */
HYP_EVENT(func_ret,
	HE_PROTO(u64 ip),
	HE_STRUCT(
		he_field(u64, ip)
	),
	HE_ASSIGN(
		__entry->ip = ip;
	),
	HE_PRINTK(HE_FUNCTION, __print_function(ip))
)
#endif

#ifdef CONFIG_KVM_HYP_TRACING_SELFTEST
/* A number that was written to write_event */
HYP_EVENT(selftest,
	HE_PROTO(u64 id),
	HE_STRUCT(
		he_field(u64, id)
	),
	HE_ASSIGN(
		__entry->id = id;
	),
	HE_PRINTK("id=%llu", __entry->id)
)
#endif

#ifdef CONFIG_KVM_HYP_FUNCTION_TRACER
#include <asm/kvm_hyptracers.h>
#endif

#undef HYP_EVENT
#undef he_field
#undef he_named
#undef he_array
#undef he_string
#undef he_bitmask
#undef he_value
#undef he_printk
#undef HE_PRINTK
