/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tests that report in the Test Anything Protocol.
 */
#ifndef __HYPTRACE_TAP_H
#define __HYPTRACE_TAP_H

/**
 * struct tap_test - a test
 * @name:	what it shows
 * @run:	calls CHECK() for all that must hold
 */
struct tap_test {
	const char	*name;
	void		(*run)(void);
};

#define CHECK(condition)	tap_check(condition, #condition, __FILE__, __LINE__)

bool tap_check(bool held, const char *condition, const char *file, int line);
bool tap_failed(void);
void __printf(1, 2) tap_at(const char *format, ...);
void __printf(1, 2) tap_note(const char *format, ...);
int tap_run(const struct tap_test *tests, size_t nr);

#endif /* __HYPTRACE_TAP_H */
