// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit: the setup of a remote's files and events, with each allocation failing once
 *
 * The tests run at boot, before init code is freed. With CONFIG_FAILSLAB the Nth allocation of
 * a step fails, for each N until the step succeeds. A failed step must leave nothing behind: any
 * rest would make the next try fail.
 */
#include <kunit/test.h>
#include <linux/err.h>
#include <linux/gfp.h>
#include <linux/sched.h>
#include <linux/tracefs.h>

#include "../remote.h"
#include "test.h"

/* A step has at least this many allocations: a file of the directory needs two. */
#define SETUP_TEST_LEAST_FAILURES	20

/* All files are created alike: fail each of the first allocations, then fewer. */
#define SETUP_TEST_ALL			64

#ifdef CONFIG_FAILSLAB
/*
 * Make the @nth allocation of the current task fail. By default, failslab spares allocations
 * that may sleep, and user space cannot configure it this early: clear __GFP_DIRECT_RECLAIM.
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

/**
 * setup_test_step - do a step of a remote's setup, each allocation failing once
 * @test:	the test
 * @step:	the step
 */
void __init setup_test_step(struct kunit *test, const struct setup_test *step)
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

/* Does the top level's events/ have the format of each? */
static bool __init setup_test_is_listed(const struct trace_event_call *call)
{
	struct trace_event_file *file;

	guard(mutex)(&event_mutex);
	file = __find_event_file(top_trace_array(), call->class->system, call->name);
	return file && file->ei;
}

/**
 * setup_test_has_formats - does the top level's events/ describe a remote's events?
 * @events:	the events
 * @nr:		how many
 *
 * Return: whether it describes each of them.
 */
bool __init setup_test_has_formats(const struct trace_remote_event *events, unsigned int nr)
{
	while (nr--) {
		if (!setup_test_is_listed(&events[nr].call))
			return false;
	}

	return true;
}

static struct trace_remote *setup_test_remote __initdata;

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
	remote->desc = &kunit_remote_desc;
	remote->target = "../trace_remote_kunit";
	trace_remote_init_tracer_events(remote);
	setup_test_remote = remote;
	setup_test_step(test, &step);
}

static int __init setup_test_register(void)
{
	struct trace_remote *remote = trace_remote_create(&kunit_remote_desc, NULL);

	if (IS_ERR(remote))
		return PTR_ERR(remote);

	setup_test_remote = remote;
	if (setup_test_has_formats(remote->desc->events, remote->desc->nr_events))
		return 0;

	trace_remote_destroy(remote);
	return -EIO;
}

static void __init setup_test_unregister(void)
{
	trace_remote_destroy(setup_test_remote);
}

/*
 * All events, each with its id and its format. Without memory for an id the kernel says
 * that there is none left.
 */
static void __init setup_test_events(struct kunit *test)
{
	const struct setup_test step = { setup_test_register, setup_test_unregister, -ENODEV };

	setup_test_step(test, &step);
	KUNIT_ASSERT_EQ(test, 0, setup_test_register());
	setup_test_unregister();
}

static struct kunit_case setup_test_cases[] __refdata = {
	KUNIT_CASE(setup_test_files),
	KUNIT_CASE(setup_test_events),
	{ }
};

static struct kunit_suite setup_test_suite __refdata = {
	.name		= "trace_remote_setup",
	.test_cases	= setup_test_cases,
};

kunit_test_init_section_suite(setup_test_suite);
