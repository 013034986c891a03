// SPDX-License-Identifier: GPL-2.0-only
/*
 * Remotes: registration, and CPUs that come and go
 */
#include <linux/cpuhotplug.h>
#include <linux/err.h>
#include <linux/export.h>
#include <linux/init.h>
#include <linux/slab.h>

#include "remote.h"

/* How full the ring of a CPU is before a reader that waits for that is woken, in percent */
#define REMOTE_DEFAULT_PERCENT	50

/* States of CPU hotplug, for all remotes; an errno if there is none. */
static int trace_remote_hotplug_prepare;
static int trace_remote_hotplug_online;

/* A CPU that can't be traced is a CPU all the same: none of these fails. */
static int remote_cpu_coming(unsigned int cpu, struct hlist_node *node)
{
	trace_remote_cpu_prepare(hlist_entry(node, struct trace_remote, hotplug_prepare), cpu);
	return 0;
}

static int remote_cpu_dead(unsigned int cpu, struct hlist_node *node)
{
	trace_remote_tasks_offline(hlist_entry(node, struct trace_remote, hotplug_prepare), cpu);
	return 0;
}

static int remote_cpu_online(unsigned int cpu, struct hlist_node *node)
{
	trace_remote_cpu_enable(hlist_entry(node, struct trace_remote, hotplug_online), cpu, true);
	return 0;
}

static int remote_cpu_offline(unsigned int cpu, struct hlist_node *node)
{
	trace_remote_cpu_enable(hlist_entry(node, struct trace_remote, hotplug_online), cpu,
				false);
	return 0;
}

static int remote_add_hotplug(struct trace_remote *remote)
{
	int ret;

	if (trace_remote_hotplug_prepare < 0)
		return trace_remote_hotplug_prepare;
	if (trace_remote_hotplug_online < 0)
		return trace_remote_hotplug_online;

	ret = cpuhp_state_add_instance_nocalls(trace_remote_hotplug_prepare,
					       &remote->hotplug_prepare);
	if (ret)
		return ret;

	ret = cpuhp_state_add_instance_nocalls(trace_remote_hotplug_online,
					       &remote->hotplug_online);
	if (ret)
		cpuhp_state_remove_instance_nocalls(trace_remote_hotplug_prepare,
						    &remote->hotplug_prepare);
	return ret;
}

static void remote_remove_hotplug(struct trace_remote *remote)
{
	cpuhp_state_remove_instance_nocalls(trace_remote_hotplug_online, &remote->hotplug_online);
	cpuhp_state_remove_instance_nocalls(trace_remote_hotplug_prepare,
					    &remote->hotplug_prepare);
}

static void remote_free(struct trace_remote *remote)
{
	trace_remote_functions_free(remote);
	free_percpu(remote->cpus);
	kfree(remote->target);
	kfree(remote);
}

static struct trace_remote *remote_alloc(const struct trace_remote_desc *desc, void *priv)
{
	struct trace_remote *remote = kzalloc(sizeof(*remote), GFP_KERNEL);

	if (!remote)
		return NULL;

	remote->desc = desc;
	remote->priv = priv;
	remote->cpus = alloc_percpu(struct trace_remote_cpu);
	remote->target = kasprintf(GFP_KERNEL, "../%s", desc->name);
	if (!remote->cpus || !remote->target || trace_remote_functions_init(remote)) {
		remote_free(remote);
		return NULL;
	}

	mutex_init(&remote->stats_lock);
	mutex_init(&remote->filter_lock);
	mutex_init(&remote->trigger_lock);
	mutex_init(&remote->errors_lock);
	INIT_LIST_HEAD(&remote->errors);
	trace_remote_instance_init(remote);
	trace_remote_records_init(remote);
	trace_remote_tasks_init(remote);
	trace_remote_read_init(remote);
	trace_remote_snapshot_init(remote);
	remote->percent = REMOTE_DEFAULT_PERCENT;
	return remote;
}

/**
 * trace_remote_create - register a remote
 * @desc:	the remote, which must stay as it is
 * @priv:	for its functions
 *
 * Its events are known to the kernel from now on, and it can be traced. It has no directory
 * before trace_remote_create_dir().
 *
 * Context: process context, may sleep; from fs_initcall() on.
 * Return: the remote, until trace_remote_destroy(); or an ERR_PTR(): of -ENOMEM; of what
 * trace_add_remote_event() returns; or of -ENOSPC if there are no states of CPU hotplug.
 */
struct trace_remote *trace_remote_create(const struct trace_remote_desc *desc, void *priv)
{
	struct trace_remote *remote = remote_alloc(desc, priv);
	int ret;

	if (!remote)
		return ERR_PTR(-ENOMEM);

	ret = trace_remote_events_register(remote);
	if (ret)
		goto err_free;

	ret = remote_add_hotplug(remote);
	if (ret)
		goto err_events;

	trace_remote_registry_add(remote);
	return remote;

err_events:
	trace_remote_events_unregister(remote);
err_free:
	remote_free(remote);
	return ERR_PTR(ret);
}
EXPORT_SYMBOL_GPL(trace_remote_create);

/**
 * trace_remote_destroy - undo trace_remote_create()
 * @remote:	the remote. Its module is being removed, or it has no directory
 *
 * Tracing is turned off, and the buffer is freed.
 *
 * Context: process context, may sleep.
 */
void trace_remote_destroy(struct trace_remote *remote)
{
	trace_remote_registry_del(remote);
	trace_remote_dump_unregister(remote);
	trace_remote_remove_dir(remote);
	WARN_ON_ONCE(trace_remote_set_tracer(remote, "nop"));
	trace_remote_clear_functions(remote, TRACE_REMOTE_FILTER);
	trace_remote_apply_functions(remote);
	trace_remote_free_triggers(remote);
	trace_remote_set_on(remote, false);
	WARN_ON_ONCE(trace_remote_clear(remote, RING_BUFFER_ALL_CPUS));
	trace_remote_tasks_free(remote);
	trace_remote_free_snapshot(remote);
	trace_remote_free_hists(remote);
	remote_remove_hotplug(remote);
	trace_remote_events_unregister(remote);
	trace_remote_free_filters(remote);
	trace_remote_clear_errors(remote);
	remote_free(remote);
}
EXPORT_SYMBOL_GPL(trace_remote_destroy);

static int __init remote_init(void)
{
	trace_remote_hotplug_prepare =
		cpuhp_setup_state_multi(CPUHP_BP_PREPARE_DYN, "trace/remote:prepare",
					remote_cpu_coming, remote_cpu_dead);
	trace_remote_hotplug_online =
		cpuhp_setup_state_multi(CPUHP_AP_ONLINE_DYN, "trace/remote:online",
					remote_cpu_online, remote_cpu_offline);
	return 0;
}
core_initcall(remote_init);
