/* SPDX-License-Identifier: GPL-2.0 */
#ifndef HYPSTAT_INSTANCE_H
#define HYPSTAT_INSTANCE_H

#include <stdbool.h>

struct tracefs_instance;

int instance_open_hypervisor(const char *tracefs);
struct tracefs_instance *instance_hypervisor(void);
struct tracefs_instance *instance_host(void);
void instance_write(struct tracefs_instance *instance, const char *file, const char *text);
bool instance_is_on(struct tracefs_instance *instance);
void instance_enable(struct tracefs_instance *instance, const char *event);
long long instance_buffer_size(struct tracefs_instance *instance);
void instance_set_buffer_size(struct tracefs_instance *instance, long long kb);
void instance_clear(struct tracefs_instance *instance);
unsigned long long instance_overrun(struct tracefs_instance *instance, int nr_cpus);

#endif
