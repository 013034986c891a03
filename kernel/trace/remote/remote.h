/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the files of a remote's trace instance share. These are:
 *
 *	remote.c	registration
 *	files.c		the directory, and the small files
 *	event_files.c	events/, set_event, available_events
 *	trigger_files.c	trigger and hist of an event
 *	function_files.c	available_filter_functions, set_ftrace_filter, set_ftrace_notrace,
 *			set_graph_function, max_graph_depth
 *	pid_files.c	set_event_pid, set_event_notrace_pid
 *	options.c	trace_options, options/
 *	cpumask_file.c	tracing_cpumask
 *	pipe.c raw.c show.c stats.c	trace_pipe, trace_pipe_raw, trace and snapshot, stats
 *	dump.c		the last events on the console
 *	wait.c		waiting for events
 *	triggers.c	events that turn tracing off or on
 *	hist.c		histograms
 *	filter.c	filters
 *	errors.c	error_log
 *	snapshot.c	the copy of the rings that snapshot shows
 *	hotplug.c	CPUs that come and go
 *	tracer.c	current_tracer
 *	instance.c	the life of the buffer; tracing on and off
 *	records.c	each record, for histograms and for a tracepoint
 *	tasks.c		the tasks that CPUs run
 *	buffer.c	the rings of all CPUs
 *	cpu.c		calls on each CPU
 *	events.c	which events are enabled
 *	functions.c	which functions are traced
 *	merge.c		the events of several CPUs by their times
 *	print.c		an event as text
 *	tracer_records.c the records of the function tracers, also as text
 *	file.c		opening and closing a file
 *	read_lock.c	which reader consumes events next
 *	registry.c	the list of remotes
 *
 * A file calls only files that are below it in this list.
 */
#ifndef __TRACE_REMOTE_H__
#define __TRACE_REMOTE_H__

#include <linux/cpumask.h>
#include <linux/list.h>
#include <linux/math64.h>
#include <linux/min_heap.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/poll.h>
#include <linux/ring_buffer.h>
#include <linux/rwsem.h>
#include <linux/time64.h>
#include <linux/trace.h>
#include <linux/trace_events.h>
#include <linux/trace_remote.h>
#include <linux/trace_remote_filter.h>
#include <linux/workqueue.h>

#include "../ring_buffer_reader.h"
#include "../trace.h"

struct dentry;
struct eventfs_inode;
struct trace_remote_dumper;
struct trace_remote_records;
struct trace_remote_snapshot;
struct trace_replay;

/**
 * struct trace_remote_buffer - the rings of all CPUs, and their reader
 * @remote:	whose rings
 * @writer:	the remote, as the ring buffer knows it
 * @cpus:	the CPUs that have a ring
 * @trace:	what is read
 */
struct trace_remote_buffer {
	struct trace_remote		*remote;
	struct ring_buffer_writer	writer;
	struct cpumask			cpus;
	struct trace_buffer		*trace;
};

/**
 * struct trace_remote_dump - a CPU's part in a dump
 * @dump:	its events
 * @has_event:	there is one to be printed
 * @printed:	time of the last event that was printed, ns, by whatever dump
 */
struct trace_remote_dump {
	struct ring_buffer_reader_dump	dump;
	bool				has_event;
	u64				printed;
};

/**
 * struct trace_remote_cpu - what an instance has for each CPU
 * @size:	bytes of events the ring has, or will have, room for. Changes with
 *		trace_remote.lock held, while unloaded
 * @read_mutex:	see read_lock.c
 * @last_stats:	the counters when the ring was unloaded last; under
 *		trace_remote.stats_lock
 * @task:	where the ring has the task that the CPU runs, see tasks.c; NULL for nowhere
 * @dump:	see dump.c
 */
struct trace_remote_cpu {
	unsigned long			size;
	struct mutex			read_mutex;	/* covers the next event to consume */
	struct ring_buffer_reader_stats	last_stats;
	u64				*task;
#ifdef CONFIG_TRACE_REMOTE_DUMP
	struct trace_remote_dump	dump;
#endif
};

/* The lists of pids */
enum trace_remote_pids {
	TRACE_REMOTE_PIDS,	/* set_event_pid: no other tasks are traced */
	TRACE_REMOTE_NO_PIDS,	/* set_event_notrace_pid: these tasks are not traced */
	NR_TRACE_REMOTE_PIDS
};

/* The options of tasks.c */
enum trace_remote_task_option {
	TRACE_REMOTE_EVENT_FORK,
	TRACE_REMOTE_RECORD_CMD,
};

/* The tracers of tracer.c */
enum trace_remote_tracer {
	TRACE_REMOTE_NOP,
	TRACE_REMOTE_TRACE_FUNCTION,
	TRACE_REMOTE_TRACE_GRAPH,
	NR_TRACE_REMOTE_TRACERS
};

/**
 * struct trace_remote - a remote, and its trace instance
 * @list:	in trace_remotes, see registry.c
 * @desc:	what the remote said of itself
 * @priv:	for its functions
 * @dir:	the directory; NULL before there is one
 * @events_dir:	events/ in it
 * @target:	what the links to it lead to
 * @link:	that in instances/
 * @remotes_link: that in remotes/
 * @cpus:	for each CPU
 * @hotplug_prepare: for CPUs that come up, or have gone down
 * @hotplug_online: for CPUs that are up, or go down
 *
 * @lock:	covers what follows, up to @poll; see instance.c
 * @buffer:	the rings; NULL while not loaded. Also read without the lock
 * @nr_users:	open files that use the rings
 * @nr_readers:	those of them that can wait for events
 * @nr_waiters:	calls that wait for events, without poll(); not under the lock
 * @active:	the remote and its CPUs are enabled; also read without the lock
 * @on:		tracing is on; also read without the lock
 * @nr_traceon:	events that can turn tracing on: see instance.c
 * @enabled:	CPUs that come up write; changes and is read with cpu_hotplug_lock
 * @mask:	tracing_cpumask: the CPUs that write while tracing is on; as @enabled
 * @overwrite:	rings overwrite their oldest events; changes and is read with cpu_hotplug_lock.
 *		Also read without a lock
 * @ended:	the remote is gone for good; also read without the lock
 * @tasks_on:	the rings have the task of each CPU, see tasks.c
 * @nr_record_users: histograms, see records.c
 * @poll:	polls the remote while readers wait and tracing is on; queued by readers
 *
 * @records_lock: covers @records, @records_lost and @replay, see records.c
 * @records_work: shows records
 * @records:	what shows them; NULL while they have no user, or the rings are not loaded. Also
 *		read without the lock
 * @records_lost: records that could not be shown
 * @replay:	for histograms; NULL before the first one. It changes with @trigger_lock held, too
 * @read_sem:	see read_lock.c
 * @percent:	buffer_percent
 * @snapshot_lock: covers @snapshot, see snapshot.c
 * @snapshot:	the copy of the rings; NULL if there is none
 * @stats_lock:	covers the counters that are kept
 * @events_lock: covers trace_remote_event.enabled, @events_bitmap and @events_on, and
 *		that the remote agrees
 * @events_bitmap: for trace_remote_ops.set_events()
 * @events_on:	the remote writes the events that are enabled
 * @filter_lock: covers the filters' texts, and that the remote agrees
 * @trigger_lock: covers the triggers, and that the remote agrees; taken before @lock
 * @filter_all:	the last expression that was written for all events
 * @tasks_lock: covers @pids and @options; see tasks.c
 * @pids:	lists of pids; NULL for empty ones. Also read by probes
 * @options:	a bit for each option that is on; also read without the lock
 * @tracer_lock: covers what follows up to @graph_depth; see tracer.c. Taken before @lock,
 *		@events_lock and @functions_lock
 * @tracer:	the tracer; also read without the lock
 * @function_events: events of functions may be on; also read without the lock
 * @graph_depth: max_graph_depth; also read without the lock
 * @tracer_events: the records of tracers, see tracer_records.c
 * @functions_lock: covers @functions, and that the remote agrees; see functions.c
 * @functions:	the lists of functions, a bit a function
 * @errors_lock: covers @errors and @nr_errors
 * @errors:	error_log
 * @nr_errors:	how many these are
 * @dumper:	for ftrace_dump_on_oops=; NULL if the remote is in a module
 */
struct trace_remote {
	struct list_head			list;
	const struct trace_remote_desc		*desc;
	void					*priv;
	struct dentry				*dir;
	struct eventfs_inode			*events_dir;
	char					*target;
	struct dentry				*link;
	struct dentry				*remotes_link;
	struct trace_remote_cpu __percpu	*cpus;
	struct hlist_node			hotplug_prepare;
	struct hlist_node			hotplug_online;

	struct mutex				lock;	/* covers the buffer's life */
	struct trace_remote_buffer		*buffer;
	unsigned int				nr_users;
	unsigned int				nr_readers;
	atomic_t				nr_waiters;
	bool					active;
	bool					on;
	unsigned int				nr_traceon;
	bool					enabled;
	struct cpumask				mask;
	bool					overwrite;
	bool					ended;
	bool					tasks_on;
	unsigned int				nr_record_users;
	struct delayed_work			poll;

	struct mutex				records_lock;	/* covers records */
	struct delayed_work			records_work;
	struct trace_remote_records		*records;
	u64					records_lost;
	struct trace_replay			*replay;
	struct rw_semaphore			read_sem;
	unsigned int				percent;
	struct mutex				snapshot_lock;	/* covers snapshot */
	struct trace_remote_snapshot		*snapshot;
	struct mutex				stats_lock;	/* covers last_stats */
	struct mutex				events_lock;	/* covers enabled events */
	unsigned long				*events_bitmap;
	bool					events_on;
	struct mutex				filter_lock;	/* covers filters */
	struct mutex				trigger_lock;	/* covers triggers */
	char					*filter_all;
	struct mutex				tasks_lock;	/* covers pids */
	struct trace_pid_list __rcu		*pids[NR_TRACE_REMOTE_PIDS];
	unsigned long				options;
	struct mutex				tracer_lock;	/* covers the tracer */
	enum trace_remote_tracer		tracer;
	bool					function_events;
	unsigned int				graph_depth;
	struct trace_remote_event		tracer_events[NR_TRACE_REMOTE_TRACER_EVENTS];
	struct mutex				functions_lock;	/* covers lists of functions */
	unsigned long				*functions[NR_TRACE_REMOTE_LISTS];
	struct mutex				errors_lock;	/* covers error_log */
	struct list_head			errors;
	unsigned int				nr_errors;
#ifdef CONFIG_TRACE_REMOTE_DUMP
	struct trace_remote_dumper		*dumper;
#endif
};

/* Call one of a remote's functions. */
#define trace_remote_call(remote, fn, ...)	\
	((remote)->desc->ops->fn((remote)->priv, ##__VA_ARGS__))

static inline const char *trace_remote_name(const struct trace_remote *remote)
{
	return remote->desc->name;
}

/* The group of the remote's events */
static inline const char *trace_remote_group(const struct trace_remote *remote)
{
	return remote->desc->events[0].call.class->system;
}

/* Is it one of the remote's own events? Else it is a record of a tracer, and has no number. */
static inline bool trace_remote_event_is_own(const struct trace_remote_event *event)
{
	const struct trace_remote *remote = event->remote;

	return event < remote->tracer_events ||
	       event >= remote->tracer_events + NR_TRACE_REMOTE_TRACER_EVENTS;
}

/* The event's number, as the functions of the remote have it */
static inline unsigned int trace_remote_event_nr(const struct trace_remote_event *event)
{
	return event - event->remote->desc->events;
}

static inline struct trace_remote_cpu *trace_remote_cpu(struct trace_remote *remote, int cpu)
{
	return per_cpu_ptr(remote->cpus, cpu);
}

/* To whole microseconds, as the host rounds them in text. */
static inline u64 trace_remote_us(u64 ns)
{
	return div_u64(ns + NSEC_PER_USEC / 2, NSEC_PER_USEC);
}

/* Has the file of @file_cpu, or of all CPUs, the events of @cpu? */
static inline bool trace_remote_file_has_cpu(int file_cpu, int cpu)
{
	return file_cpu == RING_BUFFER_ALL_CPUS || file_cpu == cpu;
}

/* Bytes of events that the ring of a CPU has, or will have, room for, at the least */
static inline unsigned long trace_remote_size(struct trace_remote *remote, int cpu)
{
	return READ_ONCE(trace_remote_cpu(remote, cpu)->size);
}

/* What is in buffer_percent: how full a ring shall be */
static inline unsigned int trace_remote_percent(const struct trace_remote *remote)
{
	return READ_ONCE(remote->percent);
}

/* Is a CPU in tracing_cpumask? */
static inline bool trace_remote_has_cpu(const struct trace_remote *remote, int cpu)
{
	return cpumask_test_cpu(cpu, &remote->mask);
}

static inline enum trace_remote_tracer trace_remote_tracer(const struct trace_remote *remote)
{
	return READ_ONCE(remote->tracer);
}

static inline bool trace_remote_has_task_option(const struct trace_remote *remote,
						enum trace_remote_task_option option)
{
	return test_bit(option, &remote->options);
}

/* registry.c: the list of remotes */
struct dentry *trace_remotes_dir(void);
void trace_remote_registry_for_each(void (*fn)(struct trace_remote *remote));
void trace_remote_registry_add(struct trace_remote *remote);
void trace_remote_registry_del(struct trace_remote *remote);
bool trace_remote_get(struct trace_remote *remote);
bool trace_remote_get_event(const struct trace_remote_event *event);
void trace_remote_put(struct trace_remote *remote);

/* read_lock.c: which reader consumes events next */
void trace_remote_read_init(struct trace_remote *remote);
void trace_remote_read_lock(struct trace_remote *remote, int cpu);
void trace_remote_read_unlock(struct trace_remote *remote, int cpu);
void trace_remote_assert_read_locked(struct trace_remote *remote, int cpu);

/* hotplug.c: CPUs that come and go */
void trace_remote_cpu_prepare(struct trace_remote *remote, unsigned int cpu);
void trace_remote_cpu_enable(struct trace_remote *remote, unsigned int cpu, bool enable);

/* instance.c: the life of the buffer */
void trace_remote_instance_init(struct trace_remote *remote);
int trace_remote_get_writer(struct trace_remote *remote);
void trace_remote_put_writer(struct trace_remote *remote);
bool trace_remote_is_on(const struct trace_remote *remote);
bool trace_remote_ask_on(struct trace_remote *remote);
bool trace_remote_is_loaded(const struct trace_remote *remote);
bool trace_remote_has_readers(struct trace_remote *remote);
int trace_remote_arm(struct trace_remote *remote);
void trace_remote_disarm(struct trace_remote *remote);
int trace_remote_clear(struct trace_remote *remote, int cpu);
struct trace_buffer *trace_remote_get_buffer(struct trace_remote *remote);
void trace_remote_put_buffer(struct trace_remote *remote);
struct trace_buffer *trace_remote_get_reader(struct trace_remote *remote);
void trace_remote_put_reader(struct trace_remote *remote);
bool trace_remote_dump_begin(void);
void trace_remote_dump_end(void);
struct trace_buffer *trace_remote_peek(const struct trace_remote *remote);
void trace_remote_wait_begin(struct trace_remote *remote);
void trace_remote_wait_end(struct trace_remote *remote);
void trace_remote_poll_start(struct trace_remote *remote);

/* records.c: each record, for histograms and for a tracepoint */
void trace_remote_records_init(struct trace_remote *remote);
int trace_remote_records_start(struct trace_remote *remote);
void trace_remote_records_stop(struct trace_remote *remote);
void trace_remote_records_kick(struct trace_remote *remote);
void trace_remote_records_sync(struct trace_remote *remote);
int trace_remote_records_get(struct trace_remote *remote);
void trace_remote_records_put(struct trace_remote *remote);
u64 trace_remote_records_lost(struct trace_remote *remote);

/* tasks.c: the tasks that CPUs run */
void trace_remote_tasks_init(struct trace_remote *remote);
void trace_remote_tasks_free(struct trace_remote *remote);
int trace_remote_tasks_start(struct trace_remote *remote);
void trace_remote_tasks_stop(struct trace_remote *remote);
void trace_remote_tasks_offline(struct trace_remote *remote, int cpu);
void trace_remote_tasks_add_cpu(struct trace_remote *remote, int cpu);
void trace_remote_tasks_traced(struct trace_remote *remote);
int trace_remote_set_task_option(struct trace_remote *remote, enum trace_remote_task_option option,
				 bool on);
ssize_t trace_remote_write_pids(struct trace_remote *remote, enum trace_remote_pids which,
				const char __user *ubuf, size_t cnt);
void trace_remote_clear_pids(struct trace_remote *remote, enum trace_remote_pids which);
struct trace_pid_list *trace_remote_get_pids(struct trace_remote *remote,
					     enum trace_remote_pids which);
void trace_remote_put_pids(struct trace_remote *remote);

/* buffer.c: the rings of all CPUs */
unsigned long trace_remote_buffer_max_size(const struct trace_remote *remote);
struct trace_remote_buffer *trace_remote_buffer_load(struct trace_remote *remote);
void trace_remote_buffer_unload(struct trace_remote_buffer *buffer);
int trace_remote_buffer_add_cpu(struct trace_remote_buffer *buffer, int cpu);
void trace_remote_stats_keep(struct trace_remote *remote, struct trace_buffer *buffer);
void trace_remote_stats_clear(struct trace_remote *remote, int which);

/* cpu.c: calls on each CPU */
int trace_remote_enable_cpu(struct trace_remote *remote, int cpu, bool enable);
int trace_remote_enable_cpus(struct trace_remote *remote, bool enable);
int trace_remote_set_cpumask(struct trace_remote *remote, const struct cpumask *mask);
int trace_remote_reset_cpus(struct trace_remote *remote, int cpu);
int trace_remote_overwrite_cpu(struct trace_remote *remote, int cpu, bool overwrite);
int trace_remote_overwrite_cpus(struct trace_remote *remote, bool overwrite);

/* file.c: opening and closing a file */
static_assert(RING_BUFFER_ALL_CPUS == TRACE_REMOTE_ALL);

struct trace_remote *trace_remote_of(const struct file *file);
int trace_remote_open_with(struct inode *inode, struct file *file,
			   int (*start)(struct inode *inode, struct file *file));
int trace_remote_single_open(struct inode *inode, struct file *file,
			     int (*show)(struct seq_file *m, void *v));
int trace_remote_single_release(struct inode *inode, struct file *file);
int trace_remote_event_open(struct inode *inode, struct file *file);
int trace_remote_event_release(struct inode *inode, struct file *file);
int trace_remote_event_single_open(struct inode *inode, struct file *file,
				   int (*show)(struct seq_file *m, void *v));
int trace_remote_event_single_release(struct inode *inode, struct file *file);

/* What a word that is written to a file does. @word may be changed; @nr is that of the file. */
typedef int (*trace_remote_word_fn)(struct trace_remote *remote, char *word, int nr);

ssize_t trace_remote_write_words(struct file *file, const char __user *ubuf, size_t cnt,
				 loff_t *ppos, trace_remote_word_fn fn,
				 int (*apply)(struct trace_remote *remote));
int trace_remote_create_files(struct trace_remote *remote, struct dentry *dir,
			      const struct trace_remote_file *files, int nr);

/* files.c: the directory */
void trace_remote_remove_dir(struct trace_remote *remote);

/* event_files.c: events/, set_event, available_events */
int trace_remote_create_event_files(struct trace_remote *remote, struct dentry *dir);
void trace_remote_remove_event_files(struct trace_remote *remote);

/* function_files.c, pid_files.c, options.c, cpumask_file.c */
int trace_remote_create_function_files(struct trace_remote *remote, struct dentry *dir);
int trace_remote_create_pid_files(struct trace_remote *remote, struct dentry *dir);
extern const struct file_operations trace_remote_cpumask_fops;
int trace_remote_create_options(struct trace_remote *remote, struct dentry *dir);

/* wait.c: waiting for events */
bool trace_remote_is_empty(struct trace_buffer *buffer, int cpu);
void trace_remote_pause(struct trace_buffer *buffer, int cpu);
int trace_remote_wait(struct trace_remote *remote, struct trace_buffer *buffer, int cpu, int full,
		      ring_buffer_cond_fn cond, void *data);
__poll_t trace_remote_poll(struct trace_buffer *buffer, int cpu, struct file *file,
			   poll_table *pt);

/**
 * struct trace_remote_merge_entry - a CPU that has an event
 * @ts:		the time of its earliest event, ns
 * @cpu:	the CPU
 */
struct trace_remote_merge_entry {
	u64	ts;
	int	cpu;
};

/* merge.c: the events of several CPUs in the order of their times */
DEFINE_MIN_HEAP(struct trace_remote_merge_entry, trace_remote_merge);

int trace_remote_merge_init(struct trace_remote_merge *merge);
void trace_remote_merge_free(struct trace_remote_merge *merge);
void trace_remote_merge_clear(struct trace_remote_merge *merge);
void trace_remote_merge_add(struct trace_remote_merge *merge, int cpu, u64 ts);
void trace_remote_merge_update(struct trace_remote_merge *merge, u64 ts);
void trace_remote_merge_pop(struct trace_remote_merge *merge);

/* The CPU of the earliest event; -1 if there is none */
static inline int trace_remote_merge_first(const struct trace_remote_merge *merge)
{
	return merge->nr ? merge->data[0].cpu : -1;
}

/* errors.c: error_log */
extern const struct file_operations trace_remote_errors_fops;

void trace_remote_log_text(struct trace_remote *remote, char *text);
void trace_remote_log(struct trace_remote *remote, const char *where, const char *text,
		      const char *command, unsigned int pos);
void trace_remote_log_error(struct trace_remote *remote, const char *str,
			    const struct trace_filter_error *why);
void trace_remote_clear_errors(struct trace_remote *remote);

/* hist.c: histograms */
#ifdef CONFIG_TRACE_REMOTE_HIST
int trace_remote_write_hist(struct trace_remote_event *event, char *command);
void trace_remote_remove_hists(struct trace_remote_event *event);
bool trace_remote_show_hist_triggers(struct seq_file *m, struct trace_remote_event *event);
u64 trace_remote_show_hists(struct seq_file *m, struct trace_remote_event *event);
u64 trace_remote_hist_hits(struct trace_remote_event *event);
void trace_remote_free_hists(struct trace_remote *remote);
#else
static inline int trace_remote_write_hist(struct trace_remote_event *event, char *command)
{
	return -EINVAL;
}

static inline void trace_remote_remove_hists(struct trace_remote_event *event)
{
}

static inline bool trace_remote_show_hist_triggers(struct seq_file *m,
						   struct trace_remote_event *event)
{
	return false;
}

static inline void trace_remote_free_hists(struct trace_remote *remote)
{
}
#endif

/* trigger_files.c: trigger and hist of an event */
extern const struct file_operations trace_remote_trigger_fops;
extern const struct file_operations trace_remote_hist_fops;

/* dump.c: the last events, on the console */
#ifdef CONFIG_TRACE_REMOTE_DUMP
void trace_remote_dump_register(struct trace_remote *remote);
void trace_remote_dump_unregister(struct trace_remote *remote);
#else
static inline void trace_remote_dump_register(struct trace_remote *remote)
{
}

static inline void trace_remote_dump_unregister(struct trace_remote *remote)
{
}
#endif

/* snapshot.c: the copy of the rings that snapshot shows */
void trace_remote_snapshot_init(struct trace_remote *remote);
int trace_remote_take_snapshot(struct trace_remote *remote, int which);
void trace_remote_clear_snapshot(struct trace_remote *remote, int which);
void trace_remote_free_snapshot(struct trace_remote *remote);
struct trace_remote_snapshot *trace_remote_get_snapshot(struct trace_remote *remote);
void trace_remote_put_snapshot(struct trace_remote *remote,
			       struct trace_remote_snapshot *snapshot);
struct trace_buffer *trace_remote_snapshot_buffer(struct trace_remote_snapshot *snapshot);

/* pipe.c, raw.c, show.c, stats.c */
extern const struct file_operations trace_remote_pipe_fops;
extern const struct file_operations trace_remote_raw_fops;
extern const struct file_operations trace_remote_show_fops;
extern const struct file_operations trace_remote_snapshot_fops;
extern const struct file_operations trace_remote_stats_fops;

/* events.c: which events are enabled */
int trace_remote_events_register(struct trace_remote *remote);
void trace_remote_events_unregister(struct trace_remote *remote);
int trace_remote_events_start(struct trace_remote *remote);
void trace_remote_events_stop(struct trace_remote *remote);
struct trace_remote_event *trace_remote_event(const struct trace_remote *remote, unsigned int nr);
struct trace_remote_event *trace_remote_find_event(const struct trace_remote *remote, int id);
struct trace_remote_event *trace_remote_record_event(const struct trace_remote *remote,
						     const void *record, unsigned int size);
void trace_remote_mark_event(struct trace_remote *remote, int nr, bool enable);
int trace_remote_apply_events(struct trace_remote *remote);
int trace_remote_enable_event(struct trace_remote *remote, int nr, bool enable);
bool trace_remote_event_is_enabled(struct trace_remote *remote,
				   const struct trace_remote_event *event);

/* tracer.c: current_tracer */
const char *trace_remote_tracer_name(enum trace_remote_tracer tracer);

/*
 * A record of a return. What its format says is no more: the kernel's struct ftrace_graph_ret_entry
 * ends with room for the times once more.
 */
struct trace_remote_graph_ret {
	struct trace_entry	ent;
	struct ftrace_graph_ret	ret;
} __packed;

/* tracer_records.c: the records of the function tracers */
void trace_remote_init_tracer_events(struct trace_remote *remote);
bool trace_remote_is_leaf(const void *entry, unsigned int entry_size, const void *ret,
			  unsigned int ret_size);
enum print_line_t trace_remote_print_graph(struct trace_iterator *iter,
					   struct trace_remote_event *event);

/* functions.c: which functions are traced */
int trace_remote_functions_init(struct trace_remote *remote);
void trace_remote_functions_free(struct trace_remote *remote);
bool trace_remote_has_functions(const struct trace_remote *remote);
void trace_remote_function_name(const struct trace_remote *remote, unsigned int nr, char *name);
int trace_remote_next_function(struct trace_remote *remote, enum trace_remote_list which,
			       unsigned int nr);
void trace_remote_clear_functions(struct trace_remote *remote, enum trace_remote_list which);
int trace_remote_update_functions(struct trace_remote *remote);

/* print.c: an event as text. In trace_iterator.iter_flags: it is printed by a dump. */
#define TRACE_REMOTE_DUMPS	BIT(31)

enum print_line_t trace_remote_print_event(struct trace_remote *remote,
					   struct trace_iterator *iter);

/* triggers.c: events that turn tracing off or on */
int trace_remote_write_trigger(struct trace_remote_event *event, char *str);
int trace_remote_show_trigger(struct seq_file *m, struct trace_remote_event *event);
void trace_remote_free_triggers(struct trace_remote *remote);

/**
 * struct trace_remote_filter - a filter that is not used yet
 * @preds:	the program
 * @nr:		predicates it has; 0 for no filter
 * @text:	what the file shows: the expression, and, if it is refused, why
 * @wrong:	-EINVAL if it is refused
 * @error:	why
 */
struct trace_remote_filter {
	struct trace_remote_pred	*preds;
	int				nr;
	char				*text;
	int				wrong;
	struct trace_filter_error	error;
};

/* filter.c: filters */
int trace_remote_make_filter(struct trace_remote_event *event, const char *str,
			     struct trace_remote_filter *filter);
void trace_remote_drop_filter(struct trace_remote_filter *filter);
int trace_remote_set_filter(struct trace_remote *remote, int nr, const char *str);
char *trace_remote_get_filter(struct trace_remote *remote, int nr);
void trace_remote_free_filters(struct trace_remote *remote);

#endif /* __TRACE_REMOTE_H__ */
