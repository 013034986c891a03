/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A guest's memory with tables, as the Arm ARM describes them: made here without any of the
 * functions of the walk.
 */
#ifndef __GUEST_WALK_TABLES_H
#define __GUEST_WALK_TABLES_H

#include <stdbool.h>
#include <linux/types.h>

#include "guest_walk.h"

/**
 * struct layout - one half of an address space
 * @page_shift: 12, 14 or 16
 * @va_bits: how large it is
 * @upper: the half of TTBR1_EL1
 * @wide: 52-bit addresses in descriptors
 * @big_endian: SCTLR_EL1.EE
 */
struct layout {
	unsigned int	page_shift, va_bits;
	bool		upper, wide, big_endian;
};

extern unsigned int nr_reads;
extern bool (*read_hook)(u64 ipa, u64 *word);

void clear_memory(void);
u64 *find_word(u64 ipa);
int first_level_of(const struct layout *layout);
unsigned int shift_of(const struct layout *layout, int level);
void set_registers(struct guest_walk *walk, const struct layout *layout);
u64 map_page(struct guest_walk *walk, const struct layout *layout, u64 va, u64 ipa, int level);
u64 table_word(const struct guest_walk *walk, const struct layout *layout, u64 va, int level);

#endif
