// SPDX-License-Identifier: GPL-2.0-only
/*
 * EL2's functions: their names, and which of them are traced
 *
 * The linker makes a table of where the functions are that can be traced. It belongs to EL2, which
 * takes it from the kernel under pKVM, so the kernel makes a copy before. A function's number is
 * its position in the table. Its name is that of the symbol, without the prefix that all of EL2's
 * have.
 *
 * asm/kvm_hypfunc.h has the two words that each function begins with. The kernel writes word 0
 * once, before EL2 runs any of this. Under pKVM, EL2 writes word 1. In plain nVHE mode the kernel
 * does.
 */
#include <linux/array_size.h>
#include <linux/bitmap.h>
#include <linux/cacheflush.h>
#include <linux/init.h>
#include <linux/kallsyms.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/trace_seq.h>

#include <asm/kvm_hypfunc.h>
#include <asm/patching.h>
#include <asm/virt.h>

#include "hyp_trace.h"

static const char hyp_func_prefix[] = "__kvm_nvhe_";

/**
 * struct hyp_func_masks - what is set for a group of functions, a bit each
 * @on:		it is traced
 * @begins:	it can begin a graph
 */
struct hyp_func_masks {
	u16	on;
	u16	begins;
};

/* Word 0 of each function, the kernel's addresses */
static unsigned long *hyp_func_addrs __ro_after_init;

static struct hyp_func_masks *hyp_func_masks __ro_after_init;

/* The name, without the prefix */
static const char *hyp_func_strip(const char *name)
{
	return name + str_has_prefix(name, hyp_func_prefix);
}

/**
 * hyp_func_print - the name of a function in a record
 * @p:		where to put it
 * @ip:		the kernel's address of the function, or in it
 *
 * Return: the name; a number if there is no symbol.
 */
const char *hyp_func_print(struct trace_seq *p, u64 ip)
{
	const char *name = trace_seq_buffer_ptr(p);

	trace_seq_printf(p, "%ps", (void *)ip);
	trace_seq_putc(p, '\0');
	return hyp_func_strip(name);
}

/* For the tracers: straight into the line */
static void hyp_func_print_name(void *priv, struct trace_seq *s, u64 ip)
{
	char name[KSYM_SYMBOL_LEN];

	snprintf(name, sizeof(name), "%ps", (void *)ip);
	trace_seq_puts(s, hyp_func_strip(name));
}

static void hyp_func_name(void *priv, unsigned int nr, char *name)
{
	const char *bare;
	char *module;

	if (!kallsyms_lookup(hyp_func_addrs[nr], NULL, NULL, &module, name))
		*name = '\0';
	bare = hyp_func_strip(name);
	memmove(name, bare, strlen(bare) + 1);
}

/* An I-cache that is indexed by virtual addresses has EL2's address of the line, too. */
static int hyp_func_patch(unsigned long addr, u32 insn)
{
	int ret = aarch64_insn_patch_text_nosync((void *)addr, insn);

	if (!ret && icache_is_aliasing())
		icache_inval_all_pou();
	return ret;
}

static u32 hyp_func_insn(unsigned long addr, const struct hyp_func_masks *masks, int nr)
{
	if (!(masks->on & BIT(nr)))
		return HYP_FUNC_NOP;

	return hyp_func_call(addr, (unsigned long)(masks->begins & BIT(nr) ?
						   kvm_nvhe_sym(hyp_func_graph_trampoline) :
						   kvm_nvhe_sym(hyp_func_trampoline)));
}

/* At an error, the masks are those of what the functions before it are. */
static int hyp_func_patch_group(unsigned int group, unsigned long changed,
				const struct hyp_func_masks *masks)
{
	struct hyp_func_masks *old = &hyp_func_masks[group];
	unsigned long addr;
	int i, ret;

	for_each_set_bit(i, &changed, HYP_FUNC_GROUP) {
		addr = hyp_func_addrs[group * HYP_FUNC_GROUP + i] + AARCH64_INSN_SIZE;
		ret = hyp_func_patch(addr, hyp_func_insn(addr, masks, i));
		if (ret)
			return ret;

		old->on ^= (old->on ^ masks->on) & BIT(i);
		old->begins ^= (old->begins ^ masks->begins) & BIT(i);
	}

	return 0;
}

static int hyp_func_set_group(unsigned int group, struct hyp_func_masks masks)
{
	struct hyp_func_masks *old = &hyp_func_masks[group];
	unsigned long changed = (masks.on ^ old->on) | (masks.begins ^ old->begins);
	int ret;

	if (!changed)
		return 0;

	if (is_protected_kvm_enabled())
		ret = hyp_trace_hypcall(__hyp_trace_set_functions, group, masks.on, masks.begins);
	else
		ret = hyp_func_patch_group(group, changed, &masks);
	if (!ret)
		*old = masks;
	return ret;
}

/* In plain nVHE mode KVM may not be at EL2 now, and the kernel writes its variable. */
static int hyp_func_set_graph(unsigned int max_depth, bool only)
{
	max_depth = min(max_depth, HYP_FUNC_DEPTH);
	if (is_protected_kvm_enabled())
		return hyp_trace_hypcall(__hyp_trace_set_graph, max_depth, only);

	WRITE_ONCE(kvm_nvhe_sym(hyp_func_graph).max_depth, max_depth);
	WRITE_ONCE(kvm_nvhe_sym(hyp_func_graph).only, only);
	return 0;
}

static u16 hyp_func_group_mask(const unsigned long *functions, unsigned int nr)
{
	return bitmap_read(functions, nr, min(hyp_functions.nr - nr, HYP_FUNC_GROUP));
}

static int hyp_func_set(void *priv, const struct trace_remote_traced *traced)
{
	struct hyp_func_masks masks = { };
	int ret = hyp_func_set_graph(traced->max_depth, traced->graph);
	unsigned int nr;

	for (nr = 0; nr < hyp_functions.nr && !ret; nr += HYP_FUNC_GROUP) {
		masks.on = hyp_func_group_mask(traced->on, nr);
		if (traced->graph)
			masks.begins = masks.on & hyp_func_group_mask(traced->graph, nr);
		ret = hyp_func_set_group(nr / HYP_FUNC_GROUP, masks);
	}

	return ret;
}

struct trace_remote_functions hyp_functions __ro_after_init = {
	.name	= hyp_func_name,
	.print	= hyp_func_print_name,
	.set	= hyp_func_set,
};

static int __init hyp_func_save_lr(unsigned int nr)
{
	unsigned int i;
	int ret;

	for (i = 0; i < nr; i++) {
		ret = hyp_func_patch(hyp_func_addrs[i], HYP_FUNC_SAVE_LR);
		if (ret)
			return ret;
	}

	return 0;
}

static int __init hyp_func_alloc(unsigned int nr)
{
	hyp_func_addrs = kcalloc(nr, sizeof(*hyp_func_addrs), GFP_KERNEL);
	hyp_func_masks = kcalloc(DIV_ROUND_UP(nr, HYP_FUNC_GROUP), sizeof(*hyp_func_masks),
				 GFP_KERNEL);

	return hyp_func_addrs && hyp_func_masks ? 0 : -ENOMEM;
}

static void __init hyp_func_free(void)
{
	kfree(hyp_func_addrs);
	kfree(hyp_func_masks);
}

/* Before KVM is initialised. Without memory or at an error, there are no functions to trace. */
static int __init hyp_func_init(void)
{
	unsigned int i, nr = __hyp_functions_end - __hyp_functions_start;
	unsigned long offset;
	int ret;

	if (!is_hyp_mode_available() || is_kernel_in_hyp_mode())
		return 0;

	ret = hyp_func_alloc(nr);
	if (ret)
		goto free;

	offset = hyp_trace_kimg_offset();
	for (i = 0; i < nr; i++)
		hyp_func_addrs[i] = __hyp_functions_start[i] + offset;

	ret = hyp_func_save_lr(nr);
	if (ret)
		goto free;

	hyp_functions.nr = nr;
	return 0;
free:
	hyp_func_free();
	return ret;
}
subsys_initcall(hyp_func_init);
