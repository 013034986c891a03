// SPDX-License-Identifier: GPL-2.0-only
/*
 * Histograms of a remote's events, by the kernel's own engine
 *
 *	[!]hist:keys=...
 *	[!]enable_hist:group:event[:count] [if filter]
 *	[!]disable_hist:group:event[:count] [if filter]
 *
 * as Documentation/trace/histogram.rst describes them.
 *
 * The engine sees the records that the remote has written (records.c, trace_replay.c), some
 * milliseconds later, in a work of the kernel. So common_timestamp, common_cpu, common_pid and the
 * event's fields are the record's. What the engine would take from the task or the CPU that it
 * runs on is refused, with a reason in error_log. So is a synthetic event that would join events
 * of the remote with others: these come at other times.
 *
 * A remote with a histogram stays, and so does its module.
 */
#include <linux/cleanup.h>
#include <linux/ctype.h>
#include <linux/err.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "../trace_replay.h"
#include "remote.h"

static int remote_hist_use(void *priv, bool on)
{
	struct trace_remote *remote = priv;
	int ret;

	if (!on) {
		trace_remote_records_put(remote);
		trace_remote_put(remote);
		return 0;
	}

	if (!trace_remote_get(remote))
		return -ENODEV;

	ret = trace_remote_records_get(remote);
	if (ret)
		trace_remote_put(remote);
	return ret;
}

/* What the engine has of the remote; NULL before the first histogram */
static struct trace_replay *remote_replay(struct trace_remote *remote)
{
	guard(mutex)(&remote->records_lock);
	return remote->replay;
}

/* Make what the engine needs, before the first histogram. */
static int remote_hist_prepare(struct trace_remote *remote)
{
	struct trace_remote_event *event;
	struct trace_replay *replay;
	int i;

	lockdep_assert_held(&remote->trigger_lock);

	if (remote->replay)
		return 0;

	replay = trace_replay_create(remote_hist_use, remote, remote->desc->nr_events);
	if (IS_ERR(replay))
		return PTR_ERR(replay);

	for (i = 0; (event = trace_remote_event(remote, i)); i++)
		trace_replay_set_event(replay, i, &event->call);

	guard(mutex)(&remote->records_lock);
	remote->replay = replay;
	return 0;
}

static bool remote_is_word_char(char c)
{
	return isalnum(c) || c == '_';
}

/* Where @word stands in @str, as a whole word, and not in quotes; NULL for nowhere */
static const char *remote_find_word(const char *str, const char *word)
{
	size_t len = strlen(word);
	bool is_quoted = false;
	const char *p;

	for (p = str; *p; p++) {
		if (*p == '"')
			is_quoted = !is_quoted;
		if (is_quoted || strncmp(p, word, len) || remote_is_word_char(p[len]))
			continue;
		if (p == str || !remote_is_word_char(*word) || !remote_is_word_char(p[-1]))
			return p;
	}

	return NULL;
}

/* Where one of @words stands in @str */
static const char *remote_find_words(const char *str, const char * const *words)
{
	const char *at = NULL;

	for (; *words && !at; words++)
		at = remote_find_word(str, *words);
	return at;
}

/* Where @str wants to match an event of another system than the remote's */
static const char *remote_find_other_event(struct trace_remote *remote, const char *str)
{
	const char *group = trace_remote_group(remote);
	size_t len = strlen(group);
	const char *at = str;

	while ((at = strstr(at, "onmatch("))) {
		at += strlen("onmatch(");
		if (strncmp(at, group, len) || at[len] != '.')
			return at;
	}

	return NULL;
}

/* What only the kernel's own events have, at the moment that they are written */
static const char * const remote_hist_context[] = {
	".execname", ".stacktrace", ".snapshot", "clock", "common_stacktrace", "stacktrace",
	"STACKTRACE", NULL
};

static const char * const remote_hist_filter_context[] = {
	"comm", "COMM", "cpu", "CPU", "common_cpu", NULL
};

struct remote_hist_error {
	const char	*text;
	const char	*at;
};

/* @filter: what stands behind " if "; NULL for nothing */
static bool remote_hist_is_refused(struct trace_remote *remote, const char *command,
				   const char *filter, struct remote_hist_error *error)
{
	error->text = "Only the kernel's own events have this";
	error->at = remote_find_words(command, remote_hist_context);
	if (!error->at && filter)
		error->at = remote_find_words(filter, remote_hist_filter_context);
	if (error->at)
		return true;

	error->text = "Only events of the same remote can be matched";
	error->at = remote_find_other_event(remote, command);
	return error->at;
}

static void remote_hist_log(struct trace_remote_event *event, const char *command,
			    const struct remote_hist_error *error)
{
	char *where = kasprintf(GFP_KERNEL, "hist:%s:%s", trace_remote_group(event->remote),
				trace_event_name(&event->call));

	if (where)
		trace_remote_log(event->remote, where, error->text, command, error->at - command);
	kfree(where);
}

static int remote_hist_check(struct trace_remote_event *event, const char *command)
{
	const char *filter = strstr(command, " if ");
	struct remote_hist_error error;

	if (!remote_hist_is_refused(event->remote, command, filter, &error))
		return 0;

	remote_hist_log(event, command, &error);
	return -EINVAL;
}

/**
 * trace_remote_write_hist - set, change or remove a histogram
 * @event:	the event
 * @command:	what user space wrote to its trigger; is changed
 *
 * Context: process context, may sleep.
 * Return: 0; else as a write to the file of the kernel's events, and error_log says why.
 */
int trace_remote_write_hist(struct trace_remote_event *event, char *command)
{
	struct trace_remote *remote = event->remote;
	char *error = NULL;
	int ret;

	scoped_guard(mutex, &remote->trigger_lock)
		ret = remote_hist_prepare(remote);
	ret = ret ?: remote_hist_check(event, command);
	if (ret)
		return ret;

	ret = trace_replay_write_trigger(remote_replay(remote), trace_remote_event_nr(event),
					 command, &error);
	trace_remote_log_text(remote, error);
	return ret;
}

/**
 * trace_remote_remove_hists - remove all histograms of an event
 * @event:	the event
 *
 * Those with variables that others use stay, as with the kernel's events.
 *
 * Context: process context, may sleep.
 */
void trace_remote_remove_hists(struct trace_remote_event *event)
{
	struct trace_replay *replay = remote_replay(event->remote);

	if (replay)
		trace_replay_remove_hists(replay, trace_remote_event_nr(event));
}

/**
 * trace_remote_show_hist_triggers - show the commands of an event's histograms
 * @m:		where
 * @event:	the event
 *
 * Context: process context, may sleep.
 * Return: whether there are any.
 */
bool trace_remote_show_hist_triggers(struct seq_file *m, struct trace_remote_event *event)
{
	struct trace_replay *replay = remote_replay(event->remote);

	return replay && trace_replay_show_triggers(m, replay, trace_remote_event_nr(event));
}

/**
 * trace_remote_show_hists - show an event's histograms
 * @m:		where
 * @event:	the event
 *
 * All that the remote has written by now is in them, but for what they have lost.
 *
 * Context: process context, may sleep.
 * Return: as trace_remote_hist_hits().
 */
u64 trace_remote_show_hists(struct seq_file *m, struct trace_remote_event *event)
{
	struct trace_replay *replay = remote_replay(event->remote);
	u64 hits;

	if (!replay)
		return 0;

	trace_remote_records_sync(event->remote);
	hits = trace_replay_show_hists(m, replay, trace_remote_event_nr(event));
	if (m->count)
		seq_printf(m, "    Lost: %llu\n", trace_remote_records_lost(event->remote));
	return hits;
}

/**
 * trace_remote_hist_hits - how many events an event's histograms have counted
 * @event:	the event
 *
 * Context: process context, may sleep.
 * Return: how many.
 */
u64 trace_remote_hist_hits(struct trace_remote_event *event)
{
	struct trace_replay *replay = remote_replay(event->remote);

	return replay ? trace_replay_hits(replay, trace_remote_event_nr(event)) : 0;
}

/**
 * trace_remote_free_hists - free what the engine needs
 * @remote:	the remote, which is about to go and so has no histogram
 *
 * Context: process context, may sleep.
 */
void trace_remote_free_hists(struct trace_remote *remote)
{
	trace_replay_destroy(remote->replay);
}
