// SPDX-License-Identifier: GPL-2.0-only
/*
 * For tests: any bytes in the pages that the kernel's own tracing shares with EL2
 *
 * While this module is loaded a thread writes to the meta pages and the pages of the
 * rings that are loaded, as soon as a reader has asked for a page: by that they are
 * found, through ftrace. EL2 must not mind, and readers have to come to an end. In the
 * module's parameters:
 *
 *	seed		what is written
 *	scribbled	how often, so far
 */
#include <linux/cpumask.h>
#include <linux/ftrace.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/prandom.h>
#include <linux/ring_buffer_writer.h>
#include <linux/spinlock.h>

static ulong seed = 1;
module_param(seed, ulong, 0444);
static ulong scribbled;
module_param(scribbled, ulong, 0444);

/* Of the buffer that is loaded; and that it is not unloaded while it is written to. */
static DEFINE_RAW_SPINLOCK(scribble_lock);
static struct ring_buffer_writer *scribble_writer;
static struct rnd_state scribble_rnd;
static struct task_struct *scribble_task;

static void scribble_set(struct ring_buffer_writer *writer)
{
	guard(raw_spinlock_irqsave)(&scribble_lock);
	scribble_writer = writer;
}

/* remote_swap_reader(writer, cpu) */
static void scribble_swapped(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *ops,
			     struct ftrace_regs *fregs)
{
	scribble_set((void *)ftrace_regs_get_argument(fregs, 0));
}

/* trace_remote_buffer_unload() */
static void scribble_unloaded(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *ops,
			      struct ftrace_regs *fregs)
{
	scribble_set(NULL);
}

static struct ftrace_ops scribble_swap_ops = { .func = scribble_swapped };
static struct ftrace_ops scribble_unload_ops = { .func = scribble_unloaded };

static u32 scribble_below(u32 n)
{
	return prandom_u32_state(&scribble_rnd) % n;
}

/* What might be there, or anything. */
static u64 scribble_value(void)
{
	u64 any = (u64)prandom_u32_state(&scribble_rnd) << 32 | prandom_u32_state(&scribble_rnd);

	return scribble_below(2) ? scribble_below(64) : any >> scribble_below(64);
}

static void scribble_once(void)
{
	struct ring_buffer_writer_cpu *desc;
	unsigned int words, nr, cpu;
	u64 *page;

	guard(raw_spinlock_irqsave)(&scribble_lock);
	if (!scribble_writer)
		return;

	cpu = cpumask_nth(scribble_below(cpumask_weight(scribble_writer->cpumask)),
			  scribble_writer->cpumask);
	desc = &scribble_writer->cpus[cpu];
	if (scribble_below(2)) {
		page = (u64 *)desc->meta;
		words = sizeof(*desc->meta) / sizeof(*page);
	} else {
		page = desc->pages[scribble_below(desc->nr_pages)];
		words = (scribble_below(2) ? 128 : PAGE_SIZE) / sizeof(*page);
	}
	for (nr = scribble_below(8); nr--;)
		WRITE_ONCE(page[scribble_below(words)], scribble_value());
	scribbled++;
}

static int scribble_run(void *unused)
{
	while (!kthread_should_stop()) {
		scribble_once();
		cond_resched();
	}

	return 0;
}

static int scribble_hook(struct ftrace_ops *ops, char *function)
{
	int ret = ftrace_set_filter(ops, function, strlen(function), 1) ?:
		  register_ftrace_function(ops);

	if (ret)
		ftrace_free_filter(ops);
	return ret;
}

static void scribble_unhook(struct ftrace_ops *ops)
{
	unregister_ftrace_function(ops);
	ftrace_free_filter(ops);
}

static int __init hyp_scribble_init(void)
{
	int ret;

	prandom_seed_state(&scribble_rnd, seed);
	ret = scribble_hook(&scribble_unload_ops, "trace_remote_buffer_unload");
	if (ret)
		return ret;

	ret = scribble_hook(&scribble_swap_ops, "remote_swap_reader");
	if (ret)
		goto err_unload;

	scribble_task = kthread_run(scribble_run, NULL, "hyp_scribble");
	if (!IS_ERR(scribble_task))
		return 0;

	ret = PTR_ERR(scribble_task);
	scribble_unhook(&scribble_swap_ops);
err_unload:
	scribble_unhook(&scribble_unload_ops);
	return ret;
}

static void __exit hyp_scribble_exit(void)
{
	kthread_stop(scribble_task);
	scribble_unhook(&scribble_swap_ops);
	scribble_unhook(&scribble_unload_ops);
}

module_init(hyp_scribble_init);
module_exit(hyp_scribble_exit);

MODULE_DESCRIPTION("Test: any bytes where EL2 writes and the kernel reads");
MODULE_LICENSE("GPL");
