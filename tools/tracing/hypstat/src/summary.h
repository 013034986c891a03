/* SPDX-License-Identifier: GPL-2.0 */
#ifndef HYPSTAT_SUMMARY_H
#define HYPSTAT_SUMMARY_H

#include "folded.h"
#include "longest.h"
#include "table.h"

/* The tables of a report */
enum section_id {
	SECTION_REASON,
	SECTION_HCALL,
	SECTION_EXIT,
	SECTION_VM,
	SECTION_VCPU,
	SECTION_TASK,
	SECTION_FUNCTION,
	NR_SECTIONS,
};

/**
 * struct section - what a table is about
 * @title: of its first column
 * @name: in JSON and CSV
 * @metric: in Prometheus' metrics, which are named hypstat_<metric>_seconds
 * @help: what those are
 * @has_guest: its rows have the time in the guest, too
 * @has_self: and these the function's own time, without what it has called
 */
struct section {
	const char	*title;
	const char	*name;
	const char	*metric;
	const char	*help;
	bool		has_guest;
	bool		has_self;
};

extern const struct section sections[NR_SECTIONS];

/**
 * struct summary - what a report says
 * @file: the path of the trace
 * @nr_cpus: the CPUs that have events of the hypervisor
 * @events: the formats of the trace
 * @stays: the machine that makes stays of events, and what is missing
 * @tables: the times at EL2, for each section
 * @folded: the time of each path of calls
 * @longest: the longest stays
 * @all: all stays
 * @limit: in ns: a stay that took longer has ended the recording; 0: none has
 * @last: the last one that did; @last.cpu is -1 if none is there
 */
struct summary {
	const char	*file;
	unsigned int	nr_cpus;
	struct events	events;
	struct stays	stays;
	struct table	tables[NR_SECTIONS];
	struct folded	folded;
	struct longest	longest;
	struct hist	all;
	u64		limit;
	struct stay	last;
};

void summary_init(struct summary *summary);
void summary_sort(struct summary *summary);
void summary_free(struct summary *summary);
u64 summary_span(const struct summary *summary);
const char *hcall_name(const struct summary *summary, s64 id, char *text, size_t size);
const char *reason_name(const struct summary *summary, s64 reason, char *text, size_t size);
const char *exit_name(const struct summary *summary, const struct stay *stay, char *text,
		      size_t size);
const char *owner_name(const struct summary *summary, const struct owner *owner, char *text,
		       size_t size);
const char *guest_name(const struct guest *guest, char *text, size_t size);

#endif
