/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The calls of trace_<event>() in EL2's code: a NOP while the event is off, a branch to the
 * call while it is on. The linker collects them in a table: see hyp.lds.S.
 *
 * Both instructions are of those that the architecture allows to be modified while
 * another PE executes them (Arm ARM, B2.2.5 "Concurrent modification and execution of
 * instructions"). No CPU is stopped for it:
 *
 * - Until its next context synchronization event a CPU may execute the old instruction
 *   or the new one. Either is harmless, since the branch leads to where the event's
 *   state is checked.
 * - Each instruction written is cleaned to memory and invalidated in the instruction
 *   caches of all CPUs before the host's write to the file returns: IC IVAU is broadcast
 *   in the Inner Shareable domain, and a DSB completes it. An exception taken to EL2 and an
 *   exception return are context synchronization events (SCTLR_EL2.EIS and EOS are set).
 *   So each CPU executes the new instruction from its next entry into EL2 on, without an
 *   IPI or an ISB on that CPU. One that was at EL2 meanwhile executes it on leaving at the
 *   latest.
 *
 * An event's state is changed before its sites are patched. In between an event that is
 * turned on is missing at some sites; one that is turned off is rejected by its state.
 */
#ifndef __ARM64_KVM_HYPEVENTS_SITE_H
#define __ARM64_KVM_HYPEVENTS_SITE_H

#include <linux/types.h>

#include <asm/insn-def.h>

/**
 * struct hyp_event_site - a call of trace_<event>()
 * @code:	where the instruction is, from here
 * @target:	where the branch goes, from here
 * @nr:		the event's number
 */
struct hyp_event_site {
	s32	code;
	s32	target;
	u32	nr;
};

#define HYP_EVENT_SITE_NOP	0xd503201f
#define HYP_EVENT_SITE_B(bytes)	(0x14000000 | ((u32)(bytes) / AARCH64_INSN_SIZE & 0x3ffffff))

static inline void *hyp_event_site_code(const struct hyp_event_site *site)
{
	return (void *)&site->code + site->code;
}

static inline void *hyp_event_site_target(const struct hyp_event_site *site)
{
	return (void *)&site->target + site->target;
}

/* The instruction for an event that is on, or off */
static inline u32 hyp_event_site_insn(const struct hyp_event_site *site, bool on)
{
	return on ? HYP_EVENT_SITE_B(hyp_event_site_target(site) - hyp_event_site_code(site)) :
		    HYP_EVENT_SITE_NOP;
}

#endif /* __ARM64_KVM_HYPEVENTS_SITE_H */
