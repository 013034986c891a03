// SPDX-License-Identifier: GPL-2.0-only
/*
 * Patching the calls of events: a NOP while the event is off, else a branch
 *
 * Under pKVM, EL2's code is mapped executable and read-only. It has a second range of
 * addresses, the alias. The alias is never executable, and a page is mapped there only
 * while EL2 writes to it. EL2 writes only the instructions in the linker's table, which is
 * read-only: the host can't choose what is written, or where.
 *
 * A page always has the same address in the alias, unlike in a fixmap slot. If a TLB kept
 * a stale entry, it would still be for that page.
 *
 * Without pKVM there is no alias. The host can write to EL2's code, and patches it itself.
 *
 * A site is stale while its instruction is not the one for its event's state. The host
 * changes the states of any number of events, then has the stale sites patched. One
 * hypercall maps and patches one page, also the first time: a page gets an entry in the page
 * tables when it is patched first.
 *
 * Locking: the caller serialises all of this; pkvm_pgd_lock, taken inside, covers the page
 * tables.
 */
#include <linux/nospec.h>

#include <asm/kvm_hyp.h>
#include <asm/kvm_hypevents_site.h>
#include <asm/kvm_mmu.h>
#include <asm/kvm_pgtable.h>
#include <asm/sections.h>
#include <asm/tlbflush.h>

#include <nvhe/event_site.h>
#include <nvhe/mem_protect.h>
#include <nvhe/mm.h>
#include <nvhe/trace_config.h>

extern const struct hyp_event_site __hyp_event_sites_start[], __hyp_event_sites_end[];

/* The alias of the page of __hyp_text_start; 0 before there is one */
static unsigned long hyp_event_alias;

static unsigned long hyp_event_text_start(void)
{
	return ALIGN_DOWN((unsigned long)__hyp_text_start, PAGE_SIZE);
}

/* Once: reserve the addresses of the alias. Nothing is mapped there. */
static int hyp_event_alias_reserve(void)
{
	unsigned long alias;
	int ret;

	if (hyp_event_alias)
		return 0;

	ret = pkvm_alloc_private_va_range(PAGE_ALIGN((unsigned long)__hyp_text_end) -
					  hyp_event_text_start(), &alias);
	if (!ret)
		hyp_event_alias = alias;
	return ret;
}

static unsigned long hyp_event_alias_addr(unsigned long code)
{
	return hyp_event_alias + (code - hyp_event_text_start());
}

/* -ENOENT for a page that was never mapped. */
static int hyp_event_alias_set_valid(const struct kvm_pgtable_visit_ctx *ctx,
				     enum kvm_pgtable_walk_flags visit)
{
	bool valid = *(bool *)ctx->arg;

	if (ctx->level != KVM_PGTABLE_LAST_LEVEL || !ctx->old)
		return -ENOENT;

	WRITE_ONCE(*ctx->ptep, valid ? ctx->old | KVM_PTE_VALID : ctx->old & ~KVM_PTE_VALID);
	return 0;
}

static int hyp_event_alias_walk(unsigned long addr, bool valid)
{
	struct kvm_pgtable_walker walker = {
		.cb	= hyp_event_alias_set_valid,
		.arg	= &valid,
		.flags	= KVM_PGTABLE_WALK_LEAF,
	};

	hyp_assert_lock_held(&pkvm_pgd_lock);

	return kvm_pgtable_walk(&pkvm_pgtable, addr, PAGE_SIZE, &walker);
}

/*
 * Map a page of code in the alias. The first time, it gets an entry in the page tables, which
 * may take a table a level. That entry stays.
 */
static int hyp_event_alias_map(unsigned long code)
{
	unsigned long addr = hyp_event_alias_addr(code);
	int ret;

	ret = hyp_event_alias_walk(addr, true);
	if (ret == -ENOENT)
		return kvm_pgtable_hyp_map(&pkvm_pgtable, addr, PAGE_SIZE, __hyp_pa(code),
					   PAGE_HYP);
	dsb(ishst);
	isb();
	return ret;
}

/* Unmap a page of the alias, and keep its entry in the tables. */
static int hyp_event_alias_unmap(unsigned long code)
{
	unsigned long addr = hyp_event_alias_addr(code);
	int ret;

	ret = hyp_event_alias_walk(addr, false);
	dsb(ishst);
	__tlbi_level(vale2is, __TLBI_VADDR(addr, 0), KVM_PGTABLE_LAST_LEVEL);
	__tlbi_sync_s1ish_hyp();
	isb();
	return ret;
}

static u32 hyp_event_site_wanted(const struct hyp_event_site *site)
{
	return hyp_event_site_insn(site, hyp_event_states[site->nr] & HYP_EVENT_ID);
}

static bool hyp_event_site_is_stale(const struct hyp_event_site *site)
{
	__le32 *code = hyp_event_site_code(site);

	return le32_to_cpu(READ_ONCE(*code)) != hyp_event_site_wanted(site);
}

static unsigned long hyp_event_site_page(const struct hyp_event_site *site)
{
	return ALIGN_DOWN((unsigned long)hyp_event_site_code(site), PAGE_SIZE);
}

/* Write the instruction of a site, whose page is mapped in the alias. */
static void hyp_event_site_write(const struct hyp_event_site *site)
{
	unsigned long code = (unsigned long)hyp_event_site_code(site);
	unsigned long alias = hyp_event_alias_addr(code);

	hyp_assert_lock_held(&pkvm_pgd_lock);

	WRITE_ONCE(*(__le32 *)alias, cpu_to_le32(hyp_event_site_wanted(site)));
	dcache_clean_inval_poc(alias, alias + AARCH64_INSN_SIZE);
	icache_inval_pou(code, code + AARCH64_INSN_SIZE);
}

/* Patch @site and the sites after it in the table that are in the same page. */
static int el2_event_sites_patch_page(const struct hyp_event_site *site)
{
	unsigned long page = hyp_event_site_page(site);
	int ret;

	ret = hyp_event_alias_reserve();
	if (ret)
		return ret;

	hyp_spin_lock(&pkvm_pgd_lock);
	ret = hyp_event_alias_map(page);
	for (; !ret && site < __hyp_event_sites_end; site++) {
		if (hyp_event_site_page(site) == page && hyp_event_site_is_stale(site))
			hyp_event_site_write(site);
	}
	if (!ret)
		ret = hyp_event_alias_unmap(page);
	hyp_spin_unlock(&pkvm_pgd_lock);

	return ret;
}

/**
 * el2_event_sites_patch - patch the page of the first stale site
 * @first:	the first site to check, by its number in the table; from the host
 *
 * Context: any hypercall, without pkvm_pgd_lock. The events' states must not change
 * meanwhile. Takes at most as many steps as there are sites, and maps one page.
 * Return: the next site to check; 0 if no site from @first on is stale, and without pKVM;
 * -ENOMEM if EL2 has no memory for page tables.
 */
int el2_event_sites_patch(u64 first)
{
	u64 nr = __hyp_event_sites_end - __hyp_event_sites_start, i;
	int ret;

	if (!is_protected_kvm_enabled() || first >= nr)
		return 0;

	for (i = array_index_nospec(first, nr); i < nr; i++) {
		if (!hyp_event_site_is_stale(&__hyp_event_sites_start[i]))
			continue;

		ret = el2_event_sites_patch_page(&__hyp_event_sites_start[i]);
		return ret ?: i + 1;
	}

	return 0;
}
