/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef __HYPTRACE_LINUX_EXPORT_H
#define __HYPTRACE_LINUX_EXPORT_H

#define EXPORT_SYMBOL_GPL(symbol)

#endif /* __HYPTRACE_LINUX_EXPORT_H */
