/* SPDX-License-Identifier: GPL-2.0 */
#ifndef HYPSTAT_TABLE_H
#define HYPSTAT_TABLE_H

#include <stdbool.h>

#include "hist.h"

#define TABLE_ROWS	256	/* of a table; what comes later shares a row */
#define TABLE_SLOTS	(4 * TABLE_ROWS)
#define ROW_NAME	64

/**
 * struct key - what a row is about
 * @id: a number; a VM's name
 * @sub: a number within that, such as a vCPU's; else 0
 */
struct key {
	u64		id;
	u64		sub;
};

/**
 * struct row - the times of one reason, hypercall, VM, vCPU, task or function
 * @key: which one
 * @other: this row has those for which the table had no room
 * @guest: time in the guest, of a VM or vCPU
 * @self: time in the function itself
 * @name: its name
 * @hist: the times at EL2
 */
struct row {
	struct key	key;
	bool		other;
	u64		guest;
	u64		self;
	char		name[ROW_NAME];
	struct hist	hist;
};

/**
 * struct table - rows by their keys
 * @rows: the rows, in the order in which they came
 * @nr: how many
 * @slots: a hash table of the rows' numbers, each one more than the row's
 */
struct table {
	struct row	*rows[TABLE_ROWS + 1];
	unsigned int	nr;
	u16		slots[TABLE_SLOTS];
};

struct row *table_row(struct table *table, struct key key);
void table_sort(struct table *table);
void table_free(struct table *table);

#endif
