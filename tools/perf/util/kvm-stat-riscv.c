// SPDX-License-Identifier: GPL-2.0
/*
 * perf kvm stat of riscv, which every architecture's perf has
 *
 * Copyright 2024 Beijing ESWIN Computing Technology Co., Ltd.
 */
#ifdef HAVE_KVM_STAT_SUPPORT

#include <errno.h>
#include "../arch/riscv/util/riscv_exception_types.h"
#include "evsel.h"
#include "kvm-stat.h"

define_exit_reasons_table(riscv_exit_reasons, kvm_riscv_exception_class);

static const char * const kvm_exit_reason = "scause";

static const char * const kvm_events_tp[] = {
	"kvm:kvm_entry",
	"kvm:kvm_exit",
	NULL,
};

static void event_get_key(struct evsel *evsel,
			  struct perf_sample *sample,
			  struct event_key *key)
{
	key->info = 0;
	key->key = evsel__intval(evsel, sample, kvm_exit_reason);
	key->exit_reasons = riscv_exit_reasons;
}

/* The time of an exit is from when the guest is left until it is entered again. */
static bool event_begin(struct evsel *evsel,
			struct perf_sample *sample,
			struct event_key *key)
{
	if (kvm_exit_event(evsel)) {
		event_get_key(evsel, sample, key);
		return true;
	}
	return false;
}

static struct kvm_events_ops exit_events = {
	.is_begin_event = event_begin,
	.is_end_event	= exit_event_end,
	.decode_key	= exit_event_decode_key,
	.name		= "VM-EXIT"
};

static const struct kvm_reg_events_ops kvm_reg_events_ops[] = {
	{
		.name	= "vmexit",
		.ops	= &exit_events,
	},
	{ },
};

static const char * const kvm_skip_events[] = {
	NULL,
};

static int cpu_isa_init(struct perf_kvm_stat *kvm, const char *cpuid __maybe_unused)
{
	kvm->exit_reasons_isa = "riscv64";
	return 0;
}

const struct kvm_stat_arch kvm_stat_riscv = {
	.name		= "riscv64",
	.events_tp	= kvm_events_tp,
	.reg_events_ops	= kvm_reg_events_ops,
	.skip_events	= kvm_skip_events,
	.exit_reason	= &kvm_exit_reason,
	.entry_trace	= "kvm:kvm_entry",
	.exit_trace	= "kvm:kvm_exit",
	.isa_init	= cpu_isa_init,
};

#endif /* HAVE_KVM_STAT_SUPPORT */
