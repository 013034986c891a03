// SPDX-License-Identifier: GPL-2.0
/*
 * Decodes raw records. Where the fields are is found once for each event; a record is read
 * by these offsets, and no text is made of it.
 */
#include <stdio.h>
#include <string.h>
#include <event-parse.h>

#include "events.h"
#include "utils.h"

/* A kind, its event and that event's fields */
struct description {
	enum kind	kind;
	const char	*system;
	const char	*name;
	const char	*fields[EVENT_FIELDS];
};

static const struct description descriptions[] = {
	{ KIND_HYP_ENTER, "hypervisor", "hyp_enter", { "reason" } },
	{ KIND_HYP_EXIT, "hypervisor", "hyp_exit", { "reason" } },
	{ KIND_HOST_HCALL, "hypervisor", "host_hcall", { "id", "invalid" } },
	{ KIND_GUEST_ENTER, "hypervisor", "guest_enter", { "vcpu", "vm_pid", "vm_fd" } },
	{ KIND_GUEST_EXIT, "hypervisor", "guest_exit",
	  { "vcpu", "vm_pid", "vm_fd", "exit_code", "esr" } },
	{ KIND_FUNC, "hypervisor", "func", { "ip" } },
	{ KIND_FUNC_RET, "hypervisor", "func_ret", { "ip" } },
	{ KIND_SCHED_SWITCH, "sched", "sched_switch", { "next_pid" } },
	{ KIND_IRQ_ENTRY, "irq", "irq_handler_entry", { "irq" } },
	{ KIND_IRQ_EXIT, "irq", "irq_handler_exit", { "irq" } },
	{ KIND_SOFTIRQ_ENTRY, "irq", "softirq_entry", { "vec" } },
	{ KIND_SOFTIRQ_EXIT, "irq", "softirq_exit", { "vec" } },
};

static bool is_number(unsigned int size)
{
	return size == 1 || size == 2 || size == 4 || size == 8;
}

/* A field that is no number stays of size 0, which reads as 0. */
static void find_number(struct field *field, struct tep_event *event, const char *name)
{
	struct tep_format_field *found = tep_find_any_field(event, name);

	if (!found || !is_number(found->size) || found->offset < 0)
		return;
	field->offset = found->offset;
	field->size = found->size;
	field->is_signed = found->flags & TEP_FIELD_IS_SIGNED;
}

static void find_comm(struct field *field, struct tep_event *event)
{
	struct tep_format_field *found = tep_find_field(event, "next_comm");

	if (!found || found->offset < 0 || found->size < 1 || found->size > 64)
		return;
	field->offset = found->offset;
	field->size = found->size;
}

static void require(struct decoder *decoder, const struct field *field)
{
	if (field->offset + field->size > decoder->min_size)
		decoder->min_size = field->offset + field->size;
}

static void add(struct events *events, struct tep_event *event, const struct description *about)
{
	struct decoder *decoder = &events->decoders[events->nr_decoders];
	unsigned int i;

	if (event->id < 0 || event->id >= 1 << 16 || events->nr_decoders == MAX_DECODERS)
		return;
	decoder->kind = about->kind;
	for (i = 0; i < EVENT_FIELDS && about->fields[i]; i++) {
		find_number(&decoder->fields[i], event, about->fields[i]);
		require(decoder, &decoder->fields[i]);
	}
	decoder->nr_fields = i;
	if (about->kind == KIND_SCHED_SWITCH)
		find_comm(&decoder->comm, event);
	require(decoder, &decoder->comm);
	events->by_id[event->id] = events->nr_decoders++;
}

/* Events of the hypervisor that are not evaluated are shown within their stay. */
static void add_others(struct events *events)
{
	static const struct description other = { KIND_HYP_OTHER };
	struct tep_event **list = tep_list_events(events->tep, TEP_EVENT_SORT_ID);

	for (; list && *list; list++) {
		struct tep_event *event = *list;

		if (event->system && !strcmp(event->system, "hypervisor") &&
		    event->id > 0 && event->id < 1 << 16 && !events->by_id[event->id])
			add(events, event, &other);
	}
}

static struct tep_event *find(struct events *events, const char *name)
{
	return tep_find_event_by_name(events->tep, "hypervisor", name);
}

static void read_names(struct events *events)
{
	struct tep_event *event = find(events, "host_hcall");

	if (event)
		names_read(&events->hcalls, event, "id");
	event = find(events, "guest_exit");
	if (event) {
		names_read(&events->exit_codes, event, "exit_code");
		names_read(&events->classes, event, "esr");
	}
	events->exit_trap = ~0ULL;
	names_value(&events->exit_codes, "TRAP", &events->exit_trap);
}

static void read_reasons(struct events *events, struct tep_event *enter)
{
	struct tep_event *exit = find(events, "hyp_exit");
	struct names reasons;

	names_read(&events->enter_reasons, enter, "reason");
	events->reason_guest = ~0ULL;
	names_value(&events->enter_reasons, "guest", &events->reason_guest);
	events->reason_psci = ~0ULL;
	names_value(&events->enter_reasons, "psci", &events->reason_psci);
	events->exit_guest = ~0ULL;
	events->exit_host = ~0ULL;
	if (!exit)
		return;
	names_read(&reasons, exit, "reason");
	names_value(&reasons, "guest", &events->exit_guest);
	names_value(&reasons, "host", &events->exit_host);
	names_free(&reasons);
}

/**
 * events_init - find where the events of a file have their fields
 * @events: how to decode them
 * @tep: the file's formats, which @events needs as long as it is used
 *
 * Return: whether the file knows the hypervisor's events.
 */
bool events_init(struct events *events, struct tep_handle *tep)
{
	const struct description *about = descriptions;
	struct tep_event *event;

	memset(events, 0, sizeof(*events));
	events->tep = tep;
	events->nr_decoders = 1;
	for (; about < descriptions + sizeof(descriptions) / sizeof(*descriptions); about++) {
		event = tep_find_event_by_name(tep, about->system, about->name);
		if (event)
			add(events, event, about);
	}
	add_others(events);
	event = find(events, "hyp_enter");
	if (!event)
		return false;
	find_number(&events->type, event, "common_type");
	find_number(&events->pid, event, "common_pid");
	read_reasons(events, event);
	read_names(events);
	return events->type.size;
}

/* The caller has compared the record's size. */
static s64 read_field(const struct events *events, const struct field *field, const void *data)
{
	unsigned int unused = 64 - 8 * field->size;
	u64 value;

	if (!field->size)
		return 0;
	value = tep_read_number(events->tep, (const char *)data + field->offset, field->size);
	return field->is_signed ? (s64)(value << unused) >> unused : (s64)value;
}

static bool has(const struct field *field, unsigned int size)
{
	return field->offset + field->size <= size;
}

static const struct decoder *decoder_of(const struct events *events, const void *data,
					unsigned int size)
{
	u64 id = has(&events->type, size) ? read_field(events, &events->type, data) : 0;

	return &events->decoders[events->by_id[id & 0xffff]];
}

/**
 * events_decode - decode a record
 * @events: how to
 * @data: the record
 * @size: its size
 * @event: what it has; its time is left to the caller
 */
void events_decode(const struct events *events, const void *data, unsigned int size,
		   struct event *event)
{
	const struct decoder *decoder = decoder_of(events, data, size);
	unsigned int i;

	event->kind = decoder->kind;
	event->data = data;
	event->size = size;
	event->pid = has(&events->pid, size) ? read_field(events, &events->pid, data) : 0;
	if (size < decoder->min_size) {
		event->kind = KIND_CORRUPT;
		return;
	}
	for (i = 0; i < decoder->nr_fields; i++)
		event->values[i] = read_field(events, &decoder->fields[i], data);
	event->comm = (const char *)data + decoder->comm.offset;
	event->comm_size = decoder->comm.size;
}

/**
 * events_function - the name of a function of EL2
 * @events: of the file
 * @ip: the function, as func and func_ret have it; 0 for none
 * @text: where it may be written
 * @size: the size of that
 *
 * Return: the name; the address, if the file has no symbols.
 */
const char *events_function(const struct events *events, u64 ip, char *text, size_t size)
{
	const char *name = ip ? tep_find_function(events->tep, ip) : "none that is traced";

	if (!name)
		snprintf(text, size, "%#llx", (unsigned long long)ip);
	else if (!strncmp(name, NVHE_PREFIX, strlen(NVHE_PREFIX)))
		return name + strlen(NVHE_PREFIX);
	return name ?: text;
}

/**
 * events_free - free what events_init() has found
 * @events: it
 */
void events_free(struct events *events)
{
	names_free(&events->enter_reasons);
	names_free(&events->hcalls);
	names_free(&events->exit_codes);
	names_free(&events->classes);
}
