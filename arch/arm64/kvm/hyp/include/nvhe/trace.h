/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tracing at EL2: see trace.c. trace_<event>() are made here, from the
 * catalogue in asm/kvm_hypevents.h.
 */
#ifndef __ARM64_KVM_HYP_NVHE_TRACE_H
#define __ARM64_KVM_HYP_NVHE_TRACE_H

#include <linux/compiler.h>
#include <linux/types.h>

#include <asm/kvm_hypevents_defs.h>

#ifdef CONFIG_KVM_HYP_TRACING

struct kvm_cpu_context;

extern u16 hyp_event_ids[NR_HYP_EVENTS];

void *hyp_trace_reserve(unsigned int size);
void hyp_trace_commit(void);
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
void handle___hyp_trace_set_clock(struct kvm_cpu_context *host_ctxt);

/*
 * An event that is off costs a load and a branch: hyp_event_ids[] holds its id
 * while it is on, else 0.
 */
#define he_field(type, name)
#define HE_PRINTK(fmt, args...)
#define HYP_EVENT(name, proto, fields, assign, printk)			\
	static inline void trace_##name(proto)				\
	{								\
		u16 __id = READ_ONCE(hyp_event_ids[HYP_EVENT_##name]);	\
		struct hyp_event_##name *__entry;			\
									\
		if (likely(!__id))					\
			return;						\
									\
		__entry = hyp_trace_reserve(sizeof(*__entry));		\
		if (!__entry)						\
			return;						\
									\
		__entry->header = (struct hyp_event_header) {		\
			.type = __id,					\
		};							\
		assign							\
		hyp_trace_commit();					\
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
