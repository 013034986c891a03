// SPDX-License-Identifier: GPL-2.0-only
/*
 * Whether hypercalls of tracing can be made: until tracing has ended, and while EL2 has KVM's
 * hypervisor
 */
#include <linux/kvm_host.h>
#include <linux/trace_remote.h>

#include <asm/virt.h>

#include "hypcall.h"

/* The hypervisor; NULL while it is not registered */
struct trace_remote *hyp_trace_remote;

/**
 * hyp_trace_has_ended - has tracing ended for good?
 *
 * Context: any, as trace_remote_has_ended().
 * Return: whether it has.
 */
bool hyp_trace_has_ended(void)
{
	return hyp_trace_remote && trace_remote_has_ended(hyp_trace_remote);
}

/**
 * hyp_trace_get - keep KVM's hypervisor at EL2
 * @priv:	not used
 *
 * Under pKVM it is always there.
 *
 * Context: process context, may sleep.
 * Return: 0, until hyp_trace_put(); or what kvm_get_virtualization() returned.
 */
int hyp_trace_get(void *priv)
{
	return is_protected_kvm_enabled() ? 0 : kvm_get_virtualization();
}

/**
 * hyp_trace_put - undo hyp_trace_get()
 * @priv:	not used
 *
 * Context: process context, may sleep.
 */
void hyp_trace_put(void *priv)
{
	if (!is_protected_kvm_enabled())
		kvm_put_virtualization();
}
