/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The catalogue of the hypervisor's trace events, for both sides: EL2 makes
 * trace_<event>() of an entry, the host its files and its text. An event is
 * one entry here and one call there.
 *
 * No include guard: who reads this defines HYP_EVENT() before, see
 * asm/kvm_hypevents_defs.h.
 */

/* Every way into EL2; time at EL2 is from here to the next hyp_exit. */
HYP_EVENT(hyp_enter,
	HE_PROTO(u8 reason),
	HE_STRUCT(
		he_field(u8, reason)
	),
	HE_ASSIGN(
		__entry->reason = reason;
	),
	HE_PRINTK("reason=%s", show_hyp_enter_reason(__entry->reason))
)

/* Every way out of EL2. */
HYP_EVENT(hyp_exit,
	HE_PROTO(u8 reason),
	HE_STRUCT(
		he_field(u8, reason)
	),
	HE_ASSIGN(
		__entry->reason = reason;
	),
	HE_PRINTK("reason=%s", show_hyp_exit_reason(__entry->reason))
)
