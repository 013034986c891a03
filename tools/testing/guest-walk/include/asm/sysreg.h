/* SPDX-License-Identifier: GPL-2.0-only */
/* The bits of SCTLR_EL1 that the walk reads */
#ifndef __GUEST_WALK_SYSREG_H
#define __GUEST_WALK_SYSREG_H

#define SCTLR_ELx_M		BIT(0)
#define SCTLR_ELx_EE		BIT(25)

#endif
