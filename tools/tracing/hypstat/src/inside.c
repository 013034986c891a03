// SPDX-License-Identifier: GPL-2.0
/* The text of the events within a stay, as trace-cmd prints them */
#include <string.h>
#include <event-parse.h>
#include <trace-seq.h>
#include <linux/compiler.h>

#include "output.h"

/* A format may say that a field is anywhere. */
#define ANY_OFFSET	(128 * 1024)

/**
 * inside_text - print an event that was kept
 * @summary: the report
 * @stay: the stay
 * @inside: the event
 * @seq: where the text goes, terminated
 */
void inside_text(const struct summary *summary, const struct stay *stay,
		 const struct inside *inside, struct trace_seq *seq)
{
	static char data[ANY_OFFSET] __aligned(8);
	struct tep_record record = {
		.ts = inside->ts,
		.size = inside->size,
		.data = data,
		.cpu = stay->cpu,
	};

	memcpy(data, inside->data, inside->size);
	trace_seq_reset(seq);
	tep_print_event(summary->events.tep, seq, &record, "%s %s", TEP_PRINT_NAME,
			TEP_PRINT_INFO);
	trace_seq_terminate(seq);
	memset(data, 0, inside->size);
}
