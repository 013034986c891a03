// SPDX-License-Identifier: GPL-2.0-only
/*
 * For tests: time for programs between the reboot notifiers and the reboot
 *
 * Tracing's own notifier has been called by then, so that tests can read files after it.
 * A program writes anything to the parameter "done" when it has seen enough.
 */
#include <linux/completion.h>
#include <linux/limits.h>
#include <linux/module.h>
#include <linux/notifier.h>
#include <linux/reboot.h>

#define HYP_LATE_LIMIT	(30 * HZ)

static DECLARE_COMPLETION(hyp_late_completion);

static int hyp_late_set_done(const char *val, const struct kernel_param *kp)
{
	complete(&hyp_late_completion);
	return 0;
}

static const struct kernel_param_ops hyp_late_done_ops = {
	.set	= hyp_late_set_done,
};
module_param_cb(done, &hyp_late_done_ops, NULL, 0200);

static int hyp_late_reboot(struct notifier_block *nb, unsigned long action, void *data)
{
	pr_info("hyp_late: tracing has ended\n");
	if (!wait_for_completion_timeout(&hyp_late_completion, HYP_LATE_LIMIT))
		pr_info("hyp_late: no hypercall was done\n");
	return NOTIFY_DONE;
}

static struct notifier_block hyp_late_nb = {
	.notifier_call	= hyp_late_reboot,
	.priority	= INT_MIN,
};

static int __init hyp_late_init(void)
{
	return register_reboot_notifier(&hyp_late_nb);
}
module_init(hyp_late_init);

static void __exit hyp_late_exit(void)
{
	unregister_reboot_notifier(&hyp_late_nb);
}
module_exit(hyp_late_exit);

MODULE_DESCRIPTION("Test: programs go on between the reboot notifiers and the end");
MODULE_LICENSE("GPL");
