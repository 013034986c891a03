// SPDX-License-Identifier: GPL-2.0
/* Writes pages of the kernel's ring buffer: with losses and long times, as header_event says. */
#include <string.h>
#include <linux/bits.h>

#include "ring.h"

#define HEADER		16		/* a page's: the time, and how much of it is used */
#define DELTA_BITS	27
#define TIME_EXTEND	30
#define LOST		BIT(31)	/* of the commit word: events were lost, */
#define LOST_COUNTED	BIT(30)	/* and their number follows the last event. */

static void put(struct ring *ring, const void *data, u32 size)
{
	memcpy(ring->page + HEADER + ring->used, data, size);
	ring->used += size;
}

static void put_u32(struct ring *ring, u32 value)
{
	put(ring, &value, sizeof(value));
}

/**
 * ring_flush - end the page
 * @ring: the CPU's pages
 */
void ring_flush(struct ring *ring)
{
	u64 commit = ring->used;

	if (!ring->used)
		return;
	if (ring->lost) {
		commit |= LOST;
		if (ring->used + 8 <= RING_PAGE - HEADER) {
			commit |= LOST_COUNTED;
			memcpy(ring->page + HEADER + ring->used, &ring->lost, 8);
		}
	}
	memcpy(ring->page + 8, &commit, 8);
	dat_buffer_page(ring->dat, ring->page);
	memset(ring->page, 0, sizeof(ring->page));
	ring->used = 0;
	ring->lost = 0;
}

/**
 * ring_begin - begin with a CPU
 * @ring: its pages
 * @dat: where they go
 */
void ring_begin(struct ring *ring, struct dat_writer *dat)
{
	memset(ring, 0, sizeof(*ring));
	ring->dat = dat;
}

/**
 * ring_lose - lose events before the next one
 * @ring: the CPU's pages
 * @count: how many
 */
void ring_lose(struct ring *ring, u64 count)
{
	ring_flush(ring);
	ring->lost = count;
}

/**
 * ring_event - write an event
 * @ring: the CPU's pages
 * @ts: its time, not before that of the last one
 * @data: the record
 * @size: its size, a multiple of 4, from 4 to 112
 */
void ring_event(struct ring *ring, u64 ts, const void *data, u32 size)
{
	u64 delta = ts - ring->ts;

	if (ring->used + size + 12 > RING_PAGE - HEADER - 8)
		ring_flush(ring);
	if (!ring->used) {
		memcpy(ring->page, &ts, 8);
		delta = 0;
	} else if (delta >> DELTA_BITS) {
		put_u32(ring, TIME_EXTEND | (u32)delta << 5);
		put_u32(ring, delta >> DELTA_BITS);
		delta = 0;
	}
	put_u32(ring, size / 4 | (u32)delta << 5);
	put(ring, data, size);
	ring->ts = ts;
}
