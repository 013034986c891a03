// SPDX-License-Identifier: GPL-2.0
/*
 * Exits that took longer than was asked for, with what the host recorded meanwhile
 *
 * That an exit took long is known when it ends. The last events of the host are kept
 * until then, in a ring. A report shows those of the thread, and all of the CPU that the
 * thread was on: while it did not run, another task or an interrupt did.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <errno.h>
#include <linux/kernel.h>
#include <linux/string.h>
#include <linux/zalloc.h>
#include <traceevent/event-parse.h>
#include "evsel.h"
#include "kvm-slow.h"
#include "sample.h"
#include "trace-event.h"

/**
 * struct kvm_host_event - an event that is kept
 * @evsel:	which one
 * @time:	when
 * @tid:	of this thread
 * @cpu:	on this CPU
 * @raw:	a copy of its data
 * @size:	so many bytes of them
 * @room:	for so many
 */
struct kvm_host_event {
	struct evsel *evsel;
	u64 time;
	u32 tid;
	u32 cpu;
	void *raw;
	u32 size;
	u32 room;
};

void kvm_slow__init(struct kvm_slow *slow)
{
	memset(slow, 0, sizeof(*slow));
	INIT_LIST_HEAD(&slow->events);
}

static void free_event(struct kvm_slow_event *event)
{
	u32 i;

	for (i = 0; i < event->nr_lines; i++) {
		free(event->lines[i].name);
		free(event->lines[i].text);
	}
	free(event->lines);
	free(event->name);
	free(event);
}

void kvm_slow__exit(struct kvm_slow *slow)
{
	struct kvm_slow_event *event, *next;
	unsigned int i;

	list_for_each_entry_safe(event, next, &slow->events, node)
		free_event(event);
	INIT_LIST_HEAD(&slow->events);
	for (i = 0; slow->kept && i < KVM_SLOW_KEPT; i++)
		free(slow->kept[i].raw);
	zfree(&slow->kept);
}

static struct kvm_host_event *kept(const struct kvm_slow *slow, u64 nr)
{
	return &slow->kept[nr % KVM_SLOW_KEPT];
}

static int copy_raw(struct kvm_host_event *event, const struct perf_sample *sample)
{
	event->size = 0;
	if (sample->raw_size > event->room) {
		free(event->raw);
		event->room = 0;
		event->raw = malloc(sample->raw_size);
		if (!event->raw)
			return -ENOMEM;
		event->room = sample->raw_size;
	}
	if (sample->raw_size)
		memcpy(event->raw, sample->raw_data, sample->raw_size);
	event->size = sample->raw_size;
	return 0;
}

/**
 * kvm_slow__keep - an event of the host, which may come to lie in an exit that takes long
 * @slow:	where it is kept
 * @evsel:	which one
 * @sample:	the event: in the order of their times
 *
 * Return: 0, or -ENOMEM.
 */
int kvm_slow__keep(struct kvm_slow *slow, struct evsel *evsel, const struct perf_sample *sample)
{
	struct kvm_host_event *event;

	if (!slow->kept)
		slow->kept = calloc(KVM_SLOW_KEPT, sizeof(*slow->kept));
	if (!slow->kept)
		return -ENOMEM;
	event = kept(slow, slow->nr++);
	event->evsel = evsel;
	event->time = sample->time;
	event->tid = sample->tid;
	event->cpu = sample->cpu;
	return copy_raw(event, sample);
}

/* The recording's format may not be that of its data. */
static bool has_all_fields(const struct kvm_host_event *event)
{
	const struct tep_format_field *field = event->evsel->tp_format->format.fields;

	for (; field; field = field->next) {
		if (field->offset < 0 || field->size < 0 ||
		    (u64)field->offset + field->size > event->size)
			return false;
	}
	return true;
}

/* The fields of an event that has any, as the kernel prints them */
static char *text_of(const struct kvm_host_event *event)
{
	struct tep_event *format = event->evsel->tp_format;
	char *text = NULL;
	size_t size;
	FILE *fp = open_memstream(&text, &size);

	if (!fp)
		return NULL;
	if (format && has_all_fields(event))
		event_format__fprintf(format, event->cpu, event->raw, event->size, fp);
	if (fclose(fp))
		zfree(&text);
	return text;
}

static int add_line(struct kvm_slow_event *to, const struct kvm_host_event *event)
{
	struct kvm_slow_line *line;

	line = realloc(to->lines, (to->nr_lines + 1) * sizeof(*line));
	if (!line)
		return -ENOMEM;
	to->lines = line;
	line += to->nr_lines++;
	line->time = event->time;
	line->cpu = event->cpu;
	line->tid = event->tid;
	line->name = strdup(evsel__name(event->evsel));
	line->text = text_of(event);
	return line->name && line->text ? 0 : -ENOMEM;
}

/* By the time since the event began */
void kvm_slow_line__fprintf(const struct kvm_slow_line *line, u64 begin, FILE *fp)
{
	fprintf(fp, "  %+14.3fus [%03u] tid %u: %s: %s\n", (line->time - begin) / 1000., line->cpu,
		line->tid, line->name, line->text);
}

/* The number of the first event that is kept and is not before that time */
static u64 first_since(const struct kvm_slow *slow, u64 time)
{
	u64 nr = slow->nr;

	while (nr && slow->nr - nr < KVM_SLOW_KEPT && kept(slow, nr - 1)->time >= time)
		nr--;
	return nr;
}

static int add_lines(const struct kvm_slow *slow, struct kvm_slow_event *to,
		     const struct perf_sample *end)
{
	u64 nr = first_since(slow, to->begin);
	u32 cpu = end->cpu;

	to->is_cut = nr && slow->nr - nr == KVM_SLOW_KEPT;
	for (; nr < slow->nr && kept(slow, nr)->time <= to->end; nr++) {
		const struct kvm_host_event *event = kept(slow, nr);

		if (event->tid == end->tid)
			cpu = event->cpu;
		if (event->cpu == cpu && add_line(to, event))
			return -ENOMEM;
	}
	return 0;
}

/**
 * kvm_slow__add - an event took long
 * @slow:	where it is kept
 * @event:	the event, without the lines
 * @end:	what has ended it
 *
 * Return: 0, or -ENOMEM.
 */
int kvm_slow__add(struct kvm_slow *slow, const struct kvm_slow_event *event,
		  const struct perf_sample *end)
{
	struct kvm_slow_event *added = memdup(event, sizeof(*event));

	if (!added)
		return -ENOMEM;
	added->name = strdup(event->name);
	if (!added->name || add_lines(slow, added, end)) {
		free_event(added);
		return -ENOMEM;
	}
	list_add_tail(&added->node, &slow->events);
	return 0;
}

/* The events of the first vCPU are the second's. */
void kvm_slow__merge(struct kvm_slow *slow, struct kvm_vcpu *from, struct kvm_vcpu *to)
{
	struct kvm_slow_event *event;

	list_for_each_entry(event, &slow->events, node) {
		if (event->vcpu == from)
			event->vcpu = to;
	}
}

/* Where the guest was left: of arm64; x86; riscv; LoongArch and powerpc; s390. 0: not known */
u64 kvm_slow__pc(struct evsel *evsel, struct perf_sample *sample)
{
	static const char * const fields[] = {
		"vcpu_pc", "guest_rip", "sepc", "pc", "pswaddr",
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(fields); i++) {
		if (evsel__field(evsel, fields[i]))
			return evsel__intval(evsel, sample, fields[i]);
	}
	return 0;
}
