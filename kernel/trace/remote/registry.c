// SPDX-License-Identifier: GPL-2.0-only
/*
 * The list of remotes, and their directory
 *
 * trace_remotes_lock covers the list. A file that is being opened takes its remote from the
 * list, and keeps the remote's module from then on. A remote that is no longer in the list has
 * no open file, and none will be opened.
 */
#include <linux/list.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/tracefs.h>

#include "remote.h"

static DEFINE_MUTEX(trace_remotes_lock);	/* covers the list, and the directory */
static LIST_HEAD(trace_remotes);
static struct dentry *trace_remotes_dentry;

/**
 * trace_remotes_dir - the directory remotes/ of tracefs
 *
 * Context: process context, may sleep.
 * Return: the directory; NULL if it can't be created.
 */
struct dentry *trace_remotes_dir(void)
{
	guard(mutex)(&trace_remotes_lock);

	if (!trace_remotes_dentry)
		trace_remotes_dentry = tracefs_create_dir("remotes", NULL);
	return trace_remotes_dentry;
}

static bool remote_has_event(const struct trace_remote *remote,
			     const struct trace_remote_event *event)
{
	return (event >= remote->desc->events &&
		event < remote->desc->events + remote->desc->nr_events) ||
	       (event >= remote->tracer_events &&
		event < remote->tracer_events + NR_TRACE_REMOTE_TRACER_EVENTS);
}

/**
 * trace_remote_get - keep a remote
 * @remote:	the remote, if it is registered
 *
 * Context: process context, may sleep.
 * Return: true, until trace_remote_put(); false if it is not registered any more.
 */
bool trace_remote_get(struct trace_remote *remote)
{
	struct trace_remote *registered;

	guard(mutex)(&trace_remotes_lock);

	list_for_each_entry(registered, &trace_remotes, list) {
		if (registered == remote)
			return try_module_get(remote->desc->owner);
	}

	return false;
}

/**
 * trace_remote_get_event - keep the remote of an event
 * @event:	the event, if its remote is registered
 *
 * Context: process context, may sleep.
 * Return: true, until trace_remote_put() of the event's remote; false if that is not
 * registered any more.
 */
bool trace_remote_get_event(const struct trace_remote_event *event)
{
	struct trace_remote *registered;

	guard(mutex)(&trace_remotes_lock);

	list_for_each_entry(registered, &trace_remotes, list) {
		if (remote_has_event(registered, event))
			return try_module_get(registered->desc->owner);
	}

	return false;
}

/**
 * trace_remote_put - undo trace_remote_get(), when that returned true
 * @remote:	the remote
 *
 * Context: any.
 */
void trace_remote_put(struct trace_remote *remote)
{
	module_put(remote->desc->owner);
}

/**
 * trace_remote_registry_for_each - call a function for each remote
 * @fn:	the function, which does not register or unregister one
 *
 * Context: process context, may sleep.
 */
void trace_remote_registry_for_each(void (*fn)(struct trace_remote *remote))
{
	struct trace_remote *remote;

	guard(mutex)(&trace_remotes_lock);

	list_for_each_entry(remote, &trace_remotes, list)
		fn(remote);
}

/**
 * trace_remote_registry_add - let files of a remote be opened
 * @remote:	the remote
 *
 * Context: process context, may sleep.
 */
void trace_remote_registry_add(struct trace_remote *remote)
{
	guard(mutex)(&trace_remotes_lock);
	list_add_tail(&remote->list, &trace_remotes);
}

/**
 * trace_remote_registry_del - undo trace_remote_registry_add()
 * @remote:	the remote, of which no file is open
 *
 * Context: process context, may sleep.
 */
void trace_remote_registry_del(struct trace_remote *remote)
{
	guard(mutex)(&trace_remotes_lock);
	list_del(&remote->list);
}
