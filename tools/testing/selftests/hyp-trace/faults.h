/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shared by the files of faults: see faults.c.
 */
#ifndef FAULTS_H
#define FAULTS_H

#include <stdbool.h>
#include <stddef.h>

#include "../kselftest.h"

#define TRACEFS		"/sys/kernel/tracing/"
#define HYP		TRACEFS "hypervisor/"

/* Number of events for operations that read: more than a page of 4 KiB. */
#define NR_EVENTS	300

/**
 * struct op - an operation that runs with each of its allocations failing once
 * @name:	its name
 * @file:	the file it uses, below HYP
 * @flags:	to open that with
 * @text:	what it writes there
 * @before:	what is there before
 * @least:	allocations that have to fail with an error, at the least
 * @loads:	it loads rings: with several CPUs twice as many
 * @all:	after so many it is the same again, for each event
 * @step:	and then one of so many is enough
 * @events:	there are NR_EVENTS of them to read
 * @consumes:	it takes some of them: then state may change without success
 * @probed:	what EL2 does with events belongs to the state, and so tracing stays on
 * @prepare:	called before, with all memory there is
 * @run:	the operation; returns 0 or an errno
 * @undo:	undoes it when it succeeded
 * @finish:	undoes prepare(), and complains about what was lost meanwhile
 */
struct op {
	const char	*name, *file;
	int		flags;
	const char	*text, *before;
	unsigned int	least, all, step;
	bool		events, consumes, probed, loads;
	void		(*prepare)(const struct op *op);
	int		(*run)(const struct op *op);
	void		(*undo)(const struct op *op);
	void		(*finish)(const struct op *op);
};

/* faults.c */
void complain(const char *format, ...) __printf(1, 2);

/* faults_op.c: the operations */
extern const struct op ops[];

/* faults_state.c: the instance's state, as its files and the kernel's show it */
int xopen(const char *path, int flags);
void put(const char *file, const char *text);
char *get(const char *path);
void emit(unsigned int from, unsigned int nr);
char *state_of(const struct op *op);
char *allocations(void);

#endif /* FAULTS_H */
