// SPDX-License-Identifier: GPL-2.0-only
#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tables.h"

#define NR_WORDS	8192

/* Only the words that were set are memory. */
static struct {
	u64	ipa;
	u64	value;
	bool	used;
} words[NR_WORDS];

static u64 next_table;

unsigned int nr_reads;
bool (*read_hook)(u64 ipa, u64 *word);

void clear_memory(void)
{
	memset(words, 0, sizeof(words));
	next_table = 0;
}

static unsigned int slot_of(u64 ipa)
{
	unsigned int i = (ipa * 0x9e3779b97f4a7c15ULL) >> 51, n;

	for (n = 0; n < NR_WORDS; n++) {
		i = (i + 1) % NR_WORDS;
		if (!words[i].used || words[i].ipa == ipa)
			return i;
	}
	fprintf(stderr, "no room for more words\n");
	exit(1);
}

u64 *find_word(u64 ipa)
{
	unsigned int i = slot_of(ipa);

	return words[i].used ? &words[i].value : NULL;
}

static u64 *make_word(u64 ipa)
{
	unsigned int i = slot_of(ipa);

	words[i].used = true;
	words[i].ipa = ipa;
	return &words[i].value;
}

bool guest_walk_read(const struct guest_walk *walk, u64 ipa, u64 *word)
{
	u64 *value;

	(void)walk;
	nr_reads++;
	if (ipa & 7) {
		fprintf(stderr, "a read of %#llx is not aligned\n", (unsigned long long)ipa);
		exit(1);
	}
	if (read_hook)
		return read_hook(ipa, word);
	value = find_word(ipa);
	if (value)
		*word = *value;
	return value;
}

unsigned int shift_of(const struct layout *layout, int level)
{
	return layout->page_shift + (3 - level) * (layout->page_shift - 3);
}

/* The level whose entry covers the half, or more */
int first_level_of(const struct layout *layout)
{
	int level = 3;

	while (shift_of(layout, level - 1) < layout->va_bits)
		level--;
	return level;
}

static u64 swapped(const struct layout *layout, u64 word)
{
	return layout->big_endian ? htobe64(word) : htole64(word);
}

/* Bits 48 to 51 of an address are elsewhere in a descriptor. */
static u64 descriptor(const struct layout *layout, u64 address, unsigned int type)
{
	u64 low = address & 0xffffffffffffULL, high = address >> 48;

	if (layout->wide && layout->page_shift == 16)
		low |= high << 12;
	else if (layout->wide)
		low |= (high & 3) << 48 | (high >> 2) << 8;
	else if (high)
		abort();
	/* AttrIndx, AF, and software's bits, which do not matter */
	return swapped(layout, low | type | 0x04 << 2 | 1 << 10 | 0x5ULL << 55);
}

/* Tables of wide addresses are above what 48 bits reach. */
static u64 new_table(const struct layout *layout)
{
	u64 base = layout->wide ? 0xa000000000000ULL : 0x800000000000ULL;

	return base + (++next_table << 16);
}

static u64 ttbr_of(const struct layout *layout, u64 table)
{
	u64 low = table & 0xffffffffffffULL;

	return layout->wide ? low | (table >> 48) << 2 : low;
}

static u64 table_of(const struct layout *layout, u64 ttbr)
{
	if (!layout->wide)
		return ttbr;
	return (ttbr & 0xffffffffffc0ULL) | (ttbr >> 2 & 0xf) << 48;
}

static unsigned int granule_code(const struct layout *layout)
{
	static const unsigned int tg0[] = { [12] = 0, [14] = 2, [16] = 1 };
	static const unsigned int tg1[] = { [12] = 2, [14] = 1, [16] = 3 };

	return (layout->upper ? tg1 : tg0)[layout->page_shift];
}

/* 52-bit output everywhere but where smaller pages have no room for it */
void set_registers(struct guest_walk *walk, const struct layout *layout)
{
	u64 ips = layout->wide ? 6 : 5;

	*walk = (struct guest_walk) {
		.sctlr		= 1 | (u64)layout->big_endian << 25,
		.tcr		= (u64)(64 - layout->va_bits) << (layout->upper ? 16 : 0) |
				  (u64)granule_code(layout) << (layout->upper ? 30 : 14) |
				  ips << 32,
		.pa_bits	= 52,
		.small_ttst	= layout->va_bits < 25,
		.lpa2_4k	= layout->page_shift == 12 && layout->wide,
		.lpa2_16k	= layout->page_shift == 14 && layout->wide,
		.lva		= layout->page_shift == 16 && layout->va_bits > 48,
	};
	if (layout->wide && layout->page_shift != 16)
		walk->tcr |= 1ULL << 59;
	walk->ttbr[layout->upper] = ttbr_of(layout, new_table(layout));
	/* Of the other half nothing is set that may be taken for this one. */
	walk->tcr |= layout->upper ? 1ULL << 7 : 1ULL << 23;
}

static u64 entry_at(const struct layout *layout, u64 table, u64 va, int level)
{
	unsigned int shift = shift_of(layout, level);
	u64 index = (va & ((1ULL << layout->va_bits) - 1)) >> shift;

	if (level != first_level_of(layout))
		index &= (1ULL << (layout->page_shift - 3)) - 1;
	return table + index * 8;
}

static u64 table_in(const struct layout *layout, u64 desc)
{
	u64 low, high = 0;

	desc = swapped(layout, desc);
	low = desc & 0xffffffffffffULL & -(1ULL << layout->page_shift);
	if (layout->wide && layout->page_shift == 16)
		high = desc >> 12 & 0xf;
	else if (layout->wide)
		high = (desc >> 48 & 3) | (desc >> 8 & 3) << 2;
	return low | high << 48;
}

/* Where the descriptor of an address is at a level */
u64 table_word(const struct guest_walk *walk, const struct layout *layout, u64 va, int level)
{
	u64 table = table_of(layout, walk->ttbr[layout->upper]);
	int at;

	for (at = first_level_of(layout); at < level; at++)
		table = table_in(layout, *find_word(entry_at(layout, table, va, at)));
	return entry_at(layout, table, va, level);
}

/* Map a page, or a block if @level is not 3; returns what @va itself translates to. */
u64 map_page(struct guest_walk *walk, const struct layout *layout, u64 va, u64 ipa, int level)
{
	u64 size = 1ULL << shift_of(layout, level);
	u64 table = table_of(layout, walk->ttbr[layout->upper]), entry, *word;
	int at;

	for (at = first_level_of(layout); at < level; at++) {
		entry = entry_at(layout, table, va, at);
		word = find_word(entry);
		if (!word) {
			table = new_table(layout);
			*make_word(entry) = descriptor(layout, table, 3);
		} else {
			table = table_in(layout, *word);
		}
	}
	ipa &= -size;
	*make_word(entry_at(layout, table, va, level)) = descriptor(layout, ipa,
								   level == 3 ? 3 : 1);
	return ipa | (va & (size - 1));
}
