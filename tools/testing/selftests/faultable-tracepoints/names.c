// SPDX-License-Identifier: GPL-2.0-only
/*
 * Make a system call whose arguments point to strings, of types that do not say so:
 *
 *	names CALL
 *
 * Each call fails, except the calls that set a name, which is restored.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Of which only as many bytes are a name as the length says */
#define LONGER	"name-and-more"

static void call_mount(void)
{
	syscall(SYS_mount, "/names/device", "/names/place", "names-type", 0, "password");
}

static void call_mount_nothing(void)
{
	syscall(SYS_mount, NULL, "/names/place", NULL, 0, NULL);
}

static void call_umount(void)
{
	syscall(SYS_umount2, "/names/place", 0);
}

static void call_utimensat(void)
{
	syscall(SYS_utimensat, STDIN_FILENO, NULL, NULL, 0);
}

static void call_sethostname(void)
{
	char name[65] = "";

	gethostname(name, sizeof(name) - 1);
	syscall(SYS_sethostname, LONGER, 4);
	sethostname(name, strlen(name));
}

static void call_setdomainname(void)
{
	char name[65] = "";

	getdomainname(name, sizeof(name) - 1);
	syscall(SYS_setdomainname, LONGER, 4);
	setdomainname(name, strlen(name));
}

static void call_execve(void)
{
	syscall(SYS_execve, "/names/none", NULL, NULL);
}

static void call_setsockopt(void)
{
	syscall(SYS_setsockopt, -1, 0, 0, "/names/option", 14);
}

static void call_utimes(void)
{
#ifdef SYS_utimes
	syscall(SYS_utimes, "/names/utimes", NULL);
#endif
}

static void call_utime(void)
{
#ifdef SYS_utime
	syscall(SYS_utime, "/names/utime", NULL);
#endif
}

static const struct {
	const char *name;
	void (*call)(void);
} calls[] = {
	{ "mount", call_mount }, { "mount_nothing", call_mount_nothing }, { "umount", call_umount },
	{ "utimensat", call_utimensat }, { "sethostname", call_sethostname },
	{ "setdomainname", call_setdomainname }, { "execve", call_execve },
	{ "setsockopt", call_setsockopt }, { "utimes", call_utimes }, { "utime", call_utime }, {}
};

int main(int argc, char **argv)
{
	int i;

	if (argc != 2)
		return 2;
	for (i = 0; calls[i].name; i++)
		if (!strcmp(calls[i].name, argv[1])) {
			calls[i].call();
			return 0;
		}
	fprintf(stderr, "no call %s\n", argv[1]);
	return 2;
}
