/* SPDX-License-Identifier: GPL-2.0 */
#ifndef HYPSTAT_OVERHEAD_H
#define HYPSTAT_OVERHEAD_H

int overhead_main(int argc, char **argv);

#endif
