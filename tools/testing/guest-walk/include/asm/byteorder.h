/* SPDX-License-Identifier: GPL-2.0-only */
/* Where tools/include has le64_to_cpu() and be64_to_cpu() */
#include <linux/kernel.h>
