/* SPDX-License-Identifier: GPL-2.0 */
#ifndef HYPSTAT_TIMELINE_H
#define HYPSTAT_TIMELINE_H

int timeline_main(int argc, char **argv);

#endif
