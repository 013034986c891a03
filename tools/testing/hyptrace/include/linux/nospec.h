/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef __HYPTRACE_LINUX_NOSPEC_H
#define __HYPTRACE_LINUX_NOSPEC_H

/* No help for an index that was not checked: it stays out of range. */
#define array_index_nospec(index, size)	((void)(size), (index))

#endif /* __HYPTRACE_LINUX_NOSPEC_H */
