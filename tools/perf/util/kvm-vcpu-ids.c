// SPDX-License-Identifier: GPL-2.0
/*
 * Of which VM and which vCPU a thread's samples are
 *
 * The table has a thread for each vCPU, sorted by the thread's id. A recording has it from KVM's
 * debugfs, see kvm-vcpu-threads.c; perf top reads it there. Both the samples of the guest and
 * those of the host are the thread's: what the host does for a vCPU, it does in that thread.
 *
 * A guest that is in no table is known by the process of its VMM alone.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <linux/kernel.h>
#include "debug.h"
#include "env.h"
#include "kvm-vcpu-ids.h"
#include "machine.h"
#include "maps.h"
#include "session.h"
#include "thread.h"

bool kvm_vcpu_ids_wanted;

static int cmp_tids(const void *a, const void *b)
{
	const struct kvm_vcpu_thread *l = a, *r = b;

	return l->tid < r->tid ? -1 : l->tid > r->tid;
}

static struct kvm_vcpu_thread *find_tid(const struct kvm_vcpu_threads *table, u32 tid)
{
	const struct kvm_vcpu_thread key = { .tid = tid };

	if (!table->nr)
		return NULL;
	return bsearch(&key, table->entries, table->nr, sizeof(key), cmp_tids);
}

/**
 * kvm_vcpu_ids__add - add a thread to a table, or replace what it ran before
 * @table:	the table, sorted
 * @thread:	the thread
 *
 * Return: 0 or -ENOMEM.
 */
int kvm_vcpu_ids__add(struct kvm_vcpu_threads *table, const struct kvm_vcpu_thread *thread)
{
	struct kvm_vcpu_thread *entries, *entry = find_tid(table, thread->tid);

	if (entry) {
		*entry = *thread;
		return 0;
	}

	entries = reallocarray(table->entries, table->nr + 1, sizeof(*entries));
	if (!entries)
		return -ENOMEM;

	table->entries = entries;
	entry = &entries[table->nr];
	for (; entry > entries && entry[-1].tid > thread->tid; entry--)
		*entry = entry[-1];
	*entry = *thread;
	table->nr++;
	return 0;
}

/**
 * kvm_vcpu_ids__read - read a table from the running kernel
 * @table:	what it was; it stays so at an error
 *
 * Return: 0 or a negative error.
 */
int kvm_vcpu_ids__read(struct kvm_vcpu_threads *table)
{
	struct kvm_vcpu_threads threads;
	int err = kvm_vcpu_threads__read(&threads);

	if (err)
		return err;

	if (threads.nr)
		qsort(threads.entries, threads.nr, sizeof(*threads.entries), cmp_tids);
	kvm_vcpu_threads__exit(table);
	*table = threads;
	return 0;
}

/**
 * kvm_vcpu_ids__process_event - add what a record says to the session's table
 * @session:	the session
 * @event:	a PERF_RECORD_HEADER_EVENT_TYPE; others than struct kvm_vcpu_thread's are skipped
 *
 * Return: 0 or -ENOMEM.
 */
int kvm_vcpu_ids__process_event(struct perf_session *session, union perf_event *event)
{
	struct kvm_vcpu_thread thread;

	if (dump_trace && !kvm_vcpu_thread__fprintf(event, stdout))
		dump_printf(": unhandled!\n");
	if (!kvm_vcpu_thread__from_event(&thread, event))
		return 0;
	return kvm_vcpu_ids__add(&session->header.env.kvm_vcpus, &thread);
}

/**
 * thread__kvm_vcpu_ids - what a thread runs
 * @thread:	a thread of the host, or of a guest's machine, where it is the vCPU's thread, too
 * @env:	has the table, or NULL
 *
 * Return: the ids; .vm_pid is 0 if the thread is not known to run a guest.
 */
struct kvm_vcpu_ids thread__kvm_vcpu_ids(struct thread *thread, const struct perf_env *env)
{
	struct kvm_vcpu_thread *entry = env ? find_tid(&env->kvm_vcpus, thread__tid(thread)) : NULL;
	struct kvm_vcpu_ids ids = {
		.vm_fd	= KVM_VCPU_IDS_UNKNOWN,
		.vcpu	= KVM_VCPU_IDS_UNKNOWN,
	};

	if (entry) {
		ids.vm_pid = entry->vm_pid;
		ids.vm_fd = entry->vm_fd;
		ids.vcpu = entry->vcpu_id;
	} else if (!machine__is_host(maps__machine(thread__maps(thread)))) {
		ids.vm_pid = thread__pid(thread);
	}
	return ids;
}

/* As strcmp() */
int kvm_vcpu_ids__cmp_vm(const struct kvm_vcpu_ids *a, const struct kvm_vcpu_ids *b)
{
	if (a->vm_pid != b->vm_pid)
		return a->vm_pid < b->vm_pid ? -1 : 1;
	return a->vm_fd < b->vm_fd ? -1 : a->vm_fd > b->vm_fd;
}

/* "<pid>-<fd>", "<pid>" or "-" */
int kvm_vcpu_ids__vm_scnprintf(const struct kvm_vcpu_ids *ids, char *bf, size_t size)
{
	if (!ids->vm_pid)
		return scnprintf(bf, size, "-");
	if (ids->vm_fd == KVM_VCPU_IDS_UNKNOWN)
		return scnprintf(bf, size, "%u", ids->vm_pid);
	return scnprintf(bf, size, "%u-%u", ids->vm_pid, (u32)ids->vm_fd);
}

/* The number, or "-" */
int kvm_vcpu_ids__vcpu_scnprintf(const struct kvm_vcpu_ids *ids, char *bf, size_t size)
{
	if (ids->vcpu == KVM_VCPU_IDS_UNKNOWN)
		return scnprintf(bf, size, "-");
	return scnprintf(bf, size, "%u", (u32)ids->vcpu);
}
