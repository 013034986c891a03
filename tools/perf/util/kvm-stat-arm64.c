// SPDX-License-Identifier: GPL-2.0
/*
 * perf kvm stat of arm64
 *
 * Every architecture's perf has it, so that a recording can be reported on another
 * machine than the one where it was made.
 */
#ifdef HAVE_KVM_STAT_SUPPORT

#include <errno.h>
#include <linux/kernel.h>
#include "../arch/arm64/util/arm64_exception_types.h"
#include "evsel.h"
#include "kvm-stat.h"

define_exit_reasons_table(arm64_exit_reasons, kvm_arm_exception_type);
define_exit_reasons_table(arm64_trap_exit_reasons, kvm_arm_exception_class);

static const char * const events_tp[] = {
	"kvm:kvm_entry",
	"kvm:kvm_exit",
	NULL,
};

static const char * const optional_tp[] = {
	"kvm:kvm_mmio",
	"kvm:kvm_trap_enter",
	"kvm:kvm_trap_exit",
	NULL,
};

/*
 * An exit takes from kvm_exit to the next kvm_entry. Its key is why the guest was left,
 * for a trap the exception class.
 */
static bool exit_begin(struct evsel *evsel, struct perf_sample *sample, struct event_key *key)
{
	if (!evsel__name_is(evsel, "kvm:kvm_exit"))
		return false;
	key->info = 0;
	key->key = evsel__intval(evsel, sample, "ret");
	key->exit_reasons = arm64_exit_reasons;
	if (key->key == ARM_EXCEPTION_TRAP) {
		key->key = evsel__intval(evsel, sample, "esr_ec");
		key->exit_reasons = arm64_trap_exit_reasons;
	}
	return true;
}

static bool exit_end(struct evsel *evsel, struct perf_sample *sample __maybe_unused,
		     struct event_key *key __maybe_unused)
{
	return evsel__name_is(evsel, "kvm:kvm_entry");
}

/* The key is the code of an exit or an exception class; one without a name is shown as it is. */
static void decode_reason(struct perf_kvm_stat *kvm __maybe_unused, struct event_key *key,
			  char *decode)
{
	const struct exit_reasons_table *reason;

	for (reason = key->exit_reasons; reason->reason; reason++) {
		if (reason->exit_code == key->key) {
			scnprintf(decode, KVM_EVENT_NAME_LEN, "%s", reason->reason);
			return;
		}
	}
	scnprintf(decode, KVM_EVENT_NAME_LEN, "%s %#llx",
		  key->exit_reasons == arm64_exit_reasons ? "exit" : "class",
		  (unsigned long long)key->key);
}

static struct kvm_events_ops exit_events = {
	.is_begin_event	= exit_begin,
	.is_end_event	= exit_end,
	.decode_key	= decode_reason,
	.name		= "VM-EXIT"
};

/* A trap takes as long as its handler in the kernel. */
static bool trap_begin(struct evsel *evsel, struct perf_sample *sample, struct event_key *key)
{
	if (!evsel__name_is(evsel, "kvm:kvm_trap_enter"))
		return false;
	key->info = 0;
	key->key = evsel__intval(evsel, sample, "esr_ec");
	key->exit_reasons = arm64_trap_exit_reasons;
	return true;
}

static bool trap_end(struct evsel *evsel, struct perf_sample *sample __maybe_unused,
		     struct event_key *key __maybe_unused)
{
	return evsel__name_is(evsel, "kvm:kvm_trap_exit");
}

static struct kvm_events_ops trap_events = {
	.is_begin_event	= trap_begin,
	.is_end_event	= trap_end,
	.decode_key	= decode_reason,
	.name		= "VM-TRAP"
};

#define KVM_TRACE_MMIO_READ_UNSATISFIED	0
#define KVM_TRACE_MMIO_READ		1
#define KVM_TRACE_MMIO_WRITE		2

static u64 mmio_type(struct evsel *evsel, struct perf_sample *sample)
{
	if (!evsel__name_is(evsel, "kvm:kvm_mmio"))
		return INVALID_KEY;
	return evsel__intval(evsel, sample, "type");
}

/*
 * An access takes from where its trap's handler has decoded it until its data has been
 * read, if it is a read, or until the guest goes on.
 */
static bool mmio_begin(struct evsel *evsel, struct perf_sample *sample, struct event_key *key)
{
	u64 type = mmio_type(evsel, sample);

	if (type != KVM_TRACE_MMIO_READ_UNSATISFIED && type != KVM_TRACE_MMIO_WRITE)
		return false;
	key->info = type;
	key->key = evsel__intval(evsel, sample, "gpa");
	return true;
}

static bool mmio_end(struct evsel *evsel, struct perf_sample *sample,
		     struct event_key *key __maybe_unused)
{
	return evsel__name_is(evsel, "kvm:kvm_entry") ||
	       mmio_type(evsel, sample) == KVM_TRACE_MMIO_READ;
}

static void mmio_decode_key(struct perf_kvm_stat *kvm __maybe_unused, struct event_key *key,
			    char *decode)
{
	scnprintf(decode, KVM_EVENT_NAME_LEN, "%#llx:%s", (unsigned long long)key->key,
		  key->info == KVM_TRACE_MMIO_WRITE ? "W" : "R");
}

static struct kvm_events_ops mmio_events = {
	.is_begin_event	= mmio_begin,
	.is_end_event	= mmio_end,
	.decode_key	= mmio_decode_key,
	.name		= "MMIO Access"
};

static const struct kvm_reg_events_ops reg_events_ops[] = {
	{ .name = "vmexit", .ops = &exit_events, .tracepoint = "kvm:kvm_exit" },
	{ .name = "trap", .ops = &trap_events, .tracepoint = "kvm:kvm_trap_enter" },
	{ .name = "mmio", .ops = &mmio_events, .tracepoint = "kvm:kvm_mmio" },
	{ },
};

static const char * const skip_events[] = {
	"WFx",
	NULL,
};

static int isa_init(struct perf_kvm_stat *kvm, const char *cpuid __maybe_unused)
{
	kvm->exit_reasons_isa = "arm64";
	return 0;
}

const struct kvm_stat_arch kvm_stat_arm64 = {
	.name		= "arm64",
	.events_tp	= events_tp,
	.optional_tp	= optional_tp,
	.reg_events_ops	= reg_events_ops,
	.skip_events	= skip_events,
	.entry_trace	= "kvm:kvm_entry",
	.exit_trace	= "kvm:kvm_exit",
	.isa_init	= isa_init,
};

#endif /* HAVE_KVM_STAT_SUPPORT */
