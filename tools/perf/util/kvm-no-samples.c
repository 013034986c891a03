// SPDX-License-Identifier: GPL-2.0
/*
 * What is known of why a recording has no sample of a guest
 *
 * A sample of a guest needs a vCPU that runs, an event that interrupts it and does not exclude
 * guests, and a kernel in which KVM tells perf of them. Each of these is printed as far as it
 * is known: KVM counts in debugfs how often the vCPUs of a VM have left their guest, as they do
 * for the interrupt of a sample, the event has its attributes and its count, and kallsyms the
 * kernel's functions. What can't be read is not printed, and nothing is inferred from it.
 */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <api/fs/fs.h>
#include <internal/xyarray.h>
#include <linux/kernel.h>
#include <linux/zalloc.h>
#include <symbol/kallsyms.h>
#include "evlist.h"
#include "evsel.h"
#include "kvm-no-samples.h"

static int add_vm(struct kvm_exits *exits, const struct kvm_vm_exits *vm)
{
	struct kvm_vm_exits *vms = reallocarray(exits->vms, exits->nr + 1, sizeof(*vms));

	if (!vms)
		return -ENOMEM;
	vms[exits->nr++] = *vm;
	exits->vms = vms;
	return 0;
}

/* KVM of some architectures does not count exits. A VM may end at any time. */
static int read_vms(struct kvm_exits *exits, const char *path)
{
	struct kvm_vm_exits vm;
	struct dirent *entry;
	char file[PATH_MAX];
	unsigned long long value;
	int err = 0;
	DIR *dir;

	scnprintf(file, sizeof(file), "%s/exits", path);
	if (filename__read_ull(file, &value))
		return -EOPNOTSUPP;
	dir = opendir(path);
	if (!dir)
		return -errno;
	while (!err && (entry = readdir(dir))) {
		if (sscanf(entry->d_name, "%u-%u", &vm.vm_pid, &vm.vm_fd) != 2)
			continue;
		scnprintf(file, sizeof(file), "%s/%s/exits", path, entry->d_name);
		if (filename__read_ull(file, &value))
			continue;
		vm.exits = value;
		err = add_vm(exits, &vm);
	}
	closedir(dir);
	return err;
}

/**
 * kvm_exits__read - read from KVM's debugfs how often each VM has left its guest
 * @exits:	receives it, or an error
 */
void kvm_exits__read(struct kvm_exits *exits)
{
	const char *debugfs = debugfs__mountpoint();
	char path[PATH_MAX];

	memset(exits, 0, sizeof(*exits));
	if (!debugfs) {
		exits->err = -ENODEV;
		return;
	}
	scnprintf(path, sizeof(path), "%s/kvm", debugfs);
	exits->err = read_vms(exits, path);
	if (exits->err)
		zfree(&exits->vms);
}

void kvm_exits__exit(struct kvm_exits *exits)
{
	zfree(&exits->vms);
	exits->nr = 0;
}

/* A VM that ended may have left its name to another one, whose count is smaller. */
static u64 exits_since(const struct kvm_vm_exits *vm, const struct kvm_exits *before)
{
	u32 i;

	for (i = 0; i < before->nr; i++) {
		const struct kvm_vm_exits *old = &before->vms[i];

		if (old->vm_pid == vm->vm_pid && old->vm_fd == vm->vm_fd &&
		    old->exits <= vm->exits)
			return vm->exits - old->exits;
	}
	return vm->exits;
}

/**
 * kvm_no_samples__fprintf_exits - say whether guests have run
 * @before:	the exits when perf began
 * @after:	those when the recording ended
 * @fp:		where to print
 */
void kvm_no_samples__fprintf_exits(const struct kvm_exits *before, const struct kvm_exits *after,
				   FILE *fp)
{
	u64 exits = 0;
	u32 i;

	if (before->err || after->err)
		return;
	for (i = 0; i < after->nr; i++)
		exits += exits_since(&after->vms[i], before);

	if (!before->nr && !after->nr)
		fprintf(fp, "  KVM had no VM at the begin and none at the end.\n");
	else if (!after->nr)
		fprintf(fp, "  All VMs have ended meanwhile, %u of them.\n", before->nr);
	else if (exits)
		fprintf(fp, "  %u VMs have left their guests %" PRIu64 " times meanwhile.\n",
			after->nr, exits);
	else
		fprintf(fp, "  No vCPU of %u VMs has left its guest, as it would for a sample.\n",
			after->nr);
}

/* Those that happen in the host, such as tracepoints, never interrupt a guest. */
static bool interrupts_guests(const struct evsel *evsel)
{
	switch (evsel->core.attr.type) {
	case PERF_TYPE_SOFTWARE:
		return evsel__is_clock(evsel);
	case PERF_TYPE_TRACEPOINT:
	case PERF_TYPE_BREAKPOINT:
		return false;
	default:
		return true;
	}
}

/* The count of a clock is the time, in whatever mode; that of an event of the host is its, too. */
static void fprintf_count(struct evsel *evsel, u64 count, FILE *fp)
{
	const struct perf_event_attr *attr = &evsel->core.attr;

	if (!attr->exclude_host || evsel__is_clock(evsel))
		return;
	if (!count)
		fprintf(fp, "  %s has counted nothing in guests. -e cpu-clock needs no PMU.\n",
			evsel__name(evsel));
	else if (!attr->freq && count < attr->sample_period)
		fprintf(fp, "  %s has counted %" PRIu64 " in guests, less than a period.\n",
			evsel__name(evsel), count);
}

/**
 * kvm_no_samples__fprintf_event - say which samples of guests an event can't have
 * @evsel:	the event
 * @count:	what it has counted, or NULL if that is not known
 * @fp:		where to print
 */
void kvm_no_samples__fprintf_event(struct evsel *evsel, const u64 *count, FILE *fp)
{
	const struct perf_event_attr *attr = &evsel->core.attr;

	if (evsel__is_dummy_event(evsel))
		return;
	if (!interrupts_guests(evsel)) {
		fprintf(fp, "  %s happens in the host. -e cpu-clock samples guests.\n",
			evsel__name(evsel));
		return;
	}
	if (attr->exclude_guest) {
		fprintf(fp, "  %s excludes guests (exclude_guest).\n", evsel__name(evsel));
		return;
	}
	if (attr->exclude_kernel)
		fprintf(fp, "  %s excludes the kernels of guests.\n", evsel__name(evsel));
	if (attr->exclude_user)
		fprintf(fp, "  %s excludes the user space of guests.\n", evsel__name(evsel));
	if (count)
		fprintf_count(evsel, *count, fp);
}

/* All together. Returns false if that is not known. */
static bool read_count(struct evsel *evsel, u64 *sum)
{
	struct perf_counts_values count;
	int x, y;

	if (!evsel->core.fd || evsel->core.attr.read_format & PERF_FORMAT_GROUP)
		return false;
	*sum = 0;
	for (x = 0; x < xyarray__max_x(evsel->core.fd); x++) {
		for (y = 0; y < xyarray__max_y(evsel->core.fd); y++) {
			if (perf_evsel__read(&evsel->core, x, y, &count) < 0)
				return false;
			*sum += count.val;
		}
	}
	return true;
}

struct functions {
	bool any;
	bool registers;
};

static int see_function(void *arg, const char *name, char type __maybe_unused,
			u64 start __maybe_unused)
{
	struct functions *functions = arg;

	functions->any = true;
	functions->registers = !strcmp(name, "perf_register_guest_info_callbacks");
	return functions->registers;
}

/*
 * KVM of arm64 and x86 tells perf of guests by a function. The file may be missing or empty. It
 * has names also where it has no addresses.
 */
static void fprintf_kernel(FILE *fp)
{
	struct functions functions = {};

	kallsyms__parse("/proc/kallsyms", &functions, see_function);
	if (functions.any && !functions.registers)
		fprintf(fp, "  The kernel lacks CONFIG_GUEST_PERF_EVENTS of arm64 and x86.\n");
}

/**
 * kvm_no_samples__fprintf - say what is known of why there is no sample of a guest
 * @evlist:	the events, which are still open
 * @before:	the exits of guests when perf began
 * @fp:		where to print
 */
void kvm_no_samples__fprintf(struct evlist *evlist, const struct kvm_exits *before, FILE *fp)
{
	struct kvm_exits after;
	struct evsel *evsel;
	u64 count;

	evlist__for_each_entry(evlist, evsel)
		kvm_no_samples__fprintf_event(evsel, read_count(evsel, &count) ? &count : NULL, fp);
	kvm_exits__read(&after);
	kvm_no_samples__fprintf_exits(before, &after, fp);
	kvm_exits__exit(&after);
	fprintf_kernel(fp);
}
