// SPDX-License-Identifier: GPL-2.0-only
#include <setjmp.h>
#include <ucontext.h>

#include "explore.h"
#include "machine.h"

#define CPUS		2
#define MAX_PLACES	128
#define MAX_VALUES	64
#define MAX_WATCHES	8
#define MAX_WATCHED	64
#define MAX_SHARED	24
#define MAX_PRIVATE	16
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
 * @views:	what who sees them with acquire learns
 */
struct place {
	const void	*addr;
	u32		nr;
	u64		values[MAX_VALUES];
	struct view	views[MAX_VALUES];
};

/**
 * struct watch - memory that is written without saying so
 * @memory:	where
 * @size:	bytes of it
 * @before:	what it was at the last access
 */
struct watch {
	u32	*memory;
	u32	size;
	u32	before[MAX_WATCHED / sizeof(u32)];
};

/**
 * struct range - memory that both CPUs access
 * @start:	where
 * @size:	bytes of it
 */
struct range {
	uintptr_t	start;
	u32		size;
};

/**
 * struct cpu - a CPU
 * @view:	what it knows
 * @stored:	what it stored itself
 * @fenced:	... before the last smp_wmb()
 * @loaded:	what the values carried that it loaded without acquire
 * @context:	where it begins
 * @begun:	it has begun
 * @at:	then, where it is
 * @stopped:	it is done
 * @next:	what it will access when it goes on; NULL before its first access
 * @locks:	... which is a lock that it is to take; else NULL
 * @choice:	the choice to go on there; where it went on last
 * @asleep:	to let it go on now has been tried, and the other has done nothing since
 *		that this makes a difference to
 * @stack:	its stack
 */
struct cpu {
	struct view	view;
	struct view	stored;
	struct view	fenced;
	struct view	loaded;
	ucontext_t	context;
	bool		begun;
	jmp_buf		at;
	bool		stopped;
	const void	*next;
	const u64	*locks;
	u32		choice;
	bool		asleep;
	u8		stack[STACK_SIZE];
};

static struct place places[MAX_PLACES];
static u32 nr_places;
static struct watch watches[MAX_WATCHES];
static u32 nr_watches;
static struct range shared[MAX_SHARED];
static u32 nr_shared;
static const void *private[MAX_PRIVATE];
static u32 nr_private;
static struct cpu cpus[CPUS];
static u32 self;
static ucontext_t home;
static bool every;	/* way, but no two that differ in nothing */
static bool latest_only;	/* loads see the latest value */
static bool redundant;	/* this way is as another one */
static struct view lock_view;	/* what who takes the lock learns */

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

static bool machine_is_private(const void *addr)
{
	u32 i;

	for (i = 0; i < nr_private; i++)
		if (private[i] == addr)
			return true;
	return false;
}

static bool machine_is_shared(const void *addr)
{
	u32 i;

	for (i = 0; i < nr_shared; i++)
		if ((uintptr_t)addr - shared[i].start < shared[i].size)
			return !machine_is_private(addr);
	return false;
}

static u64 machine_load(const void *addr, u64 latest, int order)
{
	struct cpu *cpu = &cpus[self];
	struct place *place;
	u32 i, seen;

	if (!machine_is_shared(addr))
		return latest;

	i = machine_place(addr, latest);
	place = &places[i];
	seen = place->nr - 1 - explore_choose(place->nr - cpu->view.known[i]);
	cpu->view.known[i] = seen;
	view_join(order == __ATOMIC_ACQUIRE ? &cpu->view : &cpu->loaded, &place->views[seen]);
	return place->values[seen];
}

static void machine_append(u32 i, u64 value, const struct view *view)
{
	struct place *place = &places[i];
	struct cpu *cpu = &cpus[self];

	if (place->nr == MAX_VALUES)
		abort();
	cpu->view.known[i] = place->nr;
	cpu->stored.known[i] = place->nr;
	place->views[place->nr] = *view;
	place->values[place->nr++] = value;
}

static void machine_store(const void *addr, u64 old, u64 new, int order)
{
	struct cpu *cpu = &cpus[self];

	if (machine_is_shared(addr))
		machine_append(machine_place(addr, old), new,
			       order == __ATOMIC_RELEASE ? &cpu->view : &cpu->fenced);
}

/* The order is that of acquire and release together; none if it fails. */
static void machine_exchange(const void *addr, u64 seen, u64 new, bool done)
{
	struct cpu *cpu = &cpus[self];
	struct view *carried;
	u32 i;

	if (!machine_is_shared(addr))
		return;

	i = machine_place(addr, seen);
	carried = &places[i].views[places[i].nr - 1];
	cpu->view.known[i] = places[i].nr - 1;
	view_join(done ? &cpu->view : &cpu->loaded, carried);
	if (done)
		machine_append(i, new, &cpu->view);
}

static void machine_fence(int order)
{
	struct cpu *cpu = &cpus[self];

	if (order == __ATOMIC_RELEASE)
		view_join(&cpu->fenced, &cpu->stored);
	else
		view_join(&cpu->view, &cpu->loaded);
}

static void machine_see(struct watch *watch)
{
	struct cpu *other = &cpus[!self];
	u32 i;

	explore_mark(cpus[self].choice);
	for (i = 0; i < watch->size / sizeof(u32); i++) {
		if (watch->before[i] == watch->memory[i])
			continue;
		machine_store(&watch->memory[i], watch->before[i], watch->memory[i],
			      __ATOMIC_RELAXED);
		watch->before[i] = watch->memory[i];
		if (other->next == &watch->memory[i])
			other->asleep = false;
	}
}

static bool machine_is_watched(const void *addr)
{
	u32 i;

	for (i = 0; i < nr_watches; i++)
		if ((uintptr_t)addr - (uintptr_t)watches[i].memory < watches[i].size)
			return true;
	return false;
}

/* What was written without saying so: it was this CPU. */
static void machine_look(void)
{
	u32 i;

	for (i = 0; i < nr_watches; i++)
		if (memcmp(watches[i].before, watches[i].memory, watches[i].size))
			machine_see(&watches[i]);
}

/* Go on with a CPU: without a system call, if it has begun. */
static void machine_go(struct cpu *cpu)
{
	if (cpu->begun)
		_longjmp(cpu->at, 1);
	cpu->begun = true;
	setcontext(&cpu->context);
}

static void machine_switch(void)
{
	struct cpu *from = &cpus[self];

	if (cpus[!self].stopped || _setjmp(from->at))
		return;

	self = !self;
	machine_go(&cpus[self]);
}

static bool machine_can_go(u32 i)
{
	return !cpus[i].stopped && !cpus[i].asleep && !(cpus[i].locks && *cpus[i].locks);
}

/*
 * Each turn of two CPUs, by sleep sets: where both can go on, one does, and on the next
 * way the other. That one then is not tried again before the other has accessed the same
 * word: until then it would make no difference.
 */
static void machine_choose(void)
{
	bool can = machine_can_go(self), other_can = machine_can_go(!self);

	if (!can && !other_can) {
		redundant = true;
		cpus[0].asleep = false;
		cpus[1].asleep = false;
		can = machine_can_go(self);
	} else if (can && other_can && !redundant) {
		cpus[self].choice = explore_at();
		if (explore_choose(2)) {
			cpus[self].asleep = true;
			can = false;
		}
	}

	if (!can)
		machine_switch();
}

/*
 * What the other one would write to watched memory, it has written after the same choice on an
 * earlier way. So it makes a difference if it goes on after this CPU has accessed such memory.
 */
static bool machine_disturbs(const void *addr)
{
	struct cpu *other = &cpus[!self];

	return other->next == addr ||
	       (other->asleep && explore_is_marked(other->choice) && machine_is_watched(addr));
}

static void machine_access(const void *addr, const u64 *locks)
{
	struct cpu *cpu = &cpus[self];

	cpu->next = addr;
	cpu->locks = locks;
	cpu->choice = UINT32_MAX;
	machine_choose();
	if (machine_disturbs(addr))
		cpus[!self].asleep = false;
}

static void machine_step(const void *addr)
{
	machine_look();
	if (!machine_is_shared(addr))
		return;
	if (every)
		machine_access(addr, NULL);
	else if (!cpus[!self].stopped && explore_choose(2))
		machine_switch();
}

/* A CPU that waits for the other one lets it run. */
static void machine_relax(void)
{
	machine_look();
	machine_switch();
}

/* There is one lock. */
static void machine_lock(u64 *held)
{
	if (every && machine_is_shared(held)) {
		machine_look();
		machine_access(held, held);
	} else {
		machine_step(held);
	}
	while (*held)
		machine_relax();
	*held = 1;
	view_join(&cpus[self].view, &lock_view);
}

static void machine_unlock(u64 *held)
{
	machine_step(held);
	*held = 0;
	lock_view = cpus[self].view;
}

static const struct shim machine_latest = {
	.step		= machine_step,
	.relax		= machine_relax,
	.lock		= machine_lock,
	.unlock		= machine_unlock,
};

static const struct shim machine = {
	.step		= machine_step,
	.load		= machine_load,
	.store		= machine_store,
	.exchange	= machine_exchange,
	.fence		= machine_fence,
	.relax		= machine_relax,
	.lock		= machine_lock,
	.unlock		= machine_unlock,
};

static void machine_start(u32 i, void (*program)(void))
{
	struct cpu *cpu = &cpus[i];

	memset(&cpu->view, 0, sizeof(cpu->view));
	memset(&cpu->stored, 0, sizeof(cpu->stored));
	memset(&cpu->fenced, 0, sizeof(cpu->fenced));
	memset(&cpu->loaded, 0, sizeof(cpu->loaded));
	cpu->stopped = false;
	cpu->begun = false;
	cpu->next = NULL;
	cpu->locks = NULL;
	cpu->choice = UINT32_MAX;
	cpu->asleep = false;
	getcontext(&cpu->context);
	cpu->context.uc_stack.ss_sp = cpu->stack;
	cpu->context.uc_stack.ss_size = sizeof(cpu->stack);
	cpu->context.uc_link = &home;
	makecontext(&cpu->context, program, 0);
}

/* Run the CPU whose turn it is until one stops; then it's the other's turn. */
static void machine_run_one(void)
{
	static bool back;

	back = false;
	/* It returns again when the CPU stops. */
	getcontext(&home);
	if (!__atomic_load_n(&back, __ATOMIC_RELAXED)) {
		back = true;
		machine_go(&cpus[self]);
	}
	machine_look();
	cpus[self].stopped = true;
	self = !self;
	redundant |= cpus[self].asleep;
}

/* Watch @size bytes of memory in the next run. */
void machine_watch(void *memory, u32 size)
{
	if (nr_watches == MAX_WATCHES || size > MAX_WATCHED)
		abort();
	watches[nr_watches] = (struct watch){ .memory = memory, .size = size };
	memcpy(watches[nr_watches++].before, memory, size);
}

/* In the next run both CPUs may access @size bytes of memory. */
void machine_share(const void *memory, u32 size)
{
	if (nr_shared == MAX_SHARED)
		abort();
	shared[nr_shared++] = (struct range){ (uintptr_t)memory, size };
}

/* Only one of the CPUs uses what is there in the next run. */
void machine_private(const void *addr)
{
	if (nr_private == MAX_PRIVATE)
		abort();
	private[nr_private++] = addr;
}

/* Run both programs to their end, on one of the ways of explore.h. */
void machine_run(void (*first)(void), void (*second)(void))
{
	nr_places = 0;
	memset(&lock_view, 0, sizeof(lock_view));
	redundant = false;
	machine_start(0, first);
	machine_start(1, second);
	self = every ? 0 : explore_choose(CPUS);

	shim = latest_only ? &machine_latest : &machine;
	machine_run_one();
	machine_run_one();
	shim = NULL;
	nr_watches = 0;
	nr_shared = 0;
	nr_private = 0;
}

/*
 * The same, on one of all the ways that differ in what one CPU sees of the other; with
 * explore_begin(UINT32_MAX). If @latest, a load sees the latest value, always. False if
 * it was a way that is as another one.
 */
bool machine_run_every(void (*first)(void), void (*second)(void), bool latest)
{
	every = true;
	latest_only = latest;
	machine_run(first, second);
	every = false;
	latest_only = false;
	return !redundant;
}
