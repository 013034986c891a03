/* SPDX-License-Identifier: GPL-2.0 */
#ifndef HYPSTAT_DAT_FORMATS_H
#define HYPSTAT_DAT_FORMATS_H

#include "dat_write.h"

void dat_formats(struct dat_writer *dat, const char * const *systems, unsigned int nr);

#endif
