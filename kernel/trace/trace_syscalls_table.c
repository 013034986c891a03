// SPDX-License-Identifier: GPL-2.0
/*
 * Which arguments of system calls point to strings
 *
 * The type of an argument does not say it: mount() takes strings as char *, write() takes data as
 * const char *. So each argument that points to characters is in a table here, with what it is.
 * KUnit compares the table with the system calls that the kernel has: a new one has to be added.
 *
 * Arguments of other types are no strings, or are strings for some values of another argument
 * only, as those of prctl() and keyctl() are. mount()'s data and fsconfig()'s value may be
 * passwords.
 */
#include <kunit/visibility.h>
#include <linux/bitops.h>
#include <linux/init.h>
#include <linux/string.h>
#include <trace/syscall.h>

#include "trace_syscalls_table.h"
#include "trace_syscalls_text.h"

VISIBLE_IF_KUNIT const struct syscall_arg syscall_args[] __initconst = {
	{ "32_pread", "buf", OUTPUT },
	{ "32_pwrite", "buf", DATA },
	{ "32_truncate64", "path", STRING },
	{ "access", "filename", STRING },
	{ "acct", "name", STRING },
	{ "add_key", "_type", STRING },
	{ "add_key", "_description", STRING },
	{ "cachectl", "addr", OUTPUT },
	{ "chdir", "filename", STRING },
	{ "chmod", "filename", STRING },
	{ "chown", "filename", STRING },
	{ "chown16", "filename", STRING },
	{ "chroot", "filename", STRING },
	{ "creat", "pathname", STRING },
	{ "delete_module", "name_user", STRING },
	{ "execve", "filename", STRING },
	{ "execve", "argv", STRING_ARRAY },
	{ "execve", "envp", DATA },
	{ "execveat", "filename", STRING },
	{ "execveat", "argv", STRING_ARRAY },
	{ "execveat", "envp", DATA },
	{ "faccessat", "filename", STRING },
	{ "faccessat2", "filename", STRING },
	{ "fanotify_mark", "pathname", STRING },
	{ "fchmodat", "filename", STRING },
	{ "fchmodat2", "filename", STRING },
	{ "fchownat", "filename", STRING },
	{ "fgetxattr", "name", STRING },
	{ "finit_module", "uargs", STRING },
	{ "flistxattr", "list", OUTPUT },
	{ "fremovexattr", "name", STRING },
	{ "fsconfig", "_key", STRING },
	{ "fsetxattr", "name", STRING },
	{ "fsopen", "_fs_name", STRING },
	{ "fspick", "path", STRING },
	{ "fstatat64", "filename", STRING },
	{ "futimesat", "filename", STRING },
	{ "futimesat_time32", "filename", STRING },
	{ "getcwd", "buf", OUTPUT },
	{ "getdomainname", "name", OUTPUT },
	{ "gethostname", "name", OUTPUT },
	{ "getrandom", "ubuf", OUTPUT },
	{ "getsockopt", "optval", OUTPUT },
	{ "getxattr", "pathname", STRING },
	{ "getxattr", "name", STRING },
	{ "ia32_pread64", "ubuf", OUTPUT },
	{ "ia32_pwrite64", "ubuf", DATA },
	{ "ia32_truncate64", "filename", STRING },
	{ "init_module", "uargs", STRING },
	{ "inotify_add_watch", "pathname", STRING },
	{ "kexec_file_load", "cmdline_ptr", STRING_SIZED, "cmdline_len" },
	{ "lchown", "filename", STRING },
	{ "lchown16", "filename", STRING },
	{ "lgetxattr", "pathname", STRING },
	{ "lgetxattr", "name", STRING },
	{ "link", "oldname", STRING },
	{ "link", "newname", STRING },
	{ "linkat", "oldname", STRING },
	{ "linkat", "newname", STRING },
	{ "listxattr", "pathname", STRING },
	{ "listxattr", "list", OUTPUT },
	{ "llistxattr", "pathname", STRING },
	{ "llistxattr", "list", OUTPUT },
	{ "lremovexattr", "pathname", STRING },
	{ "lremovexattr", "name", STRING },
	{ "lsetxattr", "pathname", STRING },
	{ "lsetxattr", "name", STRING },
	{ "lstat", "filename", STRING },
	{ "lstat64", "filename", STRING },
	{ "memfd_create", "uname", STRING },
	{ "mincore", "vec", OUTPUT },
	{ "mkdir", "pathname", STRING },
	{ "mkdirat", "pathname", STRING },
	{ "mknod", "filename", STRING },
	{ "mknodat", "filename", STRING },
	{ "mount", "dev_name", STRING },
	{ "mount", "dir_name", STRING },
	{ "mount", "type", STRING },
	{ "mount_setattr", "path", STRING },
	{ "move_mount", "from_pathname", STRING },
	{ "move_mount", "to_pathname", STRING },
	{ "mq_open", "u_name", STRING },
	{ "mq_timedreceive", "u_msg_ptr", OUTPUT },
	{ "mq_timedreceive_time32", "u_msg_ptr", OUTPUT },
	{ "mq_timedsend", "u_msg_ptr", DATA },
	{ "mq_timedsend_time32", "u_msg_ptr", DATA },
	{ "mq_unlink", "u_name", STRING },
	{ "name_to_handle_at", "name", STRING },
	{ "newfstatat", "filename", STRING },
	{ "newlstat", "filename", STRING },
	{ "newstat", "filename", STRING },
	{ "oldumount", "name", STRING },
	{ "open", "filename", STRING },
	{ "open_tree", "filename", STRING },
	{ "openat", "filename", STRING },
	{ "openat2", "filename", STRING },
	{ "pivot_root", "new_root", STRING },
	{ "pivot_root", "put_old", STRING },
	{ "pread64", "buf", OUTPUT },
	{ "pwrite64", "buf", DATA },
	{ "quotactl", "special", STRING },
	{ "read", "buf", OUTPUT },
	{ "readlink", "path", STRING },
	{ "readlink", "buf", OUTPUT },
	{ "readlinkat", "pathname", STRING },
	{ "readlinkat", "buf", OUTPUT },
	{ "removexattr", "pathname", STRING },
	{ "removexattr", "name", STRING },
	{ "rename", "oldname", STRING },
	{ "rename", "newname", STRING },
	{ "renameat", "oldname", STRING },
	{ "renameat", "newname", STRING },
	{ "renameat2", "oldname", STRING },
	{ "renameat2", "newname", STRING },
	{ "request_key", "_type", STRING },
	{ "request_key", "_description", STRING },
	{ "request_key", "_callout_info", STRING },
	{ "rmdir", "pathname", STRING },
	{ "setdomainname", "name", STRING_SIZED, "len" },
	{ "sethostname", "name", STRING_SIZED, "len" },
	{ "setsockopt", "optval", DATA },
	{ "setxattr", "pathname", STRING },
	{ "setxattr", "name", STRING },
	{ "shmat", "shmaddr", ADDRESS },
	{ "shmdt", "shmaddr", ADDRESS },
	{ "spu_create", "name", STRING },
	{ "stat", "filename", STRING },
	{ "stat64", "filename", STRING },
	{ "statfs", "pathname", STRING },
	{ "statfs64", "pathname", STRING },
	{ "statx", "filename", STRING },
	{ "swapoff", "specialfile", STRING },
	{ "swapon", "specialfile", STRING },
	{ "symlink", "oldname", STRING },
	{ "symlink", "newname", STRING },
	{ "symlinkat", "oldname", STRING },
	{ "symlinkat", "newname", STRING },
	{ "syslog", "buf", OUTPUT },
	{ "truncate", "path", STRING },
	{ "truncate64", "path", STRING },
	{ "umount", "name", STRING },
	{ "unlink", "pathname", STRING },
	{ "unlinkat", "pathname", STRING },
	{ "uselib", "library", STRING },
	{ "utime", "filename", STRING },
	{ "utime32", "filename", STRING },
	{ "utimensat", "filename", STRING },
	{ "utimensat_time32", "filename", STRING },
	{ "utimes", "filename", STRING },
	{ "utimes_time32", "filename", STRING },
	{ "write", "buf", DATA },
	{ }
};

VISIBLE_IF_KUNIT bool __init syscall_is_call(const struct syscall_metadata *meta, const char *call)
{
	return !strcmp(meta->name + strlen("sys_"), call);
}

VISIBLE_IF_KUNIT const struct syscall_arg * __init
syscall_find_arg(const struct syscall_metadata *meta, const char *arg)
{
	const struct syscall_arg *entry;

	for (entry = syscall_args; entry->call; entry++)
		if (syscall_is_call(meta, entry->call) && !strcmp(entry->arg, arg))
			return entry;
	return NULL;
}

static void __init add_text(struct syscall_metadata *meta, int i, const struct syscall_arg *arg)
{
	if (WARN_ON_ONCE(hweight8(meta->text_mask) == SYSCALL_TEXTS))
		return;
	meta->text_mask |= BIT(i);
	if (arg->kind == STRING_ARRAY)
		meta->text_array = i;
	if (arg->kind == STRING_SIZED)
		meta->text_length = match_string(meta->args, meta->nb_args, arg->length);
}

/**
 * syscall_find_texts - find the arguments of a system call that point to strings
 * @meta: the system call
 */
void __init syscall_find_texts(struct syscall_metadata *meta)
{
	const struct syscall_arg *arg;
	int i;

	meta->text_array = -1;
	meta->text_length = -1;
	for (i = 0; i < meta->nb_args; i++) {
		arg = syscall_find_arg(meta, meta->args[i]);
		if (arg && arg->kind <= STRING_ARRAY)
			add_text(meta, i, arg);
	}
}
