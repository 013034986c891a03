/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shared by the files of soak: see soak.c.
 */
#ifndef SOAK_H
#define SOAK_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "../kselftest.h"

#define TRACEFS		"/sys/kernel/tracing"

#define MAX_CPUS	16
#define MAX_WRITERS	(MAX_CPUS + 1)
#define MAX_SEQ		131072		/* events a writer makes in a round */

/* A number of lost events */
#define UNKNOWN		(~0UL)

#define load(p)		__atomic_load_n(p, __ATOMIC_SEQ_CST)
#define store(p, v)	__atomic_store_n(p, v, __ATOMIC_SEQ_CST)
#define add(p, v)	__atomic_fetch_add(p, v, __ATOMIC_SEQ_CST)

/* What a round can have, beside writers and readers */
enum {
	SWITCH	= 1 << 0,	/* tracing goes off and on */
	CLEAR	= 1 << 1,	/* events are cleared */
	NOISE	= 1 << 2,	/* EL2's own events are enabled and disabled */
	HOTPLUG	= 1 << 3,	/* CPUs come and go */
	ROAM	= 1 << 4,	/* a writer on any CPU */
	UNLOAD	= 1 << 5,	/* nothing keeps the buffer loaded */
	ALONE	= 1 << 6,	/* no reader consumes before the end */
};

/* Consuming readers */
enum {
	READER_BLOCKING	= 1 << 0,
	READER_POLL	= 1 << 1,
	READER_EPOLL	= 1 << 2,
	READER_PER_CPU	= 1 << 3,
	READER_SHARED	= 1 << 4,	/* two threads on one descriptor */
};

#define NR_READERS	5
#define ALL_READERS	((1U << NR_READERS) - 1)

/* Readers go on while events are still to be read. */
enum stage { RUN, SETTLE, STOP };

/**
 * struct load_kind - a kind of readers under full load
 * @name:	its name
 * @run:	a reader; NULL for none
 * @flags:	ALONE if readers do not consume
 * @for_all:	one reader of all CPUs, instead of one for each CPU
 * @to_end:	readers read all events before they are stopped
 */
struct load_kind {
	const char	*name;
	void		(*run)(void);
	unsigned int	flags;
	bool		for_all, to_end;
};

/**
 * struct plan - a round
 * @nr:		its number
 * @flags:	what it has
 * @ms:		how long it runs
 * @readers:	kinds of consuming readers; none if it is ALONE
 * @kb:		the buffer's size, of each CPU
 * @load:	NULL, or a round of full load with readers of that kind only
 * @pause:	ms that such a reader rests after each read, on average
 */
struct plan {
	unsigned int		nr, flags, ms, readers;
	unsigned long		kb[MAX_CPUS];
	const struct load_kind	*load;
	unsigned long		pause;
};

/*
 * Numbers of all operations of a run, which must not be 0. Of the events read, only the writers'
 * events are counted.
 */
struct done {
	unsigned long	read, lost, traces, gaps, unknown, file_reads;
	unsigned long	clears, switches, unloads, resized, busy, plugged, guests, signals, killed;
};

/* soak.c */
extern struct plan plan;
extern struct done done;
extern unsigned long seed;
extern int nr_cpus;

void show_flags(void);

/* soak_worker.c: threads, their random numbers, and the watchdog */

/**
 * struct worker - a thread, and its state for the watchdog
 * @name:	its name
 * @run:	its function
 * @arg:	its CPU or writer's number, or a descriptor
 * @until:	the stage it ends at
 * @random:	the state of its random numbers
 * @thread:	the thread
 * @tid:	its id; 0: no thread
 * @op:		its present operation
 * @file:	the file of @op
 * @since:	start of @op, ms
 * @over:	it is about to end
 */
struct worker {
	const char	*name;
	void		(*run)(void);
	int		arg;
	enum stage	until;
	unsigned long	random;
	pthread_t	thread;
	pid_t		tid;
	const char	*op;
	char		file[48];
	unsigned long	since;
	bool		over;
};

extern __thread struct worker *me;
extern unsigned int violations;

void violation(const char *format, ...) __printf(1, 2);

unsigned long mix(unsigned long x);
unsigned int below(unsigned int n);
bool one_in(unsigned int n);
unsigned int some(unsigned int max);
int random_cpu(void);

unsigned long now_ms(void);
void doing(const char *op, const char *file);
bool running(void);
void rest(unsigned int ms);
void set_stage(enum stage next);
void signal_one(void);

void start(const char *name, void (*run)(void), int arg, enum stage until);
void wait_workers(enum stage until);
void join_workers(void);
void init_workers(unsigned long limit);

/* soak_file.c: files */
struct stats {
	unsigned long	entries, overrun, commit_overrun, bytes, dropped, read;
};

int open_file(const char *name, int flags);
void close_file(int fd);
int put(const char *name, int flags, const char *text);
void must_put(const char *name, const char *text);
size_t get(const char *name, char *text, size_t size);
const char *cpu_file(char *name, size_t size, int cpu, const char *file);
void get_stats(int cpu, struct stats *stats);

/* soak_account.c: the events written, and their fate */

/* The fate of an id */
enum {
	READ	= 1 << 0,	/* a reader consumed it */
	ON	= 1 << 1,	/* tracing was on when it was written */
	UNSURE	= 1 << 2,	/* tracing was being switched, or the CPU going */
	STRAY	= 1 << 3,	/* written on some CPU */
};

/**
 * struct writer - a writer, and the fate of its events in this round
 * @cpu:	where; -1: anywhere
 * @begun:	events it has begun to write: their ids are below
 * @ended:	events that write() has returned for
 * @fate:	what is known of each
 * @reported:	how many events were reported lost right before each
 */
struct writer {
	int		cpu;
	unsigned int	begun, ended;
	unsigned char	fate[MAX_SEQ];
	unsigned int	reported[MAX_SEQ];
};

/**
 * struct account - a CPU's events in this round
 * @lines:	consumed
 * @reported:	reported lost, to readers that consume
 * @floor:	ids of its writer below this were cleared
 */
struct account {
	unsigned long	lines, reported;
	unsigned int	floor;
};

extern struct writer writers[MAX_WRITERS];
extern int nr_writers;
extern struct account accounts[MAX_CPUS];

bool is_counted(void);
bool is_orderly(void);
bool is_steady(void);

void open_account(void);
void note_fate(struct writer *writer, unsigned int seq, unsigned int fate);
void note_read(struct writer *writer, unsigned int seq, unsigned long reported);
void note_gap(int cpu, unsigned int from, unsigned int to, unsigned long reported);
unsigned long written(int cpu, bool begun);
void check_gaps(void);
void check_account(void);

/* soak_session.c: what is read, line by line */

/**
 * struct session - one pass over a file
 * @fd:		the descriptor
 * @cpu:	whose file; -1: of all
 * @consumes:	it is a trace_pipe
 * @text:	the part of a line, @len bytes
 * @len:	of @text
 * @torn:	the line before said that events are lost: it has a next one
 * @lost:	events reported lost, and none shown since, of each CPU
 * @us:		time of the last line of each CPU
 * @last_us:	of the last line
 * @next:	the least id that each writer can have there
 * @shown:	events shown or reported lost
 * @unknown:	and more whose number is not known
 * @written:	what the header said was written
 */
struct session {
	int		fd, cpu;
	bool		consumes;
	char		text[128];
	size_t		len;
	bool		torn;
	unsigned long	lost[MAX_CPUS];
	unsigned long	us[MAX_CPUS], last_us;
	unsigned int	next[MAX_CPUS][MAX_WRITERS];
	unsigned long	shown, written;
	bool		unknown;
};

void begin_session(struct session *s, int fd, int cpu, bool consumes);
ssize_t read_some(struct session *s, size_t size);
void take_raw(struct session *s, unsigned long id, unsigned long us, unsigned long lost);
bool is_torn(const struct session *s);

/* soak_writer.c */
void run_writer(void);
bool writers_are_full(void);

/* soak_reader.c */
void run_blocking(void);
void run_poll(void);
void run_epoll(void);
void run_per_cpu(void);
void run_shared(void);
void run_tracer(void);
void run_file_reader(void);
void run_pipe(void);
void run_cpu_pipe(void);
void run_cpu_trace(void);

/* soak_load.c */
const struct load_kind *find_load(const char *name);
void start_load(void);
void wait_load(void);
void note_load_read(void);
unsigned long longest_wait(void);

/* soak_disturber.c */

/* Is tracing on? Changes before and after it is switched. */
extern unsigned int tracing;
#define TRACING_ON	1U
#define TRACING_CHANGES	2U
#define TRACING_STEP	4U

void switch_tracing(bool on);
void clear(int cpu);
int set_size(int cpu, unsigned long kb);
unsigned int random_kb(void);
void quieten(void);
void run_switcher(void);
void run_clearer(void);
void run_unloader(void);
void run_resizer(void);
void run_noise(void);
void run_plugger(void);
void run_guests(void);
void run_signaller(void);
void run_victims(void);

#endif /* SOAK_H */
