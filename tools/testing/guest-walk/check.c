// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>
#include <stdlib.h>

#include "check.h"

unsigned long load;
static u64 state;
static bool failed;

/* The first condition of a test that does not hold is printed. */
void check(bool held, const char *condition, const char *file, int line)
{
	if (held)
		return;
	if (!failed)
		printf("# %s:%d: %s\n", file, line, condition);
	failed = true;
}

/* Random numbers, which follow from the seed (xorshift) */
u64 next(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

u64 below(u64 n)
{
	return (next() >> 11) % n;
}

/* The program's arguments are the seed and the load, 1 each unless given. */
int run_tests(const struct test *tests, size_t nr, int argc, char **argv)
{
	bool bad = false;
	size_t i;

	state = (argc > 1 ? strtoull(argv[1], NULL, 0) : 1) * 0x9e3779b97f4a7c15ULL | 1;
	load = argc > 2 ? strtoul(argv[2], NULL, 0) : 1;
	for (i = 0; i < nr; i++) {
		failed = false;
		tests[i].run();
		printf("%sok %zu - %s\n", failed ? "not " : "", i + 1, tests[i].name);
		bad |= failed;
	}
	printf("1..%zu\n", nr);
	return bad;
}
