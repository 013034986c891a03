// SPDX-License-Identifier: GPL-2.0-only

#include "explore.h"

/* Choices on one way; a way that needs more is a bug of the test. */
#define MAX_CHOICES	4096

static struct choice {
	u16	chosen;
	u16	nr;
	bool	is_marked;
} choices[MAX_CHOICES];

static u32 nr_choices;	/* recorded */
static u32 at;		/* the next one on this way */
static u32 budget;	/* unusual ones allowed on a way */
static u32 spent;	/* unusual ones so far on this way */
static u64 ways;

/* Start, with at most @unusual choices on a way. */
void explore_begin(u32 unusual)
{
	nr_choices = 0;
	at = 0;
	budget = unusual;
	spent = 0;
	ways = 1;
}

/* Which of @nr ways to take here: 0 is the usual one. */
u32 explore_choose(u32 nr)
{
	u32 chosen;

	if (at == MAX_CHOICES)
		abort();
	if (at == nr_choices)
		choices[nr_choices++] = (struct choice){ .nr = spent < budget ? nr : 1 };

	chosen = choices[at++].chosen;
	spent += !!chosen;
	return chosen;
}

/* The number of the next choice on this way */
u32 explore_at(void)
{
	return at;
}

/* Mark a choice of this way, if it is one, for the ways that make the same choices before it. */
void explore_mark(u32 choice)
{
	if (choice < nr_choices)
		choices[choice].is_marked = true;
}

bool explore_is_marked(u32 choice)
{
	return choice < nr_choices && choices[choice].is_marked;
}

/* Go back to the last choice that has another side to it; false if none has. */
bool explore_next(void)
{
	while (nr_choices && choices[nr_choices - 1].chosen + 1 >= choices[nr_choices - 1].nr)
		nr_choices--;
	if (!nr_choices)
		return false;

	choices[nr_choices - 1].chosen++;
	at = 0;
	spent = 0;
	ways++;
	return true;
}

u64 explore_ways(void)
{
	return ways;
}
