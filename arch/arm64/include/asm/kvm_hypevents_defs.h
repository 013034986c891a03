/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The definitions from asm/kvm_hypevents.h that both sides use: the number of each event,
 * and the structure of its record.
 */
#ifndef __ARM64_KVM_HYPEVENTS_DEFS_H
#define __ARM64_KVM_HYPEVENTS_DEFS_H

#include <linux/bitops.h>
#include <linux/types.h>

/* Pages of a ring that a hypercall adds or returns, at the most: it bounds its time. */
#define HYP_TRACE_HCALL_PAGES	8

/* The filters that the host passes to EL2: of each event, then of the trigger of each event */
#define HYP_TRIGGER_FILTER(nr)		(NR_HYP_EVENTS + (nr))
#define NR_HYP_FILTERS			(2 * NR_HYP_EVENTS)

/* What an event does to tracing, if it matches the filter of its trigger */
#define HYP_TRIGGER_NONE	0
#define HYP_TRIGGER_OFF		1
#define HYP_TRIGGER_ON		2

/* hyp_enter: the reason */
#define HYP_ENTER_HVC		0	/* a hypercall of the host */
#define HYP_ENTER_SMC		1	/* an SMC of the host, trapped */
#define HYP_ENTER_PSCI		2	/* the CPU was turned on, or resumed */
#define HYP_ENTER_ABORT		3	/* a stage-2 abort of the host */
#define HYP_ENTER_GUEST		5	/* a guest exit */
#define HYP_ENTER_FIRMWARE	6	/* the return from an SMC of EL2 */
#define HYP_ENTER_UNKNOWN	7

#define HYP_ENTER_NAMES				\
	{ HYP_ENTER_HVC,	"hvc" },	\
	{ HYP_ENTER_SMC,	"smc" },	\
	{ HYP_ENTER_PSCI,	"psci" },	\
	{ HYP_ENTER_ABORT,	"abort" },	\
	{ HYP_ENTER_GUEST,	"guest" },	\
	{ HYP_ENTER_FIRMWARE,	"firmware" },	\
	{ HYP_ENTER_UNKNOWN,	"unknown" }

/* hyp_exit: the reason, which is where the CPU goes */
#define HYP_EXIT_HOST		0
#define HYP_EXIT_GUEST		1
#define HYP_EXIT_FIRMWARE	2	/* an SMC of EL2 */

#define HYP_EXIT_NAMES				\
	{ HYP_EXIT_HOST,	"host" },	\
	{ HYP_EXIT_GUEST,	"guest" },	\
	{ HYP_EXIT_FIRMWARE,	"firmware" }

/* mem_transition: the op */
#define HYP_MEM_HOST_SHARE		0	/* with the hypervisor */
#define HYP_MEM_HOST_UNSHARE		1
#define HYP_MEM_HOST_DONATE		2	/* to the hypervisor */
#define HYP_MEM_HYP_DONATE		3	/* to the host */
#define HYP_MEM_HOST_SHARE_FFA		4	/* with the secure world */
#define HYP_MEM_HOST_UNSHARE_FFA	5

#define HYP_MEM_NAMES						\
	{ HYP_MEM_HOST_SHARE,		"host_share" },		\
	{ HYP_MEM_HOST_UNSHARE,		"host_unshare" },	\
	{ HYP_MEM_HOST_DONATE,		"host_donate" },	\
	{ HYP_MEM_HYP_DONATE,		"hyp_donate" },		\
	{ HYP_MEM_HOST_SHARE_FFA,	"host_share_ffa" },	\
	{ HYP_MEM_HOST_UNSHARE_FFA,	"host_unshare_ffa" }

/* hyp_enter, hyp_exit: not from or to a guest */
#define HYP_NO_VCPU		(-1)

/* host_hcall: EL2 does not know what the hypercall returns; no hypercall returns this */
#define HYP_HCALL_UNLISTED	0x7fffffffffffffff

/**
 * struct hyp_event_header - the begin of each record, struct trace_entry
 * @type:	the event's id, from the host
 * @flags:	0: the host's contexts mean nothing at EL2
 * @preempt_count: 0
 * @pid:	of the host's task that runs, or runs the vCPU, as the host has it in the meta page
 *		of the CPU's ring
 */
struct hyp_event_header {
	u16	type;
	u8	flags;
	u8	preempt_count;
	s32	pid;
};

#define HE_PROTO(args...)	args
#define HE_STRUCT(fields...)	fields
#define HE_ASSIGN(args...)	args

/* An event's number is its place in the list. */
#define HYP_EVENT(name, proto, fields, assign, printk)	HYP_EVENT_##name,
enum hyp_event_nr {
#include <asm/kvm_hypevents.h>
	NR_HYP_EVENTS
};

/* Those that have files. Behind them are the records of tracers. */
#ifdef CONFIG_KVM_HYP_FUNCTION_TRACER
#define NR_HYP_LISTED_EVENTS	HYP_EVENT_function
#else
#define NR_HYP_LISTED_EVENTS	NR_HYP_EVENTS
#endif

/*
 * Records are laid out by the compiler, the same on both sides. Strings and
 * bitmasks are behind the structure; in it, a word says where, in bytes from the
 * record's begin, and in its upper half how many bytes they are.
 */
#define he_field(type, name)		type name;
#define he_array(type, name, len)	type name[len];
#define he_string(name, src)		u32 __data_loc_##name;
#define he_bitmask(name, nr_bits)	u32 __data_loc_##name;
#define HYP_EVENT(name, proto, fields, assign, printk)	\
	struct hyp_event_##name {			\
		struct hyp_event_header header;		\
		fields					\
	};
#include <asm/kvm_hypevents.h>

/*
 * What filters and triggers know of an event: its record, and behind it the values that EL2 adds.
 * An event with a string or a bitmask has none.
 */
#define he_value(type, name)		type name;
#define HYP_EVENT(name, proto, fields, assign, printk)	\
	struct hyp_event_values_##name {		\
		struct hyp_event_##name record;		\
		fields					\
	};
#include <asm/kvm_hypevents.h>

/* Bytes of a string, its null included; what is longer is cut. */
#define HYP_EVENT_MAX_STRING		128

/* Bytes of a hyp_trace_printk()'s format, its null included */
#define HYP_PRINTK_FORMAT_SIZE		127

/* The section of the formats, all of them alike: an address there is that of one, or of none. */
#ifndef HYP_PRINTK_SECTION
#define HYP_PRINTK_SECTION		".hyp.printk"
#endif

/**
 * struct hyp_printk_format - the format of a hyp_trace_printk()
 * @fmt:	the format
 * @args_size:	bytes that its arguments take in a record
 */
struct hyp_printk_format {
	char	fmt[HYP_PRINTK_FORMAT_SIZE];
	u8	args_size;
};

/* Bytes of a bitmask */
#define HYP_EVENT_BITMASK_SIZE(nr_bits)	(BITS_TO_LONGS(nr_bits) * sizeof(long))

/* What follows a record's structure, at its maximum size */
#define he_string(name, src)		u8 name[HYP_EVENT_MAX_STRING];
#define he_bitmask(name, nr_bits)	u8 name[HYP_EVENT_BITMASK_SIZE(nr_bits)];
#define HYP_EVENT(name, proto, fields, assign, printk)	\
	struct hyp_event_tail_##name {			\
		fields					\
	};
#include <asm/kvm_hypevents.h>

#endif /* __ARM64_KVM_HYPEVENTS_DEFS_H */
