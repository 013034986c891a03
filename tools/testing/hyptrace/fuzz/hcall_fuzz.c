// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fuzzer: a host that makes the hypercalls of tracing in any order with any registers,
 * shares and unshares pages meanwhile, gives them to a guest, and writes to those it can;
 * while EL2 writes events. In the end it asks for all back, and gets it.
 *
 * An input is a list of steps: a byte for what to do, then its arguments, see input.h.
 */
#include <asm/page.h>

#include <nvhe/trace.h>

#include "input.h"
#include "pkvm.h"

unsigned int el2_cpu;
unsigned long kvm_arm_hyp_percpu_base[NR_CPUS] = { 1, 1, 1, 1 };
struct kvm_cpu_context el2_host_ctxt;
u64 el2_count;

static bool parked[EL2_CPUS];

/**
 * struct hcall - a hypercall
 * @handle:	what EL2 does
 * @args:	a letter each: c for a CPU, p for a page, e for an event, n for a number
 */
struct hcall {
	void		(*handle)(struct kvm_cpu_context *host_ctxt);
	const char	*args;
};

static const struct hcall hcalls[] = {
	{ handle___hyp_trace_ring_begin,	"cppn" },
	{ handle___hyp_trace_ring_add_leaf,	"cp" },
	{ handle___hyp_trace_ring_add_page,	"cp" },
	{ handle___hyp_trace_ring_end,		"c" },
	{ handle___hyp_trace_ring_pop,		"c" },
	{ handle___hyp_trace_enable,		"cn" },
	{ handle___hyp_trace_swap_reader,	"c" },
	{ handle___hyp_trace_reset,		"c" },
	{ handle___hyp_trace_set_event,		"en" },
	{ handle___hyp_trace_add_pred,		"ennn" },
	{ handle___hyp_trace_set_filter,	"en" },
	{ handle___hyp_trace_set_clock,		"nnnn" },
	{ handle___hyp_trace_write_event,	"n" },
};

static u64 hypercall(const struct hcall *hcall, u64 a, u64 b, u64 c, u64 d)
{
	el2_host_ctxt.regs[1] = a;
	el2_host_ctxt.regs[2] = b;
	el2_host_ctxt.regs[3] = c;
	el2_host_ctxt.regs[4] = d;
	hcall->handle(&el2_host_ctxt);
	return el2_host_ctxt.regs[1];
}

static u64 any_argument(struct input *input, char kind)
{
	return kind ? input_number(input, kind == 'p' ? PKVM_FIRST_PFN : 0) : 0;
}

static void any_hypercall(struct input *input, const struct hcall *hcall)
{
	u64 args[4] = { };
	unsigned int i;

	for (i = 0; hcall->args[i]; i++)
		args[i] = any_argument(input, hcall->args[i]);
	hypercall(hcall, args[0], args[1], args[2], args[3]);
}

static void any_event(struct input *input)
{
	u64 a = input_number(input, 0), b = input_number(input, 0);

	switch (input_below(input, 8)) {
	case 0:
		trace_hyp_enter(a, b);
		break;
	case 1:
		trace_hyp_exit(a, b);
		break;
	case 2:
		trace_host_hcall(a, b & 1, b);
		break;
	case 3:
		trace_host_ffa_call(a, b, a, b, a, b & 1, a);
		break;
	case 4:
		trace_hyp_printk("%llx %-40lld %c", a, b, (char)a);
		break;
	case 5:
		trace_hyp_printk("%127lld %0300llu", a, b);
		break;
	case 6:
		trace_guest_exit(a, b, a, b);
		break;
	default:
		trace_selftest(a);
	}
}

static void change_cpu(struct input *input)
{
	unsigned int cpu = input_below(input, EL2_CPUS);

	if (!parked[cpu])
		el2_cpu = cpu;
}

/* A CPU goes down, which takes another one to go on; or comes back. */
static void park(struct input *input)
{
	unsigned int cpu = input_below(input, EL2_CPUS);

	if (parked[cpu]) {
		el2_cpu = cpu;
		hyp_trace_unpark();
		parked[cpu] = false;
	} else if (!parked[(el2_cpu + 1) % EL2_CPUS]) {
		hyp_trace_park();
		parked[el2_cpu] = true;
		el2_cpu = (el2_cpu + 1) % EL2_CPUS;
	}
}

static void scribble(struct input *input)
{
	unsigned int page = input_below(input, PKVM_PAGES), offset = input_bytes(input, 2);

	pkvm_scribble(page, offset, input_number(input, 0));
}

static void any_step(struct input *input)
{
	unsigned int what = input_below(input, 8 + ARRAY_SIZE(hcalls));

	switch (what) {
	case 0:
		change_cpu(input);
		break;
	case 1:
		park(input);
		break;
	case 2:
		pkvm_share(input_below(input, PKVM_PAGES));
		break;
	case 3:
		pkvm_unshare(input_below(input, PKVM_PAGES));
		break;
	case 4:
		pkvm_give_guest(input_below(input, PKVM_PAGES));
		break;
	case 5:
		pkvm_take_guest(input_below(input, PKVM_PAGES));
		break;
	case 6:
		scribble(input);
		break;
	case 7:
		any_event(input);
		break;
	default:
		any_hypercall(input, &hcalls[what - 8]);
	}
	el2_count += input_u8(input);
}

/* As the host's tracing does at its end, on each CPU. */
static void take_back(unsigned int cpu)
{
	unsigned int i;

	el2_cpu = cpu;
	if (parked[cpu])
		hyp_trace_unpark();
	parked[cpu] = false;

	WARN_ON(hypercall(&hcalls[5], cpu, 0, 0, 0));
	for (i = 0; hypercall(&hcalls[4], cpu, 0, 0, 0); i++)
		WARN_ON(i > PKVM_PAGES);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct input input = { data, size };
	unsigned int cpu;

	el2_boot();
	pkvm_boot();
	el2_cpu = 0;
	el2_count = 0;
	while (input.size)
		any_step(&input);
	for (cpu = 0; cpu < EL2_CPUS; cpu++)
		take_back(cpu);
	pkvm_check_all_given_back();
	return 0;
}
