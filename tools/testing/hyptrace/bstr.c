// SPDX-License-Identifier: GPL-2.0-only
/*
 * bstr_printf() of integers, as the kernel's and libtraceevent's have it: the letters before a
 * conversion say how many bytes its argument takes, 4 or 8, aligned to 4.
 */
#include <stdio.h>

#include "bstr.h"

/* A conversion as it stands: its length, and how many bytes its argument takes; none of %% */
static size_t scan(const char *fmt, unsigned int *bytes)
{
	size_t len = 1 + strspn(fmt + 1, "0123456789"), letters = strspn(fmt + len, "lz");

	*bytes = letters ? sizeof(u64) : sizeof(u32);
	if (fmt[len + letters] == '%')
		*bytes = 0;
	return len + letters + 1;
}

static int print(char *buf, size_t size, const char *spec, unsigned int bytes, const u32 *args)
{
	u64 number;

	if (!bytes)
		return snprintf(buf, size, "%%");

	memcpy(&number, args, bytes);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
#pragma GCC diagnostic ignored "-Wformat-security"
	return bytes == sizeof(u64) ? snprintf(buf, size, spec, number) :
				      snprintf(buf, size, spec, (u32)number);
#pragma GCC diagnostic pop
}

int bstr_printf(char *buf, size_t size, const char *fmt, const u32 *args)
{
	size_t len = 0, room = size, next;
	unsigned int bytes;
	char spec[32];

	for (; *fmt; fmt += next) {
		if (*fmt != '%') {
			next = strcspn(fmt, "%");
			len += snprintf(buf + size - room, room, "%.*s", (int)next, fmt);
		} else {
			next = scan(fmt, &bytes);
			snprintf(spec, sizeof(spec), "%.*s", (int)next, fmt);
			len += print(buf + size - room, room, spec, bytes, args);
			args += bytes / sizeof(u32);
		}
		room = len < size ? size - len : 1;
	}

	buf[len < size ? len : size - 1] = '\0';
	return len;
}
