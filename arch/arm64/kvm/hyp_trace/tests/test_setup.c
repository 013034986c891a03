// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit: registering the hypervisor as a remote, each allocation failing once
 *
 * At boot, since what registers it is gone later: see kernel/trace/remote/tests/test_setup.c.
 */
#include <kunit/test.h>
#include <linux/err.h>
#include <linux/kvm_host.h>

#include <asm/kvm_hypevents_defs.h>
#include <asm/virt.h>

#include "../../../../../kernel/trace/remote/tests/test.h"
#include "../hyp_trace.h"

static struct trace_remote *hyp_setup_test_remote __initdata;

static int __init hyp_setup_test_register(void)
{
	struct trace_remote *remote = hyp_trace_register();

	if (IS_ERR(remote))
		return PTR_ERR(remote);

	hyp_setup_test_remote = remote;
	if (setup_test_has_formats(hyp_events, NR_HYP_LISTED_EVENTS))
		return 0;

	hyp_trace_unregister(remote);
	return -EIO;
}

static void __init hyp_setup_test_unregister(void)
{
	hyp_trace_unregister(hyp_setup_test_remote);
}

/*
 * All events, each with its id and its format. Without memory for an id the kernel says
 * that there is none left.
 */
static void __init hyp_setup_test_events(struct kunit *test)
{
	const struct setup_test step = {
		hyp_setup_test_register, hyp_setup_test_unregister, -ENODEV
	};
	struct trace_remote_event *event = &hyp_events[0];
	int first;

	if (!is_kvm_arm_initialised() || is_kernel_in_hyp_mode())
		kunit_skip(test, "no hypervisor to trace");

	first = event->call.event.type;
	hyp_trace_boot_teardown();
	setup_test_step(test, &step);
	KUNIT_ASSERT_EQ(test, 0, hyp_trace_boot_setup());
	KUNIT_EXPECT_EQ(test, 0, hyp_trace_boot_create_dir());
	KUNIT_EXPECT_EQ(test, first, event->call.event.type);
}

static struct kunit_case hyp_setup_test_cases[] __refdata = {
	KUNIT_CASE(hyp_setup_test_events),
	{ }
};

static struct kunit_suite hyp_setup_test_suite __refdata = {
	.name		= "hyp_trace_setup",
	.test_cases	= hyp_setup_test_cases,
};

kunit_test_init_section_suite(hyp_setup_test_suite);
