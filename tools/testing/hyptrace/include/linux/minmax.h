/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef __HYPTRACE_LINUX_MINMAX_H
#define __HYPTRACE_LINUX_MINMAX_H

#define min(a, b) ({ typeof(a) __a = (a), __b = (b); __a < __b ? __a : __b; })
#define max(a, b) ({ typeof(a) __a = (a), __b = (b); __a > __b ? __a : __b; })
#define min_t(type, a, b) min((type)(a), (type)(b))
#define max3(a, b, c) ({ typeof(a) __m = max(a, b), __c = (c); __m > __c ? __m : __c; })

#endif /* __HYPTRACE_LINUX_MINMAX_H */
