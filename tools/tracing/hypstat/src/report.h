/* SPDX-License-Identifier: GPL-2.0 */
#ifndef HYPSTAT_REPORT_H
#define HYPSTAT_REPORT_H

int report_main(int argc, char **argv);

#endif
