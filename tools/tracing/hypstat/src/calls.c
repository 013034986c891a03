// SPDX-License-Identifier: GPL-2.0
/*
 * How long each function of EL2 has run, by the events func and func_ret
 *
 * A function that returns ends those that it has called and that have not returned: they have
 * jumped elsewhere. Functions that are entered when EL2 runs a guest are still entered when it
 * comes back, and the guest's time is not theirs. When EL2 goes to the host, they all have ended:
 * the first event after that, which may come before hyp_enter, is of the next entry. They have also
 * ended when the firmware turns the CPU on or resumes it: EL2 comes back with an empty stack.
 *
 * The time of a stay belongs to the function that was entered last, and to the path that has led
 * there. It is kept apart until the stay has ended, since only then is known what it was for.
 */
#include <stdlib.h>
#include <string.h>

#include "calls.h"
#include "utils.h"

#define MAX_FUNCTIONS	256	/* of one stay, to find the longest */

/**
 * path_callee - find or add a function that a path has called
 * @path: the path
 * @ip: the function
 * @nr_paths: the number of paths in the tree
 *
 * Return: the path to it; @path, if there are CALLS_PATHS.
 */
struct path *path_callee(struct path *path, u64 ip, unsigned int *nr_paths)
{
	struct path *callee;

	for (callee = path->callees; callee; callee = callee->next) {
		if (callee->ip == ip)
			return callee;
	}
	if (*nr_paths >= CALLS_PATHS)
		return path;

	++*nr_paths;
	callee = xcalloc(1, sizeof(*callee));
	callee->caller = path;
	callee->next = path->callees;
	callee->ip = ip;
	path->callees = callee;
	return callee;
}

/**
 * path_free - free all that a path has called
 * @path: the path; it stays, and has called nothing
 */
void path_free(struct path *path)
{
	struct path *callee;

	while ((callee = path->callees)) {
		path->callees = callee->next;
		path_free(callee);
		free(callee);
	}
}

static struct path *top(struct calls *calls)
{
	return calls->depth ? calls->entered[calls->depth - 1].path : &calls->root;
}

/* Count the time up to now. Time that goes back is no time. */
static void count(struct calls *calls, u64 ts)
{
	struct path *path = top(calls);

	if (!calls->within || ts <= calls->now)
		return;

	path->self += ts - calls->now;
	calls->total += ts - calls->now;
	calls->now = ts;
	if (path->is_changed)
		return;
	path->is_changed = true;
	path->changed = calls->changed;
	calls->changed = path;
}

static void pop(struct calls *calls, unsigned int depth)
{
	while (calls->depth > depth) {
		struct call *call = &calls->entered[--calls->depth];

		if (calls->returned)
			calls->returned(call->ip, calls->total - call->since, calls->arg);
	}
}

/* EL2 is entered from the host. */
static void enter(struct calls *calls)
{
	if (calls->left)
		pop(calls, 0);
	calls->left = false;
}

/**
 * calls_begin - forget all that is entered: another CPU's events follow, or some were lost
 * @calls: the calls
 */
void calls_begin(struct calls *calls)
{
	calls->depth = 0;
	calls->left = false;
	calls->within = false;
	calls_end_stay(calls, NULL, NULL);
}

/**
 * calls_restart - the firmware has turned the CPU on, or resumed it: before calls_begin_stay()
 * @calls: the calls
 */
void calls_restart(struct calls *calls)
{
	calls->left = true;
}

/**
 * calls_begin_stay - hyp_enter
 * @calls: the calls
 * @ts: its time
 */
void calls_begin_stay(struct calls *calls, u64 ts)
{
	enter(calls);
	calls_end_stay(calls, NULL, NULL);
	calls->within = true;
	calls->now = ts;
}

/**
 * calls_function - a function is entered
 * @calls: the calls
 * @ts: when
 * @ip: the function
 */
void calls_function(struct calls *calls, u64 ts, u64 ip)
{
	struct path *caller;

	enter(calls);
	count(calls, ts);
	if (calls->depth == CALLS_DEPTH)
		return;

	caller = top(calls);
	calls->entered[calls->depth++] = (struct call) {
		.path	= path_callee(caller, ip, &calls->nr_paths),
		.ip	= ip,
		.since	= calls->total,
	};
}

/**
 * calls_return - a function returns
 * @calls: the calls
 * @ts: when
 * @ip: the function; if it is not entered, nothing happens
 */
void calls_return(struct calls *calls, u64 ts, u64 ip)
{
	unsigned int depth = calls->depth;

	while (depth && calls->entered[depth - 1].ip != ip)
		depth--;
	if (!depth)
		return;

	count(calls, ts);
	pop(calls, depth - 1);
}

/**
 * calls_leave - hyp_exit
 * @calls: the calls
 * @ts: when
 * @to_host: nothing is left at EL2 that returns, but for what returns before the next entry
 */
void calls_leave(struct calls *calls, u64 ts, bool to_host)
{
	count(calls, ts);
	calls->within = false;
	calls->left = to_host;
}

static struct part *part_of(struct part *parts, unsigned int *nr, u64 ip)
{
	unsigned int i;

	for (i = 0; i < *nr; i++) {
		if (parts[i].ip == ip)
			return &parts[i];
	}
	if (*nr == MAX_FUNCTIONS)
		return NULL;
	parts[*nr] = (struct part) { .ip = ip };
	return &parts[(*nr)++];
}

/* The longest first; equal ones by address */
static int compare(const void *left, const void *right)
{
	const struct part *a = left, *b = right;

	if (a->self != b->self)
		return a->self < b->self ? 1 : -1;
	return (a->ip > b->ip) - (a->ip < b->ip);
}

/**
 * calls_longest - the functions that took most of the stay under way, by their own time
 * @calls: the calls
 * @parts: where they go, STAY_FUNCTIONS at the most
 *
 * Return: how many; 0 if no function is known.
 */
unsigned int calls_longest(const struct calls *calls, struct part *parts)
{
	struct part found[MAX_FUNCTIONS];
	unsigned int nr = 0;
	struct path *path;

	if (!calls->nr_paths)
		return 0;
	for (path = calls->changed; path; path = path->changed) {
		struct part *part = part_of(found, &nr, path->ip);

		if (part)
			part->self += path->self;
	}
	qsort(found, nr, sizeof(*found), compare);
	if (nr > STAY_FUNCTIONS)
		nr = STAY_FUNCTIONS;
	memcpy(parts, found, nr * sizeof(*parts));
	return nr;
}

/**
 * calls_end_stay - take the times of the stay
 * @calls: the calls
 * @each: called for each path in which the stay has spent time, path.self; or NULL
 * @arg: for @each
 */
void calls_end_stay(struct calls *calls, void (*each)(const struct path *path, void *arg),
		    void *arg)
{
	struct path *path;

	while ((path = calls->changed)) {
		if (each)
			each(path, arg);
		calls->changed = path->changed;
		path->is_changed = false;
		path->self = 0;
	}
}

/**
 * calls_free - free the paths
 * @calls: the calls
 */
void calls_free(struct calls *calls)
{
	calls_begin(calls);
	path_free(&calls->root);
	calls->nr_paths = 0;
}
