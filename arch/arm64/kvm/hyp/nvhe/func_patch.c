// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which of EL2's functions are traced, under pKVM
 *
 * The linker makes a table of the addresses of word 0 (asm/kvm_hypfunc.h) of all functions that can
 * be traced. It is mapped read-only and belongs to EL2. The host passes positions in it, and
 * no address. Word 1 becomes one of three instructions, and nothing else is written.
 *
 * EL2's text is not writable where it is executed. The page is mapped at the CPU's fixmap slot for
 * the time of one store.
 *
 * In plain nVHE mode the kernel patches EL2's text itself.
 */
#include <linux/array_size.h>
#include <linux/bitops.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/nospec.h>

#include <asm/cacheflush.h>
#include <asm/kvm_asm.h>
#include <asm/kvm_hyp.h>
#include <asm/kvm_hypfunc.h>
#include <asm/kvm_mmu.h>

#include <nvhe/func.h>
#include <nvhe/memory.h>
#include <nvhe/mm.h>
#include <nvhe/spinlock.h>
#include <nvhe/trap_handler.h>

static DEFINE_HYP_SPINLOCK(hyp_func_lock);	/* covers word 1 of all functions */

static void hyp_func_write(unsigned long addr, u32 insn)
{
	phys_addr_t phys = __hyp_pa(addr);
	u32 *alias;

	hyp_assert_lock_held(&hyp_func_lock);

	alias = hyp_fixmap_map(ALIGN_DOWN(phys, PAGE_SIZE)) + offset_in_page(phys);
	WRITE_ONCE(*alias, cpu_to_le32(insn));
	kvm_flush_dcache_to_poc(alias, sizeof(*alias));
	hyp_fixmap_unmap();
	icache_inval_pou(addr, addr + sizeof(*alias));
}

/* Unless word 0 of each does so, what word 1 calls would not know where the functions return to. */
static bool hyp_func_saves_lr(const unsigned long *functions, unsigned long mask)
{
	int i;

	for_each_set_bit(i, &mask, HYP_FUNC_GROUP) {
		if (le32_to_cpu(READ_ONCE(*(u32 *)functions[i])) != HYP_FUNC_SAVE_LR)
			return false;
	}

	return true;
}

static void hyp_func_set_one(unsigned long function, bool on, bool begins)
{
	const char *to = begins ? hyp_func_graph_trampoline : hyp_func_trampoline;
	unsigned long addr = function + sizeof(u32);
	u32 insn = on ? hyp_func_call(addr, (unsigned long)to) : HYP_FUNC_NOP;

	if (le32_to_cpu(READ_ONCE(*(u32 *)addr)) != insn)
		hyp_func_write(addr, insn);
}

/**
 * hyp_func_set - choose which functions of a group are traced
 * @group:	HYP_FUNC_GROUP functions at consecutive positions
 * @mask:	a bit for each of them that is traced
 * @begins:	a bit for each of the latter that can begin a graph
 *
 * CPUs that enter EL2 later execute the functions as they are then.
 *
 * Context: hypercall, with arguments from the host.
 * Return: 0; -EINVAL for an argument out of range, also for a bit without a function, or one of
 * a function that is not traced, or if the kernel has not written word 0; -EPERM if it is for the
 * kernel to patch.
 */
int hyp_func_set(u64 group, u64 mask, u64 begins)
{
	const unsigned long *functions;
	u64 i, nr = __hyp_functions_end - __hyp_functions_start;
	u64 nr_groups = DIV_ROUND_UP(nr, HYP_FUNC_GROUP);

	if (!is_protected_kvm_enabled())
		return -EPERM;
	if (group >= nr_groups)
		return -EINVAL;

	group = array_index_nospec(group, nr_groups);
	nr = min(nr - group * HYP_FUNC_GROUP, HYP_FUNC_GROUP);
	functions = &__hyp_functions_start[group * HYP_FUNC_GROUP];
	if (mask & ~GENMASK_ULL(nr - 1, 0) || begins & ~mask || !hyp_func_saves_lr(functions, mask))
		return -EINVAL;

	hyp_spin_lock(&hyp_func_lock);
	for (i = 0; i < nr; i++)
		hyp_func_set_one(functions[i], mask & BIT(i), begins & BIT(i));
	hyp_spin_unlock(&hyp_func_lock);
	return 0;
}

void handle___hyp_trace_set_functions(struct kvm_cpu_context *host_ctxt)
{
	DECLARE_REG(u64, group, host_ctxt, 1);
	DECLARE_REG(u64, mask, host_ctxt, 2);
	DECLARE_REG(u64, begins, host_ctxt, 3);

	cpu_reg(host_ctxt, 1) = hyp_func_set(group, mask, begins);
}

void handle___hyp_trace_set_graph(struct kvm_cpu_context *host_ctxt)
{
	DECLARE_REG(u64, max_depth, host_ctxt, 1);
	DECLARE_REG(u64, only, host_ctxt, 2);

	cpu_reg(host_ctxt, 1) = hyp_func_set_graph(max_depth, only);
}
