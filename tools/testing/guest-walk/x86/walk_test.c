// SPDX-License-Identifier: GPL-2.0-only
/*
 * The walk of an x86 guest's tables: each mode of paging that the architecture has, what it
 * must refuse, and tables that are random and change with each read. The tables are made
 * here as the manuals describe them, without any of the functions of the walk.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <linux/array_size.h>
#include <linux/types.h>

#include "../check.h"
#include "guest_walk.h"

#define NR_ENTRIES	64
#define PA_BITS		46
#define PRESENT		1ULL
#define USER		4ULL
#define LARGE		0x80ULL
#define BIT_OF(n)	(1ULL << (n))

/* Only the entries that were set are memory. */
static struct {
	u64		gpa, value;
	unsigned int	size;
} entries[NR_ENTRIES];

static unsigned int nr_entries, nr_reads;
static bool changing;

/* Mostly present entries, which are others at each read */
static bool changing_entry(u64 gpa, u64 *entry, unsigned int size)
{
	if (below(50) == 0)
		return false;
	*entry = next();
	if (below(4))
		*entry |= PRESENT;
	if (below(4))
		*entry &= 0x3fffff07fULL;
	/* A table that is its own entry */
	if (below(4) == 0)
		*entry = (gpa & ~0xfffULL) | PRESENT;
	if (size == 4)
		*entry = (u32)*entry;
	return true;
}

bool guest_walk_read(const struct guest_walk *walk, u64 gpa, u64 *entry, unsigned int size)
{
	unsigned int i;

	nr_reads++;
	if (gpa & (size - 1) || gpa >> walk->pa_bits) {
		printf("Bail out! a read of %#llx\n", (unsigned long long)gpa);
		exit(1);
	}
	if (changing)
		return changing_entry(gpa, entry, size);
	for (i = 0; i < nr_entries; i++) {
		if (entries[i].gpa == gpa && entries[i].size == size) {
			*entry = entries[i].value;
			return true;
		}
	}
	return false;
}

/**
 * struct mode - a mode of paging
 * @name: for the results
 * @cr4: the guest's register
 * @efer: the guest's register
 * @levels: of tables
 * @bits: of an index
 * @size: of an entry
 * @va_bits: of a virtual address
 * @pages: how many bits a page may have
 */
struct mode {
	const char	*name;
	u64		cr4, efer;
	unsigned int	levels, bits, size, va_bits;
	unsigned int	pages[3];
};

static const struct mode modes[] = {
	{ "four levels", BIT_OF(5), BIT_OF(10), 4, 9, 8, 48, { 12, 21, 30 } },
	{ "five levels", BIT_OF(5) | BIT_OF(12), BIT_OF(10), 5, 9, 8, 57, { 12, 21, 30 } },
	{ "PAE", BIT_OF(5), 0, 3, 9, 8, 32, { 12, 21 } },
	{ "PAE, and bits that count in long mode only", BIT_OF(5) | BIT_OF(12), 0, 3, 9, 8, 32,
	  { 12, 21 } },
	{ "two levels", 0, 0, 2, 10, 4, 32, { 12 } },
	{ "two levels, PSE", BIT_OF(4), 0, 2, 10, 4, 32, { 12, 22 } },
};

static void set_entry(const struct mode *mode, u64 gpa, u64 value)
{
	entries[nr_entries].gpa = gpa;
	entries[nr_entries].value = value;
	entries[nr_entries++].size = mode->size;
}

static u64 random_va(const struct mode *mode)
{
	u64 va = next() & (BIT_OF(mode->va_bits) - 1);

	return mode->efer && va >> (mode->va_bits - 1) ? va | -BIT_OF(mode->va_bits) : va;
}

static bool is_legacy(const struct mode *mode)
{
	return mode->size == 4;
}

/* Where a table may be: CR3 of 32-bit modes has 32 bits, as have entries of four bytes. */
static u64 random_table(const struct mode *mode, bool first)
{
	u64 gpa = next() & (BIT_OF(PA_BITS) - 1) & ~0xfffULL;

	if (is_legacy(mode) || (first && !mode->efer))
		gpa &= 0xfffff000;
	return gpa;
}

/* What the architecture ignores in CR3 or an entry, at random */
static u64 ignored_in_cr3(const struct mode *mode)
{
	if (mode->levels == 3)
		return next() & 0x1f;
	return next() & 0xfff;
}

/* Accessed, dirty, available; writable and user; execute-disable and keys */
static u64 ignored(const struct mode *mode, unsigned int level)
{
	u64 bits = next() & 0xe66;

	if (!is_legacy(mode) && !(mode->levels == 3 && level == 3))
		bits |= next() & 0xfff0000000000000ULL;
	/* Without PSE, and in a page the bit is another. */
	if (level == 1 || (is_legacy(mode) && !mode->cr4))
		bits |= next() & LARGE;
	return bits;
}

static u64 large_entry(const struct mode *mode, u64 page)
{
	if (is_legacy(mode))
		return (page & 0xffc00000) | (page >> 32 & 0xff) << 13 | LARGE;
	return page | LARGE;
}

/* Map a page at @va; returns what it translates to. */
static u64 map(struct guest_walk *walk, const struct mode *mode, u64 va, unsigned int shift)
{
	unsigned int level = mode->levels, last = (shift - 12) / mode->bits + 1, at;
	u64 table = random_table(mode, true), page, entry, below_it;

	nr_entries = 0;
	*walk = (struct guest_walk) {
		.cr0 = BIT_OF(31), .cr3 = table | ignored_in_cr3(mode), .cr4 = mode->cr4,
		.efer = mode->efer, .pa_bits = PA_BITS,
	};
	page = next() & (BIT_OF(PA_BITS) - 1) & -BIT_OF(shift);
	if (is_legacy(mode))
		page &= shift == 12 ? 0xffffffff : BIT_OF(40) - 1;
	for (;; level--) {
		at = 12 + (level - 1) * mode->bits;
		entry = table + (va >> at & (BIT_OF(mode->bits) - 1)) * mode->size;
		if (level == last)
			break;
		below_it = random_table(mode, false);
		set_entry(mode, entry, below_it | PRESENT | ignored(mode, level));
		table = below_it;
	}
	set_entry(mode, entry, (level > 1 ? large_entry(mode, page) : page) | PRESENT |
			       ignored(mode, level));
	return page | (va & (BIT_OF(shift) - 1));
}

static bool translates(const struct guest_walk *walk, u64 va, u64 expected)
{
	u64 gpa = 0;

	nr_reads = 0;
	return guest_walk_translate(walk, va, &gpa) && gpa == expected;
}

static bool refuses(const struct guest_walk *walk, u64 va)
{
	u64 gpa;

	nr_reads = 0;
	return !guest_walk_translate(walk, va, &gpa);
}

/* Each size of a page of each mode */
static void for_each_page(void (*run)(const struct mode *mode, unsigned int shift))
{
	size_t i, page;
	int n;

	for (i = 0; i < ARRAY_SIZE(modes); i++) {
		for (page = 0; page < ARRAY_SIZE(modes[i].pages); page++) {
			for (n = 0; n < 50 && modes[i].pages[page]; n++)
				run(&modes[i], modes[i].pages[page]);
		}
	}
}

static void map_page(const struct mode *mode, unsigned int shift)
{
	struct guest_walk walk;
	u64 va = random_va(mode);
	u64 expected = map(&walk, mode, va, shift);

	CHECK(translates(&walk, va, expected));
	CHECK(nr_reads == nr_entries);
}

static void test_pages(void)
{
	for_each_page(map_page);
}

/* Each entry that is not present, or not in memory */
static void spoil_page(const struct mode *mode, unsigned int shift)
{
	struct guest_walk walk;
	u64 va = random_va(mode), expected = map(&walk, mode, va, shift);
	unsigned int i, size;

	for (i = 0; i < nr_entries; i++) {
		entries[i].value ^= PRESENT;
		CHECK(refuses(&walk, va));
		CHECK(nr_reads == i + 1);
		entries[i].value ^= PRESENT;
		size = entries[i].size;
		entries[i].size = 0;
		CHECK(refuses(&walk, va));
		entries[i].size = size;
	}
	CHECK(translates(&walk, va, expected));
}

static void test_entries(void)
{
	for_each_page(spoil_page);
}

/* The bit of large pages where there are none */
static void spoil_size(const struct mode *mode, unsigned int shift)
{
	struct guest_walk walk;
	u64 va = random_va(mode), kept;
	unsigned int i, level;

	map(&walk, mode, va, shift);
	for (i = 0; i < nr_entries; i++) {
		level = mode->levels - i;
		if (is_legacy(mode) || level < (mode->efer ? 4 : 3))
			continue;
		kept = entries[i].value;
		/* As an address it would be aligned. */
		entries[i].value = PRESENT | LARGE;
		CHECK(refuses(&walk, va));
		CHECK(nr_reads == i + 1);
		entries[i].value = kept;
	}
}

static void spoil_reserved(const struct mode *mode, unsigned int shift)
{
	struct guest_walk walk;
	u64 va = random_va(mode), *last;
	unsigned int bit;

	map(&walk, mode, va, shift);
	last = &entries[nr_entries - 1].value;
	if (shift == 12)
		return;
	for (bit = is_legacy(mode) ? 21 : 13; bit < shift; bit++) {
		*last |= BIT_OF(bit);
		CHECK(refuses(&walk, va));
		*last &= ~BIT_OF(bit);
	}
}

static void test_reserved(void)
{
	for_each_page(spoil_size);
	for_each_page(spoil_reserved);
}

/* What is above the address, as a copy of its highest bit or 0 */
static void spoil_address(const struct mode *mode, unsigned int shift)
{
	struct guest_walk walk;
	u64 va = random_va(mode), expected = map(&walk, mode, va, shift);
	unsigned int bit;

	for (bit = mode->efer ? mode->va_bits - 1 : mode->va_bits; bit < 64; bit++) {
		CHECK(refuses(&walk, va ^ BIT_OF(bit)));
		CHECK(!nr_reads);
	}
	CHECK(translates(&walk, va, expected));
}

static void test_address(void)
{
	for_each_page(spoil_address);
}

/* No address is larger than the guest's memory can be. */
static void spoil_output(const struct mode *mode, unsigned int shift)
{
	struct guest_walk walk;
	u64 va = random_va(mode);
	unsigned int i, bit;

	map(&walk, mode, va, shift);
	if (is_legacy(mode))
		return;
	for (i = 0; i < nr_entries; i++) {
		for (bit = PA_BITS; bit < 52; bit++) {
			entries[i].value |= BIT_OF(bit);
			CHECK(refuses(&walk, va));
			CHECK(nr_reads == i + 1);
			entries[i].value &= ~BIT_OF(bit);
		}
	}
	if (!mode->efer)
		return;
	walk.cr3 |= BIT_OF(PA_BITS);
	CHECK(refuses(&walk, va) && !nr_reads);
}

/* PSE-36 has 40 bits, or as many as the guest. */
static void test_output(void)
{
	struct guest_walk walk;
	u64 va;

	for_each_page(spoil_output);

	va = random_va(&modes[5]);
	map(&walk, &modes[5], va, 22);
	walk.cr3 = entries[0].gpa & ~0xfffULL & 0xffffffff;
	walk.pa_bits = 36;
	entries[0].value = large_entry(&modes[5], BIT_OF(35)) | PRESENT;
	CHECK(translates(&walk, va, BIT_OF(35) | (va & 0x3fffff)));
	entries[0].value = large_entry(&modes[5], BIT_OF(36)) | PRESENT;
	CHECK(refuses(&walk, va));
}

/* One entry without the bit of user mode, which the highest ones of PAE do not have */
static void close_page(const struct mode *mode, unsigned int shift)
{
	struct guest_walk walk;
	u64 va = random_va(mode), expected = map(&walk, mode, va, shift);
	bool has_bit;
	unsigned int i;

	for (i = 0; i < nr_entries; i++)
		entries[i].value |= USER;
	walk.user = true;
	CHECK(translates(&walk, va, expected));
	for (i = 0; i < nr_entries; i++) {
		has_bit = mode->levels != 3 || i;
		entries[i].value &= ~USER;
		walk.user = true;
		CHECK(has_bit ? refuses(&walk, va) : translates(&walk, va, expected));
		CHECK(nr_reads == (has_bit ? i + 1 : nr_entries));
		walk.user = false;
		CHECK(translates(&walk, va, expected));
		entries[i].value |= USER;
	}
}

static void test_user(void)
{
	for_each_page(close_page);
}

static void test_off(void)
{
	struct guest_walk walk = { .pa_bits = 40 };

	walk.user = true;
	CHECK(translates(&walk, 0x40001000, 0x40001000) && !nr_reads);
	walk.user = false;

	CHECK(translates(&walk, 0x40001000, 0x40001000) && !nr_reads);
	CHECK(refuses(&walk, BIT_OF(32)));
	walk.pa_bits = 30;
	CHECK(refuses(&walk, BIT_OF(30)));
}

static void test_hostile(void)
{
	struct guest_walk walk;
	unsigned long n, good = 0;
	u64 va, gpa;

	changing = true;
	for (n = 0; n < load * 100000; n++) {
		walk = (struct guest_walk) {
			.cr0 = below(8) ? next() | BIT_OF(31) : next(), .cr3 = next(),
			.cr4 = next(), .efer = next(), .pa_bits = 32 + below(21),
			.user = next() & 1,
		};
		if (below(4))
			walk.cr3 &= 0xfffff000;
		va = below(4) ? (u64)((int64_t)next() >> (7 + below(30))) : (u32)next();
		nr_reads = 0;
		if (guest_walk_translate(&walk, va, &gpa)) {
			good++;
			CHECK(!(gpa >> walk.pa_bits));
			CHECK((gpa & 0xfff) == (va & 0xfff));
		}
		CHECK(nr_reads <= GUEST_WALK_MAX_READS);
	}
	changing = false;
	printf("# %lu walks, %lu with a result\n", n, good);
	CHECK(good > n / 100);
}

static const struct test tests[] = {
	{ "pages of each mode and size", test_pages },
	{ "entries that are not present, or not in memory", test_entries },
	{ "bits that are reserved", test_reserved },
	{ "addresses that are not canonical, or above 32 bits", test_address },
	{ "tables and pages that are too high", test_output },
	{ "pages and tables of the kernel, in user mode", test_user },
	{ "paging turned off", test_off },
	{ "random registers and tables that change at each read", test_hostile },
};

int main(int argc, char **argv)
{
	return run_tests(tests, ARRAY_SIZE(tests), argc, argv);
}
