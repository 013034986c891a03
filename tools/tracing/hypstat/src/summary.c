// SPDX-License-Identifier: GPL-2.0
/* Counts stays at EL2 by what they were for. */
#include <stdio.h>
#include <string.h>
#include <event-parse.h>

#include "summary.h"

/* In place of a hypercall's id: the part of __kvm_vcpu_run before the guest */
#define HCALL_RUN_ENTER		(~0ULL)
#define HCALL_RUN_ENTER_NAME	"__kvm_vcpu_run (enter)"

const struct section sections[NR_SECTIONS] = {
	[SECTION_REASON] = { "REASON", "reasons", "reason",
			     "Time at EL2 by the reason of the entry." },
	[SECTION_HCALL] = { "HYPERCALL", "hypercalls", "hypercall",
			    "Time at EL2 by hypercall." },
	[SECTION_EXIT] = { "GUEST EXIT", "exits", "guest_exit",
			   "Time at EL2 after a guest has exited, by the cause." },
	[SECTION_VM] = { "VM", "vms", "vm", "Time at EL2 around a VM's guest.", true },
	[SECTION_VCPU] = { "VM AND VCPU", "vcpus", "vcpu", "Time at EL2 around a vCPU.", true },
	[SECTION_TASK] = { "INTERRUPTED TASK", "tasks", "task",
			   "Time at EL2 by what ran before." },
	[SECTION_FUNCTION] = { "FUNCTION", "functions", "function",
			       "Time at EL2 in a function, with those that it calls.",
			       .has_self = true },
};

/* The name of a number; for one that has none, what it is and the number. */
static const char *name_of(const struct names *names, s64 number, const char *what, char *text,
			   size_t size)
{
	const char *name = names_find(names, number);

	if (name)
		return name;
	snprintf(text, size, "%s %lld", what, (long long)number);
	return text;
}

/**
 * hcall_name - the name of a hypercall
 * @summary: the report
 * @id: its number
 * @text: where it may be written
 * @size: the size of that
 *
 * Return: the name.
 */
const char *hcall_name(const struct summary *summary, s64 id, char *text, size_t size)
{
	return name_of(&summary->events.hcalls, id, "hypercall", text, size);
}

/**
 * reason_name - the name of the reason of an entry
 * @summary: the report
 * @reason: its number
 * @text: where it may be written
 * @size: the size of that
 *
 * Return: the name.
 */
const char *reason_name(const struct summary *summary, s64 reason, char *text, size_t size)
{
	return name_of(&summary->events.enter_reasons, reason, "reason", text, size);
}

/**
 * exit_name - why a guest has exited
 * @summary: the report
 * @stay: the stay after it
 * @text: where it may be written
 * @size: the size of that
 *
 * Return: the exception class of a trap, or the name of another cause.
 */
const char *exit_name(const struct summary *summary, const struct stay *stay, char *text,
		      size_t size)
{
	const struct events *events = &summary->events;
	bool trap = stay->exit_code == events->exit_trap;
	u64 value = trap ? esr_class(stay->esr) : stay->exit_code;
	const char *name = names_find(trap ? &events->classes : &events->exit_codes, value);

	if (name)
		return name;
	snprintf(text, size, "%s %#llx", trap ? "class" : "code", (unsigned long long)value);
	return text;
}

/**
 * owner_name - the name of what ran
 * @summary: the report
 * @owner: it
 * @text: where it is written
 * @size: the size of that
 *
 * Return: the name.
 */
const char *owner_name(const struct summary *summary, const struct owner *owner, char *text,
		       size_t size)
{
	const char *comm = owner->comm;

	if (!owner->known)
		return "unknown";
	if (!*comm)
		comm = tep_data_comm_from_pid(summary->events.tep, owner->pid);
	if (owner->irq >= 0)
		snprintf(text, size, "irq %d", owner->irq);
	else if (owner->softirq >= 0)
		snprintf(text, size, "softirq %d", owner->softirq);
	else if (!owner->pid)
		snprintf(text, size, "idle");
	else
		snprintf(text, size, "%.16s-%d", comm, owner->pid);
	return text;
}

/**
 * guest_name - the name of a vCPU
 * @guest: the vCPU
 * @text: where it is written
 * @size: the size of that
 *
 * Return: the name of its VM, as in debugfs, and its number.
 */
const char *guest_name(const struct guest *guest, char *text, size_t size)
{
	if (!guest->known)
		return "none";
	snprintf(text, size, "%d-%d vcpu %d", guest->vm_pid, guest->vm_fd, guest->vcpu);
	return text;
}

static void set_name(struct row *row, const char *name)
{
	snprintf(row->name, sizeof(row->name), "%s", row->other ? "other" : name);
}

/* A row has its name from its first time on. */
static bool is_new(struct row *row)
{
	return !*row->name;
}

static void add_reason(struct summary *summary, const struct stay *stay, u64 length)
{
	struct key key = { .id = stay->reason };
	struct row *row = table_row(&summary->tables[SECTION_REASON], key);
	char text[ROW_NAME];

	if (is_new(row))
		set_name(row, reason_name(summary, stay->reason, text, sizeof(text)));
	hist_add(&row->hist, length);
}

static void name_hcall(struct summary *summary, const struct stay *stay, struct row *row)
{
	char text[ROW_NAME], name[ROW_NAME];

	snprintf(name, sizeof(name), "%.40s%s%s",
		 hcall_name(summary, stay->hcall, text, sizeof(text)),
		 stay->hcall_known ? "" : " (invalid)", stay->exited ? " (exit)" : "");
	set_name(row, name);
}

/* The hypercall that runs a guest is two stays, and its event is in the second one. */
static void add_hcall(struct summary *summary, const struct stay *stay, u64 length)
{
	struct key key = { stay->hcall, (stay->exited << 1) + stay->hcall_known };
	struct table *table = &summary->tables[SECTION_HCALL];
	struct row *row;

	if (stay->hcall != NO_HCALL) {
		row = table_row(table, key);
		if (is_new(row))
			name_hcall(summary, stay, row);
	} else if (stay->entered && !stay->exited) {
		row = table_row(table, (struct key) { .id = HCALL_RUN_ENTER });
		set_name(row, HCALL_RUN_ENTER_NAME);
	} else {
		return;
	}
	hist_add(&row->hist, length);
}

static void add_exit(struct summary *summary, const struct stay *stay, u64 length)
{
	struct key key = { stay->exit_code };
	struct row *row;
	char text[ROW_NAME];

	if (!stay->exited)
		return;
	if (stay->exit_code == summary->events.exit_trap)
		key.sub = esr_class(stay->esr);
	row = table_row(&summary->tables[SECTION_EXIT], key);
	if (is_new(row))
		set_name(row, exit_name(summary, stay, text, sizeof(text)));
	hist_add(&row->hist, length);
}

static u64 vm_key(const struct guest *guest)
{
	return (u64)(u32)guest->vm_pid << 32 | (u32)guest->vm_fd;
}

static struct row *vm_row(struct summary *summary, const struct guest *guest)
{
	struct key key = { .id = vm_key(guest) };
	struct row *row = table_row(&summary->tables[SECTION_VM], key);
	char text[ROW_NAME];

	if (is_new(row)) {
		snprintf(text, sizeof(text), "%d-%d", guest->vm_pid, guest->vm_fd);
		set_name(row, text);
	}
	return row;
}

static struct row *vcpu_row(struct summary *summary, const struct guest *guest)
{
	struct key key = { vm_key(guest), (u32)guest->vcpu };
	struct row *row = table_row(&summary->tables[SECTION_VCPU], key);
	char text[ROW_NAME];

	if (is_new(row))
		set_name(row, guest_name(guest, text, sizeof(text)));
	return row;
}

static void add_guest(struct summary *summary, const struct stay *stay, u64 length)
{
	if (!stay->guest.known)
		return;
	hist_add(&vm_row(summary, &stay->guest)->hist, length);
	hist_add(&vcpu_row(summary, &stay->guest)->hist, length);
}

static struct key owner_key(const struct owner *owner)
{
	if (owner->irq >= 0)
		return (struct key) { owner->irq, 1 };
	if (owner->softirq >= 0)
		return (struct key) { owner->softirq, 2 };
	return (struct key) { (u32)owner->pid, 0 };
}

static void add_owner(struct summary *summary, const struct stay *stay, u64 length)
{
	struct row *row;
	char text[ROW_NAME];

	if (!stay->owner.known)
		return;
	row = table_row(&summary->tables[SECTION_TASK], owner_key(&stay->owner));
	if (is_new(row))
		set_name(row, owner_name(summary, &stay->owner, text, sizeof(text)));
	hist_add(&row->hist, length);
}

static struct row *function_row(struct summary *summary, u64 ip)
{
	struct key key = { .id = ip };
	struct row *row = table_row(&summary->tables[SECTION_FUNCTION], key);
	char text[ROW_NAME];

	if (is_new(row))
		set_name(row, events_function(&summary->events, ip, text, sizeof(text)));
	return row;
}

static void add_call(u64 ip, u64 length, void *arg)
{
	hist_add(&function_row(arg, ip)->hist, length);
}

/* What a stay was for, where its paths of calls begin */
static struct path *path_root(struct summary *summary, const struct stay *stay)
{
	char name[FOLDED_NAME], text[ROW_NAME];

	if (stay->exited)
		snprintf(name, sizeof(name), "guest:%s",
			 exit_name(summary, stay, text, sizeof(text)));
	else if (stay->hcall != NO_HCALL)
		snprintf(name, sizeof(name), "hcall:%s",
			 hcall_name(summary, stay->hcall, text, sizeof(text)));
	else
		snprintf(name, sizeof(name), "%s", stay->entered ? "hcall:" HCALL_RUN_ENTER_NAME :
			 reason_name(summary, stay->reason, text, sizeof(text)));
	return folded_root(&summary->folded, name);
}

/* A report, and what a stay of it was for */
struct paths {
	struct summary	*summary;
	struct path	*root;
};

static void add_path(const struct path *path, void *arg)
{
	struct paths *paths = arg;

	folded_add(&paths->summary->folded, paths->root, path);
	if (path->caller)
		function_row(paths->summary, path->ip)->self += path->self;
}

/* Without events of functions there are none. */
static void add_functions(struct summary *summary, const struct stay *stay)
{
	struct calls *calls = &summary->stays.calls;
	struct paths paths = { summary };

	if (!calls->nr_paths)
		return;
	paths.root = path_root(summary, stay);
	calls_end_stay(calls, add_path, &paths);
}

/* Times of events are of the kernel's clock, whose rate is not just that of EL2's counter. */
static bool is_over(u64 length, u64 limit)
{
	return limit && length + length / 1000 >= limit;
}

static void add_stay(const struct stay *stay, void *arg)
{
	struct summary *summary = arg;
	u64 length = stay_length(stay);

	hist_add(&summary->all, length);
	add_reason(summary, stay, length);
	add_hcall(summary, stay, length);
	add_exit(summary, stay, length);
	add_guest(summary, stay, length);
	add_owner(summary, stay, length);
	add_functions(summary, stay);
	longest_add(&summary->longest, stay);
	if (is_over(length, summary->limit) && stay->end >= summary->last.end)
		summary->last = *stay;
}

static void add_run(const struct guest *guest, u64 from, u64 to, int cpu, void *arg)
{
	struct summary *summary = arg;

	(void)cpu;
	vm_row(summary, guest)->guest += to - from;
	vcpu_row(summary, guest)->guest += to - from;
}

/**
 * summary_init - begin with a report
 * @summary: the report, whose events are initialized
 */
void summary_init(struct summary *summary)
{
	summary->stays.ended = add_stay;
	summary->stays.ran = add_run;
	summary->stays.arg = summary;
	summary->stays.calls.returned = add_call;
	summary->stays.calls.arg = summary;
	summary->last.cpu = -1;
}

/**
 * summary_sort - sort the tables; nothing can be added any more
 * @summary: the report
 */
void summary_sort(struct summary *summary)
{
	int i;

	for (i = 0; i < NR_SECTIONS; i++)
		table_sort(&summary->tables[i]);
}

/**
 * summary_span - the time that the recording took
 * @summary: the report
 *
 * Return: the time from the first event of the hypervisor to the last one.
 */
u64 summary_span(const struct summary *summary)
{
	return summary->stays.last - summary->stays.first;
}

/**
 * summary_free - free a report
 * @summary: the report
 */
void summary_free(struct summary *summary)
{
	int i;

	for (i = 0; i < NR_SECTIONS; i++)
		table_free(&summary->tables[i]);
	folded_free(&summary->folded);
	stays_free(&summary->stays);
	events_free(&summary->events);
}
