// SPDX-License-Identifier: GPL-2.0
/*
 * What a perf that is linked statically has in place of the C library's functions that load
 * shared libraries. Those would be the ones of the machine that perf runs on, made for another
 * C library than perf's: libtraceevent's plugins of a Debian machine end perf with SIGSEGV. The
 * linker's option --wrap puts these in. All that is lost are the plugins and perf script's
 * --dlfilter, and users that are not in /etc/passwd.
 */
#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>

void *__wrap_dlopen(const char *file __attribute__((unused)), int mode __attribute__((unused)))
{
	return NULL;
}

char *__wrap_dlerror(void)
{
	return "perf is linked statically";
}

/* The user of that name or, without one, of that id: as the C library has it, without NSS */
static int find_user(const char *name, uid_t uid, struct passwd *user, char *buf, size_t size,
		     struct passwd **found)
{
	FILE *file = fopen("/etc/passwd", "re");
	int err;

	*found = NULL;
	if (!file)
		return errno;
	do {
		err = fgetpwent_r(file, user, buf, size, found);
	} while (!err && (name ? strcmp(user->pw_name, name) : user->pw_uid != uid));
	fclose(file);
	return err == ENOENT ? 0 : err;
}

int __wrap_getpwnam_r(const char *name, struct passwd *user, char *buf, size_t size,
		      struct passwd **found)
{
	return find_user(name, 0, user, buf, size, found);
}

int __wrap_getpwuid_r(uid_t uid, struct passwd *user, char *buf, size_t size,
		      struct passwd **found)
{
	return find_user(NULL, uid, user, buf, size, found);
}
