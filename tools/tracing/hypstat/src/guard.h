/* SPDX-License-Identifier: GPL-2.0 */
#ifndef HYPSTAT_GUARD_H
#define HYPSTAT_GUARD_H

int guard_run(int (*work)(void *arg), void *arg, const char *file);
void guard_alive(void);

#endif
