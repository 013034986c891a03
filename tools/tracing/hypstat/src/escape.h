/* SPDX-License-Identifier: GPL-2.0 */
#ifndef HYPSTAT_ESCAPE_H
#define HYPSTAT_ESCAPE_H

#include <stdio.h>

void escape_csv(const char *text);
void escape_label(const char *text);
void escape_xml(FILE *file, const char *text);

#endif
