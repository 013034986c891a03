// SPDX-License-Identifier: GPL-2.0
#include <string.h>

#include "longest.h"

/* Where a stay belongs: behind those that are as long */
static unsigned int place(const struct longest *longest, u64 length)
{
	unsigned int i = longest->nr;

	while (i && stay_length(&longest->stays[i - 1]) < length)
		i--;
	return i;
}

/**
 * longest_add - keep a stay if it is among the longest
 * @longest: the longest stays
 * @stay: the stay
 */
void longest_add(struct longest *longest, const struct stay *stay)
{
	unsigned int at = place(longest, stay_length(stay)), behind;

	if (at == LONGEST)
		return;
	if (longest->nr < LONGEST)
		longest->nr++;
	behind = longest->nr - 1 - at;
	memmove(&longest->stays[at + 1], &longest->stays[at], behind * sizeof(*stay));
	longest->stays[at] = *stay;
}
