// SPDX-License-Identifier: GPL-2.0-only
/*
 * For tests: any hypercall or SMC of the host, from user space
 *
 * A line written to hyp_call in debugfs, "hvc" or "smc" and up to eight numbers, makes the call
 * on this CPU with these numbers in its registers. Reading the file returns the first four
 * registers. So root can make any call that a hostile host can make.
 */
#include <linux/arm-smccc.h>
#include <linux/debugfs.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#define HYP_CALL_REGS	8
#define HYP_CALL_TEXT	256

static DEFINE_MUTEX(hyp_call_lock);	/* covers the last call's result */
static struct arm_smccc_res hyp_call_res;
static struct dentry *hyp_call_file;

static int hyp_call_parse(char *text, bool *smc, unsigned long *regs)
{
	char *word = strsep(&text, " ");
	int i, ret;

	*smc = !strcmp(word, "smc");
	if (!*smc && strcmp(word, "hvc"))
		return -EINVAL;

	for (i = 0; (word = strsep(&text, " ")); i++) {
		if (i == HYP_CALL_REGS)
			return -EINVAL;
		ret = kstrtoul(word, 0, &regs[i]);
		if (ret)
			return ret;
	}

	return i ? 0 : -EINVAL;
}

static void hyp_call_make(bool smc, const unsigned long *r)
{
	guard(mutex)(&hyp_call_lock);
	if (smc)
		arm_smccc_smc(r[0], r[1], r[2], r[3], r[4], r[5], r[6], r[7], &hyp_call_res);
	else
		arm_smccc_hvc(r[0], r[1], r[2], r[3], r[4], r[5], r[6], r[7], &hyp_call_res);
}

static ssize_t hyp_call_write(struct file *file, const char __user *ubuf, size_t cnt, loff_t *ppos)
{
	unsigned long regs[HYP_CALL_REGS] = { };
	char text[HYP_CALL_TEXT];
	bool smc;
	int ret;

	if (cnt >= sizeof(text))
		return -EINVAL;
	if (copy_from_user(text, ubuf, cnt))
		return -EFAULT;
	text[cnt] = '\0';

	ret = hyp_call_parse(strim(text), &smc, regs);
	if (ret)
		return ret;

	hyp_call_make(smc, regs);
	return cnt;
}

static ssize_t hyp_call_read(struct file *file, char __user *ubuf, size_t cnt, loff_t *ppos)
{
	char text[HYP_CALL_TEXT];
	int len;

	guard(mutex)(&hyp_call_lock);
	len = scnprintf(text, sizeof(text), "%#lx %#lx %#lx %#lx\n", hyp_call_res.a0,
			hyp_call_res.a1, hyp_call_res.a2, hyp_call_res.a3);
	return simple_read_from_buffer(ubuf, cnt, ppos, text, len);
}

static const struct file_operations hyp_call_fops = {
	.owner	= THIS_MODULE,
	.read	= hyp_call_read,
	.write	= hyp_call_write,
	.llseek	= default_llseek,
};

static int __init hyp_call_init(void)
{
	hyp_call_file = debugfs_create_file("hyp_call", 0600, NULL, NULL, &hyp_call_fops);
	return PTR_ERR_OR_ZERO(hyp_call_file);
}

static void __exit hyp_call_exit(void)
{
	debugfs_remove(hyp_call_file);
}

module_init(hyp_call_init);
module_exit(hyp_call_exit);

MODULE_DESCRIPTION("Test: hypercalls and SMCs from user space");
MODULE_LICENSE("GPL");
