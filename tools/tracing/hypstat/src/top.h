/* SPDX-License-Identifier: GPL-2.0 */
#ifndef HYPSTAT_TOP_H
#define HYPSTAT_TOP_H

int top_main(int argc, char **argv);

#endif
