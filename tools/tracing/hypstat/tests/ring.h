/* SPDX-License-Identifier: GPL-2.0 */
#ifndef HYPSTAT_TESTS_RING_H
#define HYPSTAT_TESTS_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/compiler.h>
#include <linux/types.h>

#include "../src/dat_write.h"

#define RING_PAGE	4096

/**
 * struct ring - the pages of a CPU, as the kernel's ring buffer writes them
 * @dat: where the pages go
 * @page: the page that is being written
 * @used: how much of its data is
 * @ts: the time of the last event
 * @lost: how many events were lost before this page
 */
struct ring {
	struct dat_writer	*dat;
	char			page[RING_PAGE] __aligned(8);
	u32			used;
	u64			ts;
	u64			lost;
};

void ring_begin(struct ring *ring, struct dat_writer *dat);
void ring_event(struct ring *ring, u64 ts, const void *data, u32 size);
void ring_lose(struct ring *ring, u64 count);
void ring_flush(struct ring *ring);

#endif
