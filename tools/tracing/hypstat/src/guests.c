// SPDX-License-Identifier: GPL-2.0
/* The time at EL2 and in the guest of each VM and vCPU, from KVM's files in debugfs */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "guests.h"
#include "utils.h"

/**
 * guests_open - find KVM's directory, or exit
 * @guests: whose numbers are read
 */
void guests_open(struct guests *guests)
{
	const char *debugfs = getenv("DEBUGFS_PATH") ?: "/sys/kernel/debug";
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/kvm", debugfs);
	guests->dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (guests->dir < 0)
		die("can't open %s: %s; debugfs is mounted there, with CONFIG_KVM", path,
		    strerror(errno));
}

static bool read_number(int dir, const char *name, u64 *number)
{
	char *text = read_file(dir, name);

	if (!text)
		return false;
	*number = strtoull(text, NULL, 10);
	free(text);
	return true;
}

static bool read_numbers(int dir, struct entry *entry)
{
	return read_number(dir, "hyp_exits", &entry->hist.count) &&
	       read_number(dir, "hyp_ns", &entry->hist.total) &&
	       read_number(dir, "guest_ns", &entry->guest);
}

/* A VM may end at any time. What is there without the numbers is of another kernel. */
static void check_support(const struct guests *guests, const char *vm)
{
	if (!faccessat(guests->dir, vm, F_OK, 0))
		die("this kernel counts no time at EL2 for each VM: use 'hypstat record'");
}

static void add_numbers(const struct guests *guests, struct account *account, int dir,
			const char *vm, const char *name)
{
	struct entry entry = {}, *to;

	if (!read_numbers(dir, &entry)) {
		check_support(guests, vm);
		return;
	}
	to = account_entry(account, name, account->nr);
	to->guest += entry.guest;
	loghist_add(&to->hist, &entry.hist);
}

static int open_dir(int dir, const char *name)
{
	return openat(dir, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static void add_vcpu(const struct guests *guests, struct account *account, int vm_dir,
		     const char *vm, const char *vcpu)
{
	char name[ENTRY_NAME];
	unsigned int number;
	int dir;

	if (sscanf(vcpu, "vcpu%u", &number) != 1)
		return;
	dir = open_dir(vm_dir, vcpu);
	if (dir < 0)
		return;
	snprintf(name, sizeof(name), "%.40s vcpu %u", vm, number);
	add_numbers(guests, account, dir, vm, name);
	close(dir);
}

static void add_vcpus(const struct guests *guests, struct account *account, int vm_dir,
		      const char *vm)
{
	DIR *list = fdopendir(dup(vm_dir));
	struct dirent *entry;

	while (list && (entry = readdir(list)))
		add_vcpu(guests, account, vm_dir, vm, entry->d_name);
	if (list)
		closedir(list);
}

static void add_vm(const struct guests *guests, struct account *account, const char *vm)
{
	int dir = open_dir(guests->dir, vm);

	if (dir < 0)
		return;
	if (guests->vcpus)
		add_vcpus(guests, account, dir, vm);
	else
		add_numbers(guests, account, dir, vm, vm);
	close(dir);
}

/* A VM's directory is PID-FD. */
static bool is_vm(const struct guests *guests, const char *name)
{
	size_t pid = strspn(name, "0123456789");
	size_t fd = name[pid] == '-' ? strspn(name + pid + 1, "0123456789") : 0;

	if (!pid || !fd || name[pid + 1 + fd])
		return false;
	if (!guests->vm || !strcmp(guests->vm, name))
		return true;
	return strlen(guests->vm) == pid && !memcmp(guests->vm, name, pid);
}

/**
 * guests_read - read what KVM has counted, or exit
 * @guests: whose numbers
 * @account: where they go, each VM's or vCPU's under its name
 */
void guests_read(const struct guests *guests, struct account *account)
{
	int fd = open_dir(guests->dir, ".");
	DIR *list = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;

	if (!list)
		die("can't read kvm/ in debugfs: %s", strerror(errno));
	account_clear(account);
	while ((entry = readdir(list))) {
		if (is_vm(guests, entry->d_name))
			add_vm(guests, account, entry->d_name);
	}
	closedir(list);
}
