/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Checks on what comes out of a ring and on what the ring reports of itself.
 */
#ifndef __HYPTRACE_EXPECT_H
#define __HYPTRACE_EXPECT_H

#include "fixture.h"
#include "tap.h"

/**
 * struct counters - what a meta page reports
 * @entries:	events written
 * @overrun:	events overwritten
 * @dropped:	events refused
 * @tail:	position of the page being written, and of no other
 * @base:	events before this position are cleared
 * @bytes:	of events on the pages before that
 * @overrun_bytes: of those overwritten
 */
struct counters {
	u64	entries;
	u64	overrun;
	u64	dropped;
	u64	tail;
	u64	base;
	u64	bytes;
	u64	overrun_bytes;
};

void expect_event(struct fixture *f, u32 size, u64 number, u64 time, u64 lost);
void expect_pages(struct fixture *f, u64 first, u64 nr, u64 lost);
void expect_shares(struct fixture *f, u32 per_page, u64 first, u64 end, u64 lost);
u64 expect_part(struct fixture *f, u32 read, u64 more);
void expect_nothing(struct fixture *f);
void expect_no_data(struct fixture *f);
void expect_counters(struct fixture *f, struct counters counters);
void expect_all_counters(struct fixture *f, struct counters counters);

#endif /* __HYPTRACE_EXPECT_H */
