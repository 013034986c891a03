/* SPDX-License-Identifier: GPL-2.0 */
#ifndef HYPSTAT_VIEW_H
#define HYPSTAT_VIEW_H

#include "account.h"

/* The prefix of the names of gaps: time that is not EL2's, but a guest's, or firmware's, or idle */
#define GAP	"in:"
#define HCALL	"hcall:"

/**
 * struct view - which entries are shown, and how
 * @name: the argument of --by
 * @title: of its first column
 * @prefix: the names of its entries begin with that, which is not shown
 * @fold: all hypercalls are one row
 * @guests: VMs, or vCPUs, whose times are KVM's
 * @vcpus: those of vCPUs
 */
struct view {
	const char	*name;
	const char	*title;
	const char	*prefix;
	bool		fold;
	bool		guests;
	bool		vcpus;
};

/**
 * struct sort - by what rows are sorted
 * @name: the argument of --sort
 * @value: the number; the row with the largest one is first
 */
struct sort {
	const char	*name;
	u64		(*value)(const struct entry *entry);
};

const struct view *parse_view(const char *name);
const struct sort *parse_sort(const char *name);
bool entry_is_gap(const struct entry *entry);
bool entry_matches(const struct entry *entry, const char *reason);
void view_select(const struct view *view, const struct account *account, const char *reason,
		 struct account *rows);
void view_gaps(const struct account *account, const char *reason, struct account *rows);
void view_sort(struct account *rows, const struct sort *sort);
struct loghist view_total(const struct account *account);

#endif
