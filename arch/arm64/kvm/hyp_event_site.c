// SPDX-License-Identifier: GPL-2.0-only
/*
 * The code of EL2 where events are called, without pKVM
 *
 * It is part of the kernel's image, and the kernel writes to it as for its own static
 * branches. Under pKVM it is not the kernel's any more, and EL2 does it
 * (arch/arm64/kvm/hyp/nvhe/event_site.c).
 */
#include <linux/cacheflush.h>
#include <linux/kvm_host.h>

#include <asm/hyp_image.h>
#include <asm/kvm_hypevents_site.h>
#include <asm/patching.h>
#include <asm/virt.h>

#include "hyp_trace.h"

extern const struct hyp_event_site kvm_nvhe_sym(__hyp_event_sites_start)[];
extern const struct hyp_event_site kvm_nvhe_sym(__hyp_event_sites_end)[];

/**
 * hyp_event_sites_set - turn an event's calls on or off
 * @nr:		the event's place in the catalogue
 * @on:		which of the two
 *
 * Context: process context, serialised by the caller. Nothing to do under pKVM.
 * Return: 0, or an errno of the kernel's patching.
 */
int hyp_event_sites_set(unsigned int nr, bool on)
{
	const struct hyp_event_site *site;
	int ret = 0;

	if (is_protected_kvm_enabled())
		return 0;

	for (site = kvm_nvhe_sym(__hyp_event_sites_start);
	     !ret && site < kvm_nvhe_sym(__hyp_event_sites_end); site++) {
		if (site->nr == nr)
			ret = aarch64_insn_patch_text_nosync(hyp_event_site_code(site),
							     hyp_event_site_insn(site, on));
	}

	/* EL2 executes it at another address. */
	if (icache_is_aliasing())
		icache_inval_all_pou();
	return ret;
}
