/* SPDX-License-Identifier: GPL-2.0 */
#ifndef HYPSTAT_SESSION_H
#define HYPSTAT_SESSION_H

#include <signal.h>
#include <stdbool.h>

void session_signals(sigset_t *signals);
int session_run(char **command, long duration, const sigset_t *signals);
int session_run_until(char **command, long duration, const sigset_t *signals,
		      bool (*ended)(void *arg), void *arg);

#endif
