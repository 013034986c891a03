// SPDX-License-Identifier: GPL-2.0-only
/*
 * The clock with any parameters at any count. The time must be that of the last valid
 * parameters, to the nanosecond. EL2 computes it by one multiplication, the fuzzer by
 * digits. Counts that overflow when shifted are not compared.
 */
#include <nvhe/clock.h>

#include "el2.h"
#include "input.h"

unsigned int el2_cpu;
unsigned int el2_locks;
unsigned long kvm_arm_hyp_percpu_base[NR_CPUS];
DEFINE_PER_CPU(struct kvm_host_data, kvm_host_data);
EL2_PER_THREAD u64 el2_esr;
u64 el2_count;
atomic64_t hyp_trace_config;

/**
 * struct params - the parameters that the clock has
 * @mult:	as hyp_clock_set() takes them
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

/* Each time that is taken is a configuration of its own. */
static void update(struct input *input)
{
	u64 config = hyp_trace_config.counter;
	struct params new;

	new.mult = input_number(input, 1);
	new.shift = input_number(input, 0);
	new.epoch_ns = input_number(input, 0);
	new.epoch_cycles = input_number(input, 0);
	if (!hyp_clock_set(new.mult, new.shift, new.epoch_ns, new.epoch_cycles)) {
		params = new;
		config++;
	} else if (new.mult && new.mult <= U32_MAX && new.shift < 64) {
		abort();
	}
	WARN_ON(hyp_trace_config.counter != config);
}

/* Has a count no room to be shifted by what mult has left of the binary point? */
static bool overflows(u64 count)
{
	return count && params.mult >> params.shift >= 1ULL << __builtin_clzll(count);
}

/* @cycles times mult, shifted right: digits of 32 bits, modulo 2 to the power of 64. */
static u64 nanoseconds(u64 cycles)
{
	u64 low = (cycles & U32_MAX) * params.mult;
	u64 high = (cycles >> 32) * params.mult + (low >> 32);

	low &= U32_MAX;
	if (params.shift >= 32)
		return high >> (params.shift - 32);
	return (high << (32 - params.shift)) + (low >> params.shift);
}

/* How far the time is from the one of the epoch and the cycles since, or till then. */
static u64 error(u64 ns)
{
	u64 since = el2_count - params.epoch_cycles;

	if (el2_count >= params.epoch_cycles)
		return ns - params.epoch_ns - nanoseconds(since);
	return params.epoch_ns - nanoseconds(-since) - ns;
}

static void look(struct input *input)
{
	struct hyp_clock clock;
	u64 ns;

	el2_count = input_number(input, 0);
	WARN_ON(!hyp_clock_get(&clock));
	ns = hyp_clock_ns(&clock, el2_count);
	if (!params.mult)
		WARN_ON(ns);
	else if (!overflows(el2_count) && !overflows(params.epoch_cycles))
		WARN_ON(error(ns) > 1);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct input input = { data, size };

	params = (struct params){ };
	hyp_trace_config.counter = 0;
	el2_boot();
	while (input.size) {
		if (input_below(&input, 2))
			update(&input);
		else
			look(&input);
	}
	return 0;
}
