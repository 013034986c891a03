// SPDX-License-Identifier: GPL-2.0
/*
 * perf kvm stat of LoongArch, which every architecture's perf has
 */
#ifdef HAVE_KVM_STAT_SUPPORT

#include <errno.h>
#include "evsel.h"
#include "kvm-stat.h"

enum {
	LOONGARCH_EXCEPTION_INT		= 0,
	LOONGARCH_EXCEPTION_PIL		= 1,
	LOONGARCH_EXCEPTION_PIS		= 2,
	LOONGARCH_EXCEPTION_PIF		= 3,
	LOONGARCH_EXCEPTION_PME		= 4,
	LOONGARCH_EXCEPTION_FPD		= 15,
	LOONGARCH_EXCEPTION_SXD		= 16,
	LOONGARCH_EXCEPTION_ASXD	= 17,
	LOONGARCH_EXCEPTION_GSPR	= 22,
	LOONGARCH_EXCEPTION_HVC		= 23,
	/* What trapped as GSPR, by its instruction */
	LOONGARCH_EXCEPTION_CPUCFG	= 100,
	LOONGARCH_EXCEPTION_CSR		= 101,
	LOONGARCH_EXCEPTION_IOCSR	= 102,
	LOONGARCH_EXCEPTION_IDLE	= 103,
	LOONGARCH_EXCEPTION_OTHERS	= 104,
};

static struct exit_reasons_table loongarch_exit_reasons[] = {
	{ LOONGARCH_EXCEPTION_INT,	"Interrupt" },
	{ LOONGARCH_EXCEPTION_PIL,	"Mem Read" },
	{ LOONGARCH_EXCEPTION_PIS,	"Mem Store" },
	{ LOONGARCH_EXCEPTION_PIF,	"Inst Fetch" },
	{ LOONGARCH_EXCEPTION_PME,	"Mem Modify" },
	{ LOONGARCH_EXCEPTION_FPD,	"FPU" },
	{ LOONGARCH_EXCEPTION_SXD,	"LSX" },
	{ LOONGARCH_EXCEPTION_ASXD,	"LASX" },
	{ LOONGARCH_EXCEPTION_GSPR,	"Privilege Error" },
	{ LOONGARCH_EXCEPTION_HVC,	"Hypercall" },
	{ LOONGARCH_EXCEPTION_CPUCFG,	"CPUCFG" },
	{ LOONGARCH_EXCEPTION_CSR,	"CSR" },
	{ LOONGARCH_EXCEPTION_IOCSR,	"IOCSR" },
	{ LOONGARCH_EXCEPTION_IDLE,	"Idle" },
	{ LOONGARCH_EXCEPTION_OTHERS,	"Others" },
	{ -1, NULL }
};

static const char * const kvm_exit_reason = "reason";
static const char * const kvm_events_tp[] = {
	"kvm:kvm_enter",
	"kvm:kvm_reenter",
	"kvm:kvm_exit",
	"kvm:kvm_exit_gspr",
	NULL,
};

static void event_gspr_get_key(struct evsel *evsel,
			       struct perf_sample *sample, struct event_key *key)
{
	unsigned int insn;

	key->key = LOONGARCH_EXCEPTION_OTHERS;
	insn = evsel__intval(evsel, sample, "inst_word");

	switch (insn >> 24) {
	case 0:
		/* CPUCFG inst trap */
		if ((insn >> 10) == 0x1b)
			key->key = LOONGARCH_EXCEPTION_CPUCFG;
		break;
	case 4:
		/* CSR inst trap */
		key->key = LOONGARCH_EXCEPTION_CSR;
		break;
	case 6:
		/* IOCSR inst trap */
		if ((insn >> 15) == 0xc90)
			key->key = LOONGARCH_EXCEPTION_IOCSR;
		else if ((insn >> 15) == 0xc91)
			/* Idle inst trap */
			key->key = LOONGARCH_EXCEPTION_IDLE;
		break;
	default:
		key->key = LOONGARCH_EXCEPTION_OTHERS;
		break;
	}
}

static struct child_event_ops child_events[] = {
	{ .name = "kvm:kvm_exit_gspr", .get_key = event_gspr_get_key },
	{ NULL, NULL },
};

static struct kvm_events_ops exit_events = {
	.is_begin_event = exit_event_begin,
	.is_end_event = exit_event_end,
	.child_ops = child_events,
	.decode_key = exit_event_decode_key,
	.name = "VM-EXIT"
};

static const struct kvm_reg_events_ops kvm_reg_events_ops[] = {
	{ .name	= "vmexit", .ops = &exit_events, },
	{ },
};

static const char * const kvm_skip_events[] = {
	NULL,
};

static int cpu_isa_init(struct perf_kvm_stat *kvm, const char *cpuid __maybe_unused)
{
	kvm->exit_reasons_isa = "loongarch64";
	kvm->exit_reasons = loongarch_exit_reasons;
	return 0;
}

const struct kvm_stat_arch kvm_stat_loongarch = {
	.name		= "loongarch",
	.events_tp	= kvm_events_tp,
	.reg_events_ops	= kvm_reg_events_ops,
	.skip_events	= kvm_skip_events,
	.vcpu_id	= "vcpu_id",
	.exit_reason	= &kvm_exit_reason,
	/*
	 * kvm_enter comes from KVM_RUN, kvm_reenter from the handler of an exit,
	 * which returns to the guest by itself.
	 */
	.entry_trace	= "kvm:kvm_enter",
	.reentry_trace	= "kvm:kvm_reenter",
	.exit_trace	= "kvm:kvm_exit",
	.isa_init	= cpu_isa_init,
};

#endif /* HAVE_KVM_STAT_SUPPORT */
