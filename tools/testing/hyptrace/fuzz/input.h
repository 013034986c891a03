/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a fuzzer makes of its input: numbers, one after the other; 0 past its end.
 */
#ifndef __HYPTRACE_INPUT_H
#define __HYPTRACE_INPUT_H

#include <string.h>

struct input {
	const u8	*data;
	size_t		size;
};

static inline u64 input_bytes(struct input *input, unsigned int bytes)
{
	size_t taken = bytes < input->size ? bytes : input->size;
	u64 value = 0;

	if (taken)
		memcpy(&value, input->data, taken);
	input->data += taken;
	input->size -= taken;
	return value;
}

static inline u8 input_u8(struct input *input)
{
	return input_bytes(input, 1);
}

/* One of 0 to @n - 1 */
static inline u32 input_below(struct input *input, u32 n)
{
	return input_u8(input) % n;
}

/*
 * A number: a small one and @base; or, from 0xe0 on, one that is the last of its kind, or
 * the first one after these; or any.
 */
static inline u64 input_number(struct input *input, u64 base)
{
	static const u64 odd[] = {
		0, (u64)-1, 1ULL << 63, ~(1ULL << 63), 1ULL << 32, (1ULL << 32) - 1,
		(1ULL << 32) + 3, 1ULL << 40, (1ULL << 40) - 1, 1 << 16, (1 << 16) - 1, 1ULL << 52,
		255, 256, 1344, 1345,
	};
	u8 byte = input_u8(input);

	if (byte < 0xe0)
		return base + byte;
	if (byte < 0xf0)
		return odd[byte - 0xe0];
	return input_bytes(input, 8);
}

#endif /* __HYPTRACE_INPUT_H */
