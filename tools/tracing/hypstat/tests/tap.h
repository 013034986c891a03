/* SPDX-License-Identifier: GPL-2.0 */
#ifndef HYPSTAT_TESTS_TAP_H
#define HYPSTAT_TESTS_TAP_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <linux/compiler.h>

static int tap_count, tap_failed;

/* One check, in TAP */
static inline bool __printf(2, 3) ok(bool passed, const char *fmt, ...)
{
	va_list args;

	printf("%sok %d - ", passed ? "" : "not ", ++tap_count);
	va_start(args, fmt);
	vprintf(fmt, args);
	va_end(args);
	putchar('\n');
	tap_failed += !passed;
	return passed;
}

/* A number is the one that it must be. */
static inline bool equals(const char *what, long long found, long long expected)
{
	bool same = found == expected;

	ok(same, "%s", what);
	if (!same)
		printf("# found %lld, not %lld\n", found, expected);
	return same;
}

static inline int tap_end(void)
{
	printf("1..%d\n", tap_count);
	return tap_failed || !tap_count;
}

#endif
