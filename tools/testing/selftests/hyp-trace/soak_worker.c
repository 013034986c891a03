// SPDX-License-Identifier: GPL-2.0-only
/*
 * Threads of a soak
 *
 * Each thread has its own random numbers, which follow from the seed, the round and the order of
 * starting. It stores its present operation. When a thread makes no progress, a watchdog prints
 * the state of each thread and ends the run.
 */
#include <err.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "soak.h"

#define MAX_WORKERS	64
#define MAX_SHOWN	20	/* violations printed */

static struct worker workers[MAX_WORKERS];	/* the first is the main thread */
static unsigned int nr_workers;
__thread struct worker *me;

static enum stage stage;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed;	/* the stage, or a worker is over */

unsigned int violations;

/* Report an error. */
void violation(const char *format, ...)
{
	va_list args;

	if (add(&violations, 1) >= MAX_SHOWN)
		return;

	va_start(args, format);
	flockfile(stdout);
	printf("# WRONG in round %u,", plan.nr);
	show_flags();
	printf(": %s %d: ", me->name, me->arg);
	vprintf(format, args);
	printf("; seed %lu\n", seed);
	fflush(stdout);
	funlockfile(stdout);
	va_end(args);
}

unsigned long mix(unsigned long x)
{
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9UL;
	x = (x ^ x >> 27) * 0x94d049bb133111ebUL;
	return x ^ x >> 31;
}

unsigned int below(unsigned int n)
{
	me->random += 0x9e3779b97f4a7c15UL;
	return mix(me->random) % n;
}

bool one_in(unsigned int n)
{
	return !below(n);
}

/* From 1 to @max: small numbers often, large ones too. */
unsigned int some(unsigned int max)
{
	return 1 + below(1 + below(max));
}

int random_cpu(void)
{
	return below(nr_cpus);
}

unsigned long now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000UL + ts.tv_nsec / 1000000;
}

void doing(const char *op, const char *file)
{
	store(&me->op, op);
	if (file != me->file)
		snprintf(me->file, sizeof(me->file), "%s", file);
	store(&me->since, now_ms());
}

bool running(void)
{
	return load(&stage) < me->until;
}

/* With the lock held: until something has changed, or for @ms. */
static void wait_changed(unsigned int ms)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	ts.tv_nsec += ms % 1000 * 1000000L;
	ts.tv_sec += ms / 1000 + ts.tv_nsec / 1000000000;
	ts.tv_nsec %= 1000000000;
	pthread_cond_timedwait(&changed, &lock, &ts);
}

/* Sleep, at most until the stage ends. */
void rest(unsigned int ms)
{
	unsigned long end = now_ms() + ms, now;

	doing("rest", me->file);
	pthread_mutex_lock(&lock);
	while (running() && (now = now_ms()) < end)
		wait_changed(end - now);
	pthread_mutex_unlock(&lock);
}

void set_stage(enum stage next)
{
	pthread_mutex_lock(&lock);
	store(&stage, next);
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
}

static void *run_worker(void *arg)
{
	me = arg;
	store(&me->tid, gettid());
	me->run();
	doing("end", "");
	pthread_mutex_lock(&lock);
	store(&me->over, true);
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
	return NULL;
}

void start(const char *name, void (*run)(void), int arg, enum stage until)
{
	unsigned int i = nr_workers;
	struct worker *worker = &workers[i];
	int ret;

	if (i == MAX_WORKERS)
		errx(1, "more than %d threads", MAX_WORKERS);

	*worker = (struct worker) {
		.name	= name,
		.run	= run,
		.arg	= arg,
		.until	= until,
		.op	= "start",
		.since	= now_ms(),
		.random	= mix(mix(mix(seed) + plan.nr) + i),
	};
	ret = pthread_create(&worker->thread, NULL, run_worker, worker);
	if (ret)
		errx(1, "pthread_create: %s", strerror(ret));
	store(&nr_workers, i + 1);
}

/* With the lock held: is a thread left that ends at this stage? Wakes readers. */
static bool any_left(enum stage until)
{
	bool left = false;
	unsigned int i;

	for (i = 1; i < nr_workers; i++) {
		if (workers[i].until != until || workers[i].over)
			continue;
		if (until == STOP)
			pthread_kill(workers[i].thread, SIGUSR1);
		left = true;
	}
	return left;
}

/* A signal may come before the read that it must interrupt: repeat it. */
void wait_workers(enum stage until)
{
	set_stage(until);
	doing("wait for a thread", "");
	pthread_mutex_lock(&lock);
	while (any_left(until))
		wait_changed(20);
	pthread_mutex_unlock(&lock);
}

void join_workers(void)
{
	unsigned int i, nr = nr_workers;

	store(&nr_workers, 1);
	for (i = 1; i < nr; i++)
		pthread_join(workers[i].thread, NULL);
}

/* Send a signal to a thread that may sleep. Threads are joined after this one has ended. */
void signal_one(void)
{
	struct worker *worker = &workers[1 + below(load(&nr_workers) - 1)];

	if (worker->until == STOP)
		pthread_kill(worker->thread, SIGUSR1);
}

static void show_stack(pid_t tid)
{
	char line[256];
	FILE *file;

	snprintf(line, sizeof(line), "/proc/self/task/%d/stack", tid);
	file = fopen(line, "r");
	if (!file)
		return;
	while (fgets(line, sizeof(line), file))
		printf("#\t\t%s", line);
	fclose(file);
}

static void give_up(const struct worker *stuck, unsigned long now)
{
	const struct worker *worker;

	printf("# STUCK in round %u,", plan.nr);
	show_flags();
	printf(": %s %d; seed %lu\n", stuck->name, stuck->arg, seed);
	for (worker = workers; worker < &workers[load(&nr_workers)]; worker++) {
		printf("#\t%s %d: %s %s since %.1f s%s\n", worker->name, worker->arg, worker->op,
		       worker->file, (now - worker->since) / 1000.0,
		       worker->over ? ", over" : "");
		show_stack(worker->tid);
	}
	fflush(stdout);
	_exit(1);
}

/* The argument is the time limit of an operation, in ms. */
static void *watch(void *limit)
{
	struct worker *worker;
	unsigned long since, now;

	for (;;) {
		usleep(500000);
		for (worker = workers; worker < &workers[load(&nr_workers)]; worker++) {
			since = load(&worker->since);
			now = now_ms();
			if (!load(&worker->over) && now > since + (unsigned long)limit)
				give_up(worker, now);
		}
	}
	return NULL;
}

static void ignore(int signal)
{
}

void init_workers(unsigned long limit)
{
	struct sigaction action = { .sa_handler = ignore };	/* no SA_RESTART */
	pthread_condattr_t attr;
	pthread_t thread;

	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&changed, &attr);
	sigaction(SIGUSR1, &action, NULL);

	me = &workers[0];
	*me = (struct worker) { .name = "main", .until = STOP, .op = "start", .since = now_ms() };
	me->tid = gettid();
	nr_workers = 1;
	if (pthread_create(&thread, NULL, watch, (void *)(limit * 1000)))
		errx(1, "pthread_create");
}
