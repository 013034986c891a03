// SPDX-License-Identifier: GPL-2.0-only
/*
 * Whether hypercalls of tracing are still made
 */
#include <linux/trace_remote.h>

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
