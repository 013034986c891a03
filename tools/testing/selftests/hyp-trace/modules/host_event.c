// SPDX-License-Identifier: GPL-2.0-only
/*
 * For comparison: an event of the host's like the hypervisor's selftest
 *
 * A number written to host_event in debugfs is in the event host_event:host_event.
 */
#include <linux/debugfs.h>
#include <linux/module.h>

#define CREATE_TRACE_POINTS
#include "host_event.h"

static struct dentry *host_event_file;

static int host_event_set(void *data, u64 id)
{
	trace_host_event(id);
	return 0;
}
DEFINE_DEBUGFS_ATTRIBUTE(host_event_fops, NULL, host_event_set, "%llu\n");

static int __init host_event_init(void)
{
	host_event_file = debugfs_create_file("host_event", 0200, NULL, NULL, &host_event_fops);
	return PTR_ERR_OR_ZERO(host_event_file);
}
module_init(host_event_init);

static void __exit host_event_exit(void)
{
	debugfs_remove(host_event_file);
}
module_exit(host_event_exit);

MODULE_DESCRIPTION("For comparison: an event of the host's");
MODULE_LICENSE("GPL");
