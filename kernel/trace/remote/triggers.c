// SPDX-License-Identifier: GPL-2.0-only
/*
 * The triggers of a remote's events: traceoff, traceon, and hist
 *
 * The remote evaluates traceoff and traceon itself, at the moment of the event. Histograms are in
 * hist.c. The syntax, the text and the errors are those of the kernel's own triggers
 * (Documentation/trace/events.rst):
 *
 *	[!]traceoff[:count] [if filter]
 *	[!]traceon[:count] [if filter]
 *
 * As there, an event has one of the two at the most, and a ! removes either. It may have several
 * histograms.
 */
#include <linux/cleanup.h>
#include <linux/ctype.h>
#include <linux/kstrtox.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "remote.h"

static const char *remote_trigger_name(const struct trace_remote_trigger *trigger)
{
	return trigger->on ? "traceon" : "traceoff";
}

static void remote_trigger_free(struct trace_remote_trigger *trigger)
{
	if (!trigger)
		return;

	kfree(trigger->preds);
	kfree(trigger->text);
	kfree(trigger);
}

DEFINE_FREE(remote_trigger, struct trace_remote_trigger *, remote_trigger_free(_T))

static int remote_call_set_trigger(struct trace_remote_event *event,
				   const struct trace_remote_trigger *trigger)
{
	struct trace_remote *remote = event->remote;

	lockdep_assert_held(&remote->trigger_lock);

	return trace_remote_call(remote, set_trigger, trace_remote_event_nr(event), trigger);
}

/* While an event can turn tracing on, the remote is armed. */
static int remote_trigger_use(struct trace_remote_event *event,
			      struct trace_remote_trigger *trigger)
{
	int ret = trigger->on ? trace_remote_arm(event->remote) : 0;

	if (ret)
		return ret;

	ret = remote_call_set_trigger(event, trigger);
	if (ret && trigger->on)
		trace_remote_disarm(event->remote);
	return ret;
}

static int remote_trigger_add(struct trace_remote_event *event,
			      struct trace_remote_trigger *trigger)
{
	int ret;

	guard(mutex)(&event->remote->trigger_lock);
	if (event->trigger)
		return -EEXIST;

	ret = trace_remote_get_writer(event->remote);
	if (ret)
		return ret;

	ret = remote_trigger_use(event, trigger);
	if (!ret)
		event->trigger = trigger;
	trace_remote_put_writer(event->remote);
	return ret;
}

/* The remote no longer evaluates it, or there is no remote any more. */
static void remote_trigger_forget(struct trace_remote_event *event)
{
	struct trace_remote_trigger *trigger = event->trigger;

	lockdep_assert_held(&event->remote->trigger_lock);

	event->trigger = NULL;
	if (trigger->on)
		trace_remote_disarm(event->remote);
	remote_trigger_free(trigger);
}

static int remote_trigger_remove(struct trace_remote_event *event)
{
	int ret;

	guard(mutex)(&event->remote->trigger_lock);
	if (!event->trigger)
		return 0;

	ret = trace_remote_get_writer(event->remote);
	if (ret)
		return ret;

	ret = remote_call_set_trigger(event, NULL);
	if (!ret)
		remote_trigger_forget(event);
	trace_remote_put_writer(event->remote);
	return ret;
}

/* What stands before the filter: nothing, or a count. Returns what is behind it in @rest. */
static int remote_trigger_parse_count(char **rest, unsigned long *count)
{
	char *word;

	*count = ULONG_MAX;
	if (!*rest || !isdigit(**rest))
		return 0;

	word = strsep(rest, " \t");
	return kstrtoul(strsep(&word, ":"), 0, count);
}

/* "if" and an expression, or nothing */
static int remote_trigger_parse_filter(struct trace_remote_event *event, char *rest,
				       struct trace_remote_trigger *trigger)
{
	struct trace_remote_filter filter;
	int ret;

	rest = rest ? skip_spaces(rest) : "";
	if (!*rest)
		return 0;
	if (strcmp(strsep(&rest, " \t"), "if") || !rest)
		return -EINVAL;

	rest = skip_spaces(rest);
	ret = trace_remote_make_filter(event, rest, &filter);
	if (ret)
		return ret;

	if (filter.wrong) {
		trace_remote_log_error(event->remote, rest, &filter.error);
		trace_remote_drop_filter(&filter);
		return filter.wrong;
	}

	trigger->preds = filter.preds;
	trigger->nr_preds = filter.nr;
	trigger->text = filter.text;
	return 0;
}

/* @rest is what stands behind the command. */
static int remote_trigger_parse_add(struct trace_remote_event *event, bool on, char *rest)
{
	struct trace_remote_trigger *trigger __free(remote_trigger) =
		kzalloc(sizeof(*trigger), GFP_KERNEL);
	int ret;

	if (!trigger)
		return -ENOMEM;

	trigger->on = on;
	ret = remote_trigger_parse_count(&rest, &trigger->count) ?:
	      remote_trigger_parse_filter(event, rest, trigger) ?:
	      remote_trigger_add(event, trigger);
	if (!ret)
		trigger = NULL;	/* The event has it. */
	return ret;
}

static bool remote_trigger_is_hist(const char *command)
{
	static const char * const hists[] = { "hist", "enable_hist", "disable_hist" };
	size_t len = strcspn(command, ": \t");
	int i;

	for (i = 0; IS_ENABLED(CONFIG_TRACE_REMOTE_HIST) && i < ARRAY_SIZE(hists); i++) {
		if (len == strlen(hists[i]) && !strncmp(command, hists[i], len))
			return true;
	}

	return false;
}

/**
 * trace_remote_write_trigger - set or remove an event's trigger
 * @event:	the event
 * @str:	what user space wrote, without spaces around it; is changed
 *
 * Context: process context, may sleep.
 * Return: 0; -EINVAL for what is no trigger, or has a filter that is refused: error_log says why;
 * -ERANGE for a count that is too large; -EEXIST if the event has a trigger; -EOPNOTSUPP if the
 * remote has none; -ENOMEM; or what functions of the remote return. Then nothing has changed.
 * For a histogram, as trace_remote_write_hist().
 */
int trace_remote_write_trigger(struct trace_remote_event *event, char *str)
{
	bool on, remove = *str == '!';
	char *rest = str + remove, *command;

	if (remote_trigger_is_hist(rest))
		return trace_remote_write_hist(event, str);

	command = strsep(&rest, ": \t");
	on = !strcmp(command, "traceon");
	if (!on && strcmp(command, "traceoff"))
		return -EINVAL;
	if (!event->remote->desc->ops->set_trigger)
		return -EOPNOTSUPP;
	if (remove)
		return remote_trigger_remove(event);

	return remote_trigger_parse_add(event, on, rest ? skip_spaces(rest) : NULL);
}

/* What the remote has left of the count; what it began with, if the remote can't say */
static unsigned long remote_trigger_count(const struct trace_remote_event *event)
{
	struct trace_remote *remote = event->remote;
	unsigned long count = event->trigger->count;

	lockdep_assert_held(&remote->trigger_lock);

	if (count == ULONG_MAX || trace_remote_get_writer(remote))
		return count;

	count = trace_remote_call(remote, trigger_count, trace_remote_event_nr(event));
	trace_remote_put_writer(remote);
	return count;
}

static void remote_trigger_show_count(struct seq_file *m, unsigned long count)
{
	if (count == ULONG_MAX)
		seq_puts(m, ":unlimited");
	else
		seq_printf(m, ":count=%ld", count);
}

/* traceoff or traceon. False if the event has neither. */
static bool remote_trigger_show(struct seq_file *m, struct trace_remote_event *event)
{
	guard(mutex)(&event->remote->trigger_lock);

	if (!event->trigger)
		return false;

	seq_puts(m, remote_trigger_name(event->trigger));
	remote_trigger_show_count(m, remote_trigger_count(event));
	if (event->trigger->text)
		seq_printf(m, " if %s", event->trigger->text);
	seq_putc(m, '\n');
	return true;
}

/**
 * trace_remote_show_trigger - show an event's triggers
 * @m:		where
 * @event:	the event
 *
 * Context: process context, may sleep.
 * Return: 0.
 */
int trace_remote_show_trigger(struct seq_file *m, struct trace_remote_event *event)
{
	bool has_trigger = remote_trigger_show(m, event);

	if (trace_remote_show_hist_triggers(m, event) || has_trigger)
		return 0;

	seq_puts(m, "# Available triggers:\n# traceon traceoff");
	if (IS_ENABLED(CONFIG_TRACE_REMOTE_HIST))
		seq_puts(m, " enable_hist disable_hist hist");
	seq_putc(m, '\n');
	return 0;
}

/**
 * trace_remote_free_triggers - remove all triggers of a remote that is about to go
 * @remote:	the remote, of which no file is open
 *
 * Context: process context, may sleep.
 */
void trace_remote_free_triggers(struct trace_remote *remote)
{
	struct trace_remote_event *event;
	int i;

	for (i = 0; (event = trace_remote_event(remote, i)); i++) {
		if (!remote_trigger_remove(event))
			continue;

		guard(mutex)(&remote->trigger_lock);
		remote_trigger_forget(event);
	}
}
