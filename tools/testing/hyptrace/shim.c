// SPDX-License-Identifier: GPL-2.0-only
#include <shim.h>

const struct shim *shim;
