// SPDX-License-Identifier: GPL-2.0-only
/*
 * Text of numbers, compared with the C library's for the same format and numbers.
 */
#include <stdio.h>

#include <nvhe/printk.h>

#include "random.h"
#include "tap.h"

#define SIZE	128

static u64 random_state;

/* A buffer that ends where its memory does, for the address sanitizer to see */
static char *formatted(unsigned int size, const char *fmt, const u64 *args, unsigned int nr)
{
	char *buf = malloc(size);

	memset(buf, 'z', size);
	CHECK(hyp_format(buf, size, fmt, args, nr) == strlen(buf));
	return buf;
}

static void check_text(const char *fmt, const char *text, const char *expected)
{
	if (!CHECK(!strcmp(text, expected)))
		tap_at("format '%s': '%s', not '%s'", fmt, text, expected);
}

static void check(const char *fmt, u64 a, u64 b, const char *expected)
{
	const u64 args[] = { a, b };
	char *text = formatted(SIZE, fmt, args, 2);

	check_text(fmt, text, expected);
	free(text);
}

static void test_conversions(void)
{
	check("", 0, 0, "");
	check("none", 0, 0, "none");
	check("%d", 0, 0, "0");
	check("%d|%d", -1, INT_MIN, "-1|-2147483648");
	check("%i|%u", INT_MAX, UINT_MAX, "2147483647|4294967295");
	check("%u|%llu", -1, -1, "4294967295|18446744073709551615");
	check("%lld|%ld", LLONG_MIN, LLONG_MAX, "-9223372036854775808|9223372036854775807");
	check("%x|%#x", 0xdeadbeefcafe, 0xbeef, "beefcafe|0xbeef");
	check("%lx|%#lX", 0xdeadbeefcafe, 0xbeef, "deadbeefcafe|0XBEEF");
	check("%#x|%#o", 0, 0, "0|0");
	check("%o|%llo", 8, -1, "10|1777777777777777777777");
	check("%hhd|%hd", 0x1ff, 0x18000, "-1|-32768");
	check("%hhu|%hx", 0x1ff, 0x1ffff, "255|ffff");
	check("%zu|%jd", -1, -1, "18446744073709551615|-1");
	check("%c%c", 'o', 'k', "ok");
	check("100%%|%d", 7, 0, "100%|7");
}

static void test_padding(void)
{
	check("%5d|%-5d|", 42, 42, "   42|42   |");
	check("%05d|%-05d|", -42, -42, "-0042|-42  |");
	check("%+d|% d", 42, 42, "+42| 42");
	check("%+d|% d", -42, -42, "-42|-42");
	check("%08x|%#08x", 0xbeef, 0xbeef, "0000beef|0x00beef");
	check("%.5d|%8.5d", 42, -42, "00042|  -00042");
	check("%08.5d|%.0d|", 42, 0, "   00042||");
	check("%3c|%-3c|", 'a', 'b', "  a|b  |");
}

/* What is not there, or no conversion, is put as it stands, and no argument goes to it. */
static void test_others(void)
{
	const u64 arg = 7;
	char *text = formatted(SIZE, "%d %d %5x %c", &arg, 1);

	check_text("too few", text, "7 %d %5x %c");
	free(text);
	check("%s|%d", 7, 0, "%s|7");
	check("%p|%d", 7, 0, "%p|7");
	check("%lf %y|%d", 7, 0, "%lf %y|7");
	check("%*d|%d", 7, 0, "%*d|7");
	check("%d%", 7, 0, "7%");
	check("%-", 7, 0, "%-");
	check("%5.3l", 7, 0, "%5.3l");
}

static void test_cut(void)
{
	const u64 args[] = { 123456, -1 };
	unsigned int size;
	char expected[64];

	for (size = 1; size < sizeof(expected); size++) {
		char *text = formatted(size, "%10d is %%cut%-20lld|", args, 2);

		snprintf(expected, size, "%10d is %%cut%-20lld|", 123456, -1LL);
		check_text("cut", text, expected);
		free(text);
	}
}

/* No width makes a text longer than its room, nor takes time. */
static void test_wide(void)
{
	static const char * const fmts[] = {
		"%4000000000d", "%-99999999999999999999d", "%.4000000000x", "%099999999999d",
	};
	const u64 args[] = { 1 };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(fmts); i++) {
		char *text = formatted(SIZE, fmts[i], args, 1);

		CHECK(strlen(text) == SIZE - 1);
		CHECK(strspn(text, " 01") == SIZE - 1);
		free(text);
	}
}

/* A conversion at random: flags, width, precision, length */
static void random_spec(char *spec, char conv)
{
	static const char * const lengths[] = { "", "hh", "h", "l", "ll", "z", "t", "j" };
	static const char flags[] = "-+ #0";
	unsigned int i;

	*spec++ = '%';
	for (i = 0; i < sizeof(flags) - 1; i++) {
		if (!random_below(&random_state, 3))
			*spec++ = flags[i];
	}
	if (random_below(&random_state, 2))
		spec += sprintf(spec, "%d", (int)random_below(&random_state, 30) + 1);
	if (conv != 'c' && !random_below(&random_state, 3))
		spec += sprintf(spec, ".%d", (int)random_below(&random_state, 30));
	sprintf(spec, "%s%c", conv == 'c' ? "" : lengths[random_below(&random_state, 8)], conv);
}

static u64 random_number(void)
{
	u64 number = random_next(&random_state) >> random_below(&random_state, 64);

	return random_below(&random_state, 2) ? number : -number;
}

static void test_random(void)
{
	static const char convs[] = "diuoxXc";
	char fmt[64], expected[SIZE];
	unsigned int i;

	for (i = 0; i < 20000 * TEST_LOAD; i++) {
		char conv = convs[random_below(&random_state, sizeof(convs) - 1)];
		u64 arg = conv == 'c' ? 'a' + random_below(&random_state, 26) : random_number();
		unsigned int size = 1 + random_below(&random_state, SIZE);
		char *text;

		random_spec(fmt, conv);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
#pragma GCC diagnostic ignored "-Wformat-security"
		snprintf(expected, size, fmt, arg);
#pragma GCC diagnostic pop
		text = formatted(size, fmt, &arg, 1);
		check_text(fmt, text, expected);
		free(text);
	}
}

int main(int argc, char **argv)
{
	static const struct tap_test tests[] = {
		{ "conversions", test_conversions },
		{ "padding", test_padding },
		{ "what is no conversion", test_others },
		{ "cut to each size", test_cut },
		{ "widths beyond all bounds", test_wide },
		{ "random formats", test_random },
	};
	u64 seed = argc > 1 ? strtoull(argv[1], NULL, 0) : 1;

	random_state = random_seed(seed);
	tap_note("seed %llu", (unsigned long long)seed);
	return tap_run(tests, ARRAY_SIZE(tests));
}
