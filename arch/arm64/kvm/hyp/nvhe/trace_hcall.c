// SPDX-License-Identifier: GPL-2.0-only
/*
 * The hypercalls of tracing: they pass the host's registers to trace.c, clock.c and
 * events.c, and take the lock of the ring that they are for.
 */
#include <linux/errno.h>

#include <asm/kvm_asm.h>
#include <asm/kvm_hyp.h>

#include <nvhe/clock.h>
#include <nvhe/spinlock.h>
#include <nvhe/trace.h>
#include <nvhe/trace_cpu.h>
#include <nvhe/trap_handler.h>

/* NULL for a CPU that does not exist. */
static struct hyp_trace_cpu *hyp_trace_get_cpu(u64 cpu)
{
	return hyp_trace_cpu_exists(&cpu) ? per_cpu_ptr(&hyp_trace_cpu, cpu) : NULL;
}

/* Run @fn on the ring of @cpu under the ring's lock. */
#define hyp_trace_locked(fn, cpu, args...)				\
({									\
	struct hyp_trace_cpu *__trace = hyp_trace_get_cpu(cpu);		\
	int __ret = -EINVAL;						\
									\
	if (__trace) {							\
		hyp_spin_lock(&__trace->lock);				\
		__ret = fn(__trace, ##args);				\
		hyp_spin_unlock(&__trace->lock);			\
	}								\
	__ret;								\
})

void handle___hyp_trace_ring_begin(struct kvm_cpu_context *host_ctxt)
{
	DECLARE_REG(u64, cpu, host_ctxt, 1);
	DECLARE_REG(u64, meta_pfn, host_ctxt, 2);
	DECLARE_REG(u64, dir_pfn, host_ctxt, 3);
	DECLARE_REG(u64, nr_pages, host_ctxt, 4);

	cpu_reg(host_ctxt, 1) = hyp_trace_locked(hyp_trace_ring_begin, cpu, meta_pfn, dir_pfn,
						 nr_pages);
}

void handle___hyp_trace_ring_add_leaf(struct kvm_cpu_context *host_ctxt)
{
	DECLARE_REG(u64, cpu, host_ctxt, 1);
	DECLARE_REG(u64, pfn, host_ctxt, 2);

	cpu_reg(host_ctxt, 1) = hyp_trace_locked(hyp_trace_ring_add_leaf, cpu, pfn);
}

void handle___hyp_trace_ring_add_pages(struct kvm_cpu_context *host_ctxt)
{
	DECLARE_REG(u64, cpu, host_ctxt, 1);
	DECLARE_REG(u64, pfn, host_ctxt, 2);
	DECLARE_REG(u64, nr_pages, host_ctxt, 3);

	cpu_reg(host_ctxt, 1) = hyp_trace_locked(hyp_trace_ring_add_pages, cpu, pfn, nr_pages);
}

void handle___hyp_trace_ring_end(struct kvm_cpu_context *host_ctxt)
{
	DECLARE_REG(u64, cpu, host_ctxt, 1);

	cpu_reg(host_ctxt, 1) = hyp_trace_locked(hyp_trace_ring_end, cpu);
}

void handle___hyp_trace_ring_pop(struct kvm_cpu_context *host_ctxt)
{
	DECLARE_REG(u64, cpu, host_ctxt, 1);

	cpu_reg(host_ctxt, 1) = hyp_trace_locked(hyp_trace_ring_pop, cpu);
}

void handle___hyp_trace_enable(struct kvm_cpu_context *host_ctxt)
{
	DECLARE_REG(u64, cpu, host_ctxt, 1);
	DECLARE_REG(bool, enable, host_ctxt, 2);

	cpu_reg(host_ctxt, 1) = hyp_trace_locked(hyp_trace_enable, cpu, enable);
}

void handle___hyp_trace_swap_reader(struct kvm_cpu_context *host_ctxt)
{
	DECLARE_REG(u64, cpu, host_ctxt, 1);

	cpu_reg(host_ctxt, 1) = hyp_trace_locked(hyp_trace_swap_reader, cpu);
}

void handle___hyp_trace_reset(struct kvm_cpu_context *host_ctxt)
{
	DECLARE_REG(u64, cpu, host_ctxt, 1);

	cpu_reg(host_ctxt, 1) = hyp_trace_locked(hyp_trace_reset, cpu);
}

void handle___hyp_trace_set_overwrite(struct kvm_cpu_context *host_ctxt)
{
	DECLARE_REG(u64, cpu, host_ctxt, 1);
	DECLARE_REG(bool, overwrite, host_ctxt, 2);

	cpu_reg(host_ctxt, 1) = hyp_trace_locked(hyp_trace_set_overwrite, cpu, overwrite);
}

void handle___hyp_trace_set_event(struct kvm_cpu_context *host_ctxt)
{
	DECLARE_REG(u64, nr, host_ctxt, 1);
	DECLARE_REG(u64, id, host_ctxt, 2);

	cpu_reg(host_ctxt, 1) = hyp_trace_set_event(nr, id);
}

void handle___hyp_trace_add_pred(struct kvm_cpu_context *host_ctxt)
{
	DECLARE_REG(u64, nr, host_ctxt, 1);
	DECLARE_REG(u64, index, host_ctxt, 2);
	DECLARE_REG(u64, code, host_ctxt, 3);
	DECLARE_REG(u64, val, host_ctxt, 4);

	cpu_reg(host_ctxt, 1) = hyp_trace_add_pred(nr, index, code, val);
}

void handle___hyp_trace_set_filter(struct kvm_cpu_context *host_ctxt)
{
	DECLARE_REG(u64, nr, host_ctxt, 1);
	DECLARE_REG(u64, nr_preds, host_ctxt, 2);

	cpu_reg(host_ctxt, 1) = hyp_trace_set_filter(nr, nr_preds);
}

void handle___hyp_trace_set_clock(struct kvm_cpu_context *host_ctxt)
{
	DECLARE_REG(u64, mult, host_ctxt, 1);
	DECLARE_REG(u64, shift, host_ctxt, 2);
	DECLARE_REG(u64, epoch_ns, host_ctxt, 3);
	DECLARE_REG(u64, epoch_cycles, host_ctxt, 4);

	cpu_reg(host_ctxt, 1) = hyp_clock_set(mult, shift, epoch_ns, epoch_cycles);
}

void handle___hyp_trace_is_stopped(struct kvm_cpu_context *host_ctxt)
{
	cpu_reg(host_ctxt, 1) = READ_ONCE(hyp_trace_stopped);
}

void handle___hyp_trace_set_stopped(struct kvm_cpu_context *host_ctxt)
{
	DECLARE_REG(bool, stopped, host_ctxt, 1);

	hyp_trace_set_stopped(stopped);
	cpu_reg(host_ctxt, 1) = 0;
}

void handle___hyp_trace_set_trigger(struct kvm_cpu_context *host_ctxt)
{
	DECLARE_REG(u64, nr, host_ctxt, 1);
	DECLARE_REG(u64, action, host_ctxt, 2);
	DECLARE_REG(u64, count, host_ctxt, 3);
	DECLARE_REG(u64, nr_preds, host_ctxt, 4);

	cpu_reg(host_ctxt, 1) = hyp_trace_set_trigger(nr, action, count, nr_preds);
}

void handle___hyp_trace_trigger_count(struct kvm_cpu_context *host_ctxt)
{
	DECLARE_REG(u64, nr, host_ctxt, 1);

	cpu_reg(host_ctxt, 1) = hyp_trace_trigger_count(nr);
}

#ifdef CONFIG_KVM_HYP_TRACING_SELFTEST
void handle___hyp_trace_write_event(struct kvm_cpu_context *host_ctxt)
{
	const u64 *reg = &cpu_reg(host_ctxt, 1);

	if (trace_selftest_enabled()) {
		DECLARE_REG(u64, id, host_ctxt, 1);

		trace_selftest(id);
	}
	hyp_trace_printk("write_event %llu: 0x%08x %d %3u %o %lld", *reg, (u32)*reg, (s32)*reg,
			 (u8)*reg, (u16)*reg, (s64)*reg >> 1);
	cpu_reg(host_ctxt, 1) = 0;
}
#endif
