/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef __HYPTRACE_LINUX_BUILD_BUG_H
#define __HYPTRACE_LINUX_BUILD_BUG_H

/* What the kernel's linux/nospec.h needs; nothing here does. */

#endif /* __HYPTRACE_LINUX_BUILD_BUG_H */
