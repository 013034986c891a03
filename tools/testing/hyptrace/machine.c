// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#include <linux/minmax.h>
#include <shim.h>

#include "explore.h"
#include "machine.h"

#define CPUS		2
#define MAX_PLACES	48
#define MAX_VALUES	64
#define STACK_SIZE	(256 * 1024)

/* How far back each place is known: by index of its value */
struct view {
	u16	known[MAX_PLACES];
};

/**
 * struct place - a word in memory
 * @addr:	where
 * @nr:		values it ever had
 * @values:	these, in order
 * @views:	what the CPUs knew that stored them; nothing, but for a release
 */
struct place {
	const void	*addr;
	u32		nr;
	u64		values[MAX_VALUES];
	struct view	views[MAX_VALUES];
};

/**
 * struct cpu - a CPU
 * @view:	what it knows
 * @context:	where it is
 * @stopped:	it is done
 * @stack:	its stack
 */
struct cpu {
	struct view	view;
	ucontext_t	context;
	bool		stopped;
	u8		stack[STACK_SIZE];
};

static struct place places[MAX_PLACES];
static u32 nr_places;
static struct cpu cpus[CPUS];
static u32 self;
static ucontext_t home;

static void view_join(struct view *view, const struct view *other)
{
	u32 i;

	for (i = 0; i < nr_places; i++)
		view->known[i] = max(view->known[i], other->known[i]);
}

/* The first value of a place is the one it has when it is first met. */
static u32 machine_place(const void *addr, u64 value)
{
	u32 i;

	for (i = 0; i < nr_places; i++)
		if (places[i].addr == addr)
			return i;

	if (nr_places == MAX_PLACES)
		abort();
	places[nr_places].addr = addr;
	places[nr_places].nr = 1;
	places[nr_places].values[0] = value;
	memset(&places[nr_places].views[0], 0, sizeof(struct view));
	return nr_places++;
}

static u64 machine_load(const void *addr, u64 latest, int order)
{
	u32 i = machine_place(addr, latest);
	struct place *place = &places[i];
	struct view *view = &cpus[self].view;
	u32 age = explore_choose(place->nr - view->known[i]);
	u32 seen = place->nr - 1 - age;

	view->known[i] = seen;
	if (order == __ATOMIC_ACQUIRE)
		view_join(view, &place->views[seen]);
	return place->values[seen];
}

static void machine_append(u32 i, u64 value, const struct view *view)
{
	struct place *place = &places[i];

	if (place->nr == MAX_VALUES)
		abort();
	place->views[place->nr] = *view;
	place->values[place->nr++] = value;
}

static void machine_store(const void *addr, u64 old, u64 new, int order)
{
	static const struct view nothing;
	u32 i = machine_place(addr, old);
	struct view *view = &cpus[self].view;

	view->known[i] = places[i].nr;
	machine_append(i, new, order == __ATOMIC_RELEASE ? view : &nothing);
}

/* The order is that of acquire and release together; none if it fails. */
static void machine_exchange(const void *addr, u64 seen, u64 new, bool done)
{
	u32 i = machine_place(addr, seen);
	struct view *view = &cpus[self].view;

	view->known[i] = places[i].nr - 1;
	if (!done)
		return;

	view_join(view, &places[i].views[places[i].nr - 1]);
	view->known[i] = places[i].nr;
	machine_append(i, new, view);
}

static void machine_step(void)
{
	u32 from = self, to = !self;

	if (cpus[to].stopped || !explore_choose(2))
		return;

	self = to;
	swapcontext(&cpus[from].context, &cpus[to].context);
}

static const struct shim machine = {
	.step		= machine_step,
	.load		= machine_load,
	.store		= machine_store,
	.exchange	= machine_exchange,
};

static void machine_start(u32 i, void (*program)(void))
{
	struct cpu *cpu = &cpus[i];

	memset(&cpu->view, 0, sizeof(cpu->view));
	cpu->stopped = false;
	getcontext(&cpu->context);
	cpu->context.uc_stack.ss_sp = cpu->stack;
	cpu->context.uc_stack.ss_size = sizeof(cpu->stack);
	cpu->context.uc_link = &home;
	makecontext(&cpu->context, program, 0);
}

/* Run the CPU whose turn it is until one stops; then it's the other's turn. */
static void machine_run_one(void)
{
	swapcontext(&home, &cpus[self].context);
	cpus[self].stopped = true;
	self = !self;
}

/* Run both programs to their end, on one of the ways of explore.h. */
void machine_run(void (*first)(void), void (*second)(void))
{
	nr_places = 0;
	machine_start(0, first);
	machine_start(1, second);
	self = explore_choose(CPUS);

	shim = &machine;
	machine_run_one();
	machine_run_one();
	shim = NULL;
}
