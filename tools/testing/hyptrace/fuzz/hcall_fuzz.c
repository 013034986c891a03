// SPDX-License-Identifier: GPL-2.0-only
/*
 * A host makes the hypercalls of tracing in any order with any registers. Meanwhile it
 * shares and unshares pages, gives them to a guest, and writes to those that it can,
 * while EL2 writes events. Each event must be in the ring as it was written, by the
 * host's last valid calls. At the end the host gets all its pages back.
 *
 * An input is a list of steps: a byte for the operation, then its arguments, see
 * input.h.
 */
#include <nvhe/acct.h>
#include <nvhe/trace.h>
#include <nvhe/trace_cpu.h>

#include "input.h"
#include "pkvm.h"

unsigned int el2_cpu;
unsigned int el2_locks;
unsigned long kvm_arm_hyp_percpu_base[NR_CPUS] = { 1, 1, 1, 1 };
DEFINE_PER_CPU(struct kvm_host_data, kvm_host_data);
EL2_PER_THREAD u64 el2_esr;
u64 el2_count;

/* CPUs in the firmware, and those of them that have parked */
static bool away[EL2_CPUS], parked[EL2_CPUS];

/**
 * struct hcall - a hypercall
 * @handle:	what EL2 does
 * @args:	a letter each: c for a CPU, p for a page, e for an event, n for a number
 */
struct hcall {
	void		(*handle)(struct kvm_cpu_context *host_ctxt);
	const char	*args;
};

static const struct hcall hcalls[] = {
	{ handle___hyp_trace_ring_begin,	"cppn" },
	{ handle___hyp_trace_ring_add_leaf,	"cp" },
	{ handle___hyp_trace_ring_add_pages,	"cpn" },
	{ handle___hyp_trace_ring_end,		"c" },
	{ handle___hyp_trace_ring_pop,		"c" },
	{ handle___hyp_trace_enable,		"cn" },
	{ handle___hyp_trace_swap_reader,	"c" },
	{ handle___hyp_trace_reset,		"c" },
	{ handle___hyp_trace_set_event,		"en" },
	{ handle___hyp_trace_add_pred,		"ennn" },
	{ handle___hyp_trace_set_filter,	"en" },
	{ handle___hyp_trace_set_clock,		"nnnn" },
	{ handle___hyp_trace_write_event,	"n" },
	{ handle___hyp_acct_prepare,		"cn" },
	{ handle___hyp_acct_enable,		"n" },
	{ handle___hyp_acct_read,		"cpnn" },
	{ handle___hyp_acct_set_threshold,	"n" },
	{ handle___hyp_trace_is_stopped,	"" },
	{ handle___hyp_trace_set_stopped,	"n" },
	{ handle___hyp_trace_set_trigger,	"ennn" },
	{ handle___hyp_trace_trigger_count,	"e" },
	{ handle___hyp_trace_set_overwrite,	"cn" },
};

/* What the trigger of each event does, as the host has set it */
static u32 actions[NR_HYP_EVENTS];

static u64 hypercall(const struct hcall *hcall, u64 a, u64 b, u64 c, u64 d)
{
	el2_host_ctxt.regs[1] = a;
	el2_host_ctxt.regs[2] = b;
	el2_host_ctxt.regs[3] = c;
	el2_host_ctxt.regs[4] = d;
	hcall->handle(&el2_host_ctxt);
	if (hcall->handle == handle___hyp_trace_set_trigger && !el2_host_ctxt.regs[1])
		actions[a] = b;
	return el2_host_ctxt.regs[1];
}

static u64 any_argument(struct input *input, char kind)
{
	return kind ? input_number(input, kind == 'p' ? PKVM_FIRST_PFN : 0) : 0;
}

static void any_hypercall(struct input *input, const struct hcall *hcall)
{
	u64 args[4] = { };
	unsigned int i;

	for (i = 0; hcall->args[i]; i++)
		args[i] = any_argument(input, hcall->args[i]);
	hypercall(hcall, args[0], args[1], args[2], args[3]);
}

/* The arguments of a line that is written are at the end of the ring, as those of its record. */
static void checked_printk(u64 a, u64 b)
{
	const struct trace_ring *ring = &hyp_trace_cpu[el2_cpu].ring;
	u32 words[2 * HYP_PRINTK_MAX_ARGS];
	unsigned int size = hyp_printk_pack(words, a, (u32)b, b, (u32)a, (u32)~b);
	u64 entries = ring->entries;

	hyp_trace_printk("%llx %x %40lld %u %x", a, (u32)b, b, (u32)a, (u32)~b);
	WARN_ON(ring->entries > entries + 1);
	if (ring->entries == entries + 1)
		WARN_ON(memcmp(&trace_ring_page(ring->commit)->data[trace_ring_used(ring) - size],
			       words, size));
}

static void any_event(struct input *input)
{
	u64 a = input_number(input, 0), b = input_number(input, 0);

	switch (input_below(input, 10)) {
	case 0:
		trace_hyp_enter(a, b);
		break;
	case 1:
		trace_hyp_exit(a, b);
		break;
	case 2:
		trace_host_hcall(a, b & 1, b);
		break;
	case 3:
		trace_host_ffa_call(a, b, a, b, a, b & 1, a);
		break;
	case 4:
		checked_printk(a, b);
		break;
	case 5:
		hyp_trace_printk("%127lld %0300llu", a, b);
		break;
	case 6:
		trace_guest_exit(a, b, a, b, a, b, a, b & 1);
		break;
	case 7:
		trace_guest_enter(a, b, a);
		break;
	case 8:
		trace_vcpu_illegal_trap(a, b, a, b);
		break;
	default:
		trace_selftest(a);
	}
}

#define HYP_EVENT(name, proto, fields, assign, printk)	\
	[HYP_EVENT_##name] = sizeof(struct hyp_event_##name),
static const unsigned int sizes[NR_HYP_EVENTS] = {
#include <asm/kvm_hypevents.h>
};

/**
 * struct event - an event that is written here, and what is to become of it
 * @nr:		its place in the event list
 * @size:	bytes of the record
 * @is_slow:	it is written on the slow path
 * @record:	the record
 */
struct event {
	unsigned int	nr;
	unsigned int	size;
	bool		is_slow;
	struct {
		struct hyp_event_header	header;
		u64			fields[17];
	} record;
};

static void take_event(struct input *input, struct event *event)
{
	u64 a = input_number(input, 0), b = input_number(input, 0);
	unsigned int i;

	event->nr = input_below(input, NR_HYP_EVENTS);
	event->size = sizes[event->nr] + input_below(input, 8) * sizeof(u32);
	event->is_slow = input_below(input, 2);
	WARN_ON(event->size > sizeof(event->record));

	for (i = 0; i < ARRAY_SIZE(event->record.fields); i++)
		event->record.fields[i] = a + b * i;
}

/* A copy is written: the header is EL2's business. */
static void write_event(const struct event *event)
{
	struct event copy = *event;

	if (copy.is_slow)
		hyp_event_write(copy.nr, &copy.record.header, copy.size, el2_count);
	else
		hyp_event_write_record(copy.nr, &copy.record.header, copy.size);
}

static u32 writer_of(unsigned int cpu)
{
	return hyp_trace_cpu[cpu].writer.counter;
}

/* The task of a CPU that has a ring: the host can change it at any time. */
static u64 *task_of(unsigned int cpu)
{
	return hyp_trace_cpu[cpu].state == HYP_TRACE_NONE ? NULL :
	       &hyp_trace_cpu[cpu].ring.meta->task;
}

static bool matches(const struct event *event, unsigned int filter)
{
	const struct hyp_filter *reading;

	return hyp_filter_match(&hyp_event_filters[filter], &reading, &event->record);
}

/* Turn tracing off or on, in the model: whether the event's trigger does so, and @count is left. */
static bool fires(const struct event *event, u32 action, bool *stopped, u64 *count)
{
	if (actions[event->nr] != action || !*count ||
	    (*stopped ? HYP_TRIGGER_ON : HYP_TRIGGER_OFF) != action ||
	    !matches(event, HYP_TRIGGER_FILTER(event->nr)))
		return false;

	*count -= *count != U64_MAX;
	*stopped = !*stopped;
	return true;
}

/*
 * By the state of things, which is changed as the event's trigger will do. The header becomes what
 * it will be.
 */
static bool is_to_be_written(struct event *event, bool *stopped, u64 *count)
{
	u32 state = hyp_event_states[event->nr];
	bool written;
	u64 task;

	if (writer_of(el2_cpu) != HYP_TRACE_ON)
		return false;

	task = *task_of(el2_cpu);
	if (task & RB_WRITER_TASK_IGNORED)
		return false;

	event->record.header = (struct hyp_event_header) {
		.type	= state & HYP_EVENT_ID,
		.pid	= task,
	};
	if (*stopped && !fires(event, HYP_TRIGGER_ON, stopped, count))
		return false;

	written = state & HYP_EVENT_ID && (!(state & HYP_EVENT_FILTERED) ||
					   matches(event, event->nr));
	fires(event, HYP_TRIGGER_OFF, stopped, count);
	return written;
}

/* Has it a value that is not in the record? Then it is not checked here. */
static bool has_length(const struct event *event)
{
	return event->nr == HYP_EVENT_hyp_exit &&
	       hyp_event_states[event->nr] & HYP_EVENT_TIMED;
}

/* The last event in the ring */
static void check_written(const struct trace_ring *ring, const struct event *event, u64 stamp)
{
	unsigned long end = trace_ring_used(ring);
	struct hyp_clock clock;
	u64 ns;

	WARN_ON(!hyp_clock_get(&clock));
	ns = hyp_clock_ns(&clock, el2_count);
	/* Not earlier, but for a clock that was set to its end, and went on from 0. */
	WARN_ON(ring->time_stamp != ns && (ring->time_stamp != stamp || ns > stamp));
	WARN_ON(ns < stamp && ring->time_stamp == ns && ns - stamp > RB_WRITER_TS_MASK);
	WARN_ON(*ring->commit != end);
	WARN_ON(memcmp(&trace_ring_page(ring->commit)->data[end - ALIGN(event->size, 4)],
		       &event->record, event->size));
}

/* An event that is to be written is written, unless the ring is full and keeps its events. */
static void checked_event(struct input *input)
{
	const struct trace_ring *ring = &hyp_trace_cpu[el2_cpu].ring;
	u64 entries = ring->entries, stamp = ring->time_stamp, dropped = ring->dropped;
	bool written, stopped = hyp_trace_stopped;
	struct event event;
	u64 count;

	take_event(input, &event);
	if (has_length(&event))
		return write_event(&event);

	count = hyp_trace_trigger_count(event.nr);
	written = is_to_be_written(&event, &stopped, &count);
	write_event(&event);
	WARN_ON(hyp_trace_stopped != stopped || hyp_trace_trigger_count(event.nr) != count);
	if (!ring->overwrite && ring->dropped != dropped)
		written = false;
	WARN_ON(ring->entries != entries + written);
	WARN_ON(ring->dropped > dropped + 1);
	if (written)
		check_written(ring, &event, stamp);
}

static struct input *burst_input;
static unsigned int calm;	/* accesses left before it */
static unsigned int burst;	/* hypercalls left while an event is written */
static bool in_burst;

/**
 * struct read_filter - a filter that a CPU reads, while others change it
 * @filter:	the filter; NULL for none
 * @was_used:	which of its programs were in use since the CPU began to read
 * @progs:	what these were
 */
static struct read_filter {
	const struct hyp_filter	*filter;
	bool			was_used[2];
	struct hyp_filter_prog	progs[2];
} read_filter;

/* The CPU may have taken a program that was in use: it stays as it was. */
static void check_read_filter(const struct hyp_filter *filter)
{
	struct read_filter *read = &read_filter;
	unsigned int i;

	if (read->filter != filter)
		*read = (struct read_filter){ .filter = filter };

	for (i = 0; filter && i < ARRAY_SIZE(read->progs); i++) {
		const struct hyp_filter_prog *prog = &filter->progs[i];

		if (!read->was_used[i] && filter->prog == prog) {
			read->was_used[i] = true;
			read->progs[i] = *prog;
		}
		WARN_ON(read->was_used[i] && memcmp(&read->progs[i], prog, sizeof(*prog)));
	}
}

/* Before an access to memory another CPU makes a hypercall, which takes no lock that is held. */
static void step(const void *addr)
{
	unsigned int cpu = el2_cpu, other = (cpu + 1) % EL2_CPUS;

	if (!burst || in_burst || el2_locks || away[other])
		return;
	if (calm) {
		calm--;
		return;
	}

	in_burst = true;
	burst--;
	el2_cpu = other;
	check_read_filter(hyp_trace_cpu[cpu].filter);
	any_hypercall(burst_input, &hcalls[input_below(burst_input, ARRAY_SIZE(hcalls))]);
	check_read_filter(hyp_trace_cpu[cpu].filter);
	el2_cpu = cpu;
	in_burst = false;
}

static void event_in_burst(struct input *input)
{
	static const struct shim bursting = { .step = step };
	struct event event;

	take_event(input, &event);
	burst_input = input;
	calm = input_below(input, 64);
	burst = input_below(input, 16);
	shim = &bursting;
	write_event(&event);
	shim = NULL;
	check_read_filter(NULL);
	burst = 0;
	calm = 0;
}

/* The host's task, which is ignored or not */
static void change_task(struct input *input)
{
	u64 ignored = input_below(input, 2) ? RB_WRITER_TASK_IGNORED : 0;
	u64 task = input_number(input, 0) ^ ignored;

	if (task_of(el2_cpu))
		*task_of(el2_cpu) = task;
}

static void change_cpu(struct input *input)
{
	unsigned int cpu = input_below(input, EL2_CPUS);

	if (!away[cpu])
		el2_cpu = cpu;
}

/* The firmware returns, or resets the CPU. */
static void come_back(unsigned int cpu, bool reset)
{
	el2_cpu = cpu;
	if (reset || parked[cpu])
		hyp_trace_unpark();
	away[cpu] = false;
}

/* A CPU goes down, which takes another one to go on; or comes back. */
static void park(struct input *input)
{
	unsigned int cpu = input_below(input, EL2_CPUS);

	if (away[cpu]) {
		come_back(cpu, input_below(input, 2));
	} else if (!away[(el2_cpu + 1) % EL2_CPUS]) {
		parked[el2_cpu] = hyp_trace_park();
		WARN_ON(writer_of(el2_cpu) == HYP_TRACE_ON);
		away[el2_cpu] = true;
		el2_cpu = (el2_cpu + 1) % EL2_CPUS;
	}
}

static void corrupt(struct input *input)
{
	unsigned int page = input_below(input, PKVM_PAGES), offset = input_bytes(input, 2);

	pkvm_corrupt(page, offset, input_number(input, 0));
}

/* A vCPU that is created has pages pinned, and unpinned when it ends. */
static void pin_for_vcpu(struct input *input)
{
	unsigned int page = input_below(input, PKVM_PAGES);

	if (input_below(input, 2))
		pkvm_unpin(page);
	else
		pkvm_pin(page);
}

/* Hypercalls come last: so another one leaves the numbers that the seeds have. */
static void any_step(struct input *input)
{
	enum { FIRST_HCALL = 13 };
	unsigned int what = input_below(input, FIRST_HCALL + ARRAY_SIZE(hcalls));

	switch (what) {
	case 0:
		change_cpu(input);
		break;
	case 1:
		park(input);
		break;
	case 2:
		pkvm_share(input_below(input, PKVM_PAGES));
		break;
	case 3:
		pkvm_unshare(input_below(input, PKVM_PAGES));
		break;
	case 4:
		pkvm_give_guest(input_below(input, PKVM_PAGES));
		break;
	case 5:
		pkvm_take_guest(input_below(input, PKVM_PAGES));
		break;
	case 6:
		corrupt(input);
		break;
	case 7:
		any_event(input);
		break;
	case 8:
		checked_event(input);
		break;
	case 9:
		event_in_burst(input);
		break;
	case 10:
		change_task(input);
		break;
	case 11:
		hyp_trace_set_stopped(true);
		break;
	case 12:
		pin_for_vcpu(input);
		break;
	default:
		any_hypercall(input, &hcalls[what - FIRST_HCALL]);
	}
	el2_count += input_u8(input);
}

/* As the host's tracing does at its end, on each CPU. */
static void take_back(unsigned int cpu)
{
	unsigned int i;

	if (away[cpu])
		come_back(cpu, true);
	el2_cpu = cpu;
	WARN_ON(hypercall(&hcalls[5], cpu, 0, 0, 0));
	for (i = 0; hypercall(&hcalls[4], cpu, 0, 0, 0); i++)
		WARN_ON(i > PKVM_PAGES);
}

/*
 * The first change of all, seen by halves on another CPU: the event is on, the number of
 * the configuration still 0, as that CPU's own is. It has no ring, nor a host's context.
 */
static void check_half_on(void)
{
	struct {
		struct hyp_event_header header;
		u64 fields[1];
	} record = {};

	hyp_event_states[0] = 1;
	hyp_event_write_8(0, 0);
	hyp_event_write(0, &record.header, sizeof(record), el2_count);
	hyp_event_states[0] = 0;
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct input input = { data, size };
	unsigned int cpu, page;

	el2_boot();
	pkvm_boot();
	memset(kvm_host_data, 0, sizeof(kvm_host_data));
	el2_cpu = 0;
	el2_count = 0;
	el2_locks = 0;
	check_half_on();
	while (input.size)
		any_step(&input);
	for (cpu = 0; cpu < EL2_CPUS; cpu++)
		take_back(cpu);
	WARN_ON(hyp_trace_nr_enabled.counter);
	for (page = 0; page < PKVM_PAGES; page++)
		pkvm_unpin(page);
	pkvm_check_all_given_back();
	return 0;
}
