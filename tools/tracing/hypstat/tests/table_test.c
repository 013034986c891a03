// SPDX-License-Identifier: GPL-2.0
#include <string.h>

#include "../src/table.h"
#include "tap.h"

static struct table table;

static void fill(unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		hist_add(&table_row(&table, (struct key) { i / 7, i % 7 })->hist, i);
}

static void check_rows(void)
{
	unsigned int i, wrong = 0;

	fill(TABLE_ROWS);
	fill(TABLE_ROWS);
	for (i = 0; i < TABLE_ROWS; i++) {
		struct row *row = table_row(&table, (struct key) { i / 7, i % 7 });

		wrong += row->hist.count != 2 || row->hist.max != i || row->other;
	}
	equals("each key has its row", wrong, 0);
	equals("and there are no others", table.nr, TABLE_ROWS);
}

static void check_full(void)
{
	struct row *row = table_row(&table, (struct key) { 1000 });

	ok(row->other, "a full table has a row for the rest");
	ok(table_row(&table, (struct key) { 1001 }) == row, "which is the same for all");
	equals("and no more rows", table.nr, TABLE_ROWS + 1);
}

static void check_order(void)
{
	unsigned int i, wrong = 0;

	table_sort(&table);
	for (i = 1; i < table.nr; i++)
		wrong += table.rows[i - 1]->hist.total < table.rows[i]->hist.total;
	equals("the longest total is first", wrong, 0);
}

int main(void)
{
	check_rows();
	check_full();
	check_order();
	table_free(&table);
	equals("it can be freed", table.nr, 0);
	return tap_end();
}
