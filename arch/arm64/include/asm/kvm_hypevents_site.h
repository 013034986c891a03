/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Where EL2's code calls trace_<event>(): a NOP while the event is off, a branch to the
 * call while it is on. The linker collects the places: see hyp.lds.S.
 *
 * Either instruction may be written over the other while a CPU executes it: it
 * executes the one or the other (Arm ARM, B2.2.5 "Concurrent modification and execution
 * of instructions"), and that one which was there last after the next exception it
 * takes. Which of them does not matter: they only spare an event that is off the
 * way to where its state is looked up.
 */
#ifndef __ARM64_KVM_HYPEVENTS_SITE_H
#define __ARM64_KVM_HYPEVENTS_SITE_H

#include <linux/types.h>

#include <asm/insn-def.h>

/**
 * struct hyp_event_site - a call of trace_<event>()
 * @code:	where the instruction is, from here
 * @target:	where the branch goes, from here
 * @nr:		the event's place in the catalogue
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
