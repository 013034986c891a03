// SPDX-License-Identifier: GPL-2.0-only
/*
 * Text of any format and any numbers, in any room. A text that is cut off must be the
 * beginning of the whole text.
 *
 * An input has the number of numbers, the room, the numbers, and the format.
 */
#include <stdlib.h>

#include <nvhe/printk.h>

#include "input.h"

#define MAX_TEXT	512

/* The text, and not a byte more, in memory that ends there. */
static unsigned int format(char **buf, unsigned int size, const char *fmt, const u64 *args,
			   unsigned int nr_args)
{
	unsigned int len;

	*buf = malloc(size);
	len = hyp_format(*buf, size, fmt, args, nr_args);
	if (len >= size || (*buf)[len])
		abort();
	return len;
}

/* The format is the rest of the input. */
static char *format_of(const struct input *input)
{
	char *fmt = malloc(input->size + 1);

	if (input->size)
		memcpy(fmt, input->data, input->size);
	fmt[input->size] = '\0';
	return fmt;
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct input input = { data, size };
	unsigned int nr_args = input_below(&input, HYP_PRINTK_MAX_ARGS + 1);
	unsigned int room = 1 + input_u8(&input), i, len, whole;
	char *fmt, *text, *cut;
	u64 *args = calloc(nr_args + !nr_args, sizeof(*args));

	for (i = 0; i < nr_args; i++)
		args[i] = input_number(&input, 0);
	fmt = format_of(&input);
	whole = format(&text, MAX_TEXT, fmt, args, nr_args);
	len = format(&cut, room, fmt, args, nr_args);
	if (len != (whole < room ? whole : room - 1) || memcmp(text, cut, len))
		abort();

	free(cut);
	free(text);
	free(fmt);
	free(args);
	return 0;
}
