/* SPDX-License-Identifier: GPL-2.0 */
#ifndef HYPSTAT_FUNCTIONS_H
#define HYPSTAT_FUNCTIONS_H

struct tracefs_instance;

/**
 * struct functions - the functions of EL2 that a session traces
 * @pattern: which ones, as set_ftrace_filter takes them; NULL: as it is
 * @instance: the hypervisor, once something was changed
 * @former: what set_ftrace_filter had
 */
struct functions {
	const char		*pattern;
	struct tracefs_instance	*instance;
	char			*former;
};

void functions_begin(struct functions *functions, struct tracefs_instance *instance);
void functions_end(struct functions *functions);

#endif
