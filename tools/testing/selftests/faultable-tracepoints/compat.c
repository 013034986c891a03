// SPDX-License-Identifier: GPL-2.0-only
/* A 32-bit program without a library that opens a file which is not there */

#if defined(__arm__)
#define ASM_CALL(nr, a, b, c)							\
	({									\
		register long r7 __asm__("r7") = nr;				\
		register long r0 __asm__("r0") = a;				\
		register long r1 __asm__("r1") = (long)(b);			\
		register long r2 __asm__("r2") = c;				\
										\
		__asm__ volatile("svc #0" : "+r"(r0) : "r"(r7), "r"(r1), "r"(r2) : "memory"); \
		r0;								\
	})
#define NR_EXIT		1
#define NR_OPENAT	322
#elif defined(__i386__)
#define ASM_CALL(nr, a, b, c)							\
	({									\
		long __ret = nr;						\
										\
		__asm__ volatile("int $0x80" : "+a"(__ret) : "b"(a), "c"(b), "d"(c) : "memory"); \
		__ret;								\
	})
#define NR_EXIT		1
#define NR_OPENAT	295
#endif

#define AT_FDCWD	-100
#define ENOENT		2

void _start(void)
{
	static const char name[] = "/compat/name";
	long ret = ASM_CALL(NR_OPENAT, AT_FDCWD, name, 0);

	for (;;)
		ASM_CALL(NR_EXIT, ret != -ENOENT, 0, 0);
}
