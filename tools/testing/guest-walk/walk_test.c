// SPDX-License-Identifier: GPL-2.0-only
/*
 * The walk of a guest's tables: each layout that the architecture has, what it must refuse,
 * and tables that are random and change with each read.
 */
#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <linux/array_size.h>

#include "check.h"
#include "tables.h"

#define BIT_ULL_OF(n)	(1ULL << (n))

static const struct layout layouts[] = {
	{ 12, 48 }, { 12, 39 }, { 12, 36 }, { 12, 30 }, { 12, 25 }, { 12, 16 },
	{ 12, 52, .wide = true }, { 12, 49, .wide = true }, { 12, 48, .wide = true },
	{ 14, 48 }, { 14, 47 }, { 14, 36 }, { 14, 25 },
	{ 14, 52, .wide = true }, { 14, 47, .wide = true },
	{ 16, 48 }, { 16, 42 }, { 16, 29 }, { 16, 17 },
	{ 16, 52, .wide = true }, { 16, 48, .wide = true }, { 16, 42, .wide = true },
};

static void for_each_layout(void (*run)(const struct layout *layout))
{
	struct layout layout;
	size_t i;
	int form;

	for (i = 0; i < ARRAY_SIZE(layouts); i++) {
		for (form = 0; form < 4; form++) {
			layout = layouts[i];
			layout.upper = form & 1;
			layout.big_endian = form & 2;
			clear_memory();
			run(&layout);
		}
	}
}

static u64 random_va(const struct layout *layout)
{
	u64 va = next() & (BIT_ULL_OF(layout->va_bits) - 1);

	return layout->upper ? va | -BIT_ULL_OF(layout->va_bits) : va;
}

static u64 random_ipa(const struct layout *layout)
{
	return next() & (BIT_ULL_OF(layout->wide ? 52 : 48) - 1);
}

static bool has_block(const struct layout *layout, int level)
{
	int first = layout->page_shift == 12 ? 1 : 2;

	if (layout->wide)
		first--;
	return level < 3 && level >= first && level >= first_level_of(layout);
}

static bool translates(const struct guest_walk *walk, u64 va, u64 expected)
{
	u64 ipa = 0;

	nr_reads = 0;
	return guest_walk_translate(walk, va, &ipa) && ipa == expected;
}

static bool refuses(const struct guest_walk *walk, u64 va)
{
	u64 ipa;

	nr_reads = 0;
	return !guest_walk_translate(walk, va, &ipa);
}

static void map_levels(const struct layout *layout)
{
	struct guest_walk walk;
	u64 va, expected;
	int level, n;

	for (level = first_level_of(layout); level <= 3; level++) {
		if (level != 3 && !has_block(layout, level))
			continue;
		for (n = 0; n < 20; n++) {
			clear_memory();
			set_registers(&walk, layout);
			va = random_va(layout);
			expected = map_page(&walk, layout, va, random_ipa(layout), level);
			CHECK(translates(&walk, va, expected));
			CHECK(nr_reads == level - first_level_of(layout) + 1);
		}
	}
}

static void test_layouts(void)
{
	for_each_layout(map_levels);
}

/* A descriptor of each type, where a table is or a page */
static void spoil_levels(const struct layout *layout)
{
	struct guest_walk walk;
	u64 va, ipa, *word, kept, type = layout->big_endian ? BIT_ULL_OF(56) : 1;
	int level;

	set_registers(&walk, layout);
	va = random_va(layout);
	ipa = map_page(&walk, layout, va, random_ipa(layout), 3);
	for (level = first_level_of(layout); level <= 3; level++) {
		word = find_word(table_word(&walk, layout, va, level));
		kept = *word;
		*word &= ~type;
		CHECK(refuses(&walk, va));
		CHECK(nr_reads == level - first_level_of(layout) + 1);
		*word = kept & ~(type << 1);
		if (level == 3 || !has_block(layout, level))
			CHECK(refuses(&walk, va));
		*word = kept;
		CHECK(translates(&walk, va, ipa));
	}
}

static void test_descriptors(void)
{
	for_each_layout(spoil_levels);
}

/* Change bits of the descriptor of an address at a level. */
static void set_bits(const struct guest_walk *walk, const struct layout *layout, u64 va, int level,
		     u64 mask, u64 bits)
{
	u64 *word = find_word(table_word(walk, layout, va, level));
	u64 desc = layout->big_endian ? be64toh(*word) : le64toh(*word);

	desc = (desc & ~mask) | bits;
	*word = layout->big_endian ? htobe64(desc) : htole64(desc);
}

/* AP[1] */
static void allow_el0(const struct guest_walk *walk, const struct layout *layout, u64 va)
{
	set_bits(walk, layout, va, 3, 0, BIT_ULL_OF(6));
}

/* Each bit of TCR_EL1 and of the address that closes the way */
static void close_region(const struct layout *layout)
{
	struct guest_walk walk, other;
	u64 va, ipa;
	unsigned int bit;

	set_registers(&walk, layout);
	va = random_va(layout);
	ipa = map_page(&walk, layout, va, random_ipa(layout), 3);
	for (bit = layout->va_bits; bit < 64; bit++)
		CHECK(refuses(&walk, va ^ BIT_ULL_OF(bit)));

	other = walk;
	other.tcr |= layout->upper ? BIT_ULL_OF(38) : BIT_ULL_OF(37);
	for (bit = 56; bit < 64; bit++)
		CHECK(translates(&other, va ^ BIT_ULL_OF(bit), ipa));
	for (bit = layout->va_bits; bit < 56; bit++)
		CHECK(refuses(&other, va ^ BIT_ULL_OF(bit)));

	other = walk;
	other.tcr |= layout->upper ? BIT_ULL_OF(23) : BIT_ULL_OF(7);
	CHECK(refuses(&other, va));

	other = walk;
	other.tcr |= layout->upper ? BIT_ULL_OF(56) : BIT_ULL_OF(55);
	other.e0pd = true;
	CHECK(translates(&other, va, ipa));
	allow_el0(&walk, layout, va);
	other.el0 = true;
	CHECK(refuses(&other, va));
	other.e0pd = false;
	CHECK(translates(&other, va, ipa));
}

static void test_closed(void)
{
	for_each_layout(close_region);
}

/* What EL1 may read, and EL0 with @el0 */
static void expect_el0(struct guest_walk *walk, u64 va, u64 ipa, bool el0)
{
	walk->el0 = true;
	CHECK(el0 ? translates(walk, va, ipa) : refuses(walk, va));
	walk->el0 = false;
	CHECK(translates(walk, va, ipa));
}

/* APTable[0] of each table above the page, and what turns it off */
static void close_tables(struct guest_walk *walk, const struct layout *layout, u64 va, u64 ipa,
			 int last)
{
	u64 hpd = layout->upper ? BIT_ULL_OF(42) : BIT_ULL_OF(41);
	u64 other = layout->upper ? BIT_ULL_OF(41) : BIT_ULL_OF(42), tcr = walk->tcr;
	int level;

	for (level = first_level_of(layout); level < last; level++) {
		/* APTable[1] is about writes, PXNTable and UXNTable about execution. */
		set_bits(walk, layout, va, level, 0, BIT_ULL_OF(62) | 3ULL << 59);
		expect_el0(walk, va, ipa, true);
		set_bits(walk, layout, va, level, 0, BIT_ULL_OF(61));
		expect_el0(walk, va, ipa, false);
		walk->el0 = true;
		CHECK(refuses(walk, va));
		CHECK(nr_reads == level - first_level_of(layout) + 1);
		walk->tcr = tcr | other;
		walk->hpds = true;
		expect_el0(walk, va, ipa, false);
		walk->tcr = tcr | hpd;
		expect_el0(walk, va, ipa, true);
		walk->hpds = false;
		expect_el0(walk, va, ipa, false);
		walk->tcr = tcr;
		/* Indirect permissions: all indices may read. */
		walk->tcr2 = BIT_ULL_OF(1);
		walk->pire0 = 0x8888888888888888ULL;
		expect_el0(walk, va, ipa, true);
		walk->tcr2 = 0;
		set_bits(walk, layout, va, level, BIT_ULL_OF(61), 0);
	}
	expect_el0(walk, va, ipa, true);
}

/* AP[1] of pages and blocks, and APTable[0] of what is above them */
static void close_to_el0(const struct layout *layout)
{
	struct guest_walk walk;
	u64 va, ipa;
	int level;

	for (level = first_level_of(layout); level <= 3; level++) {
		if (level != 3 && !has_block(layout, level))
			continue;
		clear_memory();
		set_registers(&walk, layout);
		va = random_va(layout);
		ipa = map_page(&walk, layout, va, random_ipa(layout), level);
		expect_el0(&walk, va, ipa, false);
		/* AP[2], PXN, UXN, and what are indices of permissions otherwise */
		set_bits(&walk, layout, va, level, 0, BIT_ULL_OF(7) | 0xfULL << 51 | 7ULL << 60);
		expect_el0(&walk, va, ipa, false);
		set_bits(&walk, layout, va, level, 0, BIT_ULL_OF(6));
		expect_el0(&walk, va, ipa, true);
		close_tables(&walk, layout, va, ipa, level);
	}
}

static void test_permissions(void)
{
	for_each_layout(close_to_el0);
}

/*
 * As the Arm ARM has them: R, RX, RW, RW and RWX, then without an overlay R, R and GCS, RX, RW,
 * RWX. The others are nothing, X, and reserved.
 */
static const bool pie_reads[16] = {
	[1] = true, [3] = true, [5] = true, [6] = true, [7] = true,
	[8] = true, [9] = true, [10] = true, [12] = true, [14] = true,
};

/* R, RX, RW and RWX; the others are nothing, X, W, WX, and reserved. */
static const bool poe_reads[16] = { [1] = true, [3] = true, [5] = true, [7] = true };

static u64 pi_index(unsigned int index)
{
	return (u64)(index & 1) << 6 | (u64)(index >> 1 & 1) << 51 | (u64)(index >> 2) << 53;
}

/* A register where one field has this value, and the others have what says the contrary */
static u64 field(unsigned int index, unsigned int value, unsigned int others)
{
	u64 all = others * 0x1111111111111111ULL;

	return (all & ~(0xfULL << 4 * index)) | (u64)value << 4 * index;
}

/* Each code of PIRE0_EL1, under each index; then what overlays leave of it */
static void index_page(const struct layout *layout)
{
	struct guest_walk walk;
	unsigned int index, code;
	bool reads;
	u64 va, ipa;

	set_registers(&walk, layout);
	va = random_va(layout);
	ipa = map_page(&walk, layout, va, random_ipa(layout), 3);
	for (index = 0; index < 16; index++) {
		set_bits(&walk, layout, va, 3, pi_index(15), pi_index(index));
		for (code = 0; code < 16; code++) {
			reads = pie_reads[code];
			walk.tcr2 = BIT_ULL_OF(1);
			walk.pire0 = field(index, code, reads ? 0 : 8);
			walk.por_el0 = 0;
			expect_el0(&walk, va, ipa, reads);
			/* Without E0POE neither this nor POE of EL1 changes anything. */
			walk.tcr2 |= BIT_ULL_OF(3);
			expect_el0(&walk, va, ipa, reads);
			walk.tcr2 |= BIT_ULL_OF(2);
			expect_el0(&walk, va, ipa, reads && code >= 8);
			walk.por_el0 = 0x7777777777777777ULL;
			expect_el0(&walk, va, ipa, reads);
		}
	}
}

static void test_indirect(void)
{
	for_each_layout(index_page);
}

/* Each code of POR_EL0, under each index, with AP[1] and without */
static void overlay_page(const struct layout *layout)
{
	struct guest_walk walk;
	unsigned int index, code;
	u64 va, ipa;

	set_registers(&walk, layout);
	walk.tcr2 = BIT_ULL_OF(2);
	va = random_va(layout);
	ipa = map_page(&walk, layout, va, random_ipa(layout), 3);
	for (index = 0; index < 8; index++) {
		set_bits(&walk, layout, va, 3, 7ULL << 60, (u64)index << 60);
		for (code = 0; code < 16; code++) {
			walk.por_el0 = field(index, code, poe_reads[code] ? 0 : 7);
			set_bits(&walk, layout, va, 3, 0, BIT_ULL_OF(6));
			expect_el0(&walk, va, ipa, poe_reads[code]);
			set_bits(&walk, layout, va, 3, BIT_ULL_OF(6), 0);
			expect_el0(&walk, va, ipa, false);
		}
	}
}

static void test_overlays(void)
{
	for_each_layout(overlay_page);
}

/* TG and TxSZ that the architecture reserves, or that a feature is missing for */
static void test_reserved(void)
{
	struct layout layout = { 12, 48 };
	struct guest_walk walk, other;
	u64 ipa;
	int n;

	clear_memory();
	set_registers(&walk, &layout);
	ipa = map_page(&walk, &layout, 0, BIT_ULL_OF(30), 3);
	CHECK(translates(&walk, 0, ipa));
	other = walk;
	other.tcr |= 3ULL << 14;
	CHECK(refuses(&other, 0));
	for (n = 0; n < 64; n++) {
		other = walk;
		other.tcr = (walk.tcr & ~0x3fULL) | n;
		nr_reads = 0;
		guest_walk_translate(&other, 0, &ipa);
		CHECK(!!nr_reads == (n >= 16 && n <= 39));
		other.small_ttst = true;
		nr_reads = 0;
		guest_walk_translate(&other, 0, &ipa);
		CHECK(!!nr_reads == (n >= 16 && n <= 48));
	}

	layout = (struct layout) { 14, 47, .upper = true };
	clear_memory();
	set_registers(&walk, &layout);
	ipa = map_page(&walk, &layout, -1ULL, BIT_ULL_OF(30), 3);
	CHECK(translates(&walk, -1ULL, ipa));
	other = walk;
	other.tcr &= ~(3ULL << 30);
	CHECK(refuses(&other, -1ULL));
}

/* DS counts only where the granule has FEAT_LPA2: bits 8 and 9 are shareability then. */
static void ignore_ds(unsigned int page_shift)
{
	struct layout layout = { page_shift, 47 };
	struct guest_walk walk;
	u64 ipa;

	clear_memory();
	set_registers(&walk, &layout);
	walk.tcr |= BIT_ULL_OF(59);
	walk.lpa2_4k = page_shift != 12;
	walk.lpa2_16k = page_shift != 14;
	ipa = map_page(&walk, &layout, 0x8000, BIT_ULL_OF(40), 3);
	*find_word(table_word(&walk, &layout, 0x8000, 3)) |= 3ULL << 8;
	CHECK(translates(&walk, 0x8000, ipa));
}

static void test_features(void)
{
	struct layout layout;
	struct guest_walk walk;
	u64 ipa;

	ignore_ds(12);
	ignore_ds(14);
	layout = (struct layout) { 16, 52, .wide = true };
	clear_memory();
	set_registers(&walk, &layout);
	ipa = map_page(&walk, &layout, BIT_ULL_OF(50), BIT_ULL_OF(40), 3);
	CHECK(translates(&walk, BIT_ULL_OF(50), ipa));
	walk.lva = false;
	CHECK(refuses(&walk, BIT_ULL_OF(50)));
}

/* No address is larger than TCR_EL1.IPS has it, or than the guest's memory can be. */
static void output_sizes(const struct layout *layout)
{
	static const unsigned int bits[] = { 32, 36, 40, 42, 44, 48, 52 };
	struct guest_walk walk, other;
	u64 va = random_va(layout), ipa;
	unsigned int ips, size;

	if (layout->wide)
		return;
	for (size = 30; size < 48; size++) {
		clear_memory();
		set_registers(&walk, layout);
		ipa = map_page(&walk, layout, va, BIT_ULL_OF(size), 3);
		for (ips = 0; ips < ARRAY_SIZE(bits) - 1; ips++) {
			other = walk;
			other.tcr = (walk.tcr & ~(7ULL << 32)) | (u64)ips << 32;
			/* The tables are at bit 47. */
			CHECK(bits[ips] < 48 ? refuses(&other, va) : translates(&other, va, ipa));
			CHECK(!nr_reads == (bits[ips] < 48));
		}
		other = walk;
		other.pa_bits = 47;
		CHECK(refuses(&other, va));
	}
}

static void test_output(void)
{
	struct layout layout = { 12, 39 };
	struct guest_walk walk;
	u64 ipa, *word;

	for_each_layout(output_sizes);

	/* Of the tables only the page is too high. */
	clear_memory();
	set_registers(&walk, &layout);
	ipa = map_page(&walk, &layout, 0x1000, BIT_ULL_OF(46), 3);
	CHECK(translates(&walk, 0x1000, ipa));
	word = find_word(table_word(&walk, &layout, 0x1000, 3));
	*word |= BIT_ULL_OF(47);
	CHECK(translates(&walk, 0x1000, ipa | BIT_ULL_OF(47)));
	walk.pa_bits = 40;
	CHECK(refuses(&walk, 0x1000));
}

/* Stage 1 is off: the address is the result, if there may be memory. */
static void test_off(void)
{
	struct guest_walk walk = { .pa_bits = 40 };

	CHECK(translates(&walk, 0x40001000, 0x40001000) && !nr_reads);
	CHECK(refuses(&walk, BIT_ULL_OF(40)));
	CHECK(refuses(&walk, BIT_ULL_OF(60) | 0x1000));
	walk.tcr = BIT_ULL_OF(37);
	CHECK(translates(&walk, BIT_ULL_OF(60) | 0x1000, 0x1000));
}

static void test_pac(void)
{
	u64 tcr = 16 | 25ULL << 16;
	unsigned int size;

	CHECK(guest_walk_pac_mask(tcr, false) == 0xffff000000000000ULL);
	CHECK(guest_walk_pac_mask(tcr, true) == 0xffffff8000000000ULL);
	for (size = 9; size < 64; size++) {
		CHECK(guest_walk_pac_mask(size, false) == -BIT_ULL_OF(64 - size));
		CHECK(guest_walk_pac_mask((u64)size << 16, true) == -BIT_ULL_OF(64 - size));
	}
	/* There is no room for a code. */
	for (size = 0; size < 9; size++)
		CHECK(!guest_walk_pac_mask(size, false) &&
		      !guest_walk_pac_mask((u64)size << 16, true));
}

/* Memory whose words are others at each read: mostly valid, of tables of any level */
static bool changing(u64 ipa, u64 *word)
{
	if (below(50) == 0)
		return false;
	*word = next();
	if (below(4))
		*word |= 3;
	if (below(2))
		*word &= 0xffffffffff3ULL;
	/* A table that is its own entry */
	if (below(4) == 0)
		*word = (ipa & ~0xfffULL) | 3;
	return true;
}

static void random_walk(struct guest_walk *walk)
{
	*walk = (struct guest_walk) {
		.sctlr		= below(8) ? next() | 1 : next(),
		.tcr		= next(),
		.ttbr		= { next(), next() },
		.pa_bits	= 32 + below(21),
		.el0		= next() & 1,
		.small_ttst	= next() & 1,
		.lpa2_4k	= next() & 1,
		.lpa2_16k	= next() & 1,
		.lva		= next() & 1,
		.e0pd		= next() & 1,
		.hpds		= next() & 1,
		.tcr2		= next(),
		.pire0		= next(),
		.por_el0	= next(),
	};
	/* Most of what is random ends at once. */
	if (below(8))
		walk->tcr = (walk->tcr & ~0x00803f00bfULL) | (12 + below(28)) |
			    (12 + below(28)) << 16;
}

static void test_hostile(void)
{
	struct guest_walk walk;
	unsigned long n, good = 0;
	u64 va, ipa;

	read_hook = changing;
	for (n = 0; n < load * 100000; n++) {
		random_walk(&walk);
		va = below(4) ? (u64)((int64_t)next() >> (12 + below(30))) : next();
		nr_reads = 0;
		if (guest_walk_translate(&walk, va, &ipa)) {
			good++;
			CHECK(!(ipa >> walk.pa_bits));
			CHECK((ipa & 0xfff) == (va & 0xfff));
		}
		CHECK(nr_reads <= GUEST_WALK_MAX_READS);
	}
	read_hook = NULL;
	printf("# %lu walks, %lu with a result\n", n, good);
	CHECK(good > n / 100);
}

static const struct test tests[] = {
	{ "pages and blocks of each granule and size, in both halves", test_layouts },
	{ "descriptors that are invalid, or of another level", test_descriptors },
	{ "the bits above the address, disabled halves, and tags", test_closed },
	{ "pages and tables that EL0 may not read", test_permissions },
	{ "indirect permissions of EL0", test_indirect },
	{ "overlays of permissions of EL0", test_overlays },
	{ "granules and sizes that are reserved", test_reserved },
	{ "features that the guest does not have", test_features },
	{ "addresses that are too large", test_output },
	{ "stage 1 turned off", test_off },
	{ "pointer authentication codes", test_pac },
	{ "random registers and tables that change at each read", test_hostile },
};

int main(int argc, char **argv)
{
	return run_tests(tests, ARRAY_SIZE(tests), argc, argv);
}
