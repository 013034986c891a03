/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the tests in user space share: conditions, random numbers and TAP
 */
#ifndef __GUEST_WALK_CHECK_H
#define __GUEST_WALK_CHECK_H

#include <stdbool.h>
#include <stddef.h>

#include <linux/types.h>

/* How much of what can be had in any amount there is to do */
extern unsigned long load;

/* The test goes on, and has failed, unless. */
#define CHECK(condition) check(condition, #condition, __FILE__, __LINE__)

struct test {
	const char	*name;
	void		(*run)(void);
};

void check(bool held, const char *condition, const char *file, int line);
u64 next(void);
u64 below(u64 n);
int run_tests(const struct test *tests, size_t nr, int argc, char **argv);

#endif
