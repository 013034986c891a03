/* SPDX-License-Identifier: GPL-2.0 */
#ifndef HYPSTAT_STOP_H
#define HYPSTAT_STOP_H

#include <stdbool.h>
#include <linux/types.h>

struct tracefs_instance;

/**
 * struct stop - that a long stay stops tracing
 * @us: after how many microseconds; 0: none does
 * @instance: the hypervisor, once something was changed
 * @former_us: what its stop_tracing_us had
 * @former_accounting: what its accounting had
 */
struct stop {
	u32			us;
	struct tracefs_instance	*instance;
	char			*former_us;
	char			*former_accounting;
};

void stop_begin(struct stop *stop, struct tracefs_instance *instance);
bool stop_has_come(void *arg);
void stop_end(struct stop *stop);

#endif
