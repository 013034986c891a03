/* SPDX-License-Identifier: GPL-2.0-only */
/* Where tools/include has min() and max() */
#include <linux/kernel.h>
