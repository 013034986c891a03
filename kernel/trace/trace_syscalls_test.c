// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit test of the table of strings of system calls
 *
 * The kernel's list of its system calls, with the types of their arguments, is compared with the
 * table. It is there until the kernel has booted, so the test runs then.
 */
#include <kunit/test.h>
#include <linux/bitops.h>
#include <linux/init.h>
#include <linux/string.h>
#include <trace/syscall.h>

#include "trace_syscalls_table.h"
#include "trace_syscalls_text.h"

/* Pointers to characters, and to pointers to them; __user may have left an attribute. */
static bool __init points_to_chars(const char *type)
{
	const char *found = strstr(type, "char");

	return found && (found == type || found[-1] == ' ') &&
	       (found[4] == ' ' || found[4] == '*') && strchr(found, '*');
}

static bool __init is_output_type(const char *type)
{
	return !strstr(type, "const");
}

/* More than one asterisk */
static bool __init is_array_type(const char *type)
{
	return strchr(type, '*') != strrchr(type, '*');
}

static void __init expect_listed(struct kunit *test, const struct syscall_metadata *meta, int i)
{
	const struct syscall_arg *arg = syscall_find_arg(meta, meta->args[i]);

	if (!points_to_chars(meta->types[i])) {
		KUNIT_EXPECT_NULL_MSG(test, arg, "%s: %s is listed, of type %s", meta->name,
				      meta->args[i], meta->types[i]);
		return;
	}
	KUNIT_EXPECT_NOT_NULL_MSG(test, arg, "%s: %s is not listed", meta->name, meta->args[i]);
	if (!arg)
		return;
	if (arg->kind == STRING_ARRAY)
		KUNIT_EXPECT_TRUE_MSG(test, is_array_type(meta->types[i]), "%s", meta->name);
	if (arg->kind == OUTPUT)
		KUNIT_EXPECT_TRUE_MSG(test, is_output_type(meta->types[i]), "%s", meta->name);
}

/* Each argument that points to characters is listed, and no other. */
static void __init test_all_are_listed(struct kunit *test)
{
	struct syscall_metadata **meta;
	int i, pointers = 0;

	for (meta = __start_syscalls_metadata; meta < __stop_syscalls_metadata; meta++)
		for (i = 0; i < (*meta)->nb_args; i++) {
			expect_listed(test, *meta, i);
			pointers += points_to_chars((*meta)->types[i]);
		}
	KUNIT_EXPECT_GT(test, pointers, 80);
}

static bool __init has_arg(const struct syscall_metadata *meta, const char *name)
{
	return match_string(meta->args, meta->nb_args, name) >= 0;
}

/* Each entry's argument is one of the system call, if the kernel has that. */
static void __init test_arguments_exist(struct kunit *test)
{
	const struct syscall_arg *arg;
	struct syscall_metadata **meta;

	for (arg = syscall_args; arg->call; arg++)
		for (meta = __start_syscalls_metadata; meta < __stop_syscalls_metadata; meta++) {
			if (!syscall_is_call(*meta, arg->call))
				continue;
			KUNIT_EXPECT_TRUE_MSG(test, has_arg(*meta, arg->arg), "%s: %s",
					      arg->call, arg->arg);
			if (arg->kind == STRING_SIZED)
				KUNIT_EXPECT_TRUE_MSG(test, has_arg(*meta, arg->length), "%s: %s",
						      arg->call, arg->length);
		}
}

static void __init expect_texts(struct kunit *test, const char *name, u8 mask, s8 array,
				s8 length)
{
	struct syscall_metadata **meta;

	for (meta = __start_syscalls_metadata; meta < __stop_syscalls_metadata; meta++) {
		if (strcmp((*meta)->name, name))
			continue;
		KUNIT_EXPECT_EQ_MSG(test, (*meta)->text_mask, mask, "%s", name);
		KUNIT_EXPECT_EQ_MSG(test, (*meta)->text_array, array, "%s", name);
		KUNIT_EXPECT_EQ_MSG(test, (*meta)->text_length, length, "%s", name);
		return;
	}
	KUNIT_FAIL(test, "no system call %s", name);
}

/* What the events have of it, for a system call of each kind */
static void __init test_found_texts(struct kunit *test)
{
	expect_texts(test, "sys_openat", BIT(1), -1, -1);
	expect_texts(test, "sys_mount", BIT(0) | BIT(1) | BIT(2), -1, -1);
	expect_texts(test, "sys_umount", BIT(0), -1, -1);
	expect_texts(test, "sys_execve", BIT(0) | BIT(1), 1, -1);
	expect_texts(test, "sys_sethostname", BIT(0), -1, 1);
	expect_texts(test, "sys_write", 0, -1, -1);
	expect_texts(test, "sys_getcwd", 0, -1, -1);
}

static struct kunit_case __refdata trace_syscalls_test_cases[] = {
	KUNIT_CASE(test_all_are_listed),
	KUNIT_CASE(test_arguments_exist),
	KUNIT_CASE(test_found_texts),
	{}
};

static struct kunit_suite trace_syscalls_test_suite = {
	.name = "tracepoint_syscalls",
	.test_cases = trace_syscalls_test_cases,
};

kunit_test_init_section_suite(trace_syscalls_test_suite);
