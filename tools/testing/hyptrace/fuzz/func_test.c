// SPDX-License-Identifier: GPL-2.0-only
/*
 * Functions at EL2 are entered and return in any order that the compiler can make of them, against
 * a model: calls, jumps to another function, more calls than the shadow stack has room for, stacks
 * that are left for good, events that are turned on and off, and CPUs that are paused. Each
 * function returns to where it was called from. Events are in order, and name the function and its
 * caller. So are the records of the tracers, and those of function_graph have the right depth.
 * After a panic the frame records have the same addresses, also if the stack has overflowed.
 */
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <linux/types.h>

/* What func.c needs of EL2. Its headers have nothing else for it. */
#define IS_ENABLED(option)		0
#define DEFINE_PER_CPU(type, name)	type name
#define DECLARE_PER_CPU(type, name)
#define this_cpu_ptr(ptr)		(ptr)
#define __ro_after_init
#define likely(x)			(x)
#define unlikely(x)			(x)
#define BUG_ON(x)			do { if (x) abort(); } while (0)
#define noinline			__attribute__((noinline))
#define static_assert(x)		_Static_assert(x, #x)
#define BIT(nr)				(1UL << (nr))
#define PAGE_SIZE			4096UL
#define OVERFLOW_STACK_SIZE		4096UL
#define __ARM64_KVM_HYP_NVHE_FUNC_H
#define __ARM64_KVM_HYP_NVHE_TRACE_H
#define HYP_FUNC_BTI_C			0xd503245f
#define HYP_FUNC_DEPTH			48
#define READ_ONCE(x)			(*(const volatile __typeof__(x) *)&(x))
#define WRITE_ONCE(x, val)		(*(volatile __typeof__(x) *)&(x) = (val))

struct hyp_func_graph {
	u32	max_depth, only;
};

static struct { unsigned long stack_hyp_va; } kvm_init_params;

/* The overflow stack may be above the other one, or below. */
static struct {
	unsigned long below[PAGE_SIZE / sizeof(long)];
	unsigned long overflow[OVERFLOW_STACK_SIZE / sizeof(long)];
	unsigned long above[PAGE_SIZE / sizeof(long)];
} stacks __attribute__((aligned(4096)));

#define overflow_stack	(&stacks.overflow)

static char hyp_func_return[4];

static bool func_on, func_ret_on, function_on, graph_on;
static int failed;

/* The last event */
static struct { bool ret; u64 ip, parent; unsigned int nr; } event;

/* The last record of function, and of function_graph */
static struct { u64 ip, parent; unsigned int nr; } traced;
static struct { bool exit; u64 func, entered; s32 depth; unsigned int nr; } graph;
static u64 now;

static u64 hyp_clock_count(void)
{
	return ++now;
}

static bool trace_function_enabled(void)
{
	return function_on;
}

static bool trace_funcgraph_entry_enabled(void)
{
	return graph_on;
}

static void trace_funcgraph_entry(u64 func, s32 depth)
{
	graph.exit = false;
	graph.func = func;
	graph.depth = depth;
	graph.nr++;
}

static bool trace_funcgraph_exit_enabled(void)
{
	return graph_on;
}

static void hyp_event_funcgraph_exit(u64 func, s32 depth, u32 overrun, u64 entered)
{
	graph.exit = true;
	graph.func = func;
	graph.depth = depth;
	graph.entered = entered;
	graph.nr++;
}

struct hyp_event_header { u64 type; };
struct hyp_event_func { struct hyp_event_header header; u64 ip, parent_ip; };

#define hyp_event_function	hyp_event_func

enum { HYP_EVENT_func = 1, HYP_EVENT_function };

static void hyp_event_write_16(unsigned long nr, u64 ip, u64 parent)
{
	if (nr == HYP_EVENT_function) {
		traced.ip = ip;
		traced.parent = parent;
		traced.nr++;
		return;
	}

	if (nr != HYP_EVENT_func)
		abort();
	event.ret = false;
	event.ip = ip;
	event.parent = parent;
	event.nr++;
}

static void trace_function(u64 ip, u64 parent)
{
	if (function_on)
		hyp_event_write_16(HYP_EVENT_function, ip, parent);
}

static bool trace_func_enabled(void)
{
	return func_on;
}

static void trace_func(u64 ip, u64 parent)
{
	if (func_on)
		hyp_event_write_16(HYP_EVENT_func, ip, parent);
}

static bool trace_func_ret_enabled(void)
{
	return func_ret_on;
}

static void trace_func_ret(u64 ip)
{
	if (!func_ret_on)
		return;
	event.ret = true;
	event.ip = ip;
	event.nr++;
}

/* nvhe/func.h */
struct hyp_func_regs {
	unsigned long	fp, pc, args[9], lr;
};

struct hyp_func_exit_regs {
	unsigned long	results[2], lr, unused;
};

void hyp_func_reset(void);
void hyp_func_pause(void);
void hyp_func_resume(void);
void hyp_func_enter(unsigned long unused, unsigned long word, unsigned long lr,
		    unsigned long sp);
void hyp_func_graph_enter(unsigned long unused, unsigned long word, unsigned long lr,
			  unsigned long sp);
void hyp_func_exit(struct hyp_func_exit_regs *regs);
int hyp_func_set_graph(u64 max_depth, u64 only);
void hyp_func_update_events(void);
void hyp_func_restore_frames(unsigned long fp);

/* nvhe/trace.h */
static u64 hyp_kimg_offset;

#include EL2_SOURCE

/* What the trampolines do */
static unsigned long enter_at(unsigned long ip, unsigned long lr, unsigned long sp, bool begins)
{
	struct hyp_func_regs *regs = (struct hyp_func_regs *)sp - 1;

	*regs = (struct hyp_func_regs) { .pc = ip + 8, .lr = lr };
	if (begins)
		hyp_func_graph_enter(0, ip, lr, sp);
	else
		hyp_func_enter(0, ip, lr, sp);
	return regs->lr;
}

static unsigned long exit_at(unsigned long sp)
{
	struct hyp_func_exit_regs *regs = (struct hyp_func_exit_regs *)sp - 1;

	hyp_func_exit(regs);
	return regs->lr;
}

#define OFFSET		0x1000000UL
#define RETURN		((unsigned long)hyp_func_return)
#define MAX_CALLS	100
#define MAX_JUMPS	8

/*
 * The model: calls that have not returned, the outermost one first. A function that jumps to
 * another one leaves it its place. The frame record of a call is below its stack pointer.
 */
static struct call {
	unsigned long	sp;
	unsigned long	lr;			/* where it really returns to */
	unsigned long	x30;			/* where it is made to */
	unsigned long	record;			/* of its frame; 0 if it has none */
	unsigned long	ips[MAX_JUMPS];		/* the function, and those it has jumped to */
	bool		hooked[MAX_JUMPS];	/* the return of that is traced */
	bool		in_graph[MAX_JUMPS];	/* it is in the graph */
	u64		entered[MAX_JUMPS];	/* not before this */
	unsigned int	nr;
} calls[MAX_CALLS];

static unsigned int nr_calls;
static unsigned long next_ip = 0x10000;	/* of functions, each of which is entered once */
static unsigned long *stack;
static bool paused;
static bool stale;	/* frames of a stack that was left may count as callers */
static u32 max_depth = HYP_FUNC_DEPTH, only;

static void check(bool good, const char *what)
{
	if (good)
		return;
	printf("not ok: %s\n", what);
	failed = 1;
}

static void check_entered(unsigned int before, unsigned long ip, unsigned long parent)
{
	if (paused || !func_on) {
		check(event.nr == before, "no event while paused, or off");
		return;
	}
	check(event.nr == before + 1 && !event.ret, "an event at the entry");
	check(event.ip == ip + OFFSET, "it names the function");
	check(event.parent == parent + OFFSET, "it names the caller");
}

static void check_traced(unsigned int before, unsigned long ip, unsigned long parent)
{
	if (paused || !function_on) {
		check(traced.nr == before, "no record of function while paused, or off");
		return;
	}
	check(traced.nr == before + 1, "a record of function");
	check(traced.ip == ip + OFFSET && traced.parent == parent + OFFSET,
	      "it has the function and its caller");
}

/* Functions that are entered: in the graph, or with a frame */
static unsigned int count(bool in_graph)
{
	unsigned int i, k, nr = 0;

	for (i = 0; i < nr_calls; i++)
		for (k = 0; k < calls[i].nr; k++)
			nr += in_graph ? calls[i].in_graph[k] : calls[i].hooked[k];
	return nr;
}

/* A function is entered that begins a graph, or not. Is it in one? */
static bool in_graph(bool begins)
{
	unsigned int depth = count(true);

	return graph_on && !paused && count(false) < HYP_FUNC_DEPTH && depth < max_depth &&
	       (depth || begins || !only);
}

static void check_graph(unsigned int before, unsigned long ip, bool is_in_graph)
{
	if (!is_in_graph) {
		check(graph.nr == before, "no record of a function that is not in the graph");
		return;
	}
	check(graph.nr == before + 1 && !graph.exit && graph.func == ip + OFFSET,
	      "a record of the entry of a function in the graph");
	check(graph.depth == (s32)count(true), "it has the depth");
}

/* Where @call's next function seems to be called: in the last one whose return is traced */
static unsigned long caller_of(const struct call *call)
{
	unsigned int i = call->nr;

	if (call->x30 != RETURN)
		return call->x30 - 4;
	while (!call->hooked[i - 1])
		i--;
	return call->ips[i - 1];
}

static unsigned int depth(void)
{
	return hyp_func_cpu.top / sizeof(struct hyp_func_frame);
}

/* Frames are lower and lower, but for those of a function that has been jumped to. */
static void check_order(void)
{
	const struct hyp_func_frame *frame = hyp_func_cpu.frames;
	unsigned int i;

	check(depth() <= HYP_FUNC_DEPTH, "the shadow stack has room for its frames");
	for (i = 1; i <= depth(); i++)
		check(frame[i].sp < frame[i - 1].sp || frame[i].lr == RETURN,
		      "no stale frame stays in the way");
}

/* The function of @call is entered: by a call, or by a jump of the one before. */
static void enter(struct call *call)
{
	unsigned long ip = next_ip, x30 = call->x30;
	unsigned long caller = caller_of(call), top;
	unsigned int before = event.nr, traced_before = traced.nr, graph_before = graph.nr;
	bool begins = rand() % 4 == 0, expected;

	if (call == calls && !paused)
		stale = false;
	expected = in_graph(begins);
	call->entered[call->nr] = now;
	call->x30 = enter_at(ip, x30, call->sp, begins);
	check(call->x30 == RETURN || call->x30 == x30, "it returns to its caller, or is traced");
	check_entered(before, ip, caller);
	check_traced(traced_before, ip, caller);
	check_order();
	top = hyp_func_top(&hyp_func_cpu)->ip;
	call->hooked[call->nr] = (top & ~HYP_FUNC_IN_GRAPH) == ip;
	check(call->hooked[call->nr] || x30 == call->x30,
	      "what returns elsewhere is in the shadow stack");
	check(call->hooked[call->nr] || paused || !func_ret_on ||
	      depth() == HYP_FUNC_DEPTH, "its return is traced if there is room");
	if (stale)
		expected = call->hooked[call->nr] && top & HYP_FUNC_IN_GRAPH;
	else
		check_graph(graph_before, ip, expected);
	check(call->hooked[call->nr] == (expected || (func_ret_on && !paused &&
						      count(false) < HYP_FUNC_DEPTH)) || stale,
	      "only what is traced has a frame");
	call->in_graph[call->nr] = expected;
	call->ips[call->nr++] = ip;
	next_ip += 16;
}

/* As PACIASP signs it, or not: a function that calls no other does not. */
static unsigned long sign(unsigned long lr)
{
	return lr | (rand() % 2 ? rand() % 256UL << 56 : 0);
}

static unsigned long strip(unsigned long lr)
{
	return lr << 8 >> 8;
}

static void make_record(struct call *call)
{
	unsigned long *record;

	if (call->record)
		return;

	call->record = call->sp - 16 * (1 + rand() % 2);
	record = (unsigned long *)call->record;
	record[0] = call > calls ? call[-1].record : 0;
	record[1] = sign(call->x30);
}

static void make_call(void)
{
	unsigned long sp = (unsigned long)stack + PAGE_SIZE;
	struct call *call = &calls[nr_calls];

	if (nr_calls == MAX_CALLS)
		return;
	if (nr_calls) {
		make_record(&call[-1]);
		sp = call[-1].record;
	}
	*call = (struct call) { .sp = sp, .lr = 0x20000 + rand() % 1000 * 4UL };
	call->x30 = call->lr;
	nr_calls++;
	enter(call);
}

static void make_jump(void)
{
	struct call *call = calls + nr_calls - 1;

	if (!nr_calls || call->nr == MAX_JUMPS)
		return;
	call->record = 0;
	enter(call);
}

/* The last function of @call has returned. */
static void check_graph_exit(const struct call *call, unsigned int before)
{
	if (paused || !graph_on || !call->in_graph[call->nr]) {
		check(graph.nr == before, "no record of the return of a function not in the graph");
		return;
	}
	check(graph.nr == before + 1 && graph.exit &&
	      graph.func == call->ips[call->nr] + OFFSET, "a record of the return");
	check(graph.depth == (s32)count(true) || stale, "it has the depth of the entry");
	check(graph.entered > call->entered[call->nr] && graph.entered <= now,
	      "it has the time of the entry");
}

static void make_return(void)
{
	struct call *call = calls + nr_calls - 1;
	unsigned int before, graph_before;
	unsigned long to;

	if (!nr_calls)
		return;

	for (to = call->x30; to == RETURN;) {
		before = event.nr;
		graph_before = graph.nr;
		to = exit_at(call->sp);
		while (call->nr && !call->hooked[call->nr - 1])
			call->nr--;
		check(call->nr, "it returns once");
		if (!call->nr--)
			break;
		if (paused || !func_ret_on)
			check(event.nr == before, "no event of the return while paused, or off");
		else
			check(event.nr == before + 1 && event.ret &&
			      event.ip == call->ips[call->nr] + OFFSET, "an event of the return");
		check_graph_exit(call, graph_before);
	}
	check(to == call->lr, "it returns to where it was called");
	nr_calls--;
}

/* The stack of the next calls is as it would be after a return to the host. */
static void leave(void)
{
	nr_calls = 0;
	stale = true;
}

static void set_paused(bool on)
{
	paused = on;
	if (on)
		hyp_func_pause();
	else
		hyp_func_resume();
}

/*
 * hyp_panic() has a frame record, and the LR of the last function, which may have no frame record.
 * After an overflow that is hyp_panic_bad_stack()'s, which has called hyp_panic(): both have theirs
 * on the other stack.
 */
static void panic(void)
{
	struct call *last = calls + nr_calls - 1;
	unsigned long *record, *first;
	bool overflows = rand() % 2;
	unsigned int i;

	if (!nr_calls)
		return;
	if (rand() % 2)
		make_record(last);
	record = overflows ? stacks.overflow + PAGE_SIZE / sizeof(long) - 2 :
		 (unsigned long *)(last->record ?: last->sp) - 2;
	record[0] = last->record ?: nr_calls > 1 ? last[-1].record : 0;
	record[1] = sign(last->x30);
	first = record;
	if (overflows) {
		first = record - 2;
		first[0] = (unsigned long)record;
		first[1] = next_ip;
	}
	hyp_func_restore_frames((unsigned long)first);
	check(strip(record[1]) == last->lr, "the first record says where the function returns to");
	check(!overflows || first[1] == next_ip, "hyp_panic() returns to where it was called");
	for (i = 0; i < nr_calls; i++)
		check(!calls[i].record ||
		      strip(((unsigned long *)calls[i].record)[1]) == calls[i].lr,
		      "a frame record says where the function returns to");
	leave();
}

/* Also what the host may not */
static void set_graph(void)
{
	u32 depth = rand() % (2 * HYP_FUNC_DEPTH), set = rand() % 3;

	if (depth > HYP_FUNC_DEPTH || set > 1) {
		check(hyp_func_set_graph(depth, set) == -EINVAL, "a wrong argument is refused");
		return;
	}
	check(!hyp_func_set_graph(depth, set), "the graph is set");
	max_depth = depth ?: HYP_FUNC_DEPTH;
	only = set;
}

/* While @deepens, few functions return, so that there is no room in the shadow stack. */
static void step(bool deepens)
{
	switch (rand() % 68) {
	case 64:
		function_on = rand() % 4;
		return hyp_func_update_events();
	case 65 ... 66:
		graph_on = rand() % 4;
		return hyp_func_update_events();
	case 67:
		return set_graph();
	case 0 ... 27:
		return make_call();
	case 28 ... 51:
		return deepens ? make_call() : make_return();
	case 52 ... 55:
		return make_jump();
	case 56 ... 57:
		return set_paused(rand() % 4 == 0);
	case 58 ... 59:
		func_on = rand() % 4;
		return hyp_func_update_events();
	case 60 ... 61:
		func_ret_on = rand() % 4;
		return hyp_func_update_events();
	case 62:
		return leave();
	default:
		if (rand() % 16 == 0)
			panic();
	}
}

/* The CPU has another stack, and has entered no function. */
static void use_stack(unsigned long *new)
{
	stack = new;
	kvm_init_params.stack_hyp_va = (unsigned long)stack + PAGE_SIZE;
	nr_calls = 0;
	hyp_func_reset();
}

int main(void)
{
	unsigned int i;

	hyp_kimg_offset = OFFSET;
	func_on = true;
	func_ret_on = true;
	hyp_func_update_events();
	for (i = 0; i < 2000000 && !failed; i++) {
		if (i % 100000 == 0)
			use_stack(i / 100000 % 2 ? stacks.above : stacks.below);
		step(i / 1000 % 2);
	}
	if (!failed)
		printf("ok: %u events, %u and %u records of tracers\n", event.nr, traced.nr,
		       graph.nr);
	return failed;
}
