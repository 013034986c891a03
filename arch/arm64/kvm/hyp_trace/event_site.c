// SPDX-License-Identifier: GPL-2.0-only
/*
 * The instructions at the calls of events in EL2's code
 *
 * Without pKVM that code is part of the kernel's image, and the kernel writes to it as to
 * its own static branches. Under pKVM it is not the kernel's any more: EL2 patches it
 * (arch/arm64/kvm/hyp/nvhe/event_site.c), a page of it for each hypercall.
 *
 * No CPU is stopped: see asm/kvm_hypevents_site.h.
 */
#include <linux/bitmap.h>
#include <linux/cacheflush.h>
#include <linux/kvm_host.h>

#include <asm/hyp_image.h>
#include <asm/kvm_hypevents_site.h>
#include <asm/patching.h>
#include <asm/virt.h>

#include "hyp_trace.h"

extern const struct hyp_event_site kvm_nvhe_sym(__hyp_event_sites_start)[];
extern const struct hyp_event_site kvm_nvhe_sym(__hyp_event_sites_end)[];

static int hyp_event_sites_nr(void)
{
	const struct hyp_event_site *start = kvm_nvhe_sym(__hyp_event_sites_start);
	const struct hyp_event_site *end = kvm_nvhe_sym(__hyp_event_sites_end);

	return end - start;
}

/* Ends whatever EL2 returns: each turn goes on from a later site. */
static int hyp_event_sites_patch_protected(void)
{
	int first = 0, next;

	do {
		next = hyp_trace_hypcall(__hyp_trace_patch_sites, first);
		if (next <= first)
			return next > 0 ? -EIO : next;
		first = next;
	} while (first < hyp_event_sites_nr());

	return 0;
}

/* Write the instruction of a site, unless it is there. Returns 1 if it was not. */
static int hyp_event_site_patch(const struct hyp_event_site *site, bool on)
{
	u32 wanted = hyp_event_site_insn(site, on), insn;
	int ret;

	ret = aarch64_insn_read(hyp_event_site_code(site), &insn);
	if (ret || insn == wanted)
		return ret;

	return aarch64_insn_patch_text_nosync(hyp_event_site_code(site), wanted) ?: 1;
}

static int hyp_event_sites_patch_nvhe(const unsigned long *on)
{
	const struct hyp_event_site *site = kvm_nvhe_sym(__hyp_event_sites_start);
	const struct hyp_event_site *end = kvm_nvhe_sym(__hyp_event_sites_end);
	bool patched = false;
	int ret = 0;

	for (; site < end && ret >= 0; site++) {
		ret = hyp_event_site_patch(site, test_bit(site->nr, on));
		patched |= ret > 0;
	}

	/* EL2 executes it at another address. */
	if (patched && icache_is_aliasing())
		icache_inval_all_pou();
	return min(ret, 0);
}

/**
 * hyp_event_sites_patch - patch the calls of those events that were turned on or off
 * @on:		a bitmap of the events that are on, by their place in the catalogue
 *
 * Each CPU executes the new instructions from its next entry into EL2 on.
 *
 * Context: process context, serialised by the caller; after the events' states were set
 * at EL2, by which it goes under pKVM.
 * Return: 0; -ENOMEM when EL2 has no memory for page tables; -EIO when it does not
 * answer as it should; or an errno of the kernel's patching.
 */
int hyp_event_sites_patch(const unsigned long *on)
{
	return is_protected_kvm_enabled() ? hyp_event_sites_patch_protected() :
					    hyp_event_sites_patch_nvhe(on);
}
