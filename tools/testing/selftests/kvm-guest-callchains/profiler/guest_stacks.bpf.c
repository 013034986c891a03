// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counts the call chains of guests. It is attached to a perf event with PERF_SAMPLE_CALLCHAIN:
 * the chain of the sample is what bpf_get_stackid() stores.
 */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "guest_stacks.h"

/* BPF_F_GUEST_STACK, which older headers lack */
#define GUEST_STACK	(0x67667374ULL << 32)

struct {
	__uint(type, BPF_MAP_TYPE_STACK_TRACE);
	__uint(max_entries, MAX_STACKS);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, MAX_FRAMES * sizeof(__u64));
} stacks SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, MAX_STACKS);
	__type(key, struct guest_stack);
	__type(value, __u64);
} counts SEC(".maps");

static void count(const struct guest_stack *stack)
{
	__u64 *nr, first = 1;

	nr = bpf_map_lookup_elem(&counts, stack);
	if (nr)
		__sync_fetch_and_add(nr, 1);
	else
		bpf_map_update_elem(&counts, stack, &first, BPF_ANY);
}

/* A sample of a guest has one of the two stacks, a sample of the host has neither. */
SEC("perf_event")
int count_guest(void *ctx)
{
	struct guest_stack stack = { .vmm = bpf_get_current_pid_tgid() >> 32 };
	long id = bpf_get_stackid(ctx, &stacks, GUEST_STACK);

	if (id < 0) {
		stack.user = 1;
		id = bpf_get_stackid(ctx, &stacks, GUEST_STACK | BPF_F_USER_STACK);
	}
	if (id >= 0) {
		stack.id = id;
		count(&stack);
	}
	return 0;
}

char _license[] SEC("license") = "GPL";
