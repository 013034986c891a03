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
 * has it: its caller is in the graph, or it can begin one. Each frame has how many functions of the
 * graph are entered then. Only functions in the graph have records of their entry and return.
 *
 * While a tracer is on, all functions go the slow path. So the fast one, with events alone, has one
 * test for both tracers.
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
 * belong to another CPU, or after a panic.
 *
 * Nothing is traced while a CPU is paused: while it has a protected guest's vCPU, and after EL2 has
 * panicked. Functions that were entered before return as usual, without an event.
 *
 * Each CPU has its own shadow stack, and nothing interrupts EL2. So there are no locks.
 */
#include <linux/bug.h>
#include <linux/build_bug.h>
#include <linux/compiler.h>
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

/**
 * struct hyp_func_frame - a function whose return is traced
 * @lr:		where it returns to, signed
 * @level:	minus the stack pointer that it was entered with: the more, the deeper
 * @ip:		the function
 * @entered:	when it was entered, hyp_clock_count(), if it is in the graph
 * @depth:	functions of the graph that are entered, with this one
 * @in_graph:	it is in the graph
 */
struct hyp_func_frame {
	unsigned long	lr;
	unsigned long	level;
	unsigned long	ip;
	u64		entered;
	u32		depth;
	bool		in_graph;
};

/**
 * struct hyp_func_cpu - the shadow stack of a CPU
 * @top:	bytes of frames in it
 * @paused:	HYP_FUNC_FULL while nothing is traced, else 0
 * @overrun:	functions that had no room in it
 * @frames:	these; the first one is none, and on the level of nothing
 */
struct hyp_func_cpu {
	unsigned long		top;
	unsigned long		paused;
	u32			overrun;
	struct hyp_func_frame	frames[HYP_FUNC_DEPTH + 1];
};

static DEFINE_PER_CPU(struct hyp_func_cpu, hyp_func_cpu);

/* stacktrace.c */
DECLARE_PER_CPU(unsigned long [OVERFLOW_STACK_SIZE / sizeof(long)], overflow_stack);

/* Changes at any time. A function that is entered meanwhile is in the graph, or not. */
struct hyp_func_graph hyp_func_graph;

static bool hyp_func_tracer;	/* function or function_graph is on */

static_assert(offsetof(struct hyp_func_regs, pc) == 8);
static_assert(offsetof(struct hyp_func_regs, args) == 16);
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

/* The function of which word 1 is before @pc */
static __always_inline unsigned long hyp_func_of(unsigned long pc)
{
	unsigned long ip = pc - 2 * sizeof(u32);

	if (IS_ENABLED(CONFIG_ARM64_BTI_KERNEL) && ((const u32 *)ip)[-1] == HYP_FUNC_BTI_C)
		ip -= sizeof(u32);
	return ip;
}

static __always_inline struct hyp_func_frame *hyp_func_top(struct hyp_func_cpu *cpu)
{
	return (void *)cpu->frames + cpu->top;
}

/* Drop frames that are stale when a function on @level is entered, or returns. */
static void hyp_func_drop(struct hyp_func_cpu *cpu, unsigned long level)
{
	while (cpu->top && hyp_func_top(cpu)->level > level)
		cpu->top -= sizeof(struct hyp_func_frame);
}

static __always_inline void hyp_func_push(struct hyp_func_cpu *cpu, struct hyp_func_regs *regs,
					  unsigned long ip, bool in_graph)
{
	unsigned long sp = (unsigned long)(regs + 1);
	struct hyp_func_frame *frame = hyp_func_top(cpu) + 1;

	frame->lr = hyp_func_sign(regs->lr, sp);
	frame->level = -sp;
	frame->ip = ip;
	frame->depth = frame[-1].depth + in_graph;
	frame->in_graph = in_graph;
	cpu->top += sizeof(*frame);
	regs->lr = (unsigned long)hyp_func_return;
}

/* Is a function in the graph that is entered now? It @begins one, or not. */
static __always_inline bool hyp_func_is_in_graph(struct hyp_func_cpu *cpu, bool begins)
{
	u32 depth = hyp_func_top(cpu)->depth;

	if (!depth && !begins && READ_ONCE(hyp_func_graph.only))
		return false;
	/* Without a limit it wraps around. */
	return depth <= READ_ONCE(hyp_func_graph.max_depth) - 1;
}

/* The function's own time does not have that of its record. */
static noinline void hyp_func_enter_graph(struct hyp_func_cpu *cpu)
{
	struct hyp_func_frame *frame = hyp_func_top(cpu);

	trace_funcgraph_entry(frame->ip + hyp_kimg_offset, frame->depth - 1);
	frame->entered = hyp_clock_count();
}

/*
 * A tracer is on; the shadow stack has stale frames, or no room; the function was jumped to; or the
 * CPU is paused. If there is no room, the return is not traced.
 */
static noinline void hyp_func_enter_slow(struct hyp_func_cpu *cpu, struct hyp_func_regs *regs,
					 bool begins)
{
	unsigned long sp = (unsigned long)(regs + 1), ip = hyp_func_of(regs->pc);
	bool jumped = regs->lr == (unsigned long)hyp_func_return;
	unsigned long caller = hyp_func_caller(regs->lr);
	bool in_graph, room;

	if (cpu->paused)
		return;

	hyp_func_drop(cpu, jumped ? -sp : -sp - 1);
	if (jumped && cpu->top)
		caller = hyp_func_top(cpu)->ip;
	room = cpu->top < HYP_FUNC_FULL;
	cpu->overrun += !room;
	in_graph = trace_funcgraph_entry_enabled() && room && hyp_func_is_in_graph(cpu, begins);
	if (in_graph || (trace_func_ret_enabled() && room))
		hyp_func_push(cpu, regs, ip, in_graph);
	trace_func(ip + hyp_kimg_offset, caller + hyp_kimg_offset);
	trace_function(ip + hyp_kimg_offset, caller + hyp_kimg_offset);
	if (in_graph)
		hyp_func_enter_graph(cpu);
}

/**
 * hyp_func_enter - a function is entered
 * @regs:	its registers
 * @begins:	it can begin a graph
 *
 * Has it return to hyp_func_return, or not. The caller of a function that was jumped to is the one
 * that has jumped. All else that can be special is so on the slow path.
 *
 * Context: any at EL2 but for what func.c excludes.
 */
void hyp_func_enter(struct hyp_func_regs *regs, bool begins)
{
	unsigned long sp = (unsigned long)(regs + 1), ip = hyp_func_of(regs->pc);
	struct hyp_func_cpu *cpu = this_cpu_ptr(&hyp_func_cpu);
	unsigned long caller = hyp_func_caller(regs->lr);

	if (unlikely(hyp_func_top(cpu)->level >= -sp || cpu->top + cpu->paused >= HYP_FUNC_FULL ||
		     READ_ONCE(hyp_func_tracer)))
		return hyp_func_enter_slow(cpu, regs, begins);

	if (likely(trace_func_ret_enabled()))
		hyp_func_push(cpu, regs, ip, false);
	trace_func(ip + hyp_kimg_offset, caller + hyp_kimg_offset);
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
	struct hyp_func_frame *frame = hyp_func_top(cpu);
	unsigned long sp = (unsigned long)(regs + 1);

	BUG_ON(frame->level != -sp);
	regs->lr = hyp_func_auth(frame->lr, sp);
	cpu->top -= sizeof(*frame);
	if (unlikely(cpu->paused))
		return;

	if (unlikely(frame->in_graph) && trace_funcgraph_exit_enabled())
		hyp_event_funcgraph_exit(frame->ip + hyp_kimg_offset, frame->depth - 1,
					 cpu->overrun, frame->entered);
	trace_func_ret(frame->ip + hyp_kimg_offset);
}

/**
 * hyp_func_update_tracer - an event was turned on or off, which may be a tracer's record
 *
 * Context: hypercall.
 */
void hyp_func_update_tracer(void)
{
	WRITE_ONCE(hyp_func_tracer, trace_function_enabled() || trace_funcgraph_entry_enabled());
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
	this_cpu_ptr(&hyp_func_cpu)->top = 0;
}

/**
 * hyp_func_pause - trace no function on this CPU
 */
void hyp_func_pause(void)
{
	this_cpu_ptr(&hyp_func_cpu)->paused = HYP_FUNC_FULL;
}

/**
 * hyp_func_resume - undo hyp_func_pause()
 */
void hyp_func_resume(void)
{
	this_cpu_ptr(&hyp_func_cpu)->paused = 0;
}

/* A signature is in the upper bits of a return address; the lower half tells all of EL2's text. */
static bool hyp_func_is_return(unsigned long lr)
{
	return (u32)lr == (u32)(unsigned long)hyp_func_return;
}

static bool hyp_func_is_record(unsigned long fp)
{
	unsigned long stack = this_cpu_ptr(&kvm_init_params)->stack_hyp_va - PAGE_SIZE;
	unsigned long overflow = (unsigned long)this_cpu_ptr(overflow_stack);

	if (fp % sizeof(u64))
		return false;
	return fp - stack <= PAGE_SIZE - 2 * sizeof(u64) ||
	       fp - overflow <= OVERFLOW_STACK_SIZE - 2 * sizeof(u64);
}

/**
 * hyp_func_restore_frames - have the frame records of the stack say where functions return to
 * @fp:		that of hyp_panic()
 *
 * A frame record is below the stack pointer that its function was entered with, and not below that
 * of any function that this has called. hyp_panic() is not called: the LR in its record is that of
 * the last function.
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
		hyp_func_drop(cpu, -fp - 1);
		for (frame = hyp_func_top(cpu); frame->level && hyp_func_is_return(record[1]);
		     frame--)
			record[1] = frame->lr;
	}
}
