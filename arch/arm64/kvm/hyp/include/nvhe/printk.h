/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * hyp_trace_printk(): the record of a line for debugging
 *
 * EL2 makes no text. The record has the address of the format and the arguments, and the reader
 * makes the text: see hyp_trace/printk.c. It is the record of the kernel's own trace_printk(),
 * struct bprint_entry, which programs in user space know:
 *
 *	ip	where the line is from
 *	fmt	the format
 *	buf	the arguments, packed as vbin_printf() does: 4 or 8 bytes each, aligned to 4
 *
 * Both addresses are those of the kernel's symbols, and say nothing of EL2's. The formats are in a
 * section of EL2's image that the kernel maps, and EL2 does not.
 *
 * The conversions are those for which all readers make the same text:
 *
 *	%[0][width][l|ll|z]{d|i|u|o|x|X}  %%
 *
 * Any other one fails to compile. vbin_printf() packs %c, %h and %hh otherwise. libtraceevent loses
 * the argument of one with '-', ' ' or 't', and all after it; an older one, with '+', too. The
 * kernel's text of a zero by %#x or %.0d is not printf(3)'s. %p and %s could disclose an address of
 * EL2, or what is there.
 */
#ifndef __ARM64_KVM_HYP_NVHE_PRINTK_H
#define __ARM64_KVM_HYP_NVHE_PRINTK_H

#include <linux/args.h>
#include <linux/build_bug.h>
#include <linux/compiler.h>
#include <linux/types.h>

#include <asm/kvm_hypevents_defs.h>

/* Arguments of a hyp_trace_printk() */
#define HYP_PRINTK_MAX_ARGS	6

/* A record with the most arguments; what is not written is not set. */
struct hyp_printk_record {
	struct hyp_event_hyp_printk	event;
	u32				words[2 * HYP_PRINTK_MAX_ARGS];
};

/* The states of hyp_printk_scan(). A format ends in the first one. */
enum hyp_printk_state {
	HYP_PRINTK_TEXT,
	HYP_PRINTK_PERCENT,	/* behind a % */
	HYP_PRINTK_WIDTH,	/* ... and a digit */
	HYP_PRINTK_LONG,	/* ... and an l */
	HYP_PRINTK_LETTER,	/* ... and all but the letter */
	HYP_PRINTK_WRONG,
};

static __always_inline bool hyp_printk_is_letter(char c)
{
	return c == 'd' || c == 'i' || c == 'u' || c == 'o' || c == 'x' || c == 'X';
}

/* One character of a format. The compiler knows both, so that this is no code. */
static __always_inline enum hyp_printk_state hyp_printk_scan(enum hyp_printk_state state, char c)
{
	if (state == HYP_PRINTK_TEXT)
		return c == '%' ? HYP_PRINTK_PERCENT : HYP_PRINTK_TEXT;
	if (state == HYP_PRINTK_WRONG)
		return HYP_PRINTK_WRONG;
	if (state == HYP_PRINTK_PERCENT && c == '%')
		return HYP_PRINTK_TEXT;
	if (hyp_printk_is_letter(c))
		return HYP_PRINTK_TEXT;
	if (state == HYP_PRINTK_LONG && c == 'l')
		return HYP_PRINTK_LETTER;
	if (state > HYP_PRINTK_WIDTH)
		return HYP_PRINTK_WRONG;
	if (c >= '0' && c <= '9')
		return HYP_PRINTK_WIDTH;
	if (c == 'l')
		return HYP_PRINTK_LONG;
	return c == 'z' ? HYP_PRINTK_LETTER : HYP_PRINTK_WRONG;
}

/* Each character is named, since a compiler may leave a loop of them to run time. */
#define __hyp_printk_scan_1(state, fmt, i)	\
	((state) = hyp_printk_scan(state, (fmt)[(i) < sizeof(fmt) ? (i) : sizeof(fmt) - 1]))
#define __hyp_printk_scan_4(state, fmt, i)	\
do {						\
	__hyp_printk_scan_1(state, fmt, i);	\
	__hyp_printk_scan_1(state, fmt, (i) + 1);	\
	__hyp_printk_scan_1(state, fmt, (i) + 2);	\
	__hyp_printk_scan_1(state, fmt, (i) + 3);	\
} while (0)
#define __hyp_printk_scan_16(state, fmt, i)	\
do {						\
	__hyp_printk_scan_4(state, fmt, i);	\
	__hyp_printk_scan_4(state, fmt, (i) + 4);	\
	__hyp_printk_scan_4(state, fmt, (i) + 8);	\
	__hyp_printk_scan_4(state, fmt, (i) + 12);	\
} while (0)
#define __hyp_printk_scan_64(state, fmt, i)	\
do {						\
	__hyp_printk_scan_16(state, fmt, i);	\
	__hyp_printk_scan_16(state, fmt, (i) + 16);	\
	__hyp_printk_scan_16(state, fmt, (i) + 32);	\
	__hyp_printk_scan_16(state, fmt, (i) + 48);	\
} while (0)

/* Has the compiler compare the format with its arguments. */
static inline __printf(1, 2) void hyp_printk_check_args(const char *fmt, ...)
{
}

/* Fails to compile if a format is wrong. @fmt is a literal, @args are not evaluated. */
#define hyp_printk_check(fmt, args...)						\
do {										\
	enum hyp_printk_state __state = HYP_PRINTK_TEXT;			\
										\
	BUILD_BUG_ON(COUNT_ARGS(args) > HYP_PRINTK_MAX_ARGS);			\
	BUILD_BUG_ON(sizeof(fmt) > HYP_PRINTK_FORMAT_SIZE);			\
	__hyp_printk_scan_64(__state, fmt, 0);					\
	__hyp_printk_scan_64(__state, fmt, 64);					\
	BUILD_BUG_ON_MSG(__state != HYP_PRINTK_TEXT, "hyp_trace_printk: no such conversion"); \
	_Pragma("GCC diagnostic push")						\
	_Pragma("GCC diagnostic error \"-Wformat\"")				\
	_Pragma("GCC diagnostic error \"-Wformat-extra-args\"")			\
	if (0)									\
		hyp_printk_check_args(fmt, ##args);				\
	_Pragma("GCC diagnostic pop")						\
} while (0)

/* Bytes that an argument takes: its own, and at least those of an int. */
#define __hyp_printk_size(arg)	(sizeof((arg) + 0) > sizeof(u32) ? sizeof(u64) : sizeof(u32))

static __always_inline unsigned int hyp_printk_put(u32 *words, unsigned int nr, u64 value,
						   unsigned int size)
{
	words[nr] = value;
	if (size > sizeof(u32))
		words[nr + 1] = value >> 32;
	return nr + size / sizeof(u32);
}

/* Put an argument, if there is one. Fails to compile for pointers. */
#define __hyp_printk_put(to, at, arg)	\
	hyp_printk_put(to, at, (arg) | 0ULL, __hyp_printk_size(arg))
#define __hyp_printk_pack(to, nr, none, a, b, c, d, e, f, rest...)		\
({										\
	unsigned int __at = 0;							\
										\
	__at = (nr) > 0 ? __hyp_printk_put(to, __at, a) : __at;			\
	__at = (nr) > 1 ? __hyp_printk_put(to, __at, b) : __at;			\
	__at = (nr) > 2 ? __hyp_printk_put(to, __at, c) : __at;			\
	__at = (nr) > 3 ? __hyp_printk_put(to, __at, d) : __at;			\
	__at = (nr) > 4 ? __hyp_printk_put(to, __at, e) : __at;			\
	__at = (nr) > 5 ? __hyp_printk_put(to, __at, f) : __at;			\
	sizeof(u32) * __at;							\
})

/* Put the arguments into @to, u32[2 * HYP_PRINTK_MAX_ARGS]. Returns how many bytes they take. */
#define hyp_printk_pack(to, args...)	\
	__hyp_printk_pack(to, COUNT_ARGS(args), 0, ##args, 0, 0, 0, 0, 0, 0)

#define __hyp_printk_sizes(nr, none, a, b, c, d, e, f, rest...)			\
	(((nr) > 0) * __hyp_printk_size(a) + ((nr) > 1) * __hyp_printk_size(b) +	\
	 ((nr) > 2) * __hyp_printk_size(c) + ((nr) > 3) * __hyp_printk_size(d) +	\
	 ((nr) > 4) * __hyp_printk_size(e) + ((nr) > 5) * __hyp_printk_size(f))

/* How many bytes the arguments take, as a constant */
#define hyp_printk_size(args...)	\
	__hyp_printk_sizes(COUNT_ARGS(args), 0, ##args, 0, 0, 0, 0, 0, 0)

/*
 * The format of a call, and that printk_formats shows it. The latter is the kernel's section of
 * strings that tracepoints name by their addresses.
 */
#define HYP_PRINTK_FORMAT(name, format, args...)				\
	static const struct hyp_printk_format name __used			\
		__section(HYP_PRINTK_SECTION) = {				\
		.fmt		= format,					\
		.args_size	= hyp_printk_size(args),			\
	};									\
	static const char *name##_shown __used __section("__tracepoint_str") = name.fmt

#endif /* __ARM64_KVM_HYP_NVHE_PRINTK_H */
