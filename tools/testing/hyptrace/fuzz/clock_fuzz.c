// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fuzzer: the clock with any parameters at any count, also told anew while it is read, as
 * often as the host likes. It comes to an end, and the time is that of the parameters
 * last taken, if these stayed.
 */
#include <nvhe/clock.h>

#include "el2.h"
#include "input.h"

unsigned int el2_cpu;
unsigned long kvm_arm_hyp_percpu_base[NR_CPUS];
struct kvm_cpu_context el2_host_ctxt;
u64 el2_count;

/**
 * struct params - what the clock was told
 * @mult:	as hyp_trace_clock_set() takes them
 * @shift:	likewise
 * @epoch_ns:	likewise
 * @epoch_cycles: likewise
 */
struct params {
	u64	mult;
	u64	shift;
	u64	epoch_ns;
	u64	epoch_cycles;
};

static struct params params;
static struct input input;
static unsigned int storm;	/* updates left while the clock is read */
static bool in_storm;

static void tell(void)
{
	struct params new;

	new.mult = input_number(&input, 1);
	new.shift = input_number(&input, 0);
	new.epoch_ns = input_number(&input, 0);
	new.epoch_cycles = input_number(&input, 0);
	if (!hyp_trace_clock_set(new.mult, new.shift, new.epoch_ns, new.epoch_cycles))
		params = new;
	else if (new.mult && new.mult <= U32_MAX && new.shift < 64)
		abort();
}

static u64 expected(void)
{
	s64 cycles = el2_count - params.epoch_cycles;
	__uint128_t ns = cycles < 0 ? 0 : (__uint128_t)cycles * params.mult;

	return params.epoch_ns + (u64)(ns >> params.shift);
}

/* Another CPU comes in between, before any access to memory. */
static void step(const void *addr)
{
	if (in_storm || !storm)
		return;

	storm--;
	in_storm = true;
	tell();
	in_storm = false;
}

static const struct shim stormy = { .step = step };

static void look(void)
{
	bool quiet;
	u64 ns;

	el2_count = input_number(&input, 0);
	storm = input_below(&input, 16);
	quiet = !storm;
	shim = &stormy;
	ns = hyp_trace_clock();
	shim = NULL;
	storm = 0;
	if (quiet && ns != expected())
		abort();
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	input = (struct input){ data, size };
	params = (struct params){ };
	el2_boot();
	while (input.size) {
		if (input_below(&input, 2))
			tell();
		else
			look();
	}
	return 0;
}
