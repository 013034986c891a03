/* SPDX-License-Identifier: GPL-2.0 */
#ifndef HYPSTAT_LOAD_H
#define HYPSTAT_LOAD_H

#include "cpus.h"
#include "dat_read.h"
#include "stays.h"

/**
 * struct load - a trace.dat whose events become stays
 * @file: its path
 * @dat: the file
 * @events: its formats
 * @stays: who gets the events
 * @cpus: read only these, or NULL
 * @nr_cpus: how many CPUs have events of the hypervisor
 * @host_first: the time of the host's first event
 * @host_last: the time of the host's last event
 * @nr_host: how many events of the host there are
 * @nr_records: how many records were read
 */
struct load {
	const char	*file;
	struct dat	dat;
	struct events	*events;
	struct stays	*stays;
	const struct cpus *cpus;
	unsigned int	nr_cpus;
	u64		host_first;
	u64		host_last;
	u64		nr_host;
	u64		nr_records;
};

void load_open(struct load *load);
void load_run(struct load *load);
void load_close(struct load *load);

#endif
