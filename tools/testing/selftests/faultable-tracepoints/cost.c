// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a system call costs: of getppid(), and of openat() with a name of 20 bytes that is not
 * there. Times are in ns; on a machine that has one instruction a nanosecond (QEMU's -icount
 * shift=0) these are instructions. The best of many rounds is one without an interrupt.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS	100
#define CALLS	200

static long now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC_RAW, &ts);
	return ts.tv_sec * 1000000000L + ts.tv_nsec;
}

static void call_getppid(void)
{
	syscall(SYS_getppid);
}

static void call_openat(void)
{
	syscall(SYS_openat, AT_FDCWD, "/none/some-file-name", O_RDONLY, 0);
}

static void measure(const char *name, void (*call)(void))
{
	long begin, took, best = 0;
	int round, i;

	for (round = 0; round < ROUNDS; round++) {
		begin = now();
		for (i = 0; i < CALLS; i++)
			call();
		took = now() - begin;
		if (!best || took < best)
			best = took;
	}
	printf("%s %.1f\n", name, (double)best / CALLS);
}

int main(void)
{
	measure("getppid", call_getppid);
	measure("openat", call_openat);
	return 0;
}
