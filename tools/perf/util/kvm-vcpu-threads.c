// SPDX-License-Identifier: GPL-2.0
/* Which thread last ran each vCPU of each VM, as KVM's debugfs has it */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <api/fs/fs.h>
#include <linux/kernel.h>
#include <linux/zalloc.h>
#include "env.h"
#include "kvm-vcpu-threads.h"

bool kvm_vcpu_threads_wanted;

static int add_vcpu_thread(struct perf_env *env, const struct kvm_vcpu_thread *thread)
{
	struct kvm_vcpu_thread *threads;

	threads = reallocarray(env->kvm_vcpu_threads, env->nr_kvm_vcpu_threads + 1,
			       sizeof(*threads));
	if (!threads)
		return -ENOMEM;
	threads[env->nr_kvm_vcpu_threads++] = *thread;
	env->kvm_vcpu_threads = threads;
	return 0;
}

/* The VM may end at any time: a file that is gone is no error. */
static int read_vm(struct perf_env *env, const char *path, struct kvm_vcpu_thread *thread)
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
		ret = add_vcpu_thread(env, thread);
	}
	closedir(dir);
	return ret;
}

/**
 * kvm_vcpu_threads__read - read from KVM's debugfs which thread last ran each vCPU
 * @env:	receives them, instead of what it has
 *
 * Return: 0, or a negative error if the directory can't be read.
 */
int kvm_vcpu_threads__read(struct perf_env *env)
{
	const char *debugfs = debugfs__mountpoint();
	struct kvm_vcpu_thread thread;
	char path[PATH_MAX];
	struct dirent *entry;
	int ret = 0;
	DIR *dir;

	zfree(&env->kvm_vcpu_threads);
	env->nr_kvm_vcpu_threads = 0;
	if (!debugfs)
		return -ENODEV;
	scnprintf(path, sizeof(path), "%s/kvm", debugfs);
	dir = opendir(path);
	if (!dir)
		return -errno;
	while (!ret && (entry = readdir(dir))) {
		if (sscanf(entry->d_name, "%u-%u", &thread.vm_pid, &thread.vm_fd) != 2)
			continue;
		scnprintf(path, sizeof(path), "%s/kvm/%s", debugfs, entry->d_name);
		ret = read_vm(env, path, &thread);
	}
	closedir(dir);
	return ret;
}
