// SPDX-License-Identifier: GPL-2.0-only
/*
 * Functions at EL2 are entered and return in any order that the compiler can make of them, against
 * a model: calls, jumps to another function, more calls than the shadow stack has room for, stacks
 * that are left for good, events that are turned on and off, and CPUs that are paused. Each
 * function returns to where it was called from. Events are in order, and name the function and its
 * caller. After a panic the frame records have the same addresses.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <linux/types.h>

/* What func.c needs of EL2. Its headers have nothing else for it. */
#define IS_ENABLED(option)		0
#define DEFINE_PER_CPU(type, name)	type name
#define DECLARE_PER_CPU(type, name)	extern __typeof__(type) name
#define this_cpu_ptr(ptr)		(ptr)
#define __ro_after_init
#define likely(x)			(x)
#define unlikely(x)			(x)
#define BUG_ON(x)			do { if (x) abort(); } while (0)
#define noinline			__attribute__((noinline))
#define static_assert(x)		_Static_assert(x, #x)
#define PAGE_SIZE			4096UL
#define OVERFLOW_STACK_SIZE		4096UL
#define __ARM64_KVM_HYP_NVHE_FUNC_H
#define __ARM64_KVM_HYP_NVHE_TRACE_H
#define HYP_FUNC_BTI_C			0xd503245f

static struct { unsigned long stack_hyp_va; } kvm_init_params;
unsigned long overflow_stack[4096 / sizeof(long)];
static char hyp_func_return[4];

static bool func_on, func_ret_on;
static int failed;

/* The last event */
static struct { bool ret; u64 ip, parent; unsigned int nr; } event;

static void trace_func(u64 ip, u64 parent)
{
	if (!func_on)
		return;
	event.ret = false;
	event.ip = ip;
	event.parent = parent;
	event.nr++;
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

void hyp_func_pause(void);
void hyp_func_resume(void);
void hyp_func_enter(struct hyp_func_regs *regs);
void hyp_func_exit(struct hyp_func_exit_regs *regs);
void hyp_func_restore_frames(unsigned long fp);

#include EL2_SOURCE

/* What the trampolines do */
static unsigned long enter_at(unsigned long pc, unsigned long lr, unsigned long sp)
{
	struct hyp_func_regs *regs = (struct hyp_func_regs *)sp - 1;

	*regs = (struct hyp_func_regs) { .pc = pc, .lr = lr };
	hyp_func_enter(regs);
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
	unsigned int	nr;
} calls[MAX_CALLS];

static unsigned int nr_calls;
static unsigned long next_ip = 0x10000;	/* of functions, each of which is entered once */
static unsigned long stack[PAGE_SIZE / sizeof(long)] __attribute__((aligned(4096)));
static bool paused;

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

	for (i = 1; i <= depth(); i++)
		check(frame[i].level > frame[i - 1].level || frame[i].lr == RETURN,
		      "no stale frame stays in the way");
}

/* The function of @call is entered: by a call, or by a jump of the one before. */
static void enter(struct call *call)
{
	unsigned long ip = next_ip, x30 = call->x30;
	unsigned long caller = caller_of(call);
	unsigned int before = event.nr;

	call->x30 = enter_at(ip + 8, x30, call->sp);
	check(call->x30 == RETURN || call->x30 == x30, "it returns to its caller, or is traced");
	check_entered(before, ip, caller);
	check_order();
	call->hooked[call->nr] = hyp_func_cpu.frames[depth()].ip == ip;
	check(call->hooked[call->nr] || x30 == call->x30,
	      "what returns elsewhere is in the shadow stack");
	check(call->hooked[call->nr] || paused || !func_ret_on ||
	      depth() == HYP_FUNC_DEPTH, "its return is traced if there is room");
	call->ips[call->nr++] = ip;
	next_ip += 16;
}

static void make_record(struct call *call)
{
	unsigned long *record;

	if (call->record)
		return;

	call->record = call->sp - 16 * (1 + rand() % 2);
	record = (unsigned long *)call->record;
	record[0] = call > calls ? call[-1].record : 0;
	record[1] = call->x30;
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

static void make_return(void)
{
	struct call *call = calls + nr_calls - 1;
	unsigned int before;
	unsigned long to;

	if (!nr_calls)
		return;

	for (to = call->x30; to == RETURN;) {
		before = event.nr;
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
	}
	check(to == call->lr, "it returns to where it was called");
	nr_calls--;
}

/* The stack of the next calls is as it would be after a return to the host. */
static void leave(void)
{
	nr_calls = 0;
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
 */
static void panic(void)
{
	struct call *last = calls + nr_calls - 1;
	unsigned long *record;
	unsigned int i;

	if (!nr_calls)
		return;
	if (rand() % 2)
		make_record(last);
	record = (unsigned long *)(last->record ?: last->sp) - 2;
	record[0] = last->record ?: nr_calls > 1 ? last[-1].record : 0;
	record[1] = last->x30;
	hyp_func_restore_frames((unsigned long)record);
	check(record[1] == last->lr, "the first frame record says where the function returns to");
	for (i = 0; i < nr_calls; i++)
		check(!calls[i].record || ((unsigned long *)calls[i].record)[1] == calls[i].lr,
		      "a frame record says where the function returns to");
	leave();
}

static void step(void)
{
	switch (rand() % 64) {
	case 0 ... 27:
		return make_call();
	case 28 ... 51:
		return make_return();
	case 52 ... 55:
		return make_jump();
	case 56 ... 57:
		return set_paused(rand() % 4 == 0);
	case 58 ... 59:
		func_on = rand() % 4;
		return;
	case 60 ... 61:
		func_ret_on = rand() % 4;
		return;
	case 62:
		return leave();
	default:
		if (rand() % 16 == 0)
			panic();
	}
}

int main(void)
{
	unsigned int i;

	kvm_init_params.stack_hyp_va = (unsigned long)stack + PAGE_SIZE;
	hyp_func_offset = OFFSET;
	func_on = true;
	func_ret_on = true;
	for (i = 0; i < 2000000 && !failed; i++)
		step();
	if (!failed)
		printf("ok: %u events\n", event.nr);
	return failed;
}
