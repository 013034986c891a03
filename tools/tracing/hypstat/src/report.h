/* SPDX-License-Identifier: GPL-2.0 */
#ifndef HYPSTAT_REPORT_H
#define HYPSTAT_REPORT_H

#include <linux/types.h>

int report_main(int argc, char **argv);
int report_last(const char *file, u32 us);

#endif
