/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The host's side of tracing the hypervisor: see hyp_trace.c.
 */
#ifndef __ARM64_KVM_HYP_TRACE_H__
#define __ARM64_KVM_HYP_TRACE_H__

#include <linux/ring_buffer_writer.h>
#include <linux/trace_remote.h>

#include <asm/hyp_image.h>
#include <asm/kvm_mmu.h>
#include <asm/sections.h>

#include "hypcall.h"

/* hyp_trace.c: the hypervisor as a remote */
struct trace_remote *hyp_trace_register(void);
void hyp_trace_unregister(struct trace_remote *remote);

/* boot.c: setup */
int hyp_trace_boot_setup(void);
void hyp_trace_boot_teardown(void);
int hyp_trace_boot_create_dir(void);

/* ring.c: the memory of a CPU's ring */
int hyp_trace_load_ring(void *priv, int cpu, struct ring_buffer_writer_cpu *desc);
void hyp_trace_unload_ring(void *priv, int cpu, struct ring_buffer_writer_cpu *desc);

/* clock.c: EL2's clock */
int hyp_trace_clock_start(void *priv);
void hyp_trace_clock_stop(void *priv);

/* accounting.c: accounting for the time at EL2 */
#ifdef CONFIG_KVM_HYP_ACCOUNTING
extern const struct trace_remote_file hyp_acct_files[];
extern const struct trace_remote_file hyp_acct_cpu_files[];

int hyp_acct_set_on(bool on);
int hyp_acct_set_tracing(void *priv, bool on);
bool hyp_acct_may_stop(void);
#else
static inline bool hyp_acct_may_stop(void)
{
	return false;
}
#endif

/* From an address of EL2's image to that of the kernel's symbol; in EL2's event_write.c, too */
extern u64 kvm_nvhe_sym(hyp_kimg_offset);

static inline u64 hyp_trace_kimg_offset(void)
{
	return (u64)_text - (u64)kern_hyp_va(lm_alias(_text));
}

/* functions.c: EL2's functions */
#ifdef CONFIG_KVM_HYP_FUNCTION_TRACER
extern struct trace_remote_functions hyp_functions;

const char *hyp_func_print(struct trace_seq *p, u64 ip);
#endif

/* events.c: the events */
extern struct trace_remote_event hyp_events[];

#endif /* __ARM64_KVM_HYP_TRACE_H__ */
