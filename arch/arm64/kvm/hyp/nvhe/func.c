// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tracing EL2's functions: the events func and func_ret, and the tracers function and
 * function_graph
 *
 * The compiler begins each function of the objects that are traced with two NOPs
 * (asm/kvm_hypfunc.h). While a function is traced, the second one calls hyp_func_trampoline, which
 * calls hyp_func_enter(). The latter can have the function return to hyp_func_return, which calls
 * hyp_func_exit().
 *
 * Where a function really returns to is in the shadow stack of the CPU. It is signed with the stack
 * pointer at the function's entry, as PACIASP signs a return address. The function itself signs the
 * address of hyp_func_return.
 *
 * The graph
 * ---------
 *
 * A function is in the graph if function_graph is on when it is entered, and struct hyp_func_graph
 * has it: its caller is in the graph, or it can begin one. Only functions in the graph have records
 * of their entry and return.
 *
 * Frames that never return
 * ------------------------
 *
 * Some functions leave EL2 and do not return: __host_enter() to the host, PSCI calls to the
 * firmware. What they leave in the shadow stack need not be cleared there. The stack grows
 * down, and a function that has not returned was entered with a higher stack pointer than all that
 * it calls. So when a function is entered, a frame with a lower stack pointer is stale. One with
 * the same stack pointer is stale too, unless its function has jumped to the one that is entered:
 * then the latter's return address is hyp_func_return. All that returns has the last frame.
 *
 * A stale frame stays as long as all functions that are entered are deeper in the stack, and counts
 * for the depth in the graph. What EL2 enters first has the same stack pointer each time, unless
 * the CPU comes back from the firmware. Then all frames are dropped.
 *
 * What is not traced
 * ------------------
 *
 * nvhe/Makefile lists the objects that are traced. Tracing itself is in none of them, so an event
 * does not lead to another one. "notrace" excludes functions that run while the CPU's ring may
 * belong to another CPU, or after a panic, and those that map the text which is written.
 *
 * Nothing is traced while a CPU is paused: while it has a protected guest's vCPU, and after EL2 has
 * panicked. Functions that were entered before return as usual, without an event.
 *
 * Each CPU has its own shadow stack, and nothing interrupts EL2. So there are no locks.
 */
#include <linux/bits.h>
#include <linux/bug.h>
#include <linux/build_bug.h>
#include <linux/compiler.h>
#include <linux/limits.h>
#include <linux/stddef.h>

#include <asm/kvm_asm.h>
#include <asm/kvm_hyp.h>
#include <asm/kvm_hypfunc.h>
#include <asm/memory.h>

#include <nvhe/func.h>
#include <nvhe/trace.h>

/* The bytes of HYP_FUNC_DEPTH frames */
#define HYP_FUNC_FULL		(HYP_FUNC_DEPTH * sizeof(struct hyp_func_frame))

/* Frame records that are looked at after a panic, at the most */
#define HYP_FUNC_MAX_RECORDS	128

/* In hyp_func_frame.ip: the function is in the graph. */
#define HYP_FUNC_IN_GRAPH	1UL

/**
 * struct hyp_func_frame - a function whose return is traced
 * @lr:		where it returns to, signed
 * @sp:		the stack pointer that it was entered with
 * @ip:		the function, and HYP_FUNC_IN_GRAPH or not
 * @entered:	when it was entered, hyp_clock_count(), if it is in the graph
 */
struct hyp_func_frame {
	unsigned long	lr;
	unsigned long	sp;
	unsigned long	ip;
	u64		entered;
};

/**
 * struct hyp_func_cpu - the shadow stack of a CPU
 * @frames:	the first one is none, and above all stack pointers
 * @top:	bytes of the others
 * @limit:	what @top stays below: HYP_FUNC_FULL, or 0 while nothing is traced
 * @depth:	functions of the graph that are in it
 * @overrun:	functions that had no room in it
 */
struct hyp_func_cpu {
	struct hyp_func_frame	frames[HYP_FUNC_DEPTH + 1];
	unsigned long		top;
	unsigned long		limit;
	u32			depth;
	u32			overrun;
};

static DEFINE_PER_CPU(struct hyp_func_cpu, hyp_func_cpu) = {
	.frames	= { { .sp = ULONG_MAX } },
	.limit	= HYP_FUNC_FULL,
};

/* stacktrace.c */
DECLARE_PER_CPU(unsigned long [OVERFLOW_STACK_SIZE / sizeof(long)], overflow_stack);

/*
 * What a function does that is entered: it writes one event, of this number, and has its return
 * traced or not; or it is in the graph, and writes no other event. All else is the slow path's.
 */
#define HYP_FUNC_ON_FUNC_RET	BIT(0)
#define HYP_FUNC_ON_GRAPH	BIT(1)
#define HYP_FUNC_ON_EVENT_SHIFT	2

static u32 hyp_func_on;

/* Changes at any time. A function that is entered meanwhile is in the graph, or not. */
struct hyp_func_graph hyp_func_graph;

/* hyp_event_write_16() writes ip, and then this. */
static_assert(offsetof(struct hyp_event_func, parent_ip) == sizeof(struct hyp_event_header) + 8);
static_assert(offsetof(struct hyp_event_function, parent_ip) ==
	      offsetof(struct hyp_event_func, parent_ip));

static_assert(offsetof(struct hyp_func_regs, pc) == 8);
static_assert(offsetof(struct hyp_func_regs, lr) == 88);
static_assert(sizeof(struct hyp_func_regs) == 96);
static_assert(offsetof(struct hyp_func_exit_regs, lr) == 16);
static_assert(sizeof(struct hyp_func_exit_regs) == 32);

/* PACIA1716 and AUTIA1716, which are NOPs without pointer authentication */
#ifdef CONFIG_ARM64_PTR_AUTH_KERNEL
static __always_inline unsigned long hyp_func_sign(unsigned long lr, unsigned long sp)
{
	register unsigned long x16 asm("x16") = sp;
	register unsigned long x17 asm("x17") = lr;

	asm("hint #8" : "+r" (x17) : "r" (x16));
	return x17;
}

static __always_inline unsigned long hyp_func_auth(unsigned long lr, unsigned long sp)
{
	register unsigned long x16 asm("x16") = sp;
	register unsigned long x17 asm("x17") = lr;

	asm("hint #12" : "+r" (x17) : "r" (x16));
	return x17;
}
#else
static __always_inline unsigned long hyp_func_sign(unsigned long lr, unsigned long sp)
{
	return lr;
}

static __always_inline unsigned long hyp_func_auth(unsigned long lr, unsigned long sp)
{
	return lr;
}
#endif

/* Where a function was called that returns to @lr */
static __always_inline unsigned long hyp_func_caller(unsigned long lr)
{
	return lr - sizeof(u32);
}

/* The function of which word 0 is at @ip */
static __always_inline unsigned long hyp_func_of(unsigned long ip)
{
	if (IS_ENABLED(CONFIG_ARM64_BTI_KERNEL) && ((const u32 *)ip)[-1] == HYP_FUNC_BTI_C)
		ip -= sizeof(u32);
	return ip;
}

static __always_inline struct hyp_func_frame *hyp_func_top(struct hyp_func_cpu *cpu)
{
	return (void *)cpu->frames + cpu->top;
}

/* Drop frames of functions that were entered below @sp: they are stale. The first one ends this. */
static void hyp_func_drop(struct hyp_func_cpu *cpu, unsigned long sp)
{
	for (; hyp_func_top(cpu)->sp < sp; cpu->top -= sizeof(struct hyp_func_frame))
		cpu->depth -= hyp_func_top(cpu)->ip & HYP_FUNC_IN_GRAPH;
}

/* What the trampoline has saved below the stack pointer of the function */
static __always_inline struct hyp_func_regs *hyp_func_regs(unsigned long sp)
{
	return (struct hyp_func_regs *)sp - 1;
}

/* The caller has read @top, which the compiler would have to read again. */
static __always_inline void hyp_func_push(struct hyp_func_cpu *cpu, unsigned long top,
					  unsigned long ip, unsigned long sp, unsigned long lr)
{
	struct hyp_func_frame *frame = (void *)cpu->frames + top + sizeof(*frame);

	frame->lr = hyp_func_sign(lr, sp);
	frame->sp = sp;
	frame->ip = ip;
	cpu->top = top + sizeof(*frame);
	hyp_func_regs(sp)->lr = (unsigned long)hyp_func_return;
}

/* Is a function in the graph that is entered now? It @begins one, or not. */
static __always_inline bool hyp_func_is_in_graph(struct hyp_func_cpu *cpu, bool begins)
{
	if (!cpu->depth && !begins && READ_ONCE(hyp_func_graph.only))
		return false;
	/* Without a limit it wraps around. */
	return cpu->depth <= READ_ONCE(hyp_func_graph.max_depth) - 1;
}

/* The function's own time does not have that of its record. */
static __always_inline void hyp_func_record_entry(struct hyp_func_cpu *cpu, unsigned long ip)
{
	trace_funcgraph_entry(ip + hyp_kimg_offset, cpu->depth);
	cpu->depth++;
	hyp_func_top(cpu)->entered = hyp_clock_count();
}

/*
 * Several events are on, or none; the shadow stack has stale frames, or no room; the function was
 * jumped to; or the CPU is paused. If there is no room, the return is not traced.
 */
static noinline void hyp_func_enter_slow(unsigned long sp, struct hyp_func_cpu *cpu, bool begins)
{
	struct hyp_func_regs *regs = hyp_func_regs(sp);
	unsigned long ip = hyp_func_of(regs->pc - 2 * sizeof(u32));
	bool jumped = regs->lr == (unsigned long)hyp_func_return;
	unsigned long caller = hyp_func_caller(regs->lr);
	bool in_graph, room;

	if (!cpu->limit)
		return;

	hyp_func_drop(cpu, jumped ? sp : sp + 1);
	if (jumped && cpu->top)
		caller = hyp_func_top(cpu)->ip & ~HYP_FUNC_IN_GRAPH;
	room = cpu->top < HYP_FUNC_FULL;
	cpu->overrun += !room;
	in_graph = trace_funcgraph_entry_enabled() && room && hyp_func_is_in_graph(cpu, begins);
	if (in_graph || (trace_func_ret_enabled() && room))
		hyp_func_push(cpu, cpu->top, ip | in_graph * HYP_FUNC_IN_GRAPH, sp, regs->lr);
	trace_func(ip + hyp_kimg_offset, caller + hyp_kimg_offset);
	trace_function(ip + hyp_kimg_offset, caller + hyp_kimg_offset);
	if (in_graph)
		hyp_func_record_entry(cpu, ip);
}

static noinline void hyp_func_enter_graph(unsigned long sp, struct hyp_func_cpu *cpu, bool begins)
{
	struct hyp_func_regs *regs = hyp_func_regs(sp);
	unsigned long ip = hyp_func_of(regs->pc - 2 * sizeof(u32));

	if (!hyp_func_is_in_graph(cpu, begins))
		return;

	hyp_func_push(cpu, cpu->top, ip | HYP_FUNC_IN_GRAPH, sp, regs->lr);
	hyp_func_record_entry(cpu, ip);
}

static __always_inline void __hyp_func_enter(unsigned long word, unsigned long lr,
					     unsigned long sp, bool begins)
{
	unsigned long ip = hyp_func_of(word), caller = hyp_func_caller(lr);
	struct hyp_func_cpu *cpu = this_cpu_ptr(&hyp_func_cpu);
	unsigned long top = cpu->top;
	u32 on = READ_ONCE(hyp_func_on);
	bool slow = hyp_func_top(cpu)->sp <= sp;

	/* One branch for all three */
	slow |= top >= cpu->limit;
	slow |= on < HYP_FUNC_ON_GRAPH;
	if (unlikely(slow))
		return hyp_func_enter_slow(sp, cpu, begins);

	if (likely(on & HYP_FUNC_ON_FUNC_RET))
		hyp_func_push(cpu, top, ip, sp, lr);
	else if (on & HYP_FUNC_ON_GRAPH)
		return hyp_func_enter_graph(sp, cpu, begins);
	hyp_event_write_16(on >> HYP_FUNC_ON_EVENT_SHIFT, ip + hyp_kimg_offset,
			   caller + hyp_kimg_offset);
}

/**
 * hyp_func_enter - a function is entered that can't begin a graph
 * @unused:	X0, which the first argument of a call needs: what was in it would have to be copied
 * @word:	the address of its word 0
 * @lr:		where it returns to, as in the registers that the trampoline has saved
 * @sp:		its stack pointer: they are below it
 *
 * Has it return to hyp_func_return, or not. The caller of a function that was jumped to is the one
 * that has jumped. All else that can be special is so on the slow path.
 *
 * Context: any at EL2 but for what func.c excludes.
 */
void hyp_func_enter(unsigned long unused, unsigned long word, unsigned long lr,
		    unsigned long sp)
{
	__hyp_func_enter(word, lr, sp, false);
}

/**
 * hyp_func_graph_enter - likewise for a function that can begin a graph
 * @unused:	see hyp_func_enter()
 * @word:	as well
 * @lr:		as well
 * @sp:		as well
 */
void hyp_func_graph_enter(unsigned long unused, unsigned long word, unsigned long lr,
			  unsigned long sp)
{
	__hyp_func_enter(word, lr, sp, true);
}

/* A function of the graph returns. Its time does not have that of the other record. */
static noinline void hyp_func_exit_slow(struct hyp_func_cpu *cpu, struct hyp_func_frame *frame)
{
	unsigned long ip = (frame->ip & ~HYP_FUNC_IN_GRAPH) + hyp_kimg_offset;
	u32 depth = --cpu->depth;

	if (!cpu->limit)
		return;
	if (trace_funcgraph_exit_enabled())
		hyp_event_funcgraph_exit(ip, depth, cpu->overrun, frame->entered);
	trace_func_ret(ip);
}

/**
 * hyp_func_exit - a function returns to hyp_func_return
 * @regs:	its registers; @regs->lr becomes where it returns to
 *
 * Context: as hyp_func_enter().
 */
void hyp_func_exit(struct hyp_func_exit_regs *regs)
{
	struct hyp_func_cpu *cpu = this_cpu_ptr(&hyp_func_cpu);
	unsigned long sp = (unsigned long)(regs + 1), top = cpu->top;
	struct hyp_func_frame *frame = hyp_func_top(cpu);

	BUG_ON(frame->sp != sp);
	regs->lr = hyp_func_auth(frame->lr, sp);
	cpu->top = top - sizeof(*frame);
	if (unlikely(frame->ip & HYP_FUNC_IN_GRAPH))
		return hyp_func_exit_slow(cpu, frame);

	if (likely(cpu->limit))
		trace_func_ret(frame->ip + hyp_kimg_offset);
}

/**
 * hyp_func_update_events - an event was turned on or off, which may be one of func.c
 *
 * Context: hypercall.
 */
void hyp_func_update_events(void)
{
	bool func = trace_func_enabled(), function = trace_function_enabled();
	bool func_ret = trace_func_ret_enabled(), graph = trace_funcgraph_entry_enabled();
	u32 on = func_ret * HYP_FUNC_ON_FUNC_RET;

	if (graph && !func && !func_ret && !function)
		on = HYP_FUNC_ON_GRAPH;
	else if (!graph && func != function)
		on |= (func ? HYP_EVENT_func : HYP_EVENT_function) << HYP_FUNC_ON_EVENT_SHIFT;
	WRITE_ONCE(hyp_func_on, on);
}

/**
 * hyp_func_set_graph - choose which functions function_graph traces
 * @max_depth:	how deep, at the most; 0 for no limit
 * @only:	1: only functions that can begin a graph, and what these call; 0: all
 *
 * Context: hypercall, with arguments from the host.
 * Return: 0; -EINVAL for an argument out of range.
 */
int hyp_func_set_graph(u64 max_depth, u64 only)
{
	if (max_depth > HYP_FUNC_DEPTH || only > 1)
		return -EINVAL;

	WRITE_ONCE(hyp_func_graph.max_depth, max_depth);
	WRITE_ONCE(hyp_func_graph.only, only);
	return 0;
}

/**
 * hyp_func_reset - drop all functions: this CPU comes back from the firmware, with an empty stack
 */
void hyp_func_reset(void)
{
	hyp_func_drop(this_cpu_ptr(&hyp_func_cpu), ULONG_MAX);
}

/**
 * hyp_func_pause - trace no function on this CPU
 */
void hyp_func_pause(void)
{
	this_cpu_ptr(&hyp_func_cpu)->limit = 0;
}

/**
 * hyp_func_resume - undo hyp_func_pause()
 */
void hyp_func_resume(void)
{
	this_cpu_ptr(&hyp_func_cpu)->limit = HYP_FUNC_FULL;
}

/* A signature is in the upper bits of a return address; the lower half tells all of EL2's text. */
static bool hyp_func_is_return(unsigned long lr)
{
	return (u32)lr == (u32)(unsigned long)hyp_func_return;
}

static bool hyp_func_is_on(unsigned long fp, unsigned long stack, unsigned long size)
{
	return fp - stack <= size - 2 * sizeof(u64);
}

static bool hyp_func_has_overflowed(unsigned long fp)
{
	return hyp_func_is_on(fp, (unsigned long)this_cpu_ptr(overflow_stack),
			      OVERFLOW_STACK_SIZE);
}

static bool hyp_func_is_record(unsigned long fp)
{
	unsigned long stack = this_cpu_ptr(&kvm_init_params)->stack_hyp_va - PAGE_SIZE;

	if (fp % sizeof(u64))
		return false;
	return hyp_func_is_on(fp, stack, PAGE_SIZE) || hyp_func_has_overflowed(fp);
}

/**
 * hyp_func_restore_frames - have the frame records of the stack say where functions return to
 * @fp:		that of hyp_panic()
 *
 * A frame record is below the stack pointer that its function was entered with, and not below that
 * of any function that this has called. hyp_panic() is not called: the LR in its record is that of
 * the last function. So is that of hyp_panic_bad_stack(). The overflow stack has no other records,
 * and may be above the stack of the functions.
 *
 * Context: EL2 panics, and its functions do not return any more.
 */
void hyp_func_restore_frames(unsigned long fp)
{
	struct hyp_func_cpu *cpu = this_cpu_ptr(&hyp_func_cpu);
	struct hyp_func_frame *frame;
	unsigned long *record;
	unsigned int i;

	for (i = 0; i < HYP_FUNC_MAX_RECORDS && hyp_func_is_record(fp); i++, fp = record[0]) {
		record = (unsigned long *)fp;
		if (!hyp_func_has_overflowed(fp))
			hyp_func_drop(cpu, fp + 1);
		for (frame = hyp_func_top(cpu);
		     frame > cpu->frames && hyp_func_is_return(record[1]); frame--)
			record[1] = frame->lr;
	}
}
