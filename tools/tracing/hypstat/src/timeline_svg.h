/* SPDX-License-Identifier: GPL-2.0 */
#ifndef HYPSTAT_TIMELINE_SVG_H
#define HYPSTAT_TIMELINE_SVG_H

#include <stdio.h>

#include "lanes.h"
#include "summary.h"

void timeline_svg(FILE *file, const struct lanes *lanes, const struct summary *summary);

#endif
