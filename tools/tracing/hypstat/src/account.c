// SPDX-License-Identifier: GPL-2.0
/*
 * What EL2 has counted, from the text of the kernel's files:
 *
 *	# version=1 cpus=4 on=1
 *	psci:CPU_SUSPEND count=3 total_ns=5100 max_ns=2200 hist=11:2,12:1
 *
 * Words that are not known are skipped.
 */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "account.h"
#include "cpus.h"
#include "utils.h"

#define VERSION_KNOWN	1

/* KEY=VALUE; both end where the text says, not with 0. */
struct word {
	const char	*key;
	const char	*value;
	const char	*end;
};

static bool is_key(const struct word *word, const char *key)
{
	size_t size = strlen(key);

	return (size_t)(word->value - 1 - word->key) == size && !memcmp(word->key, key, size);
}

/* The next word of a line, if it has one more; NULL for @word->value if that is no word. */
static bool next_word(const char **at, struct word *word)
{
	const char *equal;

	*at += strspn(*at, " ");
	if (!**at || **at == '\n')
		return false;
	word->key = *at;
	word->end = *at += strcspn(*at, "\n ");
	equal = memchr(word->key, '=', word->end - word->key);
	word->value = equal ? equal + 1 : NULL;
	return true;
}

/* Read a decimal number, and move on behind it. */
static bool parse_number(const char **at, u64 *number)
{
	const char *begin = *at;

	for (*number = 0; **at >= '0' && **at <= '9'; (*at)++) {
		if (__builtin_mul_overflow(*number, 10, number) ||
		    __builtin_add_overflow(*number, **at - '0', number))
			return false;
	}
	return *at != begin;
}

static bool word_number(const struct word *word, u64 *number)
{
	const char *at = word->value;

	return parse_number(&at, number) && at == word->end;
}

/* BUCKET:COUNT, and so on behind a comma */
static bool parse_buckets(const struct word *word, struct loghist *hist)
{
	const char *at = word->value;
	u64 bucket, count;

	do {
		if (!parse_number(&at, &bucket) || bucket >= LOGHIST_BUCKETS || *at++ != ':' ||
		    !parse_number(&at, &count))
			return false;
		hist->buckets[bucket] += count;
	} while (*at++ == ',');
	return at - 1 == word->end;
}

static bool parse_value(const struct word *word, struct loghist *hist)
{
	if (is_key(word, "count"))
		return word_number(word, &hist->count);
	if (is_key(word, "total_ns"))
		return word_number(word, &hist->total);
	if (is_key(word, "max_ns"))
		return word_number(word, &hist->max);
	if (is_key(word, "hist"))
		return parse_buckets(word, hist);
	return true;
}

/* A name is shown in a terminal. */
static bool parse_name(const char **at, char *name)
{
	size_t size = strcspn(*at, "\n "), i;

	if (!size || size >= ENTRY_NAME)
		return false;
	for (i = 0; i < size; i++) {
		if ((*at)[i] <= ' ' || (*at)[i] >= 0x7f)
			return false;
	}
	memcpy(name, *at, size);
	name[size] = '\0';
	*at += size;
	return true;
}

static const char *parse_entry(struct account *account, const char **at)
{
	struct entry *entry = &account->entries[account->nr];
	struct word word;

	if (account->nr == ACCOUNT_ENTRIES)
		return "there are too many lines";
	memset(entry, 0, sizeof(*entry));
	if (!parse_name(at, entry->name))
		return "there is no name";
	while (next_word(at, &word)) {
		if (!word.value || !parse_value(&word, &entry->hist))
			return "a word is not understood";
	}
	if (!loghist_is_whole(&entry->hist))
		return "the buckets have another sum than the count";
	account->nr++;
	return NULL;
}

/* The first line's numbers */
struct head {
	u64	version;
	u64	cpus;
	u64	cpu;
	u64	on;
};

static bool parse_property(const struct word *word, struct head *head)
{
	if (is_key(word, "version"))
		return word_number(word, &head->version);
	if (is_key(word, "cpus"))
		return word_number(word, &head->cpus) && head->cpus <= CPUS_MAX;
	if (is_key(word, "cpu"))
		return word_number(word, &head->cpu) && head->cpu < CPUS_MAX;
	if (is_key(word, "on"))
		return word_number(word, &head->on);
	return true;
}

static const char *parse_head(struct account *account, const char **at)
{
	struct head head = { .cpus = 1, .cpu = NO_CPU, .on = 1 };
	struct word word;

	if (**at != '#')
		return "it does not begin with #";
	++*at;
	while (next_word(at, &word)) {
		if (!word.value || !parse_property(&word, &head))
			return "a word is not understood";
	}
	account->nr_cpus = head.cpus;
	account->cpu = head.cpu;
	account->on = head.on;
	return head.version == VERSION_KNOWN ? NULL : "another version of hypstat is needed";
}

/* A line that does not end was truncated. */
static const char *parse_line(struct account *account, const char **at)
{
	const char *error;

	account->line++;
	error = account->line == 1 ? parse_head(account, at) : parse_entry(account, at);
	if (error)
		return error;
	if (**at != '\n')
		return "it is truncated";
	++*at;
	return NULL;
}

/**
 * account_clear - begin with an account that has nothing
 * @account: it
 */
void account_clear(struct account *account)
{
	account->cpu = NO_CPU;
	account->nr_cpus = 0;
	account->on = false;
	account->line = 0;
	account->nr = 0;
}

/**
 * account_copy - copy an account
 * @account: the copy
 * @from: it
 */
void account_copy(struct account *account, const struct account *from)
{
	size_t head = offsetof(struct account, entries);

	memcpy(account, from, head + from->nr * sizeof(*from->entries));
}

/**
 * account_parse - read the text of one of the kernel's files
 * @account: what it says; on an error, @line is where
 * @text: the text, terminated
 *
 * Return: NULL, or what is wrong.
 */
const char *account_parse(struct account *account, const char *text)
{
	const char *error;

	account_clear(account);
	do {
		error = parse_line(account, &text);
	} while (!error && *text);
	return error;
}

/**
 * account_find - find an entry
 * @account: the account
 * @name: the entry's name
 * @hint: where it is most often
 *
 * Return: the entry, or NULL.
 */
const struct entry *account_find(const struct account *account, const char *name,
				 unsigned int hint)
{
	unsigned int i, at;

	for (i = 0; i < account->nr; i++) {
		/* Entries do not change their order, and only some come. */
		at = (hint + account->nr - i) % account->nr;
		if (!strcmp(account->entries[at].name, name))
			return &account->entries[at];
	}
	return NULL;
}

/**
 * account_entry - find or add an entry, or exit
 * @account: the account
 * @name: the entry's name
 * @hint: where it is most often
 *
 * Return: the entry.
 */
struct entry *account_entry(struct account *account, const char *name, unsigned int hint)
{
	struct entry *entry = (struct entry *)account_find(account, name, hint);

	if (entry)
		return entry;
	if (account->nr == ACCOUNT_ENTRIES)
		die("there are more than %d entries", ACCOUNT_ENTRIES);
	entry = &account->entries[account->nr++];
	memset(entry, 0, sizeof(*entry));
	snprintf(entry->name, sizeof(entry->name), "%s", name);
	return entry;
}

/**
 * account_add - add what was counted elsewhere, such as on another CPU
 * @account: the sum
 * @other: what is added
 */
void account_add(struct account *account, const struct account *other)
{
	unsigned int i;

	account->nr_cpus += other->nr_cpus;
	account->on |= other->on;
	for (i = 0; i < other->nr; i++) {
		struct entry *entry = account_entry(account, other->entries[i].name, i);

		entry->guest += other->entries[i].guest;
		loghist_add(&entry->hist, &other->entries[i].hist);
	}
}

/**
 * entry_since - remove from an entry what was counted before
 * @entry: the entry
 * @before: what was counted then
 * @hint: where it has this entry most often
 *
 * Return: false if the entry lacks some of that.
 */
bool entry_since(struct entry *entry, const struct account *before, unsigned int hint)
{
	const struct entry *former = account_find(before, entry->name, hint);

	if (!former)
		return true;
	if (entry->guest < former->guest)
		return false;
	entry->guest -= former->guest;
	return loghist_since(&entry->hist, &former->hist);
}

/**
 * account_since - remove from an account what was counted before
 * @account: the account
 * @before: an earlier one
 *
 * Return: false if a reset came between; @account is unusable then.
 */
bool account_since(struct account *account, const struct account *before)
{
	bool grew = true;
	unsigned int i;

	/* One without a count was only under way. */
	for (i = 0; i < before->nr; i++)
		grew &= !before->entries[i].hist.count ||
			account_find(account, before->entries[i].name, i);
	for (i = 0; i < account->nr; i++)
		grew &= entry_since(&account->entries[i], before, i);
	return grew;
}

static bool is_idle(const struct entry *entry)
{
	return !entry->hist.count && !entry->hist.total && !entry->guest;
}

/**
 * account_remove_idle - remove the entries of which there were none
 * @account: the account
 */
void account_remove_idle(struct account *account)
{
	unsigned int i, nr = 0;

	for (i = 0; i < account->nr; i++) {
		if (!is_idle(&account->entries[i]))
			account->entries[nr++] = account->entries[i];
	}
	account->nr = nr;
}
