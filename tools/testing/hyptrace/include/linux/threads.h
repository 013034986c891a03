/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef __HYPTRACE_LINUX_THREADS_H
#define __HYPTRACE_LINUX_THREADS_H

#define NR_CPUS	4

#endif /* __HYPTRACE_LINUX_THREADS_H */
