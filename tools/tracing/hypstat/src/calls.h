/* SPDX-License-Identifier: GPL-2.0 */
#ifndef HYPSTAT_CALLS_H
#define HYPSTAT_CALLS_H

#include <stdbool.h>
#include <linux/types.h>

/* Functions that are entered at once, and paths; what is more counts as its caller */
#define CALLS_DEPTH	64
#define CALLS_PATHS	65536
#define STAY_FUNCTIONS	8	/* that are kept of a stay */

/**
 * struct path - a function, and what has led there: a tree
 * @caller: what has called it, NULL for the root, where no function is entered that is traced
 * @callees: the first of those that it has called
 * @next: the next one of its caller's callees
 * @ip: the function
 * @self: time in it and in none that it has called, ns
 * @changed: the next path whose time the stay under way has added to, or NULL
 * @is_changed: it is in that list
 */
struct path {
	struct path	*caller;
	struct path	*callees;
	struct path	*next;
	u64		ip;
	u64		self;
	struct path	*changed;
	bool		is_changed;
};

/* A function's part of a stay */
struct part {
	u64	ip;		/* 0: no function that is traced */
	u64	self;
};

/* A function that has not returned */
struct call {
	struct path	*path;
	u64		ip;
	u64		since;	/* struct calls' total, then */
};

/**
 * struct calls - the functions of EL2 that are entered on a CPU
 * @returned: called for each function that has returned, with the time at EL2 that it took
 * @arg: for that
 * @root: what the stay under way has, until calls_end_stay()
 * @nr_paths: how many there are
 * @changed: the first path that the stay has added to
 * @depth: how many functions are entered
 * @entered: these
 * @left: EL2 has gone to the host, or its stack is empty again: what is entered next has no caller
 * @within: in a stay
 * @now: in a stay, the time up to which it is counted
 * @total: time in stays, ns
 */
struct calls {
	void		(*returned)(u64 ip, u64 length, void *arg);
	void		*arg;
	struct path	root;
	unsigned int	nr_paths;
	struct path	*changed;
	unsigned int	depth;
	struct call	entered[CALLS_DEPTH];
	bool		left;
	bool		within;
	u64		now;
	u64		total;
};

struct path *path_callee(struct path *path, u64 ip, unsigned int *nr_paths);
void path_free(struct path *path);

void calls_begin(struct calls *calls);
void calls_restart(struct calls *calls);
void calls_begin_stay(struct calls *calls, u64 ts);
void calls_function(struct calls *calls, u64 ts, u64 ip);
void calls_return(struct calls *calls, u64 ts, u64 ip);
void calls_leave(struct calls *calls, u64 ts, bool to_host);
unsigned int calls_longest(const struct calls *calls, struct part *parts);
void calls_end_stay(struct calls *calls, void (*each)(const struct path *path, void *arg),
		    void *arg);
void calls_free(struct calls *calls);

#endif
