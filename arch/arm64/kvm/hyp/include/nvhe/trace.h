/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tracing at EL2: see trace.c. trace_<event>() are made here, from the
 * catalogue in asm/kvm_hypevents.h.
 */
#ifndef __ARM64_KVM_HYP_NVHE_TRACE_H
#define __ARM64_KVM_HYP_NVHE_TRACE_H

#include <linux/compiler.h>
#include <linux/string.h>
#include <linux/types.h>

#include <asm/kvm_hypevents_defs.h>

#ifdef CONFIG_KVM_HYP_TRACING

struct kvm_cpu_context;

/* Of an event: the id of its records while it is on, else 0; and whether it has a filter. */
#define HYP_EVENT_ID		0xffff
#define HYP_EVENT_FILTERED	0x10000

extern u32 hyp_event_states[NR_HYP_EVENTS];

void *hyp_trace_reserve(unsigned int size);
void hyp_trace_commit(void);
s32 hyp_trace_pid(void);
void hyp_trace_park(void);
void hyp_trace_unpark(void);

int __hyp_trace_ring_begin(u64 cpu, u64 meta_pfn, u64 dir_pfn, u64 nr_pages);
int __hyp_trace_ring_add_leaf(u64 cpu, u64 pfn);
int __hyp_trace_ring_add_page(u64 cpu, u64 pfn);
int __hyp_trace_ring_end(u64 cpu);
int __hyp_trace_ring_pop(u64 cpu);
int __hyp_trace_enable(u64 cpu, bool enable);
int __hyp_trace_swap_reader(u64 cpu);
int __hyp_trace_reset(u64 cpu);
int __hyp_trace_set_event(u64 nr, u64 id);
int __hyp_trace_add_pred(u64 nr, u64 index, u64 pred, u64 val);
int __hyp_trace_set_filter(u64 nr, u64 nr_preds);

/* events.c */
bool hyp_hcall_returns(unsigned int id);
void hyp_event_write_filtered(unsigned int nr, const void *record, unsigned int size);

/* trace_hcall.c */
void handle___hyp_trace_ring_begin(struct kvm_cpu_context *host_ctxt);
void handle___hyp_trace_ring_add_leaf(struct kvm_cpu_context *host_ctxt);
void handle___hyp_trace_ring_add_page(struct kvm_cpu_context *host_ctxt);
void handle___hyp_trace_ring_end(struct kvm_cpu_context *host_ctxt);
void handle___hyp_trace_ring_pop(struct kvm_cpu_context *host_ctxt);
void handle___hyp_trace_enable(struct kvm_cpu_context *host_ctxt);
void handle___hyp_trace_swap_reader(struct kvm_cpu_context *host_ctxt);
void handle___hyp_trace_reset(struct kvm_cpu_context *host_ctxt);
void handle___hyp_trace_set_event(struct kvm_cpu_context *host_ctxt);
void handle___hyp_trace_add_pred(struct kvm_cpu_context *host_ctxt);
void handle___hyp_trace_set_filter(struct kvm_cpu_context *host_ctxt);
void handle___hyp_trace_set_clock(struct kvm_cpu_context *host_ctxt);
void handle___hyp_trace_write_event(struct kvm_cpu_context *host_ctxt);

/*
 * An event that is off costs a load and a branch. One that has a filter is put
 * together aside, and has no room in the ring unless it passes.
 */
#define he_field(type, name)
#define HE_PRINTK(fmt, args...)
#define HYP_EVENT(ename, proto, fields, assign, printk)			\
	static inline void trace_##ename(proto)				\
	{								\
		u32 __state = READ_ONCE(hyp_event_states[HYP_EVENT_##ename]);	\
		struct hyp_event_##ename __record, *__entry = &__record;	\
									\
		if (likely(!(__state & HYP_EVENT_ID)))			\
			return;						\
									\
		if (unlikely(__state & HYP_EVENT_FILTERED))		\
			memset(&__record, 0, sizeof(__record));		\
		else							\
			__entry = hyp_trace_reserve(sizeof(*__entry));	\
		if (!__entry)						\
			return;						\
									\
		__entry->header = (struct hyp_event_header) {		\
			.type	= __state,				\
			.pid	= hyp_trace_pid(),			\
		};							\
		assign							\
		if (unlikely(__entry == &__record))			\
			hyp_event_write_filtered(HYP_EVENT_##ename,	\
						 __entry, sizeof(*__entry));	\
		else							\
			hyp_trace_commit();				\
	}
#include <asm/kvm_hypevents.h>
#undef HYP_EVENT
#undef HE_PRINTK
#undef he_field

#else /* !CONFIG_KVM_HYP_TRACING */

static inline void hyp_trace_park(void) { }
static inline void hyp_trace_unpark(void) { }

#define he_field(type, name)
#define HE_PRINTK(fmt, args...)
#define HYP_EVENT(name, proto, fields, assign, printk)			\
	static inline void trace_##name(proto) { }
#include <asm/kvm_hypevents.h>
#undef HYP_EVENT
#undef HE_PRINTK
#undef he_field

#endif /* CONFIG_KVM_HYP_TRACING */

#endif /* __ARM64_KVM_HYP_NVHE_TRACE_H */
