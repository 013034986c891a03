// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit: making the instance's files and the events known, each allocation failing once
 *
 * At boot, since what sets it up is gone later. With CONFIG_FAILSLAB the kernel fails
 * the Nth allocation that this makes; so for N from 1 on, until there are no more.
 * Each time nothing may be left: what is left is in the way of the next time.
 */
#include <kunit/test.h>
#include <linux/err.h>
#include <linux/gfp.h>
#include <linux/kvm_host.h>
#include <linux/sched.h>
#include <linux/tracefs.h>

#include <asm/kvm_hypevents_defs.h>
#include <asm/virt.h>

#include "../../../../../kernel/trace/remote/remote.h"
#include "../hyp_trace.h"

/* There are more of them: a file of the directory takes two. */
#define SETUP_TEST_LEAST_FAILURES	20

/* Files are made one as the other: of so many allocations each fails, and fewer then. */
#define SETUP_TEST_ALL			64

/**
 * struct setup_test - a step of the setup
 * @run:	does it; returns 0 or an error
 * @undo:	undoes it
 * @other:	another error than -ENOMEM that it may return
 */
struct setup_test {
	int	(*run)(void);
	void	(*undo)(void);
	int	other;
};

#ifdef CONFIG_FAILSLAB
/*
 * Have the @nth allocation fail. An allocation that may wait does not, unless user space
 * says so, which is not there yet: no allocation may, then. What else the kernel does
 * meanwhile has memory enough.
 */
static void __init setup_test_arm(unsigned int nth)
{
	gfp_allowed_mask &= ~__GFP_DIRECT_RECLAIM;
	WRITE_ONCE(current->fail_nth, nth);
}

/* Did it fail? */
static bool __init setup_test_disarm(void)
{
	bool fired = !READ_ONCE(current->fail_nth);

	WRITE_ONCE(current->fail_nth, 0);
	gfp_allowed_mask |= __GFP_DIRECT_RECLAIM;
	return fired;
}
#else
static void __init setup_test_arm(unsigned int nth)
{
}

static bool __init setup_test_disarm(void)
{
	return false;
}
#endif

static void __init setup_test_all(struct kunit *test, const struct setup_test *step)
{
	unsigned int nth, tried = 0, failures = 0;
	bool fired = true;
	int ret;

	for (nth = 1; fired; nth += 1 + nth / SETUP_TEST_ALL) {
		setup_test_arm(nth);
		ret = step->run();
		fired = setup_test_disarm();
		tried += fired;
		if (!ret) {
			step->undo();
			continue;
		}

		failures++;
		KUNIT_ASSERT_TRUE_MSG(test, fired, "%d with allocation %u", ret, nth);
		KUNIT_EXPECT_TRUE_MSG(test, ret == -ENOMEM || ret == step->other, "%d", ret);
	}

	kunit_info(test, "%u of %u allocations that fail are an error", failures, tried);
	if (IS_ENABLED(CONFIG_FAILSLAB))
		KUNIT_EXPECT_GE(test, failures, SETUP_TEST_LEAST_FAILURES);
}

/* Was there anything to set up? */
static bool __init setup_test_has_hyp(void)
{
	return is_kvm_arm_initialised() && !is_kernel_in_hyp_mode();
}

/* Another remote, of the same events */
static struct trace_remote_desc setup_test_desc __initdata = {
	.name		= "hyp_trace_test",
	.events		= hyp_events,
	.nr_events	= NR_HYP_EVENTS,
};

static struct trace_remote *setup_test_remote __initdata;
static const struct trace_remote_ops setup_test_ops __initconst;

static int __init setup_test_create_dir(void)
{
	return trace_remote_create_dir(setup_test_remote);
}

static void __init setup_test_remove_dir(void)
{
	trace_remote_remove_dir(setup_test_remote);
}

static void __init setup_test_files(struct kunit *test)
{
	const struct setup_test step = { setup_test_create_dir, setup_test_remove_dir };
	struct trace_remote *remote = kunit_kzalloc(test, sizeof(*remote), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, remote);
	setup_test_desc.ops = &setup_test_ops;
	remote->desc = &setup_test_desc;
	remote->target = "../hyp_trace_test";
	setup_test_remote = remote;

	if (!setup_test_has_hyp())
		kunit_skip(test, "no hypervisor to trace");
	setup_test_all(test, &step);
}

static bool __init setup_test_is_listed(const struct trace_event_call *call)
{
	struct trace_event_file *file;

	guard(mutex)(&event_mutex);
	file = __find_event_file(top_trace_array(), call->class->system, call->name);
	return file && file->ei;
}

static int __init setup_test_add_events(void)
{
	struct trace_remote *remote = hyp_trace_register();
	unsigned int nr;

	if (IS_ERR(remote))
		return PTR_ERR(remote);

	setup_test_remote = remote;
	for (nr = 0; nr < NR_HYP_EVENTS; nr++) {
		if (!setup_test_is_listed(&hyp_events[nr].call)) {
			hyp_trace_unregister(remote);
			return -EIO;
		}
	}

	return 0;
}

static void __init setup_test_remove_events(void)
{
	hyp_trace_unregister(setup_test_remote);
}

/*
 * All events, each with its id and its format. Without memory for an id the kernel says
 * that there is none left.
 */
static void __init setup_test_events(struct kunit *test)
{
	const struct setup_test step = {
		setup_test_add_events, setup_test_remove_events, -ENODEV
	};
	struct trace_remote_event *event = &hyp_events[0];
	int first;

	if (!setup_test_has_hyp())
		kunit_skip(test, "no hypervisor to trace");
	first = event->call.event.type;
	hyp_trace_boot_teardown();
	setup_test_all(test, &step);
	KUNIT_ASSERT_EQ(test, 0, hyp_trace_boot_setup());
	KUNIT_EXPECT_EQ(test, 0, hyp_trace_boot_create_dir());
	KUNIT_EXPECT_EQ(test, first, event->call.event.type);
}

static struct kunit_case setup_test_cases[] __refdata = {
	KUNIT_CASE(setup_test_files),
	KUNIT_CASE(setup_test_events),
	{ }
};

static struct kunit_suite setup_test_suite __refdata = {
	.name		= "hyp_trace_setup",
	.test_cases	= setup_test_cases,
};

kunit_test_init_section_suite(setup_test_suite);
