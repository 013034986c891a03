// SPDX-License-Identifier: GPL-2.0
/*
 * The time at EL2 by path of calls, which hypstat report --folded prints in the format of flame
 * graphs: what the stay was for, the functions that are entered, the first one first, and the time
 * that the last one has taken itself.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "folded.h"
#include "output.h"
#include "utils.h"

#define FUNCTION_NAME	256

/**
 * folded_root - what a stay was for
 * @folded: the paths
 * @name: its name
 *
 * Return: where the paths of such stays begin.
 */
struct path *folded_root(struct folded *folded, const char *name)
{
	struct folded_root *root;
	unsigned int i;

	for (i = 0; i < folded->nr; i++) {
		if (!strcmp(folded->roots[i]->name, name))
			return &folded->roots[i]->path;
	}

	root = xcalloc(1, sizeof(*root));
	snprintf(root->name, sizeof(root->name), "%s", name);
	folded->roots = xrealloc(folded->roots, (folded->nr + 1) * sizeof(root));
	folded->roots[folded->nr++] = root;
	return &root->path;
}

/* The same path, from another root on */
static struct path *path_from(struct folded *folded, struct path *root, const struct path *path)
{
	if (!path->caller)
		return root;
	return path_callee(path_from(folded, root, path->caller), path->ip, &folded->nr_paths);
}

/**
 * folded_add - add what a stay has spent in a path
 * @folded: the paths
 * @root: what it was for, folded_root()
 * @path: the path, with the time; its own root is not @root
 */
void folded_add(struct folded *folded, struct path *root, const struct path *path)
{
	path_from(folded, root, path)->self += path->self;
}

/* Print a path and what it has called. The line's text so far has @len bytes. */
static void print_path(const struct events *events, const struct path *path, char *line,
		       size_t len, size_t size)
{
	const struct path *callee;
	char text[FUNCTION_NAME];
	int added;

	if (path->self)
		printf("%s %llu\n", line, (unsigned long long)path->self);
	for (callee = path->callees; callee; callee = callee->next) {
		added = snprintf(line + len, size - len, ";%s",
				 events_function(events, callee->ip, text, sizeof(text)));
		if ((size_t)added < size - len)
			print_path(events, callee, line, len + added, size);
		line[len] = '\0';
	}
}

/**
 * folded_print - print the paths of a report, a line each
 * @summary: the report
 */
void folded_print(const struct summary *summary)
{
	static char line[FOLDED_NAME + (CALLS_DEPTH + 1) * FUNCTION_NAME];
	const struct folded *folded = &summary->folded;
	unsigned int i;

	for (i = 0; i < folded->nr; i++) {
		size_t len = snprintf(line, sizeof(line), "%s", folded->roots[i]->name);

		print_path(&summary->events, &folded->roots[i]->path, line, len, sizeof(line));
	}
}

/**
 * folded_free - free the paths
 * @folded: them
 */
void folded_free(struct folded *folded)
{
	while (folded->nr) {
		path_free(&folded->roots[--folded->nr]->path);
		free(folded->roots[folded->nr]);
	}
	free(folded->roots);
	folded->roots = NULL;
}
