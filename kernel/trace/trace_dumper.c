// SPDX-License-Identifier: GPL-2.0
/*
 * ftrace_dump_on_oops= for events that are in no trace_array
 *
 * Memory ordering: (L) is explained in remote/instance.c.
 */
#include <linux/ring_buffer.h>
#include <linux/smp.h>
#include <linux/string.h>
#include <linux/trace.h>

#include "trace.h"

static struct trace_dumper *trace_dumpers;

/**
 * trace_register_dumper - add a name that ftrace_dump_on_oops= accepts
 * @dumper: Prints the events of that name. It is never freed.
 *
 * Context: Process context, serialised by the caller.
 */
void trace_register_dumper(struct trace_dumper *dumper)
{
	dumper->next = trace_dumpers;
	smp_store_release(&trace_dumpers, dumper);		/* (L) */
}

static struct trace_dumper *trace_dumper_find(const char *name)
{
	struct trace_dumper *dumper = smp_load_acquire(&trace_dumpers);	/* (L) */

	while (dumper && strcmp(dumper->name, name))
		dumper = dumper->next;
	return dumper;
}

/**
 * trace_dumper_dump - print the events of a registered dumper
 * @name: Its name
 * @cpus: "2" or "orig_cpu" for those of this CPU; NULL or anything else for all
 *
 * Context: Any.
 * Return: False if no dumper has that name.
 */
bool trace_dumper_dump(const char *name, const char *cpus)
{
	struct trace_dumper *dumper = trace_dumper_find(name);

	if (!dumper)
		return false;

	if (cpus && (!strcmp(cpus, "2") || !strcmp(cpus, "orig_cpu")))
		dumper->dump(dumper, raw_smp_processor_id());
	else
		dumper->dump(dumper, RING_BUFFER_ALL_CPUS);
	return true;
}
