// SPDX-License-Identifier: GPL-2.0
/*
 * Which thread last ran each vCPU of each VM, as KVM's debugfs has it
 *
 * A recording has a record of each of them, which is written when the events have been
 * enabled. It must not be taken for anything else by another perf, of this architecture or
 * not, older or newer, and a number for a new type of records or for a feature of the header
 * may be given to something else one day. So each is a valid PERF_RECORD_HEADER_EVENT_TYPE:
 * the name of an event and its id. Nobody has written these since Linux 3.11, perf skips them
 * since then, and recordings with them keep others from using the number. The name here has
 * spaces, which no event's has. The id is the record's number, by which a set begins with 0.
 */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <api/fs/fs.h>
#include <linux/kernel.h>
#include <linux/string.h>
#include <linux/zalloc.h>
#include <perf/event.h>
#include "kvm-vcpu-threads.h"

#define NAME_FORMAT	"kvm vm=%u-%u vcpu=%u tid=%u"

bool kvm_vcpu_threads_wanted;

static int add_vcpu_thread(struct kvm_vcpu_threads *threads, const struct kvm_vcpu_thread *thread)
{
	struct kvm_vcpu_thread *entries;

	entries = reallocarray(threads->entries, threads->nr + 1, sizeof(*entries));
	if (!entries)
		return -ENOMEM;
	entries[threads->nr++] = *thread;
	threads->entries = entries;
	return 0;
}

/* The VM may end at any time: a file that is gone is no error. */
static int read_vm(struct kvm_vcpu_threads *threads, const char *path,
		   struct kvm_vcpu_thread *thread)
{
	char file[PATH_MAX];
	struct dirent *entry;
	DIR *dir = opendir(path);
	int ret = 0, tid;

	if (!dir)
		return errno == ENOENT ? 0 : -errno;
	while (!ret && (entry = readdir(dir))) {
		if (sscanf(entry->d_name, "vcpu%u", &thread->vcpu_id) != 1)
			continue;
		scnprintf(file, sizeof(file), "%s/%s/pid", path, entry->d_name);
		if (filename__read_int(file, &tid) || !tid)
			continue;
		thread->tid = tid;
		ret = add_vcpu_thread(threads, thread);
	}
	closedir(dir);
	return ret;
}

static int read_vms(struct kvm_vcpu_threads *threads, const char *debugfs)
{
	struct kvm_vcpu_thread thread;
	char path[PATH_MAX];
	struct dirent *entry;
	int ret = 0;
	DIR *dir;

	scnprintf(path, sizeof(path), "%s/kvm", debugfs);
	dir = opendir(path);
	if (!dir)
		return -errno;
	while (!ret && (entry = readdir(dir))) {
		if (sscanf(entry->d_name, "%u-%u", &thread.vm_pid, &thread.vm_fd) != 2)
			continue;
		scnprintf(path, sizeof(path), "%s/kvm/%s", debugfs, entry->d_name);
		ret = read_vm(threads, path, &thread);
	}
	closedir(dir);
	return ret;
}

/**
 * kvm_vcpu_threads__read - read from KVM's debugfs which thread last ran each vCPU
 * @threads:	receives them
 *
 * Return: 0, or a negative error if the directory can't be read. There is nothing to
 * free then.
 */
int kvm_vcpu_threads__read(struct kvm_vcpu_threads *threads)
{
	const char *debugfs = debugfs__mountpoint();
	int ret;

	memset(threads, 0, sizeof(*threads));
	if (!debugfs)
		return -ENODEV;
	ret = read_vms(threads, debugfs);
	if (ret)
		kvm_vcpu_threads__exit(threads);
	return ret;
}

void kvm_vcpu_threads__exit(struct kvm_vcpu_threads *threads)
{
	zfree(&threads->entries);
	threads->nr = 0;
}

/**
 * kvm_vcpu_thread__to_event - make the record of a recording
 * @thread:	what it says
 * @number:	of the record, among those that were read together
 * @event:	receives it
 */
void kvm_vcpu_thread__to_event(const struct kvm_vcpu_thread *thread, u32 number,
			       union perf_event *event)
{
	struct perf_record_header_event_type *record = &event->event_type;

	memset(record, 0, sizeof(*record));
	record->header.type = PERF_RECORD_HEADER_EVENT_TYPE;
	record->header.size = sizeof(*record);
	record->event_type.event_id = number;
	scnprintf(record->event_type.name, sizeof(record->event_type.name), NAME_FORMAT,
		  thread->vm_pid, thread->vm_fd, thread->vcpu_id, thread->tid);
}

/**
 * kvm_vcpu_thread__from_event - read the record of a recording
 * @thread:	receives what it says
 * @event:	the record
 *
 * Return: false if it is not such a record.
 */
bool kvm_vcpu_thread__from_event(struct kvm_vcpu_thread *thread, const union perf_event *event)
{
	const struct perf_record_header_event_type *record = &event->event_type;
	const char *name = record->event_type.name;
	char more;

	if (record->header.type != PERF_RECORD_HEADER_EVENT_TYPE ||
	    record->header.size != sizeof(*record) ||
	    !memchr(name, '\0', sizeof(record->event_type.name)))
		return false;
	return sscanf(name, NAME_FORMAT "%c", &thread->vm_pid, &thread->vm_fd,
		      &thread->vcpu_id, &thread->tid, &more) == 4;
}

size_t kvm_vcpu_thread__fprintf(const union perf_event *event, FILE *fp)
{
	struct kvm_vcpu_thread thread;

	if (!kvm_vcpu_thread__from_event(&thread, event))
		return 0;
	return fprintf(fp, " VM %u-%u, VCPU %u: thread %u\n", thread.vm_pid, thread.vm_fd,
		       thread.vcpu_id, thread.tid);
}
