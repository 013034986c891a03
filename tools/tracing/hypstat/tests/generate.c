// SPDX-License-Identifier: GPL-2.0
/*
 * generate FILE EVENTS: write a trace.dat with about so many events of the hypervisor, on two
 * CPUs, each with a vCPU of its own.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sample.h"

#define EVENTS_A_ROUND	14

static u32 seed = 1;

/* A time from 200 ns on, with a long tail */
static u64 some_time(void)
{
	seed = seed * 1664525 + 1013904223;
	return 200 + (seed >> 20) + (seed % 1000 ? 0 : seed >> 12);
}

/* A hypercall, and a run of the guest that makes one */
static u64 one_round(struct ring *ring, u64 ts, u32 vcpu)
{
	sample_enter(ring, ts += some_time(), ENTER_HVC, -1);
	sample_func(ring, ts += 10, FUNC_SHARE, FUNC_TRAP);
	sample_func(ring, ts += some_time(), FUNC_WALK, FUNC_SHARE);
	sample_func_ret(ring, ts += some_time(), FUNC_WALK);
	sample_func_ret(ring, ts += 10, FUNC_SHARE);
	sample_hcall(ring, ts += some_time(), HCALL_SHARE, 0);
	sample_exit(ring, ts += 100, EXIT_HOST, -1);
	sample_enter(ring, ts += some_time(), ENTER_HVC, -1);
	sample_guest_enter(ring, ts += some_time(), vcpu, 77, 4);
	sample_exit(ring, ts += 100, EXIT_GUEST, vcpu);
	sample_enter(ring, ts += 5000, ENTER_GUEST, vcpu);
	sample_guest_exit(ring, ts += 100, vcpu, 77, 4, EXIT_CODE_TRAP, ESR_HVC);
	sample_hcall(ring, ts += some_time(), HCALL_VCPU_RUN, 2);
	sample_exit(ring, ts += 100, EXIT_HOST, -1);
	return ts;
}

static void write_cpu(struct dat_writer *dat, u32 cpu, unsigned long rounds)
{
	static struct ring ring;
	u64 ts = 1000000000;

	dat_buffer_cpu(dat, cpu);
	ring_begin(&ring, dat);
	while (rounds--)
		ts = one_round(&ring, ts, cpu);
	ring_flush(&ring);
}

static void write_host(struct dat_writer *dat, u32 cpu, unsigned long rounds)
{
	static struct ring ring;
	u64 ts = 1000000000;

	dat_buffer_cpu(dat, cpu);
	ring_begin(&ring, dat);
	for (rounds /= 10; rounds; rounds--) {
		sample_switch(&ring, ts, 0, 78 + cpu, "vcpu");
		sample_switch(&ring, ts + 50000, 78 + cpu, 0, "swapper");
		ts += 100000;
	}
	ring_flush(&ring);
}

int main(int argc, char **argv)
{
	static struct dat_writer dat;
	unsigned long rounds;

	if (argc != 3) {
		fprintf(stderr, "usage: generate FILE EVENTS\n");
		return 1;
	}
	rounds = strtoul(argv[2], NULL, 0) / (2 * EVENTS_A_ROUND);
	sample_begin(&dat, argv[1]);
	dat_buffer(&dat);
	write_host(&dat, 0, rounds);
	write_host(&dat, 1, rounds);
	dat_buffer_end(&dat, "", "boot");
	dat_buffer(&dat);
	write_cpu(&dat, 0, rounds);
	write_cpu(&dat, 1, rounds);
	dat_buffer_end(&dat, "hypervisor", "boot");
	sample_end(&dat);
	return dat.error != 0;
}
