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
 * struct trace_replay_source - where the events come from
 * @use:	replay the event @nr from now on, or not any more; called with event_mutex held.
 *		Returns 0 or an errno; 0 if @on is false
 */
struct trace_replay_source {
	int (*use)(void *priv, unsigned int nr, bool on);
};

struct trace_replay *trace_replay_create(const struct trace_replay_source *source, void *priv,
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
