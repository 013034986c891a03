// SPDX-License-Identifier: GPL-2.0-only
/*
 * A hyp_printk record with any bytes, as a hostile host can leave one in a ring, and its text in
 * any room. It is read no further than it is long, and its format is one of the section or none. A
 * text that is cut off must be the beginning of the whole text.
 *
 * An input has the room, the address of the format, and the rest of the record.
 */
#include <stdio.h>
#include <stdlib.h>

#include <nvhe/printk.h>

#include "../bstr.h"
#include "../../../../arch/arm64/kvm/hyp_trace/printk.c"
#include "input.h"

#define MAX_TEXT	512

HYP_PRINTK_FORMAT(none, "none %%");
HYP_PRINTK_FORMAT(one, "one %d", 1);
HYP_PRINTK_FORMAT(mixed, "mixed %lld %08x %llx %u", 1LL, 2, 3LL, 4);
HYP_PRINTK_FORMAT(all, "%020lld %lld %llo %lli %zu %llX", 1LL, 2LL, 3LL, 4LL, 5UL, 6LL);

/* That of a format; or near one; or any */
static u64 any_address(struct input *input)
{
	u64 number = input_number(input, 0), begin = (uintptr_t)__start_hyp_printk;
	u8 kind = input_u8(input);

	if (kind < 0x80)
		return begin + number % 5 * sizeof(struct hyp_printk_format);
	return kind < 0xc0 ? begin + (s64)number : number;
}

/* The text, and not a byte more, in memory that ends there. */
static unsigned int text_of(char **buf, unsigned int size, const void *record, unsigned int len)
{
	*buf = malloc(size);
	if (hyp_printk_text(*buf, size, record, len) != *buf || !memchr(*buf, 0, size))
		abort();
	return strlen(*buf);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct input input = { data, size };
	unsigned int room = 1 + input_u8(&input), len, cut_len, whole_len;
	struct hyp_event_hyp_printk *record;
	char *whole, *cut;
	u64 fmt = any_address(&input);

	len = sizeof(*record) + input.size;
	record = malloc(len);
	*record = (struct hyp_event_hyp_printk){ .fmt = fmt };
	if (input.size)
		memcpy(record + 1, input.data, input.size);

	whole_len = text_of(&whole, MAX_TEXT, record, len);
	cut_len = text_of(&cut, room, record, len);
	if (cut_len != (whole_len < room ? whole_len : room - 1) || memcmp(whole, cut, cut_len))
		abort();

	free(cut);
	free(whole);
	free(record);
	return 0;
}
