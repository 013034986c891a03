// SPDX-License-Identifier: GPL-2.0
/* The rows that are shown of what EL2 has counted */
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "utils.h"
#include "view.h"

static const struct view views[] = {
	{ "reason", "REASON", "", .fold = true },
	{ "hypercall", "HYPERCALL", HCALL },
	{ "exit", "GUEST EXIT", "guest:" },
	{ "vm", "VM", "", .guests = true },
	{ "vcpu", "VM AND VCPU", "", .guests = true, .vcpus = true },
};

static u64 value_time(const struct entry *entry)
{
	return entry->hist.total;
}

static u64 value_rate(const struct entry *entry)
{
	return entry->hist.count;
}

static u64 value_mean(const struct entry *entry)
{
	return loghist_mean(&entry->hist);
}

static u64 value_max(const struct entry *entry)
{
	return entry->hist.max;
}

static u64 value_p99(const struct entry *entry)
{
	return loghist_percentile(&entry->hist, 990);
}

static u64 value_guest(const struct entry *entry)
{
	return entry->guest;
}

static u64 value_name(const struct entry *entry)
{
	return 0;
}

static const struct sort sorts[] = {
	{ "time", value_time },
	{ "rate", value_rate },
	{ "mean", value_mean },
	{ "max", value_max },
	{ "p99", value_p99 },
	{ "guest", value_guest },
	{ "name", value_name },
};

/**
 * parse_view - read the argument of --by, or exit
 * @name: the argument
 *
 * Return: the view.
 */
const struct view *parse_view(const char *name)
{
	unsigned int i;

	for (i = 0; i < sizeof(views) / sizeof(*views); i++) {
		if (!strcmp(views[i].name, name))
			return &views[i];
	}
	die("--by takes reason, hypercall, exit, vm or vcpu, not '%s'", name);
}

/**
 * parse_sort - read the argument of --sort, or exit
 * @name: the argument
 *
 * Return: the key.
 */
const struct sort *parse_sort(const char *name)
{
	unsigned int i;

	for (i = 0; i < sizeof(sorts) / sizeof(*sorts); i++) {
		if (!strcmp(sorts[i].name, name))
			return &sorts[i];
	}
	die("--sort takes time, rate, mean, max, p99, guest or name, not '%s'", name);
}

/* What of a name follows a prefix, or NULL */
static const char *behind(const char *name, const char *prefix)
{
	size_t size = strlen(prefix);

	return strncmp(name, prefix, size) ? NULL : name + size;
}

/**
 * entry_is_gap - whether its time is not EL2's
 * @entry: the entry
 *
 * Return: whether it is the time in guests, in firmware, or idle.
 */
bool entry_is_gap(const struct entry *entry)
{
	return behind(entry->name, GAP);
}

/**
 * entry_matches - whether an entry is of a reason
 * @entry: the entry
 * @reason: the reason, a pattern as the shell has it, or a group such as psci; NULL for each
 *
 * Return: whether it is.
 */
bool entry_matches(const struct entry *entry, const char *reason)
{
	const char *rest;

	if (!reason || !fnmatch(reason, entry->name, 0))
		return true;
	rest = behind(entry->name, reason);
	return rest && *rest == ':';
}

/* All hypercalls are one row, unless some of them were asked for. */
static const char *row_name(const struct view *view, const struct entry *entry,
			    const char *reason)
{
	if (view->fold && !reason && behind(entry->name, HCALL))
		return "hcall";
	return behind(entry->name, view->prefix);
}

/**
 * view_select - make the rows of a view
 * @view: the view
 * @account: what was counted
 * @reason: only what matches it, or NULL
 * @rows: the rows
 */
void view_select(const struct view *view, const struct account *account, const char *reason,
		 struct account *rows)
{
	unsigned int i;

	account_clear(rows);
	for (i = 0; i < account->nr; i++) {
		const struct entry *entry = &account->entries[i];
		const char *name = row_name(view, entry, reason);
		struct entry *row;

		if (!name || entry_is_gap(entry) || !entry_matches(entry, reason))
			continue;
		row = account_entry(rows, name, rows->nr);
		row->guest += entry->guest;
		loghist_add(&row->hist, &entry->hist);
	}
}

/**
 * view_gaps - make rows of the times that are not EL2's
 * @account: what was counted
 * @reason: only what matches it, or NULL
 * @rows: the rows
 */
void view_gaps(const struct account *account, const char *reason, struct account *rows)
{
	unsigned int i;

	account_clear(rows);
	for (i = 0; i < account->nr; i++) {
		const struct entry *entry = &account->entries[i];

		if (entry_is_gap(entry) && entry_matches(entry, reason))
			*account_entry(rows, entry->name, rows->nr) = *entry;
	}
}

static const struct sort *sorted_by;

static int compare(const void *left, const void *right)
{
	const struct entry *a = left, *b = right;
	u64 value_a = sorted_by->value(a), value_b = sorted_by->value(b);

	if (value_a != value_b)
		return value_a < value_b ? 1 : -1;
	return strcmp(a->name, b->name);
}

/**
 * view_sort - sort rows
 * @rows: the rows
 * @sort: by what; equal ones by their names
 */
void view_sort(struct account *rows, const struct sort *sort)
{
	sorted_by = sort;
	qsort(rows->entries, rows->nr, sizeof(*rows->entries), compare);
}

/**
 * view_total - the sum of all times at EL2
 * @account: what was counted
 *
 * Return: the sum.
 */
struct loghist view_total(const struct account *account)
{
	struct loghist total = {};
	unsigned int i;

	for (i = 0; i < account->nr; i++) {
		if (!entry_is_gap(&account->entries[i]))
			loghist_add(&total, &account->entries[i].hist);
	}
	return total;
}
