// SPDX-License-Identifier: GPL-2.0-only
/*
 * The walk of a guest's tables: each layout that the architecture has, what it must refuse,
 * and tables that are random and change with each read.
 */
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
	other.el0 = true;
	CHECK(refuses(&other, va));
	other.e0pd = false;
	CHECK(translates(&other, va, ipa));
}

static void test_closed(void)
{
	for_each_layout(close_region);
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
	u64 tcr = 16 | 16ULL << 16, address, signature;
	int n;

	for (n = 0; n < 1000; n++) {
		signature = next() & 0xff7f000000000000ULL;
		address = next() & 0xffffffffffffULL;
		CHECK(guest_walk_strip_pac(tcr, address | signature) == address);
		CHECK(guest_walk_strip_pac(tcr, address | signature | BIT_ULL_OF(55)) ==
		      (address | 0xffff000000000000ULL));
	}
	CHECK(guest_walk_strip_pac(25 | 16ULL << 16, 0x7f8000000000ULL) == 0);
	CHECK(guest_walk_strip_pac(0, 0x1234567812345678ULL) == 0x1234567812345678ULL);
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
