/* SPDX-License-Identifier: GPL-2.0 */
#ifndef HYPSTAT_RECORD_H
#define HYPSTAT_RECORD_H

int record_main(int argc, char **argv);

#endif
