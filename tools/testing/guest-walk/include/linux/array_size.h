/* SPDX-License-Identifier: GPL-2.0-only */
/* Where tools/include has ARRAY_SIZE() */
#include <linux/kernel.h>
