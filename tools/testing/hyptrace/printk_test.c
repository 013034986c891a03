// SPDX-License-Identifier: GPL-2.0-only
/*
 * hyp_trace_printk(): the record that EL2 makes, and the text that the kernel makes of it, compared
 * with the C library's for the same format and numbers. A record with any address and of any length
 * has a text, too.
 */
#include <stdio.h>

#include <nvhe/printk.h>

#include "bstr.h"
#include "random.h"
#include "tap.h"

/* The kernel's side */
#include "../../../arch/arm64/kvm/hyp_trace/printk.c"

#define SIZE	128

/* Texts are cut on purpose. */
#pragma GCC diagnostic ignored "-Wformat-truncation"

static u64 random_state;

/* The text of a record; both end where their memory does, for the address sanitizer to see. */
static char *text_of(const struct hyp_event_hyp_printk *event, unsigned int len, unsigned int size)
{
	struct hyp_event_hyp_printk *copy = malloc(len);
	char *buf = malloc(size);

	memcpy(copy, event, len);
	memset(buf, 'z', size);
	CHECK(hyp_printk_text(buf, size, copy, len) == buf);
	CHECK(memchr(buf, 0, size));
	free(copy);
	return buf;
}

static void check_text(char *text, const char *expected)
{
	if (!CHECK(!strcmp(text, expected)))
		tap_at("'%s', not '%s'", text, expected);
	free(text);
}

/* What EL2 does for a hyp_trace_printk(), but for the ring */
#define RECORD(record, format, args...)						\
({										\
	HYP_PRINTK_FORMAT(__fmt, format, ##args);				\
	struct hyp_printk_record *__record = record;				\
	unsigned int __len;							\
										\
	hyp_printk_check(format, ##args);					\
	__record->event.fmt = (uintptr_t)__fmt.fmt;				\
	__len = hyp_printk_pack(__record->words, ##args);			\
	CHECK(__len == __fmt.args_size && __len == hyp_printk_size(args));	\
	sizeof(__record->event) + __len;					\
})

/* The text is the C library's, whole and cut to each size. */
#define CHECK_PRINTK(format, args...)						\
do {										\
	struct hyp_printk_record __of;						\
	unsigned int __size, __bytes = RECORD(&__of, format, ##args);		\
	char __expected[SIZE];							\
										\
	for (__size = 1; __size <= SIZE; __size++) {				\
		snprintf(__expected, __size, format, ##args);			\
		check_text(text_of(&__of.event, __bytes, __size), __expected);	\
	}									\
} while (0)

static void test_conversions(void)
{
	CHECK_PRINTK("none");
	CHECK_PRINTK("%d", 0);
	CHECK_PRINTK("%d|%d", -1, INT_MIN);
	CHECK_PRINTK("%i|%u", INT_MAX, UINT_MAX);
	CHECK_PRINTK("%u|%llu", -1, -1ULL);
	CHECK_PRINTK("%lld|%ld", LLONG_MIN, LONG_MAX);
	CHECK_PRINTK("%x|%X", 0xdeadbeef, 0xbeef);
	CHECK_PRINTK("%lx|%llX", 0xdeadbeefcafeUL, 0xbeefULL);
	CHECK_PRINTK("%o|%llo", 8, -1ULL);
	CHECK_PRINTK("%zu|%zd", (size_t)-1, (ssize_t)-1);
	CHECK_PRINTK("100%%|%d", 7);
	CHECK_PRINTK("%d%%", 7);
	CHECK_PRINTK("%%%%");
}

/* A number narrower than an int takes the bytes of one, with its sign. */
static void test_promotions(void)
{
	u8 byte = 0xff;
	s8 negative = -1;
	u16 half = 0x8000;
	s16 low = -0x8000;

	CHECK_PRINTK("%u|%d|%u|%d|%d|%d", byte, negative, half, low, true, 'a');
	CHECK_PRINTK("%x|%x", negative, low);
}

static void test_padding(void)
{
	CHECK_PRINTK("%5d|%1d|", 42, 42);
	CHECK_PRINTK("%05d|%020lld|", -42, -42LL);
	CHECK_PRINTK("%08x|%016llX", 0xbeef, 0xbeefULL);
	CHECK_PRINTK("%127lld %0300llu", 1LL, 2ULL);
}

/* Four bytes and eight, in each order: what is behind an argument is not taken for a part of it. */
static void test_layout(void)
{
	CHECK_PRINTK("%d %lld %d %lld %d %lld", 1, 2LL, 3, 4LL, 5, 6LL);
	CHECK_PRINTK("%lld %d %lld %d %lld %d", -1LL, -2, -3LL, -4, -5LL, -6);
	CHECK_PRINTK("%lld %llx %lu %zu %lo %lli", -1LL, 2ULL, 3UL, (size_t)4, 5UL, 6LL);
	CHECK_PRINTK("%d %u %x %X %o %i", -1, 2, 3, 4, 5, 6);
	CHECK_PRINTK("%d %d %lld", 1, 2, -3LL);
}

/* The longest format, and the character that is scanned last */
#define TEN	"0123456789"
#define SIXTY	TEN TEN TEN TEN TEN TEN
#define LONGEST	SIXTY SIXTY "1234%d"

static void test_longest(void)
{
	BUILD_BUG_ON(sizeof(LONGEST) != HYP_PRINTK_FORMAT_SIZE);
	CHECK_PRINTK(LONGEST, 7);
}

static u64 random_number(void)
{
	u64 number = random_next(&random_state) >> random_below(&random_state, 64);

	return random_below(&random_state, 2) ? number : -number;
}

static void test_random(void)
{
	unsigned int i;

	for (i = 0; i < 20 * TEST_LOAD; i++) {
		u64 a = random_number(), b = random_number(), c = random_number();

		CHECK_PRINTK("%d|%5u|%llx", (s32)a, (u32)b, c);
		CHECK_PRINTK("%lld|%08x|%20llu|%i", (s64)a, (u32)b, c, (s32)b);
		CHECK_PRINTK("%zu|%o|%lX|%010d|%lo|%llo", (size_t)a, (u32)b, (unsigned long)c,
			     (s32)a, (unsigned long)b, c);
	}
}

static void check_begin(const struct hyp_printk_record *record, unsigned int len,
			const char *expected)
{
	char *text = text_of(&record->event, len, SIZE);

	if (!CHECK(!strncmp(text, expected, strlen(expected))))
		tap_at("'%s', not '%s...'", text, expected);
	free(text);
}

/* An address that is not that of a format: around the section and in it, and any */
static void test_addresses(void)
{
	u64 begin = (uintptr_t)__start_hyp_printk, end = (uintptr_t)__stop_hyp_printk, fmt;
	struct hyp_printk_record record = { };
	unsigned int i;

	CHECK(end > begin);
	for (fmt = begin - 300; fmt != end + 300; fmt++) {
		record.event.fmt = fmt;
		if (fmt - begin >= end - begin || (fmt - begin) % sizeof(*__start_hyp_printk))
			check_begin(&record, sizeof(record.event), "unknown format 0x");
	}

	for (i = 0; i < 20 * TEST_LOAD; i++) {
		record.event.fmt = random_number();
		check_begin(&record, sizeof(record.event), "unknown format 0x");
	}
}

/* A record that ends before its arguments do: none is read. */
static void test_cut_records(void)
{
	struct hyp_printk_record record;
	unsigned int len, whole = RECORD(&record, "%lld %d %llx", -1LL, 2, 3ULL);

	CHECK(whole == sizeof(record.event) + 20);
	for (len = sizeof(record.event); len < whole; len++)
		check_begin(&record, len, len == whole - 1 ? "19 of 20 bytes of arguments: %lld" :
			    len == sizeof(record.event) ? "0 of 20 bytes of arguments: %lld" : "");
	check_text(text_of(&record.event, whole, SIZE), "-1 2 3");
}

int main(int argc, char **argv)
{
	static const struct tap_test tests[] = {
		{ "conversions", test_conversions },
		{ "numbers that are narrower than an int", test_promotions },
		{ "padding", test_padding },
		{ "the places of arguments", test_layout },
		{ "the longest format", test_longest },
		{ "random numbers", test_random },
		{ "addresses of no format", test_addresses },
		{ "records that are cut", test_cut_records },
	};
	u64 seed = argc > 1 ? strtoull(argv[1], NULL, 0) : 1;

	random_state = random_seed(seed);
	tap_note("seed %llu", (unsigned long long)seed);
	return tap_run(tests, ARRAY_SIZE(tests));
}
