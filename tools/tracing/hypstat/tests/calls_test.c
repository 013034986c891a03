// SPDX-License-Identifier: GPL-2.0
/* Events of functions, written as letters, and the paths and times that they make */
#include <stdio.h>
#include <string.h>

#include "../src/calls.h"
#include "tap.h"

static struct calls calls;
static u64 now;
static char returned[256], paths[512];

static void add(char *text, size_t size, const char *what, u64 number)
{
	size_t len = strlen(text);

	snprintf(text + len, size - len, "%s%s %llu", len ? ", " : "", what,
		 (unsigned long long)number);
}

static void on_return(u64 ip, u64 length, void *arg)
{
	char name[] = { ip, '\0' };

	add(returned, sizeof(returned), name, length);
}

/* The functions of a path, the first one first */
static void on_path(const struct path *path, void *arg)
{
	char name[CALLS_DEPTH + 2];
	unsigned int at = sizeof(name) - 1;
	const struct path *function;

	name[at] = '\0';
	for (function = path; function->caller; function = function->caller)
		name[--at] = function->ip;
	name[--at] = '/';
	add(paths, sizeof(paths), name + at, path->self);
}

/*
 * Time goes on by 10 before each letter. A small one is a function that is entered, a large one
 * that which returns; < is hyp_enter, P that of a CPU that was turned on, > hyp_exit to the
 * host, G to a guest or the firmware, L a loss. The path whose time was counted last comes first.
 */
static void play_one(char letter)
{
	now += 10;
	if (letter == '<' || letter == 'P') {
		if (letter == 'P')
			calls_restart(&calls);
		calls_begin_stay(&calls, now);
	} else if (letter == '>' || letter == 'G') {
		calls_leave(&calls, now, letter == '>');
		calls_end_stay(&calls, on_path, NULL);
	} else if (letter == 'L') {
		calls_begin(&calls);
	} else if (letter >= 'a') {
		calls_function(&calls, now, letter);
	} else {
		calls_return(&calls, now, letter - 'A' + 'a');
	}
}

static void play(const char *events, const char *lengths, const char *found)
{
	*returned = '\0';
	*paths = '\0';
	calls_begin(&calls);
	now = 0;
	while (*events)
		play_one(*events++);
	if (!ok(!strcmp(returned, lengths) && !strcmp(paths, found), "%s", found))
		printf("# returned %s; paths %s\n", returned, paths);
}

static void check_nesting(void)
{
	play("<abBA>", "b 10, a 30", "/ab 10, /a 20, / 20");
	play("<aAaA>", "a 10, a 10", "/a 20, / 30");
	play("<aabBAA>", "b 10, a 30, a 50", "/aab 10, /aa 20, /a 20, / 20");
	/* b has jumped to c, which returns for both. */
	play("<abcCA>", "c 10, b 30, a 40", "/abc 10, /ab 20, /a 10, / 20");
	play("<abA>", "b 10, a 20", "/ab 10, /a 10, / 20");
	play("<B>", "", "/ 20");
	play("<aBA>", "a 20", "/a 20, / 20");
}

static void check_stays(void)
{
	/* Entered before hyp_enter, and returned after hyp_exit */
	play("a<b>BA", "b 10, a 20", "/ab 10, /a 10");
	/* The host's time is nobody's; what has not returned has ended. */
	play("a<>a<>A", "a 10, a 10", "/a 10, /a 10");
	play("<a><b>", "a 10", "/a 10, / 10, /b 10, / 10");
	/* A guest runs within r. */
	play("<rG<aAR>", "a 10, r 40", "/r 10, / 10, / 10, /ra 10, /r 20");
	/* The CPU is turned off in b, and on again. */
	play("<abGP>", "b 10, a 20", "/ab 10, /a 10, / 10, / 10");
	play("<aL<b>", "", "/b 10, / 10");
	play("ab", "", "");
}

/* Functions beyond what there is room for count as their caller. */
static void check_bounds(void)
{
	unsigned int i;
	struct part parts[STAY_FUNCTIONS];

	calls_begin(&calls);
	calls_begin_stay(&calls, 0);
	for (i = 0; i < 2 * CALLS_DEPTH; i++)
		calls_function(&calls, 10 * i, 1000 + i);
	equals("the deepest function", calls.depth, CALLS_DEPTH);
	calls_return(&calls, 10 * i, 1000 + CALLS_DEPTH - 1);
	equals("... has the time of those it has called", calls_longest(&calls, parts),
	       STAY_FUNCTIONS);
	ok(parts[0].ip == 1000 + CALLS_DEPTH - 1 && parts[0].self == 10 * (CALLS_DEPTH + 1),
	   "... and took most");
	calls_return(&calls, 10 * i, 1000);
	for (i = 0; i < 2 * CALLS_PATHS; i++) {
		calls_function(&calls, 2000 + i, 5000 + i / 512);
		calls_function(&calls, 2000 + i, 9000 + i % 512);
		calls_return(&calls, 2001 + i, 5000 + i / 512);
	}
	equals("paths", calls.nr_paths, CALLS_PATHS);
	calls_leave(&calls, 0, true);
	ok(calls.total > 0, "time does not go back");
}

int main(void)
{
	calls.returned = on_return;
	check_nesting();
	check_stays();
	calls.returned = NULL;
	check_bounds();
	calls_free(&calls);
	equals("nothing is left", calls.nr_paths, 0);
	return tap_end();
}
