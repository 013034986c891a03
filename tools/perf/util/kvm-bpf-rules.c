// SPDX-License-Identifier: GPL-2.0
/*
 * What tracepoints of KVM mean to perf kvm stat: the rules by which BPF programs count events
 *
 * They say what the functions of struct kvm_events_ops do. What a key means, those say alone.
 */
#include <stddef.h>
#include <string.h>
#include <linux/kernel.h>
#include <linux/string.h>
#include "kvm-bpf.h"

/* The types of kvm_mmio */
enum {
	READ_UNSATISFIED,
	READ,
	WRITE,
};

/* ARM_EXCEPTION_TRAP */
#define TRAP	2

static const struct kvm_bpf_event {
	const char *arch;
	const char *event;
	struct kvm_bpf_rule rules[KVM_BPF_MAX_RULES];
} events[] = {
	{ "arm64", "vmexit", {
		{ .tracepoint = "kvm:kvm_exit", .when = "ret", .is = TRAP, .key = "esr_ec" },
		{ .tracepoint = "kvm:kvm_exit", .key = "ret" },
		{ .tracepoint = "kvm:kvm_entry", .ends = true },
	} },
	{ "arm64", "trap", {
		{ .tracepoint = "kvm:kvm_trap_enter", .key = "esr_ec" },
		{ .tracepoint = "kvm:kvm_trap_exit", .ends = true },
	} },
	{ "arm64", "mmio", {
		{ .tracepoint = "kvm:kvm_mmio", .when = "type", .is = READ_UNSATISFIED,
		  .key = "gpa", .info = "type" },
		{ .tracepoint = "kvm:kvm_mmio", .when = "type", .is = WRITE,
		  .key = "gpa", .info = "type" },
		{ .tracepoint = "kvm:kvm_mmio", .when = "type", .is = READ, .ends = true },
		{ .tracepoint = "kvm:kvm_entry", .ends = true },
	} },
	{ "riscv", "vmexit", {
		{ .tracepoint = "kvm:kvm_exit", .key = "scause" },
		{ .tracepoint = "kvm:kvm_entry", .ends = true },
	} },
	{ "x86", "vmexit", {
		{ .tracepoint = "kvm:kvm_exit", .key = "exit_reason" },
		{ .tracepoint = "kvm:kvm_entry", .ends = true },
	} },
	{ "x86", "mmio", {
		{ .tracepoint = "kvm:kvm_exit" },
		{ .tracepoint = "kvm:kvm_mmio", .when = "type", .is = WRITE,
		  .key = "gpa", .info = "type" },
		{ .tracepoint = "kvm:kvm_mmio", .when = "type", .is = READ,
		  .key = "gpa", .info = "type", .ends = true },
		{ .tracepoint = "kvm:kvm_entry", .ends = true },
	} },
	{ "x86", "ioport", {
		{ .tracepoint = "kvm:kvm_pio", .key = "port", .info = "rw" },
		{ .tracepoint = "kvm:kvm_entry", .ends = true },
	} },
	{ "x86", "msr", {
		{ .tracepoint = "kvm:kvm_msr", .key = "ecx", .info = "write" },
		{ .tracepoint = "kvm:kvm_entry", .ends = true },
	} },
};

/**
 * kvm_bpf_rules - by what rules are events counted?
 * @arch:	the name of the architecture, as perf_env__arch() has it
 * @event:	one of the values of --event
 *
 * Return: the rules, up to one without a tracepoint, or NULL: BPF programs can't count these.
 */
const struct kvm_bpf_rule *kvm_bpf_rules(const char *arch, const char *event)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(events); i++) {
		if (strstarts(arch, events[i].arch) && !strcmp(events[i].event, event))
			return events[i].rules;
	}
	return NULL;
}
