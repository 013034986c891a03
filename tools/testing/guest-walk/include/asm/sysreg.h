/* SPDX-License-Identifier: GPL-2.0-only */
/* The bits of SCTLR_EL1 and TCR2_EL1 that the walk reads, and the codes of permissions */
#ifndef __GUEST_WALK_SYSREG_H
#define __GUEST_WALK_SYSREG_H

#define SCTLR_ELx_M		BIT(0)
#define SCTLR_ELx_EE		BIT(25)
#define TCR2_EL1x_PIE		BIT(1)
#define TCR2_EL1x_E0POE		BIT(2)

#define PIE_R_O			0x1
#define PIE_RX_O		0x3
#define PIE_RW_O		0x5
#define PIE_RWnX_O		0x6
#define PIE_RWX_O		0x7
#define PIE_R			0x8
#define PIE_GCS			0x9
#define PIE_RX			0xa
#define PIE_RW			0xc
#define PIE_RWX			0xe

#define POE_R			0x1
#define POE_RX			0x3
#define POE_RW			0x5
#define POE_RXW			0x7

#endif
