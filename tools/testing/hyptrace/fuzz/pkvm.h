/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Memory, and whose it is, as pKVM has it: a page that is not EL2's, nor shared with it,
 * is one that EL2 must not touch, which the address sanitizer sees to.
 */
#ifndef __HYPTRACE_PKVM_H
#define __HYPTRACE_PKVM_H

#include "el2.h"

#define PKVM_FIRST_PFN	0x40000ULL
#define PKVM_PAGES	48

void pkvm_boot(void);

/* What the host asks for, by page; what it may not do does not happen. */
void pkvm_share(unsigned int page);
void pkvm_unshare(unsigned int page);
void pkvm_pin(unsigned int page);	/* for a vCPU */
void pkvm_unpin(unsigned int page);
void pkvm_give_guest(unsigned int page);
void pkvm_take_guest(unsigned int page);
void pkvm_corrupt(unsigned int page, unsigned int offset, u64 value);

/* Aborts unless no page is EL2's, and none is pinned. */
void pkvm_check_all_given_back(void);

#endif /* __HYPTRACE_PKVM_H */
