// SPDX-License-Identifier: GPL-2.0
/*
 * A table with a row for each key. It has a bound: the keys come from a file, which may have any
 * number of them.
 */
#include <stdlib.h>
#include <string.h>

#include "table.h"
#include "utils.h"

static unsigned int hash(struct key key)
{
	u64 mixed = (key.id * 31 + key.sub) * 0x9e3779b97f4a7c15ULL;

	return (mixed >> 32) % TABLE_SLOTS;
}

static bool same(struct key a, struct key b)
{
	return a.id == b.id && a.sub == b.sub;
}

static struct row *new_row(struct table *table, struct key key)
{
	struct row *row = xcalloc(1, sizeof(*row));

	row->key = key;
	row->other = table->nr == TABLE_ROWS;
	table->rows[table->nr++] = row;
	return row;
}

/* Once the table is full, its last row is that of all other keys. */
static struct row *other_row(struct table *table)
{
	if (table->nr == TABLE_ROWS)
		return new_row(table, (struct key) {});
	return table->rows[TABLE_ROWS];
}

/**
 * table_row - find or add the row of a key
 * @table: the table, not sorted yet
 * @key: the key
 *
 * Return: the row.
 */
struct row *table_row(struct table *table, struct key key)
{
	unsigned int slot = hash(key);

	for (; table->slots[slot]; slot = (slot + 1) % TABLE_SLOTS) {
		struct row *row = table->rows[table->slots[slot] - 1];

		if (same(row->key, key))
			return row;
	}
	if (table->nr >= TABLE_ROWS)
		return other_row(table);
	table->slots[slot] = table->nr + 1;
	return new_row(table, key);
}

/* The longest total first; equal ones by their keys, so that each run gives the same order */
static int compare(const void *left, const void *right)
{
	const struct row *a = *(struct row **)left, *b = *(struct row **)right;

	if (a->hist.total != b->hist.total)
		return a->hist.total < b->hist.total ? 1 : -1;
	if (a->key.id != b->key.id)
		return a->key.id < b->key.id ? -1 : 1;
	return (a->key.sub > b->key.sub) - (a->key.sub < b->key.sub);
}

/**
 * table_sort - sort the rows by their total times
 * @table: the table, to which nothing can be added then
 */
void table_sort(struct table *table)
{
	qsort(table->rows, table->nr, sizeof(*table->rows), compare);
}

/**
 * table_free - free the rows
 * @table: the table
 */
void table_free(struct table *table)
{
	while (table->nr)
		free(table->rows[--table->nr]);
	memset(table->slots, 0, sizeof(table->slots));
}
