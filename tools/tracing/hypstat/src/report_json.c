// SPDX-License-Identifier: GPL-2.0
/* A report in JSON, with all times in nanoseconds */
#include <trace-seq.h>

#include "json.h"
#include "output.h"

static void print_hist(struct json *json, const struct hist *hist)
{
	json_number(json, "count", hist->count);
	json_number(json, "total_ns", hist->total);
	json_number(json, "mean_ns", hist_mean(hist));
	json_number(json, "p50_ns", hist_percentile(hist, 500));
	json_number(json, "p90_ns", hist_percentile(hist, 900));
	json_number(json, "p99_ns", hist_percentile(hist, 990));
	json_number(json, "p999_ns", hist_percentile(hist, 999));
	json_number(json, "max_ns", hist->max);
}

static void print_section(struct json *json, const struct summary *summary, enum section_id id)
{
	const struct table *table = &summary->tables[id];
	unsigned int i;

	json_open(json, sections[id].name, '[');
	for (i = 0; i < table->nr; i++) {
		json_open(json, NULL, '{');
		json_text(json, "name", table->rows[i]->name);
		print_hist(json, &table->rows[i]->hist);
		if (sections[id].has_guest)
			json_number(json, "guest_ns", table->rows[i]->guest);
		if (sections[id].has_self)
			json_number(json, "self_ns", table->rows[i]->self);
		json_close(json, '}');
	}
	json_close(json, ']');
}

static void print_losses(struct json *json, const struct losses *losses)
{
	json_open(json, "losses", '{');
	json_number(json, "events", losses->hyp);
	json_number(json, "unknown", losses->hyp_unknown);
	json_number(json, "host_events", losses->host);
	json_number(json, "host_unknown", losses->host_unknown);
	json_number(json, "dropped_stays", losses->dropped);
	json_number(json, "partial_stays", losses->partial);
	json_number(json, "unpaired_events", losses->unpaired);
	json_number(json, "corrupted_events", losses->corrupt);
	json_close(json, '}');
}

static void print_inside(struct json *json, const struct summary *summary,
			 const struct stay *stay, struct trace_seq *seq)
{
	unsigned int i;

	json_open(json, "events", '[');
	for (i = 0; i < stay->nr_events && i < STAY_EVENTS; i++) {
		json_open(json, NULL, '{');
		json_number(json, "after_ns", stay->events[i].ts - stay->begin);
		inside_text(summary, stay, &stay->events[i], seq);
		json_text(json, "text", seq->buffer);
		json_close(json, '}');
	}
	json_close(json, ']');
}

static void print_functions(struct json *json, const struct summary *summary,
			    const struct stay *stay)
{
	const struct part *part = stay->functions;
	char text[ROW_NAME];
	unsigned int i;

	json_open(json, "functions", '[');
	for (i = 0; i < stay->nr_functions; i++, part++) {
		json_open(json, NULL, '{');
		json_text(json, "name",
			  part->ip ? events_function(&summary->events, part->ip, text,
						     sizeof(text)) : "");
		json_number(json, "self_ns", part->self);
		json_close(json, '}');
	}
	json_close(json, ']');
}

static void print_what(struct json *json, const struct summary *summary, const struct stay *stay)
{
	char text[ROW_NAME];

	json_text(json, "reason", reason_name(summary, stay->reason, text, sizeof(text)));
	if (stay->hcall != NO_HCALL)
		json_text(json, "hypercall", hcall_name(summary, stay->hcall, text, sizeof(text)));
	if (stay->exited)
		json_text(json, "exit", exit_name(summary, stay, text, sizeof(text)));
	if (stay->guest.known)
		json_text(json, "guest", guest_name(&stay->guest, text, sizeof(text)));
}

static void print_before(struct json *json, const struct summary *summary,
			 const struct stay *stay)
{
	char text[ROW_NAME];

	json_open(json, "before", '{');
	json_text(json, "task", owner_name(summary, &stay->owner, text, sizeof(text)));
	if (stay->last_guest.known)
		json_text(json, "guest", guest_name(&stay->last_guest, text, sizeof(text)));
	if (stay->last_hcall != NO_HCALL)
		json_text(json, "hypercall",
			  hcall_name(summary, stay->last_hcall, text, sizeof(text)));
	json_close(json, '}');
}

static void print_longest(struct json *json, const struct summary *summary)
{
	const struct longest *longest = &summary->longest;
	struct trace_seq seq;
	unsigned int i;

	trace_seq_init(&seq);
	json_open(json, "longest", '[');
	for (i = 0; i < longest->nr; i++) {
		const struct stay *stay = &longest->stays[i];

		json_open(json, NULL, '{');
		json_number(json, "length_ns", stay_length(stay));
		json_number(json, "cpu", stay->cpu);
		json_number(json, "begin_ns", stay->begin);
		print_what(json, summary, stay);
		print_before(json, summary, stay);
		json_number(json, "nr_events", stay->nr_events);
		print_inside(json, summary, stay, &seq);
		print_functions(json, summary, stay);
		json_close(json, '}');
	}
	json_close(json, ']');
	trace_seq_destroy(&seq);
}

/**
 * json_print - print a report as JSON
 * @summary: the report, sorted
 */
void json_print(const struct summary *summary)
{
	struct json json = { .file = stdout };
	int i;

	json_open(&json, NULL, '{');
	json_text(&json, "file", summary->file);
	json_number(&json, "cpus", summary->nr_cpus);
	json_number(&json, "span_ns", summary_span(summary));
	json_number(&json, "events", summary->stays.nr_events);
	print_losses(&json, &summary->stays.losses);
	json_open(&json, "all", '{');
	print_hist(&json, &summary->all);
	json_close(&json, '}');
	for (i = 0; i < NR_SECTIONS; i++)
		print_section(&json, summary, i);
	print_longest(&json, summary);
	json_close(&json, '}');
}
