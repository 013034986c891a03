// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which of a remote's functions are traced: those in the list of set_ftrace_filter that are not in
 * that of set_ftrace_notrace
 *
 * A function is known by its number. The lists are bitmaps, and empty at first. While that of
 * set_ftrace_filter is empty, a tracer traces all functions. Without a tracer no function is traced
 * then: all events of a remote are enabled at first, and an event for each function would be more
 * than all others together.
 */
#include <linux/bitmap.h>
#include <linux/export.h>
#include <linux/glob.h>
#include <linux/kallsyms.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "remote.h"

/**
 * struct remote_function_match - what a word matches
 * @type:	how
 * @search:	with what
 * @len:	bytes of that
 * @position:	or the position, from 1
 */
struct remote_function_match {
	enum regex_type	type;
	char		*search;
	size_t		len;
	unsigned long	position;
};

static unsigned int remote_nr_functions(const struct trace_remote *remote)
{
	return remote->desc->functions ? remote->desc->functions->nr : 0;
}

/* The functions to trace, in the last of the bitmaps */
static unsigned long *remote_select_functions(struct trace_remote *remote)
{
	unsigned long *on = remote->functions[TRACE_REMOTE_ALL_FUNCTIONS];

	unsigned int nr = remote_nr_functions(remote);

	lockdep_assert_held(&remote->functions_lock);

	bitmap_copy(on, remote->functions[TRACE_REMOTE_FILTER], nr);
	if (trace_remote_tracer(remote) != TRACE_REMOTE_NOP && bitmap_empty(on, nr))
		bitmap_fill(on, nr);
	bitmap_andnot(on, on, remote->functions[TRACE_REMOTE_NOTRACE], nr);
	return on;
}

/* The functions that begin a graph; NULL for all */
static unsigned long *remote_graph_functions(struct trace_remote *remote)
{
	unsigned long *graph = remote->functions[TRACE_REMOTE_GRAPH];

	return bitmap_empty(graph, remote_nr_functions(remote)) ? NULL : graph;
}

/**
 * trace_remote_update_functions - have the remote trace the functions that the lists select
 * @remote:	the remote
 *
 * Context: process context, may sleep.
 * Return: 0 or an errno.
 */
int trace_remote_update_functions(struct trace_remote *remote)
{
	struct trace_remote_traced traced = { .max_depth = READ_ONCE(remote->graph_depth) };

	if (!remote_nr_functions(remote))
		return 0;

	guard(mutex)(&remote->functions_lock);
	traced.on = remote_select_functions(remote);
	traced.graph = remote_graph_functions(remote);
	return remote->desc->functions->set(remote->priv, &traced);
}

/**
 * trace_remote_functions_init - have empty lists of functions
 * @remote:	the remote
 *
 * Return: 0; or -ENOMEM. trace_remote_functions_free() may be called in both cases.
 */
int trace_remote_functions_init(struct trace_remote *remote)
{
	unsigned int i, nr = remote_nr_functions(remote);

	mutex_init(&remote->tracer_lock);
	mutex_init(&remote->functions_lock);
	for (i = 0; nr && i < ARRAY_SIZE(remote->functions); i++) {
		remote->functions[i] = bitmap_zalloc(nr, GFP_KERNEL);
		if (!remote->functions[i])
			return -ENOMEM;
	}

	return 0;
}

/**
 * trace_remote_functions_free - undo trace_remote_functions_init()
 * @remote:	the remote
 */
void trace_remote_functions_free(struct trace_remote *remote)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(remote->functions); i++)
		bitmap_free(remote->functions[i]);
}

/**
 * trace_remote_has_functions - can functions of a remote be traced?
 * @remote:	the remote
 *
 * Return: whether.
 */
bool trace_remote_has_functions(const struct trace_remote *remote)
{
	return remote_nr_functions(remote);
}

/**
 * trace_remote_function_name - the name of a function
 * @remote:	the remote
 * @nr:		its number
 * @name:	where to put it; KSYM_NAME_LEN bytes
 */
void trace_remote_function_name(const struct trace_remote *remote, unsigned int nr, char *name)
{
	remote->desc->functions->name(remote->priv, nr, name);
}

/**
 * trace_remote_next_function - the next function of a list
 * @remote:	the remote
 * @which:	the list; TRACE_REMOTE_ALL_FUNCTIONS for all functions
 * @nr:		where to begin
 *
 * Context: process context, may sleep.
 * Return: its number, @nr if it is in the list; or -1 if there is none.
 */
int trace_remote_next_function(struct trace_remote *remote, enum trace_remote_list which,
			       unsigned int nr)
{
	unsigned int end = remote_nr_functions(remote);

	guard(mutex)(&remote->functions_lock);
	if (which != TRACE_REMOTE_ALL_FUNCTIONS)
		nr = find_next_bit(remote->functions[which], end, nr);
	return nr < end ? nr : -1;
}

/**
 * trace_remote_clear_functions - remove all functions from a list
 * @remote:	the remote
 * @which:	the list
 *
 * It takes effect with the next trace_remote_apply_functions().
 *
 * Context: process context, may sleep.
 */
void trace_remote_clear_functions(struct trace_remote *remote, enum trace_remote_list which)
{
	guard(mutex)(&remote->functions_lock);
	bitmap_zero(remote->functions[which], remote_nr_functions(remote));
}

static bool remote_function_matches(const struct remote_function_match *match, unsigned int nr,
				    const char *name)
{
	size_t len = strlen(name);

	switch (match->type) {
	case MATCH_FULL:
		return !strcmp(name, match->search);
	case MATCH_FRONT_ONLY:
		return !strncmp(name, match->search, match->len);
	case MATCH_MIDDLE_ONLY:
		return strstr(name, match->search);
	case MATCH_END_ONLY:
		return len >= match->len && !strcmp(name + len - match->len, match->search);
	case MATCH_GLOB:
		return glob_match(match->search, name);
	case MATCH_INDEX:
		return nr + 1 == match->position;
	}

	return false;
}

static int remote_match_functions(struct trace_remote *remote,
				  const struct remote_function_match *match, bool not,
				  enum trace_remote_list which)
{
	unsigned int nr, end = remote_nr_functions(remote);
	unsigned long *list = remote->functions[which];
	char *name = kmalloc(KSYM_NAME_LEN, GFP_KERNEL);
	int ret = -EINVAL;

	if (!name)
		return -ENOMEM;

	for (nr = 0; nr < end; nr++) {
		trace_remote_function_name(remote, nr, name);
		if (!*name || !remote_function_matches(match, nr, name))
			continue;
		/* As the kernel's file: it refuses to remove what is not in the list. */
		if (which == TRACE_REMOTE_GRAPH && not && !test_bit(nr, list))
			continue;

		__assign_bit(nr, list, !not);
		ret = 0;
	}

	kfree(name);
	return ret;
}

/**
 * trace_remote_set_function - do what a word written to a list of functions says
 * @remote:	the remote
 * @word:	a name or a glob, or a position in available_filter_functions, from 1; with a ! in
 *		front to remove functions. It is changed
 * @which:	the list
 *
 * It takes effect with the next trace_remote_apply_functions().
 *
 * Context: process context, may sleep.
 * Return: 0; -EINVAL when it is none of the functions, also for a command, or removes none from
 * TRACE_REMOTE_GRAPH; or -ENOMEM.
 */
int trace_remote_set_function(struct trace_remote *remote, char *word,
			      enum trace_remote_list which)
{
	struct remote_function_match match;
	int not = 0;

	if (!trace_remote_has_functions(remote))
		return -EINVAL;

	match.type = filter_parse_regex(word, strlen(word), &match.search, &not);
	match.len = strlen(match.search);
	if (match.type == MATCH_INDEX && kstrtoul(match.search, 0, &match.position))
		return -EINVAL;

	guard(mutex)(&remote->functions_lock);
	return remote_match_functions(remote, &match, not, which);
}
EXPORT_SYMBOL_GPL(trace_remote_set_function);
