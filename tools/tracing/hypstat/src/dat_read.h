/* SPDX-License-Identifier: GPL-2.0 */
#ifndef HYPSTAT_DAT_READ_H
#define HYPSTAT_DAT_READ_H

#include <stdbool.h>
#include <linux/types.h>

struct tracecmd_input;
struct tep_handle;
struct tep_record;

/* The host's events are in the top level's buffer, the hypervisor's in an instance. */
#define DAT_BUFFERS	8

/**
 * struct dat - a trace.dat that is read
 * @file: the file
 * @tep: its formats
 * @buffers: its buffers, the first of which is the top level's
 * @nr_buffers: how many
 * @nr_cpus: how many CPUs the buffers have
 */
struct dat {
	struct tracecmd_input	*file;
	struct tep_handle	*tep;
	struct tracecmd_input	*buffers[DAT_BUFFERS];
	unsigned int		nr_buffers;
	int			nr_cpus;
};

/**
 * struct dat_visitor - what is called for each record
 * @record: called for each record of a CPU, in the order of time
 * @lost: called before a record, if events were lost before it
 * @arg: for both
 */
struct dat_visitor {
	void	(*record)(const struct tep_record *record, void *arg);
	void	(*lost)(const struct tep_record *record, void *arg);
	void	*arg;
};

bool dat_open(struct dat *dat, const char *path);
void dat_walk(struct dat *dat, int cpu, const struct dat_visitor *visitor);
void dat_close(struct dat *dat);

#endif
