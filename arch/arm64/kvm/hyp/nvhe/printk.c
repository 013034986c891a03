// SPDX-License-Identifier: GPL-2.0-only
/*
 * Text of numbers, for hyp_trace_printk()
 *
 * The conversions are those of printf(3) for integers, to the letter:
 *
 *	%[-+ #0][width][.precision][hh|h|l|ll|z|t|j]{d|i|u|o|x|X|c|%}
 *
 * There is no %p and no %s: the host may not see EL2's addresses, nor what a pointer points
 * to. Any other conversion is copied as it is.
 *
 * This file does not depend on the hypervisor: the tests in user space compile it as it is.
 * Its number of steps is bounded by the characters of the format and of the text, and the
 * digits of a number.
 */
#include <linux/minmax.h>
#include <linux/stddef.h>

#include <nvhe/printk.h>

/* Of a 64-bit number, in octal */
#define HYP_MAX_DIGITS	22

/**
 * struct hyp_text - the text
 * @buf:	where it goes
 * @size:	how much fits, at least 1
 * @len:	how much there is; the null comes after it
 */
struct hyp_text {
	char		*buf;
	unsigned int	size;
	unsigned int	len;
};

/**
 * struct hyp_spec - a conversion
 * @left:	padded on the right
 * @plus:	a sign is put before what is not negative, too
 * @space:	... or a space
 * @alt:	0x is put before, or a 0
 * @zero:	padded with zeroes
 * @width:	characters, at least
 * @precision:	digits, at least; -1 for one that was not given
 * @bytes:	of the number
 * @conv:	the letter
 */
struct hyp_spec {
	bool		left;
	bool		plus;
	bool		space;
	bool		alt;
	bool		zero;
	unsigned int	width;
	int		precision;
	unsigned int	bytes;
	char		conv;
};

static void hyp_put(struct hyp_text *text, char c)
{
	if (text->len < text->size - 1)
		text->buf[text->len++] = c;
}

/* As many as fit: no width makes this long. */
static void hyp_put_many(struct hyp_text *text, char c, int nr)
{
	nr = min_t(int, nr, text->size - 1 - text->len);
	while (nr-- > 0)
		hyp_put(text, c);
}

static bool hyp_is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Numbers are limited to a width that no text has. */
static unsigned int hyp_scan_number(const char **fmt)
{
	unsigned int number = 0;

	for (; hyp_is_digit(**fmt); (*fmt)++)
		number = min(number * 10 + (**fmt - '0'), 100000U);
	return number;
}

static bool hyp_scan_flag(struct hyp_spec *spec, char c)
{
	switch (c) {
	case '-':
		spec->left = true;
		return true;
	case '+':
		spec->plus = true;
		return true;
	case ' ':
		spec->space = true;
		return true;
	case '#':
		spec->alt = true;
		return true;
	case '0':
		spec->zero = true;
		return true;
	default:
		return false;
	}
}

static unsigned int hyp_scan_bytes(const char **fmt)
{
	unsigned int bytes;

	switch (**fmt) {
	case 'h':
		bytes = (*fmt)[1] == 'h' ? sizeof(char) : sizeof(short);
		*fmt += (*fmt)[1] == 'h' ? 2 : 1;
		return bytes;
	case 'l':
		*fmt += (*fmt)[1] == 'l' ? 2 : 1;
		return sizeof(u64);
	case 'z':
	case 't':
	case 'j':
		(*fmt)++;
		return sizeof(u64);
	default:
		return sizeof(int);
	}
}

/* Parse what follows a %, and move @fmt past it. */
static struct hyp_spec hyp_scan_spec(const char **fmt)
{
	struct hyp_spec spec = { .precision = -1 };

	while (hyp_scan_flag(&spec, **fmt))
		(*fmt)++;
	spec.width = hyp_scan_number(fmt);
	if (**fmt == '.') {
		(*fmt)++;
		spec.precision = hyp_scan_number(fmt);
	}
	spec.bytes = hyp_scan_bytes(fmt);
	spec.conv = **fmt;
	if (spec.conv)
		(*fmt)++;
	return spec;
}

static bool hyp_spec_is_signed(const struct hyp_spec *spec)
{
	return spec->conv == 'd' || spec->conv == 'i';
}

/* The number, converted to its type */
static u64 hyp_narrow(const struct hyp_spec *spec, u64 number)
{
	unsigned int shift = 64 - 8 * spec->bytes;

	if (hyp_spec_is_signed(spec))
		return (s64)(number << shift) >> shift;
	return number << shift >> shift;
}

static unsigned int hyp_base(const struct hyp_spec *spec)
{
	switch (spec->conv) {
	case 'o':
		return 8;
	case 'x':
	case 'X':
		return 16;
	default:
		return 10;
	}
}

/* Digits, the last one first. None of 0. */
static unsigned int hyp_digits(const struct hyp_spec *spec, u64 number, char *digits)
{
	const char *all = spec->conv == 'X' ? "0123456789ABCDEF" : "0123456789abcdef";
	unsigned int base = hyp_base(spec), nr = 0;

	for (; number && nr < HYP_MAX_DIGITS; number /= base)
		digits[nr++] = all[number % base];
	return nr;
}

/* What comes before the digits: a sign or 0x */
static const char *hyp_prefix(const struct hyp_spec *spec, bool negative, bool zero)
{
	if (hyp_spec_is_signed(spec))
		return negative ? "-" : spec->plus ? "+" : spec->space ? " " : "";
	if (!spec->alt || zero)
		return "";
	return spec->conv == 'x' ? "0x" : spec->conv == 'X' ? "0X" : "";
}

static unsigned int hyp_length(const char *str)
{
	unsigned int len = 0;

	while (str[len])
		len++;
	return len;
}

static void hyp_put_number(struct hyp_text *text, const struct hyp_spec *spec, u64 arg)
{
	u64 number = hyp_narrow(spec, arg);
	bool negative = hyp_spec_is_signed(spec) && (s64)number < 0;
	const char *prefix = hyp_prefix(spec, negative, !number);
	char digits[HYP_MAX_DIGITS];
	int nr = hyp_digits(spec, negative ? -number : number, digits);
	int zeroes = max((spec->precision < 0 ? 1 : spec->precision) - nr, 0);
	int pad;

	if (spec->conv == 'o' && spec->alt && !zeroes)
		zeroes = 1;

	pad = (int)spec->width - (int)hyp_length(prefix) - zeroes - nr;
	if (spec->zero && !spec->left && spec->precision < 0 && pad > 0) {
		zeroes += pad;
		pad = 0;
	}

	if (!spec->left)
		hyp_put_many(text, ' ', pad);
	while (*prefix)
		hyp_put(text, *prefix++);
	hyp_put_many(text, '0', zeroes);
	while (nr)
		hyp_put(text, digits[--nr]);
	if (spec->left)
		hyp_put_many(text, ' ', pad);
}

static void hyp_put_char(struct hyp_text *text, const struct hyp_spec *spec, char c)
{
	if (!spec->left)
		hyp_put_many(text, ' ', (int)spec->width - 1);
	hyp_put(text, c);
	if (spec->left)
		hyp_put_many(text, ' ', (int)spec->width - 1);
}

static bool hyp_spec_is_number(const struct hyp_spec *spec)
{
	switch (spec->conv) {
	case 'd':
	case 'i':
	case 'u':
	case 'o':
	case 'x':
	case 'X':
		return true;
	default:
		return false;
	}
}

/* Put a conversion. True if it used the argument. */
static bool hyp_put_spec(struct hyp_text *text, const struct hyp_spec *spec, const u64 *arg)
{
	if (arg && hyp_spec_is_number(spec))
		hyp_put_number(text, spec, *arg);
	else if (arg && spec->conv == 'c')
		hyp_put_char(text, spec, *arg);
	else
		return false;
	return true;
}

/**
 * hyp_format - put numbers into text, as snprintf() does
 * @buf:	where the text goes, ended by a null
 * @size:	bytes of it, at least 1
 * @fmt:	the format
 * @args:	the numbers, each extended to 64 bits as its type has it
 * @nr_args:	how many they are; a conversion without one is put as it stands
 *
 * Context: any.
 * Return: the length of the text, which may have been cut.
 */
unsigned int hyp_format(char *buf, unsigned int size, const char *fmt, const u64 *args,
			unsigned int nr_args)
{
	struct hyp_text text = { .buf = buf, .size = size };
	unsigned int used = 0;

	while (*fmt && text.len < size - 1) {
		const char *start = fmt++;
		struct hyp_spec spec;

		if (*start != '%' || *fmt == '%') {
			fmt += *start == '%';
			hyp_put(&text, *start);
			continue;
		}

		spec = hyp_scan_spec(&fmt);
		if (hyp_put_spec(&text, &spec, used < nr_args ? &args[used] : NULL)) {
			used++;
			continue;
		}
		while (start < fmt)
			hyp_put(&text, *start++);
	}

	buf[text.len] = '\0';
	return text.len;
}
