/* SPDX-License-Identifier: GPL-2.0 */
#ifndef HYPSTAT_SVG_H
#define HYPSTAT_SVG_H

#include <stdio.h>

FILE *svg_open(const char *path);
void svg_begin(FILE *file, unsigned int width, unsigned int height, const char *style);
void svg_close(FILE *file, const char *path);

#endif
