/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Trace events of a remote
 *
 * A remote is not this kernel, and writes trace events into rings of pages that it shares
 * with this kernel: a hypervisor, firmware, a co-processor. It registers what it can do and
 * which events it has, and gets a directory in tracefs with the files of a trace instance.
 *
 * Mainline has a smaller layer of this kind since Linux 7.1, also by CONFIG_TRACE_REMOTE. Where
 * this one differs it has other names, so that nothing compiles and then means something else:
 *
 *	trace_remote_register()	trace_remote_create(), trace_remote_create_dir(): the remote is
 *				known before tracefs is there. Errors are an ERR_PTR(), and
 *				trace_remote_destroy() undoes all. struct trace_remote_desc has
 *				the arguments, the module that owns the remote, and limits
 *	trace_remote_callbacks	struct trace_remote_ops
 *	  init			get() and start(): when the rings are loaded, when tracing begins
 *	  load_trace_buffer	load_ring(), unload_ring(): a ring at a time, into memory that the
 *	  unload_trace_buffer	remote owns. So a CPU that comes up later gets a ring
 *	  enable_tracing	enable_cpu(): a CPU, called on it
 *	  swap_reader_page	swap_reader(), which returns the id of the page
 *	  reset			reset_ring(), called on the ring's CPU
 *	  enable_event		set_events(): all events in one call, which can fail as a whole
 *	remote_event		struct trace_remote_event: it has a struct trace_event_call, and so
 *				a format, and an id that no event of the kernel has
 *	(none)			set_filter(), set_trigger(): the remote evaluates filters and
 *				triggers itself
 */
#ifndef _LINUX_TRACE_REMOTE_H
#define _LINUX_TRACE_REMOTE_H

#include <linux/fs.h>
#include <linux/ring_buffer_writer.h>
#include <linux/trace_events.h>
#include <linux/types.h>

struct module;
struct trace_remote;
struct trace_remote_pred;
struct trace_seq;

/**
 * struct trace_remote_names - names for the numbers of a field
 * @field:	the field's name; NULL ends an array
 * @names:	numbers and their names; a name that is NULL ends them
 */
struct trace_remote_names {
	const char			*field;
	const struct trace_print_flags	*names;
};

/**
 * struct trace_remote_event - an event of a remote
 * @call:	what the kernel knows of it: the id, in @call.event.type, the name, the fields,
 *		and how to print a record. @call.class->system is the group's name
 * @names:	the names that filters accept in place of numbers; may be NULL
 * @values:	what filters and triggers know besides the record's fields: numbers that the remote
 *		has behind the record when it evaluates one; an empty one ends them. May be NULL
 * @is_function: it is about a function, and off while set_ftrace_filter is empty
 * @is_bprint:	its records are the kernel's own of trace_printk(), and have their id. Programs know
 *		these, with the formats that printk_formats shows
 * @remote:	whose event. This and what follows is the core's
 * @enabled:	by user space
 * @filter:	what user space wrote as its filter; NULL for none
 * @trigger:	what it does to tracing; NULL for nothing
 */
struct trace_remote_event {
	struct trace_event_call			call;
	const struct trace_remote_names		*names;
	const struct trace_event_fields		*values;
	bool					is_function;
	bool					is_bprint;
	struct trace_remote			*remote;
	bool					enabled;
	char					*filter;
	struct trace_remote_trigger		*trigger;
};

/**
 * struct trace_remote_trigger - what an event of a remote does to tracing
 * @on:		it turns tracing on; else off
 * @count:	how often, at the most; ULONG_MAX for no limit
 * @nr_preds:	predicates of its filter; 0 for none
 * @preds:	these
 * @text:	the filter, as user space wrote it; NULL for none. The core's
 */
struct trace_remote_trigger {
	bool				on;
	unsigned long			count;
	unsigned int			nr_preds;
	struct trace_remote_pred	*preds;
	char				*text;
};

/**
 * struct trace_remote_ops - what the core asks of a remote
 * @get:	keep the remote ready for calls, until @put; may be NULL. Returns 0 or an errno
 * @put:	undo @get; NULL if @get is
 * @load_ring:	allocate the meta page and @ring->nr_pages pages of a CPU's ring, and pass
 *		them to the remote. Returns 0; -EINTR for a fatal signal; or an errno. After
 *		an error nothing is left
 * @unload_ring: take a CPU's ring back, and free it. If the remote does not return it,
 *		the memory stays where it is
 * @enable_cpu:	let the remote write events on a CPU, or not. Called on the CPU; on another
 *		one while the CPU is offline
 * @swap_reader: give the reader the oldest unread page of a CPU's ring, in exchange for the
 *		reader's page, which is wholly read; at least a release. Returns the id of the
 *		new reader's page; -ENODATA when there is none; -EAGAIN when the remote was too
 *		quick
 * @reset_ring:	clear all events of a CPU and zero its counters. Called on the CPU, as
 *		@enable_cpu is. Returns 0 or an errno
 * @set_overwrite: whether a CPU's ring overwrites the oldest events, as at first, or drops new ones
 *		when all pages are unread. Called on the CPU, as @enable_cpu is, and on any CPU
 *		between @load_ring and the first @enable_cpu. Returns 0 or an errno. NULL if rings
 *		always overwrite
 * @clock:	the clock of the events, as the kernel reads it, ns
 * @start:	tracing begins: set the remote's clock. Returns 0 or an errno
 * @stop:	tracing has ended
 * @set_on:	tracing has begun on all CPUs, or is about to end; may be NULL. Returns 0, or an
 *		errno, which ends tracing
 * @is_stopped:	the remote has stopped writing on all CPUs, or does so at their next events: by
 *		itself, or since @set_stopped. May be NULL if it never does
 * @set_stopped: stop writing on all CPUs at their next events, or go on. A remote that is stopped
 *		evaluates triggers, and goes on by itself if one says so. May be NULL if
 *		@is_stopped is
 * @set_events:	enable the events that have a bit in @on, by their number, and disable the
 *		others. Behind them are bits of enum trace_remote_tracer_event, if the remote has
 *		functions. Returns 0 or an errno
 * @set_filter:	filter an event by a program; by none if @nr_preds is 0. Returns 0; or an
 *		errno, and then nothing has changed
 * @set_trigger: have an event turn tracing off or on; not any more if @trigger is NULL. Returns
 *		as @set_filter. May be NULL
 * @trigger_count: how often the trigger of an event fires, still; NULL if @set_trigger is
 * @write_event: have the remote write an event for a test; may be NULL
 *
 * All are called in process context and may sleep, but for @enable_cpu, @swap_reader, @reset_ring
 * and @set_overwrite, which run with interrupts off, and @clock. Calls of @load_ring, @unload_ring,
 * @start and @stop are serialised, and made with cpu_hotplug_lock held: a CPU that comes up
 * may need a ring. Those of @set_on are serialised with these, and made without that lock. Those
 * of @set_events, of @set_filter, and of @set_trigger each are serialised. @is_stopped may be
 * called at any time.
 */
struct trace_remote_ops {
	int (*get)(void *priv);
	void (*put)(void *priv);
	int (*load_ring)(void *priv, int cpu, struct ring_buffer_writer_cpu *ring);
	void (*unload_ring)(void *priv, int cpu, struct ring_buffer_writer_cpu *ring);
	int (*enable_cpu)(void *priv, int cpu, bool enable);
	int (*swap_reader)(void *priv, int cpu);
	int (*reset_ring)(void *priv, int cpu);
	int (*set_overwrite)(void *priv, int cpu, bool overwrite);
	u64 (*clock)(void);
	int (*start)(void *priv);
	void (*stop)(void *priv);
	int (*set_on)(void *priv, bool on);
	bool (*is_stopped)(void *priv);
	int (*set_stopped)(void *priv, bool stopped);
	int (*set_events)(void *priv, const unsigned long *on);
	int (*set_filter)(void *priv, unsigned int nr, const struct trace_remote_pred *preds,
			  unsigned int nr_preds);
	int (*set_trigger)(void *priv, unsigned int nr,
			   const struct trace_remote_trigger *trigger);
	unsigned long (*trigger_count)(void *priv, unsigned int nr);
	int (*write_event)(void *priv, u64 value);
};

/* The lists of functions */
enum trace_remote_list {
	TRACE_REMOTE_FILTER,		/* set_ftrace_filter: the functions to trace */
	TRACE_REMOTE_NOTRACE,		/* set_ftrace_notrace: but for these */
	TRACE_REMOTE_GRAPH,		/* set_graph_function: those that begin a graph */
	TRACE_REMOTE_ALL_FUNCTIONS,	/* available_filter_functions */
	NR_TRACE_REMOTE_LISTS
};

/*
 * The records of the tracers function and function_graph: the kernel's own, struct ftrace_entry,
 * struct ftrace_graph_ent_entry, and a header with struct ftrace_graph_ret.
 */
enum trace_remote_tracer_event {
	TRACE_REMOTE_FUNCTION,		/* function: one is entered */
	TRACE_REMOTE_GRAPH_ENTRY,	/* function_graph: one is entered */
	TRACE_REMOTE_GRAPH_EXIT,	/* and returns */
	NR_TRACE_REMOTE_TRACER_EVENTS
};

/**
 * struct trace_remote_traced - which functions to trace
 * @on:		a bit for each function that is traced
 * @graph:	function_graph traces only functions that have a bit here, and what these call;
 *		NULL if it traces all
 * @max_depth:	how deep function_graph traces; 0 for no limit
 */
struct trace_remote_traced {
	const unsigned long	*on;
	const unsigned long	*graph;
	unsigned int		max_depth;
};

/**
 * struct trace_remote_functions - the functions that a remote can trace
 * @nr:		how many
 * @name:	the name of one, by its number, into @name of KSYM_NAME_LEN bytes; an empty string
 *		if it has none
 * @print:	print the name of the function that is or has the address @ip of a record, or a
 *		number if there is none
 * @set:	trace these functions, and no others. At first none is. Calls are serialised.
 *		Returns 0 or an errno
 *
 * @name and @set are called in process context and may sleep.
 */
struct trace_remote_functions {
	unsigned int	nr;
	void (*name)(void *priv, unsigned int nr, char *name);
	void (*print)(void *priv, struct trace_seq *s, u64 ip);
	int (*set)(void *priv, const struct trace_remote_traced *traced);
};

/**
 * struct trace_remote_file - a file of an instance
 * @name:	its name; NULL ends an array
 * @mode:	its mode
 * @fops:	what it does. They begin with trace_remote_open(), and end with
 *		trace_remote_release()
 */
struct trace_remote_file {
	const char			*name;
	umode_t				mode;
	const struct file_operations	*fops;
};

/* Which CPU a file is for: all of them */
#define TRACE_REMOTE_ALL	(-1)

int trace_remote_open(struct inode *inode, struct file *file);
int trace_remote_release(struct inode *inode, struct file *file);
int trace_remote_file_nr(const struct inode *inode);
loff_t trace_remote_lseek(struct file *file, loff_t offset, int whence);

/* A small file: opening it sets nothing up. @read_fn or @write_fn may be NULL. */
#define __TRACE_REMOTE_FOPS(name, of, read_fn, write_fn)	\
static const struct file_operations name = {			\
	.open		= of##_open,				\
	.read		= read_fn,				\
	.write		= write_fn,				\
	.llseek		= default_llseek,			\
	.release	= of##_release,				\
}

#define TRACE_REMOTE_FOPS(name, read_fn, write_fn)		\
	__TRACE_REMOTE_FOPS(name, trace_remote, read_fn, write_fn)

int trace_remote_get_number(const char __user *ubuf, size_t cnt, unsigned long max,
			    unsigned long *val);
ssize_t trace_remote_read_number(char __user *ubuf, size_t cnt, loff_t *ppos, unsigned long val);

/* What a write of @cnt bytes returns: that all were taken, or the error in @ret */
static inline ssize_t trace_remote_written(int ret, size_t cnt, loff_t *ppos)
{
	if (ret)
		return ret;

	*ppos += cnt;
	return cnt;
}

/**
 * struct trace_remote_desc - a remote
 * @name:	of its directory; the string must stay
 * @owner:	the module that its functions are in; NULL if they are built in
 * @ops:	its functions
 * @events:	its events, all enabled at first; each of the same group
 * @nr_events:	how many
 * @functions:	its functions, and that it has tracers; NULL for none
 * @files:	files of its own in the directory; NULL for none
 * @cpu_files:	the same in the directory of each CPU
 * @max_pages:	the most pages that a ring can have
 * @has_tasks:	the remote loads ring_buffer_writer_meta.task at each event, writes none of a task
 *		that is ignored, and has the pid in its records
 * @own_hotplug: the remote itself notices CPUs that come and go, and no CPU comes up
 *		that it has not known before
 */
struct trace_remote_desc {
	const char			*name;
	struct module			*owner;
	const struct trace_remote_ops	*ops;
	struct trace_remote_event	*events;
	unsigned int			nr_events;
	const struct trace_remote_functions *functions;
	const struct trace_remote_file	*files;
	const struct trace_remote_file	*cpu_files;
	unsigned long			max_pages;
	bool				has_tasks;
	bool				own_hotplug;
};

int trace_remote_event_id(const struct trace_remote_event *event);
int trace_remote_tracer_id(enum trace_remote_tracer_event nr);

struct trace_remote *trace_remote_create(const struct trace_remote_desc *desc, void *priv);
void trace_remote_destroy(struct trace_remote *remote);
int trace_remote_create_dir(struct trace_remote *remote);

int trace_remote_set_on(struct trace_remote *remote, bool on);
int trace_remote_set_size(struct trace_remote *remote, int cpu, unsigned long size);
int trace_remote_set_option(struct trace_remote *remote, const char *word);
int trace_remote_set_event(struct trace_remote *remote, const char *word);
int trace_remote_set_function(struct trace_remote *remote, char *word,
			      enum trace_remote_list which);
int trace_remote_apply_functions(struct trace_remote *remote);
int trace_remote_set_graph_depth(struct trace_remote *remote, unsigned int depth);
int trace_remote_set_tracer(struct trace_remote *remote, const char *name);
int trace_remote_enable_all(struct trace_remote *remote, bool enable);

void trace_remote_end(struct trace_remote *remote);
bool trace_remote_has_ended(const struct trace_remote *remote);

#ifdef CONFIG_TRACE_REMOTE_DUMP
void trace_remote_dump_panic(struct trace_remote *remote);
#else
static inline void trace_remote_dump_panic(struct trace_remote *remote)
{
}
#endif

#endif /* _LINUX_TRACE_REMOTE_H */
