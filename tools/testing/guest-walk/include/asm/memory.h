/* SPDX-License-Identifier: GPL-2.0-only */
/* What the kernel's asm/pgtable-hwdef.h takes from it */
#include <linux/const.h>
