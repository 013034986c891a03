/* SPDX-License-Identifier: GPL-2.0 */
#ifndef HYPSTAT_TESTS_SAMPLE_H
#define HYPSTAT_TESTS_SAMPLE_H

#include <linux/bits.h>

#include "ring.h"

/* The numbers of sample_formats */
enum { ENTER_HVC, ENTER_ABORT, ENTER_GUEST };
enum { EXIT_HOST, EXIT_GUEST };
enum { HCALL_SHARE = 9, HCALL_VCPU_RUN = 12, HCALL_NO_NAME = 77 };
enum { EXIT_CODE_IRQ, EXIT_CODE_TRAP = 2 };

/* Functions; the last one has no symbol. */
#define FUNC_TRAP	0xffffffc080001000UL
#define FUNC_SHARE	0xffffffc080002000UL
#define FUNC_WALK	0xffffffc080003000UL
#define FUNC_NO_NAME	0xffffffc07fffff00UL

#define ESR_WFX		BIT(26)
#define ESR_HVC		(0x16UL << 26)

void sample_begin(struct dat_writer *dat, const char *path);
void sample_end(struct dat_writer *dat);

void sample_enter(struct ring *ring, u64 ts, u8 reason, s16 vcpu);
void sample_exit(struct ring *ring, u64 ts, u8 reason, s16 vcpu);
void sample_hcall(struct ring *ring, u64 ts, u32 id, s64 ret);
void sample_guest_enter(struct ring *ring, u64 ts, u32 vcpu, s32 vm_pid, s32 vm_fd);
void sample_guest_exit(struct ring *ring, u64 ts, u32 vcpu, s32 vm_pid, s32 vm_fd, u32 code,
		       u64 esr);
void sample_func(struct ring *ring, u64 ts, u64 ip, u64 parent);
void sample_func_ret(struct ring *ring, u64 ts, u64 ip);
void sample_switch(struct ring *ring, u64 ts, s32 prev_pid, s32 next_pid, const char *next_comm);
void sample_irq(struct ring *ring, u64 ts, s32 pid, bool entry, s32 irq);

#endif
