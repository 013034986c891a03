// SPDX-License-Identifier: GPL-2.0
/* Histograms in JSON, with all times in nanoseconds */
#include "histograms.h"
#include "json.h"

static void print_buckets(struct json *json, const struct loghist *hist)
{
	unsigned int i;

	json_open(json, "buckets", '[');
	for (i = 0; i < LOGHIST_BUCKETS; i++) {
		if (!hist->buckets[i])
			continue;
		json_open(json, NULL, '{');
		json_number(json, "from_ns", loghist_low(i));
		if (i < LOGHIST_BUCKETS - 1)
			json_number(json, "below_ns", loghist_bound(i));
		json_number(json, "count", hist->buckets[i]);
		json_close(json, '}');
	}
	json_close(json, ']');
}

static void print_distribution(struct json *json, const struct loghist *hist)
{
	json_number(json, "p50_bound_ns", loghist_percentile(hist, 500));
	json_number(json, "p90_bound_ns", loghist_percentile(hist, 900));
	json_number(json, "p99_bound_ns", loghist_percentile(hist, 990));
	json_number(json, "p999_bound_ns", loghist_percentile(hist, 999));
	json_number(json, "max_ns", hist->max);
	print_buckets(json, hist);
}

static void print_entry(struct json *json, const struct entry *entry)
{
	const struct loghist *hist = &entry->hist;

	json_open(json, NULL, '{');
	json_text(json, "name", entry->name);
	json_number(json, "count", hist->count);
	json_number(json, "total_ns", hist->total);
	json_number(json, "mean_ns", loghist_mean(hist));
	if (loghist_has_buckets(hist))
		print_distribution(json, hist);
	json_close(json, '}');
}

static void print_entries(struct json *json, const struct histograms *histograms,
			  const struct account *account, bool gaps)
{
	unsigned int i;

	json_open(json, gaps ? "gaps" : "stays", '[');
	for (i = 0; i < account->nr; i++) {
		const struct entry *entry = &account->entries[i];

		if (entry_is_gap(entry) == gaps && entry_matches(entry, histograms->reason))
			print_entry(json, entry);
	}
	json_close(json, ']');
}

/**
 * histograms_json - print histograms as JSON
 * @histograms: them
 */
void histograms_json(const struct histograms *histograms)
{
	struct json json = { .file = stdout };
	unsigned int i;

	json_open(&json, NULL, '{');
	if (histograms->elapsed)
		json_number(&json, "elapsed_ns", histograms->elapsed);
	json_open(&json, "accounts", '[');
	for (i = 0; i < histograms->nr; i++) {
		const struct account *account = &histograms->accounts[i];

		json_open(&json, NULL, '{');
		if (account->cpu != NO_CPU)
			json_number(&json, "cpu", account->cpu);
		json_number(&json, "cpus", account->nr_cpus);
		print_entries(&json, histograms, account, false);
		print_entries(&json, histograms, account, true);
		json_close(&json, '}');
	}
	json_close(&json, ']');
	json_close(&json, '}');
}
