// SPDX-License-Identifier: GPL-2.0
/*
 * A probe of sys_enter that reads the string that an argument of a system call points to.
 *
 * Its parameters say which: of the task @pid (or of all if it is 0), the system call @nr, the
 * argument @arg. The others say what it has read: @result and @text of the last call, and how
 * often it was @entered and @left.
 */
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/tracepoint.h>
#include <linux/uaccess.h>
#include <asm/syscall.h>

static int pid;
module_param(pid, int, 0644);
static int nr = -1;
module_param(nr, int, 0644);
static unsigned int arg;
module_param(arg, uint, 0444);
static bool nofault;
module_param(nofault, bool, 0644);
MODULE_PARM_DESC(nofault, "Read as a probe has to that may not fault");

static atomic_t entered, left;
static int result;
module_param(result, int, 0444);
static char text[64];
module_param_string(text, text, sizeof(text), 0444);

static int get_atomic(char *buffer, const struct kernel_param *kp)
{
	return sysfs_emit(buffer, "%d\n", atomic_read(kp->arg));
}

static const struct kernel_param_ops atomic_ops = { .get = get_atomic };

module_param_cb(entered, &atomic_ops, &entered, 0444);
module_param_cb(left, &atomic_ops, &left, 0444);

static struct tracepoint *sys_enter;

/* In a kernel without faultable tracepoints the probe has no choice. */
static bool may_fault(void)
{
#ifdef DECLARE_TRACE_SYSCALL
	return !nofault && tracepoint_is_faultable(sys_enter);
#else
	return false;
#endif
}

static int read_nofault(char *to, const char __user *from, int count)
{
	int ret;

	pagefault_disable();
	ret = strncpy_from_user(to, from, count);
	pagefault_enable();
	return ret;
}

/* Of all tasks, if no one is chosen */
static void note(int ret, const char *string)
{
	static DEFINE_SPINLOCK(lock);

	guard(spinlock)(&lock);
	result = ret;
	strscpy(text, ret < 0 ? "" : string, sizeof(text));
}

static void probe(void *data, struct pt_regs *regs, long id)
{
	unsigned long args[6];
	const char __user *from;
	char string[sizeof(text)] = "";
	int ret;

	if (id != READ_ONCE(nr) || (READ_ONCE(pid) && READ_ONCE(pid) != current->tgid))
		return;
	syscall_get_arguments(current, regs, args);
	from = (const char __user *)args[arg];
	atomic_inc(&entered);
	ret = may_fault() ? strncpy_from_user(string, from, sizeof(string) - 1) :
			    read_nofault(string, from, sizeof(string) - 1);
	note(ret, string);
	atomic_inc(&left);
}

static void find(struct tracepoint *tp, void *unused)
{
	if (!strcmp(tp->name, "sys_enter"))
		sys_enter = tp;
}

static int __init faultable_probe_init(void)
{
	if (arg >= 6)
		return -EINVAL;
	for_each_kernel_tracepoint(find, NULL);
	return sys_enter ? tracepoint_probe_register(sys_enter, probe, NULL) : -ENOENT;
}

static void __exit faultable_probe_exit(void)
{
	tracepoint_probe_unregister(sys_enter, probe, NULL);
	tracepoint_synchronize_unregister();
}

module_init(faultable_probe_init);
module_exit(faultable_probe_exit);

MODULE_DESCRIPTION("Read what an argument of a system call points to");
MODULE_LICENSE("GPL");
