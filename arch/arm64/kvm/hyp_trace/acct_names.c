// SPDX-License-Identifier: GPL-2.0-only
/*
 * The names of reasons in the files of accounting: those of hypercalls, PSCI functions and
 * exception classes are as in the text of events.
 */
#include <linux/seq_file.h>
#include <linux/string.h>
#include <linux/trace_events.h>

#include <asm/kvm_hypacct.h>

#include "acct_names.h"
#include "event_names.h"

/* The reasons that have a name of their own; others are in a range. */
#define HYP_ACCT_CLASS(name)	\
	[HYP_ACCT_GUEST_##name] = "guest:" #name,
static const char * const hyp_acct_names[NR_HYP_ACCT_REASONS] = {
	[HYP_ACCT_IN_GUEST]		= "in:guest",
	[HYP_ACCT_IN_FIRMWARE]		= "in:firmware",
	[HYP_ACCT_IN_IDLE]		= "in:idle",
	[HYP_ACCT_HCALL_INVALID]	= "hcall:invalid",
	[HYP_ACCT_FFA]			= "ffa",
	[HYP_ACCT_SMC]			= "smc",
	[HYP_ACCT_ABORT]		= "abort",
	[HYP_ACCT_CPU_ENTRY]		= "cpu_entry",
	[HYP_ACCT_GUEST_IRQ]		= "guest:IRQ",
	[HYP_ACCT_GUEST_EL1_SERROR]	= "guest:EL1_SERROR",
	[HYP_ACCT_GUEST_IL]		= "guest:IL",
	[HYP_ACCT_GUEST_PROTECTED]	= "guest:protected",
	[HYP_ACCT_GUEST_OTHER]		= "guest:other",
	HYP_ACCT_CLASSES(HYP_ACCT_CLASS)
};

static const struct trace_print_flags hyp_acct_hcalls[] = { HYP_HCALL_NAMES };
static const struct trace_print_flags hyp_acct_smcs[] = { HYP_SMC_NAMES };

static_assert(ARRAY_SIZE(hyp_acct_hcalls) <= HYP_ACCT_NR_HCALLS);
static_assert(PSCI_0_2_FN(HYP_ACCT_NR_PSCI - 1) == PSCI_1_1_FN_MEM_PROTECT_CHECK_RANGE);

/* Without "PSCI_0_2_FN_" or "PSCI_1_0_FN_". The list begins with PSCI's functions, in order. */
static const char *hyp_acct_psci_name(unsigned int nr)
{
	return strstr(hyp_acct_smcs[nr].name, "_FN_") + strlen("_FN_");
}

/**
 * hyp_acct_show_name - print the name of a reason
 * @m:		where to
 * @reason:	enum hyp_acct_reason, below NR_HYP_ACCT_REASONS
 */
void hyp_acct_show_name(struct seq_file *m, unsigned int reason)
{
	if (hyp_acct_names[reason])
		seq_puts(m, hyp_acct_names[reason]);
	else if (reason < HYP_ACCT_HCALL_INVALID)
		seq_printf(m, "hcall:%s", hyp_acct_hcalls[reason - HYP_ACCT_HCALL].name);
	else
		seq_printf(m, "psci:%s", hyp_acct_psci_name(reason - HYP_ACCT_PSCI));
}
