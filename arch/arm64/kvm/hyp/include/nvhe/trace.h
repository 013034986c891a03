/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tracing at EL2: see trace.c. This header defines trace_<event>() for each event of the
 * event list in asm/kvm_hypevents.h.
 */
#ifndef __ARM64_KVM_HYP_NVHE_TRACE_H
#define __ARM64_KVM_HYP_NVHE_TRACE_H

#include <linux/align.h>
#include <linux/args.h>
#include <linux/atomic.h>
#include <linux/build_bug.h>
#include <linux/compiler.h>
#include <linux/instruction_pointer.h>
#include <linux/limits.h>
#include <linux/string.h>
#include <linux/types.h>

#include <asm/kvm_hypevents_defs.h>

#include <nvhe/clock.h>
#include <nvhe/filter.h>
#include <nvhe/printk.h>

#ifdef CONFIG_KVM_HYP_TRACING

struct hyp_trace_cpu;
struct kvm_cpu_context;

extern atomic_t hyp_trace_nr_enabled;

bool hyp_trace_park_cpu(void);
void hyp_trace_unpark(void);

int hyp_trace_pin(u64 pfn, void **va);
void hyp_trace_unpin(void *va);

/* The functions of the hypercalls, by trace_hcall.c, are in trace.c and events.c. */
int hyp_trace_ring_begin(struct hyp_trace_cpu *trace, u64 meta_pfn, u64 dir_pfn, u64 nr_pages);
int hyp_trace_ring_add_leaf(struct hyp_trace_cpu *trace, u64 pfn);
int hyp_trace_ring_add_pages(struct hyp_trace_cpu *trace, u64 pfn, u64 nr_pages);
int hyp_trace_ring_end(struct hyp_trace_cpu *trace);
int hyp_trace_ring_pop(struct hyp_trace_cpu *trace);
int hyp_trace_enable(struct hyp_trace_cpu *trace, bool enable);
int hyp_trace_swap_reader(struct hyp_trace_cpu *trace);
int hyp_trace_reset(struct hyp_trace_cpu *trace);
int hyp_trace_set_overwrite(struct hyp_trace_cpu *trace, bool overwrite);
int hyp_trace_set_event(u64 nr, u64 id);
int hyp_trace_add_pred(u64 nr, u64 index, u64 code, u64 val);
int hyp_trace_set_filter(u64 nr, u64 nr_preds);
int hyp_trace_set_trigger(u64 nr, u64 action, u64 count, u64 nr_preds);
s64 hyp_trace_trigger_count(u64 nr);

/* events.c: whether the event is on, a variable for each */
#define HYP_EVENT(name, proto, fields, assign, printk)	extern u32 hyp_event_on_##name;
#include <asm/kvm_hypevents.h>

s64 hyp_hcall_result(u64 id, s64 ret);

extern struct hyp_filter hyp_event_filters[NR_HYP_FILTERS];

/* func.c */
#ifdef CONFIG_KVM_HYP_FUNCTION_TRACER
void hyp_func_update_events(void);
#else
static inline void hyp_func_update_events(void) { }
#endif

/* event_write.c */
extern u64 hyp_kimg_offset;

void hyp_event_write(unsigned long nr, struct hyp_event_header *record, unsigned int size,
		     u64 count);
void hyp_event_write_4(unsigned long nr, u64 a, u64 count);
void hyp_event_write_8(unsigned long nr, u64 a);
void hyp_event_write_12(unsigned long nr, u64 a, u64 b);
void hyp_event_write_16(unsigned long nr, u64 a, u64 b);
void hyp_event_write_24(unsigned long nr, u64 a, u64 b, u64 c);
void hyp_event_write_48(unsigned long nr, u64 a, u64 b, u64 c, u64 d, u64 e, u64 f);
void hyp_event_printk(unsigned long ip, const char *fmt, struct hyp_event_hyp_printk *record,
		      unsigned long size);
void hyp_event_funcgraph_exit(u64 func, s32 depth, u32 overrun, u64 entered);

/* trace_hcall.c */
void handle___hyp_trace_ring_begin(struct kvm_cpu_context *host_ctxt);
void handle___hyp_trace_ring_add_leaf(struct kvm_cpu_context *host_ctxt);
void handle___hyp_trace_ring_add_pages(struct kvm_cpu_context *host_ctxt);
void handle___hyp_trace_ring_end(struct kvm_cpu_context *host_ctxt);
void handle___hyp_trace_ring_pop(struct kvm_cpu_context *host_ctxt);
void handle___hyp_trace_enable(struct kvm_cpu_context *host_ctxt);
void handle___hyp_trace_swap_reader(struct kvm_cpu_context *host_ctxt);
void handle___hyp_trace_reset(struct kvm_cpu_context *host_ctxt);
void handle___hyp_trace_set_overwrite(struct kvm_cpu_context *host_ctxt);
void handle___hyp_trace_set_event(struct kvm_cpu_context *host_ctxt);
void handle___hyp_trace_add_pred(struct kvm_cpu_context *host_ctxt);
void handle___hyp_trace_set_filter(struct kvm_cpu_context *host_ctxt);
void handle___hyp_trace_set_clock(struct kvm_cpu_context *host_ctxt);
void handle___hyp_trace_is_stopped(struct kvm_cpu_context *host_ctxt);
void handle___hyp_trace_set_stopped(struct kvm_cpu_context *host_ctxt);
void handle___hyp_trace_set_trigger(struct kvm_cpu_context *host_ctxt);
void handle___hyp_trace_trigger_count(struct kvm_cpu_context *host_ctxt);
void handle___hyp_trace_write_event(struct kvm_cpu_context *host_ctxt);

/**
 * hyp_trace_park - this CPU goes to the firmware, and may not return
 *
 * While no CPU is enabled this is three instructions: an address, a load and a branch.
 *
 * Context: as hyp_trace_park_cpu().
 * Return: likewise.
 */
static __always_inline bool hyp_trace_park(void)
{
	return unlikely(atomic_read(&hyp_trace_nr_enabled)) && hyp_trace_park_cpu();
}

/* Bytes of a string in a record, its null included */
static inline unsigned int hyp_event_string_size(const char *src)
{
	unsigned int len = 0;

	while (len < HYP_EVENT_MAX_STRING - 1 && src[len])
		len++;
	return len + 1;
}

/* Reserve @len bytes after a record of @size bytes. */
static inline u32 hyp_event_add_tail(unsigned int *size, unsigned int len)
{
	u32 loc = len << 16 | *size;

	*size += ALIGN(len, sizeof(u32));
	return loc;
}

static inline void hyp_event_put_string(void *entry, u32 loc, const char *src)
{
	char *dst = entry + (loc & 0xffff);
	unsigned int len = (loc >> 16) - 1;

	memcpy(dst, src, len);
	dst[len] = '\0';
}

static inline void hyp_event_put_bitmask(void *entry, u32 loc, const unsigned long *src)
{
	memcpy(entry + (loc & 0xffff), src, loc >> 16);
}

#define __assign_str(name)							\
do {										\
	__entry->__data_loc_##name = __loc_##name;				\
	hyp_event_put_string(__entry, __loc_##name, __src_##name);		\
} while (0)

#define __assign_bitmask(name, src, nr_bits)					\
do {										\
	BUILD_BUG_ON(__size_##name != HYP_EVENT_BITMASK_SIZE(nr_bits));		\
	__entry->__data_loc_##name = __loc_##name;				\
	hyp_event_put_bitmask(__entry, __loc_##name, src);			\
} while (0)

/*
 * Write a record, with its fields in registers if they are few. The compiler knows the
 * size, and leaves one of the calls.
 */
static __always_inline void hyp_event_write_record(unsigned long nr,
						   struct hyp_event_header *record,
						   unsigned int size)
{
	const u64 *fields = (const u64 *)(record + 1);

	switch (size - sizeof(*record)) {
	case sizeof(u32):
		return hyp_event_write_4(nr, *(const u32 *)fields, hyp_clock_count());
	case sizeof(u64):
		return hyp_event_write_8(nr, fields[0]);
	case 3 * sizeof(u32):
		return hyp_event_write_12(nr, fields[0], ((const u32 *)fields)[2]);
	case 2 * sizeof(u64):
		return hyp_event_write_16(nr, fields[0], fields[1]);
	case 3 * sizeof(u64):
		return hyp_event_write_24(nr, fields[0], fields[1], fields[2]);
	case 6 * sizeof(u64):
		return hyp_event_write_48(nr, fields[0], fields[1], fields[2], fields[3],
					  fields[4], fields[5]);
	default:
		hyp_event_write(nr, record, size, hyp_clock_count());
	}
}

/*
 * An event that is off costs three instructions, if its arguments are at hand: an address, a
 * load and a branch. Where arguments have to be computed, trace_<event>_enabled() keeps that
 * for an event that is on:
 *
 *	if (trace_<event>_enabled())
 *		trace_<event>(...);
 *
 * The compiler has no choice: the check is always inline. Behind it are the fields, put into
 * registers or on the stack, and a call of event_write.c, which is out of line.
 */
#define he_string(name, src)							\
	const char *__src_##name = (src);					\
	u32 __loc_##name = hyp_event_add_tail(&__size, hyp_event_string_size(__src_##name));
#define he_bitmask(name, nr_bits)						\
	enum { __size_##name = HYP_EVENT_BITMASK_SIZE(nr_bits) };		\
	u32 __loc_##name = hyp_event_add_tail(&__size, __size_##name);
#define HYP_EVENT(ename, proto, fields, assign, printk)			\
	static __always_inline bool trace_##ename##_enabled(void)		\
	{								\
		return unlikely(READ_ONCE(hyp_event_on_##ename));	\
	}								\
	static __always_inline void trace_##ename(proto)		\
	{								\
		unsigned int __size = sizeof(struct hyp_event_##ename);	\
		struct {						\
			struct hyp_event_##ename record;		\
			struct hyp_event_tail_##ename tail;		\
		} __whole __uninitialized;				\
		struct hyp_event_##ename *__entry = &__whole.record;	\
									\
		BUILD_BUG_ON(offsetof(struct hyp_event_##ename, header));	\
		BUILD_BUG_ON(__alignof__(struct hyp_event_##ename) > sizeof(u64)); \
		if (!trace_##ename##_enabled())				\
			return;						\
									\
		fields							\
		/* The header is set later. No byte may be left over from EL2's stack. */ \
		memset_after(&__whole, 0, record.header);			\
		assign							\
		hyp_event_write_record(HYP_EVENT_##ename, &__entry->header, __size); \
	}
#include <asm/kvm_hypevents.h>

#define __hyp_printk(format, args...)					\
do {									\
	HYP_PRINTK_FORMAT(__format, format, ##args);			\
									\
	if (trace_hyp_printk_enabled()) {				\
		struct hyp_printk_record __record __uninitialized;	\
		unsigned int __size = hyp_printk_pack(__record.words, ##args);	\
									\
		hyp_event_printk(_THIS_IP_, __format.fmt, &__record.event,	\
				 sizeof(__record.event) + __size);	\
	}								\
} while (0)

#else /* !CONFIG_KVM_HYP_TRACING */

static inline bool hyp_trace_park(void) { return false; }
static inline void hyp_trace_unpark(void) { }

#define HYP_EVENT(name, proto, fields, assign, printk)			\
	static inline bool trace_##name##_enabled(void) { return false; }	\
	static inline void trace_##name(proto) { }
#include <asm/kvm_hypevents.h>

#define __hyp_printk(format, args...)	do { } while (0)

#endif /* CONFIG_KVM_HYP_TRACING */

/**
 * hyp_trace_printk - trace a text, as trace_printk() does in the kernel
 * @fmt:	a literal format as of printf(3), with the conversions of integers that are
 *		listed in nvhe/printk.h
 * @args:	integers, HYP_PRINTK_MAX_ARGS at most
 *
 * For debugging. It writes an event hyp_printk, of which readers make the text, cut to
 * HYP_EVENT_MAX_STRING - 1 characters. While that event is off, this is three instructions and
 * does not evaluate @args.
 *
 * Context: any at EL2.
 */
#define hyp_trace_printk(fmt, args...)					\
do {									\
	hyp_printk_check("" fmt, ##args);				\
	__hyp_printk("" fmt, ##args);					\
} while (0)

#endif /* __ARM64_KVM_HYP_NVHE_TRACE_H */
