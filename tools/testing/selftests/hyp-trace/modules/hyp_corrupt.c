// SPDX-License-Identifier: GPL-2.0-only
/*
 * For tests: random bytes in the pages that the kernel's own tracing shares with EL2
 *
 * While this module is loaded, a thread writes to the meta pages and the pages of the loaded
 * rings. It finds the rings by ftrace when a reader swaps a page. EL2 must not fail, and each
 * read must end. Parameters:
 *
 *	seed		seed of the random bytes
 *	corrupted	number of writes so far
 */
#include <linux/ftrace.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/prandom.h>
#include <linux/ring_buffer_writer.h>
#include <linux/spinlock.h>

/* Rings that are corrupted, at the most */
#define CORRUPT_RINGS	64

static ulong seed = 1;
module_param(seed, ulong, 0444);
static ulong corrupted;
module_param(corrupted, ulong, 0444);

/* Protects the rings, and each ring from being unloaded during a write */
static DEFINE_RAW_SPINLOCK(corrupt_lock);
static struct ring_buffer_writer_cpu *corrupt_rings[CORRUPT_RINGS];
static unsigned int corrupt_nr_rings;
static bool corrupt_loaded;
static struct rnd_state corrupt_rnd;
static struct task_struct *corrupt_task;

/* hyp_trace_load_ring(priv, cpu, ring): the ring is complete when this returns. */
static void corrupt_load(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *ops,
			 struct ftrace_regs *fregs)
{
	guard(raw_spinlock_irqsave)(&corrupt_lock);
	if (corrupt_nr_rings < CORRUPT_RINGS)
		corrupt_rings[corrupt_nr_rings++] = (void *)ftrace_regs_get_argument(fregs, 2);
}

/* hyp_trace_swap_reader(): all rings are loaded. */
static void corrupt_swapped(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *ops,
			    struct ftrace_regs *fregs)
{
	guard(raw_spinlock_irqsave)(&corrupt_lock);
	corrupt_loaded = true;
}

/* trace_remote_buffer_unload() */
static void corrupt_unloaded(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *ops,
			     struct ftrace_regs *fregs)
{
	guard(raw_spinlock_irqsave)(&corrupt_lock);
	corrupt_loaded = false;
	corrupt_nr_rings = 0;
}

static struct ftrace_ops corrupt_load_ops = { .func = corrupt_load };
static struct ftrace_ops corrupt_swap_ops = { .func = corrupt_swapped };
static struct ftrace_ops corrupt_unload_ops = { .func = corrupt_unloaded };

static u32 corrupt_below(u32 n)
{
	return prandom_u32_state(&corrupt_rnd) % n;
}

/* A plausible number, or a random one */
static u64 corrupt_value(void)
{
	u64 any = (u64)prandom_u32_state(&corrupt_rnd) << 32 | prandom_u32_state(&corrupt_rnd);

	return corrupt_below(2) ? corrupt_below(64) : any >> corrupt_below(64);
}

static void corrupt_once(void)
{
	struct ring_buffer_writer_cpu *desc;
	unsigned int words, nr;
	u64 *page;

	guard(raw_spinlock_irqsave)(&corrupt_lock);
	if (!corrupt_loaded || !corrupt_nr_rings)
		return;

	desc = corrupt_rings[corrupt_below(corrupt_nr_rings)];
	if (corrupt_below(2)) {
		page = (u64 *)desc->meta;
		words = sizeof(*desc->meta) / sizeof(*page);
	} else {
		page = desc->pages[corrupt_below(desc->nr_pages)];
		words = (corrupt_below(2) ? 128 : PAGE_SIZE) / sizeof(*page);
	}
	for (nr = corrupt_below(8); nr--;)
		WRITE_ONCE(page[corrupt_below(words)], corrupt_value());
	corrupted++;
}

static int corrupt_run(void *unused)
{
	while (!kthread_should_stop()) {
		corrupt_once();
		cond_resched();
	}

	return 0;
}

static int corrupt_hook(struct ftrace_ops *ops, char *function)
{
	int ret = ftrace_set_filter(ops, function, strlen(function), 1) ?:
		  register_ftrace_function(ops);

	if (ret)
		ftrace_free_filter(ops);
	return ret;
}

static void corrupt_unhook(struct ftrace_ops *ops)
{
	unregister_ftrace_function(ops);
	ftrace_free_filter(ops);
}

static int __init hyp_corrupt_init(void)
{
	int ret;

	prandom_seed_state(&corrupt_rnd, seed);
	ret = corrupt_hook(&corrupt_unload_ops, "trace_remote_buffer_unload");
	if (ret)
		return ret;

	ret = corrupt_hook(&corrupt_load_ops, "hyp_trace_load_ring");
	if (ret)
		goto err_unload;

	ret = corrupt_hook(&corrupt_swap_ops, "hyp_trace_swap_reader");
	if (ret)
		goto err_load;

	corrupt_task = kthread_run(corrupt_run, NULL, "hyp_corrupt");
	if (!IS_ERR(corrupt_task))
		return 0;

	ret = PTR_ERR(corrupt_task);
	corrupt_unhook(&corrupt_swap_ops);
err_load:
	corrupt_unhook(&corrupt_load_ops);
err_unload:
	corrupt_unhook(&corrupt_unload_ops);
	return ret;
}

static void __exit hyp_corrupt_exit(void)
{
	kthread_stop(corrupt_task);
	corrupt_unhook(&corrupt_swap_ops);
	corrupt_unhook(&corrupt_load_ops);
	corrupt_unhook(&corrupt_unload_ops);
}

module_init(hyp_corrupt_init);
module_exit(hyp_corrupt_exit);

MODULE_DESCRIPTION("Test: any bytes where EL2 writes and the kernel reads");
MODULE_LICENSE("GPL");
