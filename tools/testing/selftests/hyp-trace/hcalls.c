// SPDX-License-Identifier: GPL-2.0-only
/*
 * hcalls - how long each of the host's hypercalls held EL2
 *
 * Of a CPU's pages, from trace_pipe_raw: a line for each host_hcall, with its id and the ns
 * from the hyp_enter before it to the hyp_exit after it.
 */
#include "raw_page.h"

#define EVENTS		"/sys/kernel/tracing/hypervisor/events/hypervisor/"
#define COMMON		8	/* bytes: the common fields, and then come the event's */

static unsigned int event_id(const char *name)
{
	char path[200], text[16];
	FILE *file;

	snprintf(path, sizeof(path), EVENTS "%s/id", name);
	file = fopen(path, "r");
	if (!file || !fgets(text, sizeof(text), file))
		err(1, "%s", path);
	fclose(file);
	return atoi(text);
}

static unsigned int enter_id, exit_id, hcall_id;
static uint64_t entered;	/* time of the last hyp_enter; 0 when it is over */
static long hcall = -1;

static void note_event(uint64_t time, const unsigned char *data)
{
	uint16_t type;
	uint32_t id;

	memcpy(&type, data, sizeof(type));
	memcpy(&id, data + COMMON, sizeof(id));
	if (type == enter_id) {
		entered = time;
		hcall = -1;
	} else if (type == hcall_id && entered) {
		hcall = id;
	} else if (type == exit_id && hcall >= 0) {
		printf("%ld %llu\n", hcall, (unsigned long long)(time - entered));
		hcall = -1;
	}
}

static void note_page(const struct raw_page *page)
{
	unsigned int at, size = page_events_size(page);
	uint64_t time = page->time;

	for (at = 0; at < size; at += event_size((const uint32_t *)(page->data + at))) {
		const uint32_t *event = (const uint32_t *)(page->data + at);

		time = event_time(event, time);
		if (event_data(event))
			note_event(time, event_data(event));
	}
}

int main(int argc, char **argv)
{
	struct raw_page *page = malloc(raw_page_size());
	int fd;

	if (argc != 2 || !page)
		errx(2, "Usage: hcalls FILE");
	enter_id = event_id("hyp_enter");
	exit_id = event_id("hyp_exit");
	hcall_id = event_id("host_hcall");
	fd = raw_open(argv[1], O_NONBLOCK);
	while (read(fd, page, raw_page_size()) > 0)
		note_page(page);
	return 0;
}
