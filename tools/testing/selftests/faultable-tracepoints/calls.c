// SPDX-License-Identifier: GPL-2.0-only
/*
 * Run a command whose openat() somebody watches or changes before the tracepoint is called:
 *
 *	calls HOW COMMAND [ARGUMENT]...
 *
 * HOW   ptrace     a tracer stops each system call, and changes nothing
 *       argument   it skips five bytes of the file name: /page/x is /x then
 *       skip       it makes openat() no system call: it returns what it was called with
 *       allow      seccomp checks each system call, and allows it
 *       refuse     seccomp has openat() fail with EACCES
 *       trace      seccomp stops openat() for a tracer, which skips five bytes as above
 *
 * An openat() that has flags is left alone: a shell's has some.
 */
#define _GNU_SOURCE
#include <elf.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__aarch64__)
#define CALL(r)		((r)->regs[8])
#define SECOND(r)	((r)->regs[1])
#define THIRD(r)	((r)->regs[2])
#elif defined(__x86_64__)
#define CALL(r)		((r)->orig_rax)
#define SECOND(r)	((r)->rsi)
#define THIRD(r)	((r)->rdx)
#endif

#define SKIPPED		5

static void fail(const char *what)
{
	perror(what);
	exit(2);
}

static void get_regs(pid_t pid, struct user_regs_struct *regs)
{
	struct iovec iov = { regs, sizeof(*regs) };

	if (ptrace(PTRACE_GETREGSET, pid, NT_PRSTATUS, &iov))
		fail("PTRACE_GETREGSET");
}

static void set_regs(pid_t pid, struct user_regs_struct *regs)
{
	struct iovec iov = { regs, sizeof(*regs) };

	if (ptrace(PTRACE_SETREGSET, pid, NT_PRSTATUS, &iov))
		fail("PTRACE_SETREGSET");
}

/* arm64 has the number of the system call in a register set of its own. */
static void set_call(pid_t pid, struct user_regs_struct *regs, int nr)
{
#ifdef __aarch64__
	struct iovec iov = { &nr, sizeof(nr) };

	if (ptrace(PTRACE_SETREGSET, pid, NT_ARM_SYSTEM_CALL, &iov))
		fail("NT_ARM_SYSTEM_CALL");
#else
	CALL(regs) = nr;
	set_regs(pid, regs);
#endif
}

static void change(pid_t pid, const char *how)
{
	struct user_regs_struct regs;

	get_regs(pid, &regs);
	if (CALL(&regs) != SYS_openat || THIRD(&regs))
		return;
	if (!strcmp(how, "skip")) {
		set_call(pid, &regs, -1);
	} else if (strcmp(how, "ptrace")) {
		SECOND(&regs) += SKIPPED;
		set_regs(pid, &regs);
	}
}

/* Entry and exit of a system call look the same, so they are counted. */
static void watch(pid_t pid, const char *how)
{
	int seccomp = !strcmp(how, "trace"), entry = 0, status, sig = 0;

	if (waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status))
		fail("waitpid");
	if (ptrace(PTRACE_SETOPTIONS, pid, 0, PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACESECCOMP |
		   PTRACE_O_EXITKILL))
		fail("PTRACE_SETOPTIONS");
	for (;;) {
		if (ptrace(seccomp ? PTRACE_CONT : PTRACE_SYSCALL, pid, 0, sig))
			fail("ptrace");
		if (waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status))
			return;
		sig = 0;
		if (status >> 8 == (SIGTRAP | PTRACE_EVENT_SECCOMP << 8))
			change(pid, how);
		else if (WSTOPSIG(status) != (SIGTRAP | 0x80))
			sig = WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status);
		else
			entry = !entry;
		if (entry && WSTOPSIG(status) == (SIGTRAP | 0x80))
			change(pid, how);
	}
}

static void filter_openat(unsigned int action)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[2])),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, action),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog prog = { sizeof(filter) / sizeof(*filter), filter };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog))
		fail("seccomp");
}

static void run(const char *how, char **command)
{
	if (!strcmp(how, "allow"))
		filter_openat(SECCOMP_RET_ALLOW);
	else if (!strcmp(how, "refuse"))
		filter_openat(SECCOMP_RET_ERRNO | EACCES);
	else if (ptrace(PTRACE_TRACEME) || raise(SIGSTOP))
		fail("PTRACE_TRACEME");
	if (!strcmp(how, "trace"))
		filter_openat(SECCOMP_RET_TRACE);
	execvp(command[0], command);
	fail(command[0]);
}

int main(int argc, char **argv)
{
	pid_t pid;

	if (argc < 3)
		return 2;
	if (!strcmp(argv[1], "allow") || !strcmp(argv[1], "refuse"))
		run(argv[1], argv + 2);
	pid = fork();
	if (!pid)
		run(argv[1], argv + 2);
	if (pid < 0)
		fail("fork");
	watch(pid, argv[1]);
	return 0;
}
