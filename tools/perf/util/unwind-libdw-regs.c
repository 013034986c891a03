// SPDX-License-Identifier: GPL-2.0
/* A sample's registers for libdw, also of a recording that another architecture has made */
#include <elfutils/libdwfl.h>
#include <linux/kernel.h>
#include <string.h>
#include "perf_regs.h"
#include "unwind-libdw.h"
#include "util/env.h"
#include "util/machine.h"
#include "util/sample.h"
/* Both have this name, and so has the header of arm */
#undef PERF_REG_EXTENDED_MASK
#include "../../arch/x86/include/uapi/asm/perf_regs.h"
#undef PERF_REG_EXTENDED_MASK
#define perf_event_arm_regs perf_event_arm64_regs
#include "../../arch/arm64/include/uapi/asm/perf_regs.h"
#undef perf_event_arm_regs

/* perf's numbers of the registers, by those of the System V ABI for AMD64 (figure 3.36) */
static const u8 x86_64_regs[] = {
	PERF_REG_X86_AX, PERF_REG_X86_DX, PERF_REG_X86_CX, PERF_REG_X86_BX,
	PERF_REG_X86_SI, PERF_REG_X86_DI, PERF_REG_X86_BP, PERF_REG_X86_SP,
	PERF_REG_X86_R8, PERF_REG_X86_R9, PERF_REG_X86_R10, PERF_REG_X86_R11,
	PERF_REG_X86_R12, PERF_REG_X86_R13, PERF_REG_X86_R14, PERF_REG_X86_R15,
	PERF_REG_X86_IP,
};

/* By those of the System V ABI for i386 (table 2.14) */
static const u8 i386_regs[] = {
	PERF_REG_X86_AX, PERF_REG_X86_CX, PERF_REG_X86_DX, PERF_REG_X86_BX,
	PERF_REG_X86_SP, PERF_REG_X86_BP, PERF_REG_X86_SI, PERF_REG_X86_DI,
	PERF_REG_X86_IP,
};

static Dwarf_Word reg_value(struct regs_dump *regs, int perf_reg)
{
	u64 value = 0;

	perf_reg_value(&value, regs, perf_reg);
	return value;
}

static bool set_x86(Dwfl_Thread *thread, struct regs_dump *regs)
{
	bool is_32 = regs->abi == PERF_SAMPLE_REGS_ABI_32;
	const u8 *perf_regs = is_32 ? i386_regs : x86_64_regs;
	unsigned int nr = is_32 ? ARRAY_SIZE(i386_regs) : ARRAY_SIZE(x86_64_regs), i;
	Dwarf_Word values[ARRAY_SIZE(x86_64_regs)];

	for (i = 0; i < nr; i++)
		values[i] = reg_value(regs, perf_regs[i]);
	return dwfl_thread_state_registers(thread, 0, nr, values);
}

/* DWARF for the Arm 64-bit Architecture, 4.1, has perf's numbers: x0 to x30, and sp. */
static bool set_arm64(Dwfl_Thread *thread, struct regs_dump *regs)
{
	Dwarf_Word values[PERF_REG_ARM64_PC];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(values); i++)
		values[i] = reg_value(regs, i);
	if (!dwfl_thread_state_registers(thread, 0, ARRAY_SIZE(values), values))
		return false;

	dwfl_thread_state_register_pc(thread, reg_value(regs, PERF_REG_ARM64_PC));
	return true;
}

/**
 * libdw__set_initial_registers - give libdw the registers from which it unwinds
 * @thread: libdw's thread
 * @arg: its unwind_info, with the sample and the machine
 *
 * Return: true if it has them; false if they are of an architecture whose numbers are not known
 * here.
 */
bool libdw__set_initial_registers(Dwfl_Thread *thread, void *arg)
{
	struct unwind_info *ui = arg;
	const char *arch = perf_env__arch(ui->machine->env);

	if (!strcmp(arch, perf_env__arch(NULL)))
		return libdw__arch_set_initial_registers(thread, arg);
	if (!strcmp(arch, "x86"))
		return set_x86(thread, &ui->sample->user_regs);
	if (!strcmp(arch, "arm64"))
		return set_arm64(thread, &ui->sample->user_regs);
	return false;
}
