// SPDX-License-Identifier: GPL-2.0-only
/*
 * A walk of a guest's stage-1 tables that does not sleep
 *
 * at.c emulates a translation, with its faults, for a guest hypervisor that waits for the
 * result. This one translates an address for perf, in an interrupt or NMI, while the guest's
 * other vCPUs may write the tables. The result may be wrong then. The walk reads one word a
 * level, once, and ends at what the architecture reserves, as it does at a fault.
 *
 * At EL0 the walk also ends at what EL0 may not read. Else a program of the guest could have
 * words of its kernel in samples of its user space. EL1 may read all that is mapped.
 *
 * tools/testing/guest-walk compiles this file for user space.
 */
#include <linux/array_size.h>
#include <linux/bitfield.h>
#include <linux/bits.h>
#include <linux/minmax.h>
#include <linux/types.h>

#include <asm/byteorder.h>
#include <asm/pgtable-hwdef.h>
#include <asm/pgtable-types.h>
#include <asm/sysreg.h>

#include "guest_walk.h"

#define LAST_LEVEL		3
#define IPS_52			6

/* In the descriptor of a table: APTable[0] */
#define TABLE_NO_EL0		BIT(61)

/* In that of a page: PIIndex and POIndex */
#define PI_INDEX_0		BIT(6)
#define PI_INDEX_1		BIT(51)
#define PI_INDEX_3_2		GENMASK_ULL(54, 53)
#define PO_INDEX		GENMASK_ULL(62, 60)

/* The codes of PIRE0_EL1 that let EL0 read; those from PIE_R on have no overlay. */
#define PIE_READS		(BIT(PIE_R_O) | BIT(PIE_RX_O) | BIT(PIE_RW_O) | BIT(PIE_RWnX_O) | \
				 BIT(PIE_RWX_O) | BIT(PIE_R) | BIT(PIE_GCS) | BIT(PIE_RX) | \
				 BIT(PIE_RW) | BIT(PIE_RWX))
/* Those of POR_EL0 */
#define POE_READS		(BIT(POE_R) | BIT(POE_RX) | BIT(POE_RW) | BIT(POE_RXW))

/* One half of the guest's virtual address space */
struct region {
	unsigned int	page_shift;
	unsigned int	va_bits;
	unsigned int	pa_bits;
	u64		ttbr;
	bool		upper;
	bool		tbi;
	bool		disabled;
	bool		table_perms;	/* A table may keep EL0 from all below it. */
	bool		lpa2;		/* TCR_EL1.DS, with descriptors of its own */
	bool		lpa_64k;	/* 52-bit addresses in descriptors of 64 KiB pages */
};

static bool is_upper(u64 va)
{
	return va & BIT(55);
}

static unsigned int txsz(u64 tcr, bool upper)
{
	return upper ? FIELD_GET(TCR_T1SZ_MASK, tcr) : FIELD_GET(TCR_T0SZ_MASK, tcr);
}

/* TG0 and TG1 have codes of their own; 0 stands for what is reserved. */
static unsigned int page_shift(u64 tcr, bool upper)
{
	if (upper) {
		switch (tcr & TCR_TG1_MASK) {
		case TCR_TG1_4K:
			return 12;
		case TCR_TG1_16K:
			return 14;
		case TCR_TG1_64K:
			return 16;
		}
		return 0;
	}

	switch (tcr & TCR_TG0_MASK) {
	case TCR_TG0_4K:
		return 12;
	case TCR_TG0_16K:
		return 14;
	case TCR_TG0_64K:
		return 16;
	}
	return 0;
}

static unsigned int output_bits(u64 tcr)
{
	static const u8 bits[] = { 32, 36, 40, 42, 44, 48, 52 };
	unsigned int ips = FIELD_GET(TCR_IPS_MASK, tcr);

	return ips < ARRAY_SIZE(bits) ? bits[ips] : 48;
}

/* Hierarchical permissions, which indirect ones turn off */
static bool has_table_perms(const struct guest_walk *walk, bool upper)
{
	if (walk->hpds && walk->tcr & (upper ? TCR_HPD1 : TCR_HPD0))
		return false;
	return !(walk->tcr2 & TCR2_EL1x_PIE);
}

static void read_region(const struct guest_walk *walk, bool upper, struct region *region)
{
	u64 tcr = walk->tcr;

	region->upper = upper;
	region->page_shift = page_shift(tcr, upper);
	region->va_bits = 64 - txsz(tcr, upper);
	region->pa_bits = min_t(unsigned int, output_bits(tcr), walk->pa_bits);
	region->ttbr = walk->ttbr[upper];
	region->tbi = tcr & (upper ? TCR_TBI1 : TCR_TBI0);
	region->disabled = tcr & (upper ? TCR_EPD1_MASK : TCR_EPD0_MASK);
	if (walk->el0 && walk->e0pd)
		region->disabled |= !!(tcr & (upper ? TCR_E0PD1 : TCR_E0PD0));
	region->table_perms = has_table_perms(walk, upper);
	region->lpa2 = tcr & TCR_DS && ((region->page_shift == 12 && walk->lpa2_4k) ||
					(region->page_shift == 14 && walk->lpa2_16k));
	region->lpa_64k = region->page_shift == 16 && FIELD_GET(TCR_IPS_MASK, tcr) == IPS_52;
	/* Without DS descriptors of smaller pages have 48 bits. */
	if (!region->lpa2 && region->page_shift != 16)
		region->pa_bits = min(region->pa_bits, 48U);
}

static bool region_is_valid(const struct guest_walk *walk, const struct region *region)
{
	bool large = region->lpa2 || (region->page_shift == 16 && walk->lva);
	unsigned int least = 25, most = large ? 52 : 48;

	if (walk->small_ttst)
		least = region->page_shift == 16 ? 17 : 16;
	return region->page_shift && !region->disabled &&
	       region->va_bits >= least && region->va_bits <= most;
}

/* The bits above the region's are those of a pointer to it, but for a tag. */
static bool va_is_valid(const struct region *region, u64 va)
{
	u64 above = GENMASK_ULL(region->tbi ? 55 : 63, region->va_bits);

	return (va & above) == (region->upper ? above : 0);
}

/* By how much an address is shifted to be the index of a table */
static unsigned int level_shift(const struct region *region, int level)
{
	return region->page_shift + (LAST_LEVEL - level) * (region->page_shift - 3);
}

static int first_level(const struct region *region)
{
	unsigned int stride = region->page_shift - 3;

	return LAST_LEVEL - (int)((region->va_bits - 1 - region->page_shift) / stride);
}

/* The address in a descriptor, down to bit @low */
static u64 output_address(const struct region *region, u64 desc, unsigned int low)
{
	u64 address;

	if (region->lpa2)
		return (desc & GENMASK_ULL(49, low)) | FIELD_GET(GENMASK_ULL(9, 8), desc) << 50;

	address = desc & GENMASK_ULL(47, low);
	if (region->lpa_64k)
		address |= FIELD_GET(GENMASK_ULL(15, 12), desc) << 48;
	return address;
}

static u64 first_table(const struct region *region, unsigned int level_bits)
{
	bool large = region->lpa2 || region->lpa_64k;
	unsigned int low = level_bits + 3;
	u64 table;

	if (large)
		low = max(low, 6U);
	table = region->ttbr & GENMASK_ULL(47, low);
	if (large)
		table |= FIELD_GET(GENMASK_ULL(5, 2), region->ttbr) << 48;
	return table;
}

static bool may_be_block(const struct region *region, int level)
{
	switch (region->page_shift) {
	case 12:
		return level == 1 || level == 2 || (level == 0 && region->lpa2);
	case 14:
		return level == 2 || (level == 1 && region->lpa2);
	default:
		return level == 2 || (level == 1 && region->lpa_64k);
	}
}

static bool is_output(const struct region *region, u64 address)
{
	return !(address >> region->pa_bits);
}

/* The field of a register of permissions that an index selects */
static unsigned int permission(u64 reg, unsigned int index)
{
	return reg >> 4 * index & 0xf;
}

static unsigned int pi_index(u64 desc)
{
	return FIELD_GET(PI_INDEX_0, desc) | FIELD_GET(PI_INDEX_1, desc) << 1 |
	       FIELD_GET(PI_INDEX_3_2, desc) << 2;
}

static bool overlay_reads(const struct guest_walk *walk, u64 desc)
{
	return !(walk->tcr2 & TCR2_EL1x_E0POE) ||
	       BIT(permission(walk->por_el0, FIELD_GET(PO_INDEX, desc))) & POE_READS;
}

/* Whether EL0 may read the page or block */
static bool el0_reads(const struct guest_walk *walk, u64 desc)
{
	unsigned int code;

	if (!(walk->tcr2 & TCR2_EL1x_PIE))
		return desc & PTE_USER && overlay_reads(walk, desc);

	code = permission(walk->pire0, pi_index(desc));
	return BIT(code) & PIE_READS && (code >= PIE_R || overlay_reads(walk, desc));
}

/* Returns false if there is no memory, or the descriptor is invalid. */
static bool read_descriptor(const struct guest_walk *walk, u64 ipa, u64 *desc)
{
	if (!guest_walk_read(walk, ipa, desc))
		return false;
	if (walk->sctlr & SCTLR_ELx_EE)
		*desc = be64_to_cpu((__force __be64)*desc);
	else
		*desc = le64_to_cpu((__force __le64)*desc);
	return *desc & PTE_VALID;
}

static bool is_table(int level, u64 desc)
{
	return level < LAST_LEVEL && desc & PTE_TABLE_BIT;
}

/* Of a page or block: its level is one that the architecture has, and EL0 may read it at EL0. */
static bool is_leaf(const struct guest_walk *walk, const struct region *region, int level,
		    u64 desc)
{
	/* A page has the bit of a table, too. */
	if (level == LAST_LEVEL ? !(desc & PTE_TABLE_BIT) : !may_be_block(region, level))
		return false;
	return !walk->el0 || el0_reads(walk, desc);
}

static bool walk_tables(const struct guest_walk *walk, const struct region *region, u64 va,
			u64 *ipa)
{
	unsigned int top = region->va_bits, shift;
	int level = first_level(region);
	u64 table, desc;

	table = first_table(region, top - level_shift(region, level));
	for (;; level++) {
		if (!is_output(region, table))
			return false;

		shift = level_shift(region, level);
		table += (va & GENMASK_ULL(top - 1, shift)) >> shift << 3;
		if (!read_descriptor(walk, table, &desc))
			return false;
		if (!is_table(level, desc))
			break;
		if (walk->el0 && region->table_perms && desc & TABLE_NO_EL0)
			return false;

		table = output_address(region, desc, region->page_shift);
		top = shift;
	}

	if (!is_leaf(walk, region, level, desc))
		return false;
	*ipa = output_address(region, desc, shift) | (va & GENMASK_ULL(shift - 1, 0));
	return is_output(region, *ipa);
}

/* With stage 1 off an address is physical, below any tag. */
static bool translate_flat(const struct guest_walk *walk, const struct region *region, u64 va,
			   u64 *ipa)
{
	*ipa = region->tbi ? va & GENMASK_ULL(55, 0) : va;
	return !(*ipa >> walk->pa_bits);
}

/**
 * guest_walk_translate - translate an address by a guest's stage-1 tables
 * @walk: the guest's registers
 * @va: the virtual address
 * @ipa: the guest-physical one
 *
 * Calls guest_walk_read() GUEST_WALK_MAX_READS times at most.
 *
 * Return: whether the address is mapped.
 */
bool guest_walk_translate(const struct guest_walk *walk, u64 va, u64 *ipa)
{
	struct region region = {};

	read_region(walk, is_upper(va), &region);
	if (!(walk->sctlr & SCTLR_ELx_M))
		return translate_flat(walk, &region, va, ipa);

	return region_is_valid(walk, &region) && va_is_valid(&region, va) &&
	       walk_tables(walk, &region, va, ipa);
}

/**
 * guest_walk_pac_mask - where the pointer authentication code of an address to return to is
 * @tcr: the guest's TCR_EL1
 * @upper: the address is in the upper half: its bit 55 is 1
 *
 * Return: the bits, all of which are as bit 55 in an address that is not signed.
 */
u64 guest_walk_pac_mask(u64 tcr, bool upper)
{
	unsigned int va_bits = 64 - txsz(tcr, upper);

	return va_bits > 55 ? 0 : GENMASK_ULL(63, va_bits);
}
