// SPDX-License-Identifier: GPL-2.0-only
/*
 * A walk of a guest's page tables that does not sleep
 *
 * mmu/paging_tmpl.h walks them for a fault or for the emulator. It sets accessed bits, may
 * fault pages in, and prepares a fault to inject. This walk translates an address for perf,
 * in an interrupt or NMI, while the guest's other vCPUs may write the tables. The result
 * may be wrong then. The walk reads one entry a level, once, writes nothing, and ends at
 * what the architecture reserves, as it does at a fault.
 *
 * In user mode the walk also ends at the kernel's pages. Else a program of the guest could
 * have words of its kernel in samples of its user space. Protection keys are not checked: a
 * program changes its own ones.
 *
 * tools/testing/guest-walk compiles this file for user space.
 */
#include <linux/bits.h>
#include <linux/types.h>

#include <asm/msr-index.h>
#include <asm/processor-flags.h>

#include "guest_walk.h"

#define ENTRY_PRESENT		BIT_ULL(0)
#define ENTRY_USER		BIT_ULL(2)
#define ENTRY_LARGE		BIT_ULL(7)
#define PAGE_BITS		12

/* How the guest translates addresses */
struct paging {
	unsigned int	levels;
	unsigned int	index_bits;
	unsigned int	entry_size;
	unsigned int	va_bits;
	unsigned int	pa_bits;
	unsigned int	large_levels;	/* Levels up to this one may have large pages. */
	unsigned int	user_levels;	/* Levels up to this one say what user mode may read. */
	u64		table;
};

static struct paging long_mode(const struct guest_walk *walk)
{
	bool la57 = walk->cr4 & X86_CR4_LA57;

	return (struct paging) {
		.levels		= la57 ? 5 : 4,
		.index_bits	= 9,
		.entry_size	= 8,
		.va_bits	= la57 ? 57 : 48,
		.pa_bits	= walk->pa_bits,
		.large_levels	= 3,
		.user_levels	= 5,
		.table		= walk->cr3 & GENMASK_ULL(51, PAGE_BITS),
	};
}

static struct paging pae_mode(const struct guest_walk *walk)
{
	return (struct paging) {
		.levels		= 3,
		.index_bits	= 9,
		.entry_size	= 8,
		.va_bits	= 32,
		.pa_bits	= walk->pa_bits,
		.large_levels	= 2,
		.user_levels	= 2,
		.table		= walk->cr3 & GENMASK_ULL(31, 5),
	};
}

static struct paging legacy_mode(const struct guest_walk *walk)
{
	return (struct paging) {
		.levels		= 2,
		.index_bits	= 10,
		.entry_size	= 4,
		.va_bits	= 32,
		.pa_bits	= walk->pa_bits < 40 ? walk->pa_bits : 40,
		.large_levels	= walk->cr4 & X86_CR4_PSE ? 2 : 1,
		.user_levels	= 2,
		.table		= walk->cr3 & GENMASK_ULL(31, PAGE_BITS),
	};
}

static struct paging paging_of(const struct guest_walk *walk)
{
	if (walk->efer & EFER_LMA)
		return long_mode(walk);

	return walk->cr4 & X86_CR4_PAE ? pae_mode(walk) : legacy_mode(walk);
}

/* In long mode the bits above are copies of the highest one. */
static bool va_is_valid(const struct guest_walk *walk, const struct paging *paging, u64 va)
{
	unsigned int unused = 64 - paging->va_bits;

	if (walk->efer & EFER_LMA)
		return (u64)((s64)(va << unused) >> unused) == va;

	return !(va >> paging->va_bits);
}

/* By how much an address is shifted to be the index of a table; level 1 has the pages. */
static unsigned int level_shift(const struct paging *paging, unsigned int level)
{
	return PAGE_BITS + (level - 1) * paging->index_bits;
}

static bool is_output(const struct paging *paging, u64 address)
{
	return !(address >> paging->pa_bits);
}

static bool may_read(const struct guest_walk *walk, const struct paging *paging,
		     unsigned int level, u64 entry)
{
	return !walk->user || level > paging->user_levels || entry & ENTRY_USER;
}

/* Without CR4.PSE the bit has no meaning in entries of four bytes. */
static bool is_large(const struct paging *paging, unsigned int level, u64 entry)
{
	if (level == 1 || !(entry & ENTRY_LARGE))
		return false;

	return paging->entry_size == 8 || level <= paging->large_levels;
}

/* Returns false if bits are set that are reserved. */
static bool large_page(const struct paging *paging, unsigned int level, u64 entry, u64 *page)
{
	unsigned int shift = level_shift(paging, level);

	if (level > paging->large_levels)
		return false;

	if (paging->entry_size == 8) {
		*page = entry & GENMASK_ULL(51, shift);
		return !(entry & GENMASK_ULL(shift - 1, PAGE_BITS + 1));
	}

	/* PSE-36: bits 13 to 20 are those above 32 bits. */
	*page = (entry & GENMASK_ULL(31, shift)) | (entry & GENMASK_ULL(20, 13)) << 19;
	return !(entry & BIT_ULL(21));
}

static u64 entry_address(const struct paging *paging, u64 entry)
{
	return entry & GENMASK_ULL(paging->entry_size == 8 ? 51 : 31, PAGE_BITS);
}

static bool walk_tables(const struct guest_walk *walk, const struct paging *paging, u64 va,
			u64 *gpa)
{
	u64 address = paging->table, index, entry;
	unsigned int level, shift = PAGE_BITS;

	for (level = paging->levels; level > 0; level--) {
		if (!is_output(paging, address))
			return false;

		shift = level_shift(paging, level);
		index = va >> shift & GENMASK_ULL(paging->index_bits - 1, 0);
		if (!guest_walk_read(walk, address + index * paging->entry_size, &entry,
				     paging->entry_size))
			return false;
		if (!(entry & ENTRY_PRESENT) || !may_read(walk, paging, level, entry))
			return false;

		if (is_large(paging, level, entry)) {
			if (!large_page(paging, level, entry, &address))
				return false;
			break;
		}
		address = entry_address(paging, entry);
	}

	*gpa = address | (va & GENMASK_ULL(shift - 1, 0));
	return is_output(paging, *gpa);
}

/**
 * guest_walk_translate - translate an address by a guest's page tables
 * @walk: the guest's registers
 * @va: the linear address
 * @gpa: the guest-physical one
 *
 * Calls guest_walk_read() GUEST_WALK_MAX_READS times at most.
 *
 * Return: whether the address is mapped.
 */
bool guest_walk_translate(const struct guest_walk *walk, u64 va, u64 *gpa)
{
	struct paging paging = paging_of(walk);

	if (!va_is_valid(walk, &paging, va))
		return false;

	if (!(walk->cr0 & X86_CR0_PG)) {
		*gpa = va;
		return is_output(&paging, va);
	}

	return walk_tables(walk, &paging, va, gpa);
}
