/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Samples of a thread, as perf_event_open() gives them
 */
#ifndef __GUEST_CALLCHAINS_SAMPLER_H
#define __GUEST_CALLCHAINS_SAMPLER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <linux/perf_event.h>

#define MAX_CHAIN	160

struct sample {
	unsigned int	cpumode;
	uint64_t	ip, nr, chain[MAX_CHAIN];
};

struct sampler {
	int		fd;
	char		*ring;
	uint64_t	lost, samples;
};

extern bool use_pmu;

void init_event(struct perf_event_attr *attr);
void want_host_frames(struct perf_event_attr *attr);
bool wants_host_frames(const struct perf_event_attr *attr);
bool open_sampler(struct sampler *sampler, struct perf_event_attr *attr, pid_t tid);
bool is_late(const struct sample *sample);
bool next_sample(struct sampler *sampler, struct sample *sample);
void close_sampler(struct sampler *sampler);
void print_chain(const struct sample *sample);
bool samples_are(pid_t tid, unsigned int nr,
		 bool (*good)(const struct sample *sample, const void *arg), const void *arg);

#endif
