// SPDX-License-Identifier: GPL-2.0-only
/*
 * The text of a hyp_trace_printk(): its record has the address of a format and the arguments
 *
 * Anyone who can write to the pages of a ring can put any address there, and end the record
 * anywhere. An address counts if it is that of a format of EL2's image. What a format reads is
 * known since it was compiled, and has no pointers; the record must have it all.
 */
#include <linux/kernel.h>
#include <linux/nospec.h>
#include <linux/string.h>

#include "printk.h"

/* From the linker script */
extern const struct hyp_printk_format __start_hyp_printk[], __stop_hyp_printk[];

static const struct hyp_printk_format *hyp_printk_find(u64 fmt)
{
	u64 offset = fmt - (u64)__start_hyp_printk;
	u64 nr = offset / sizeof(struct hyp_printk_format);
	u64 max = __stop_hyp_printk - __start_hyp_printk;

	if (nr >= max || offset % sizeof(struct hyp_printk_format))
		return NULL;

	return &__start_hyp_printk[array_index_nospec(nr, max)];
}

/**
 * hyp_printk_text - the text of a record
 * @buf:	where it goes
 * @size:	bytes of that; a longer text is cut
 * @record:	the record
 * @len:	bytes of @record, at least those of the structure
 *
 * Context: any.
 * Return: @buf, which has the text, or says what is wrong with the record.
 */
const char *hyp_printk_text(char *buf, size_t size, const struct hyp_event_hyp_printk *record,
			    unsigned int len)
{
	u64 fmt = READ_ONCE(record->fmt);
	const struct hyp_printk_format *format = hyp_printk_find(fmt);

	len -= sizeof(*record);
	if (!format)
		snprintf(buf, size, "unknown format 0x%llx", fmt);
	else if (len < format->args_size)
		snprintf(buf, size, "%u of %u bytes of arguments: %s", len, format->args_size,
			 format->fmt);
	else
		bstr_printf(buf, size, format->fmt, (const u32 *)(record + 1));

	return buf;
}
