/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Replaying events that were not written by this kernel, for the histograms of the kernel
 */
#ifndef __TRACE_REPLAY_H
#define __TRACE_REPLAY_H

#include <linux/types.h>

struct seq_file;
struct trace_event_call;
struct trace_replay;

/**
 * typedef trace_replay_use_fn - an event of a replay is used from now on, or not any more
 * @priv:	of the replay
 * @on:		which of the two
 *
 * Context: process context, may sleep; event_mutex is held.
 * Return: 0 or an errno; 0 if @on is false.
 */
typedef int (*trace_replay_use_fn)(void *priv, bool on);

struct trace_replay *trace_replay_create(trace_replay_use_fn use, void *priv,
					 unsigned int nr_events);
void trace_replay_destroy(struct trace_replay *replay);
void trace_replay_set_event(struct trace_replay *replay, unsigned int nr,
			    struct trace_event_call *call);
int trace_replay_write_trigger(struct trace_replay *replay, unsigned int nr, char *command,
			       char **error);
void trace_replay_remove_hists(struct trace_replay *replay, unsigned int nr);
bool trace_replay_show_triggers(struct seq_file *m, struct trace_replay *replay, unsigned int nr);
u64 trace_replay_show_hists(struct seq_file *m, struct trace_replay *replay, unsigned int nr);
u64 trace_replay_hits(struct trace_replay *replay, unsigned int nr);
void trace_replay_event(struct trace_replay *replay, unsigned int nr, int cpu, u64 ts,
			void *record);

#endif /* __TRACE_REPLAY_H */
