// SPDX-License-Identifier: GPL-2.0-only
#include "el2.h"

/* What the linker knows of el2.c's section: there is no data but zeroes. */
extern u8 __start_el2_bss[], __stop_el2_bss[];

/* No memset(), nor what a compiler would take for one: the sanitizer would look at it. */
__attribute__((no_sanitize("address")))
void el2_boot(void)
{
	volatile u8 *byte;

	for (byte = __start_el2_bss; byte < __stop_el2_bss; byte++)
		*byte = 0;
}
