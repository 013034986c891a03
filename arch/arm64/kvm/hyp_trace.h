/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The host's side of tracing the hypervisor.
 */
#ifndef __ARM64_KVM_HYP_TRACE_H__
#define __ARM64_KVM_HYP_TRACE_H__

#include <linux/arm-smccc.h>
#include <linux/kvm_host.h>
#include <linux/math64.h>
#include <linux/poll.h>
#include <linux/preempt.h>
#include <linux/ring_buffer.h>
#include <linux/ring_buffer_writer.h>
#include <linux/time64.h>
#include <linux/trace_events.h>
#include <linux/types.h>

/* What the host's tracefs files have, kernel/trace/trace.h. */
#define HYP_TRACE_MODE_WRITE	0640
#define HYP_TRACE_MODE_READ	0440

/**
 * struct hyp_trace_buffer - all rings, and their reader
 * @writer:	EL2, as the ring buffer knows it
 * @trace:	what is read
 */
struct hyp_trace_buffer {
	struct ring_buffer_writer	writer;
	struct trace_buffer		*trace;
};

/* hyp_trace.c: the instance */
/* To whole microseconds, as the host rounds them in text. */
static inline u64 hyp_trace_us(u64 ns)
{
	return div_u64(ns + NSEC_PER_USEC / 2, NSEC_PER_USEC);
}

bool hyp_trace_is_on(void);
int hyp_trace_set_on(bool on);
bool hyp_trace_is_loaded(void);
unsigned long hyp_trace_size(int cpu);
int hyp_trace_set_size(int cpu, unsigned long size);
int hyp_trace_clear(int cpu);
struct trace_buffer *hyp_trace_get(void);
void hyp_trace_put(void);
struct trace_buffer *hyp_trace_get_reader(void);
void hyp_trace_put_reader(void);
struct trace_buffer *hyp_trace_peek(void);
void hyp_trace_end(void);
bool hyp_trace_has_ended(void);

int hyp_trace_get_el2(void);
void hyp_trace_put_el2(void);
void hyp_trace_wait_begin(void);
void hyp_trace_wait_end(void);
void hyp_trace_poll_start(void);
void hyp_trace_cpu_prepare(unsigned int cpu);
void hyp_trace_cpu_enable(unsigned int cpu, bool enable);

/*
 * A hypercall of tracing. -ENODEV when EL2 does not know the call, as the hyp stub does
 * not, and after hyp_trace_end().
 */
#define hyp_trace_hypcall(f, ...)						\
({									\
	struct arm_smccc_res __res;					\
	int __ret = -ENODEV;						\
									\
	preempt_disable();						\
	if (!hyp_trace_has_ended()) {					\
		arm_smccc_1_1_hvc(KVM_HOST_SMCCC_FUNC(f),		\
				  ##__VA_ARGS__, &__res);		\
		if (__res.a0 == SMCCC_RET_SUCCESS)			\
			__ret = __res.a1;				\
	}								\
	preempt_enable();						\
	__ret;								\
})

/* hyp_trace_buffer.c: the rings' memory */
unsigned long hyp_trace_buffer_max_size(void);
struct hyp_trace_buffer *hyp_trace_buffer_load(unsigned long (*size)(int cpu));
void hyp_trace_buffer_unload(struct hyp_trace_buffer *buffer);
int hyp_trace_buffer_add_cpu(struct hyp_trace_buffer *buffer, int cpu, unsigned long size);

/* hyp_trace_clock.c: EL2's clock */
int hyp_trace_clock_start(void);
void hyp_trace_clock_stop(void);

/**
 * struct hyp_trace_file - a file of the instance
 * @name:	its name; NULL ends an array
 * @mode:	its mode
 * @fops:	what it does
 */
struct hyp_trace_file {
	const char			*name;
	umode_t				mode;
	const struct file_operations	*fops;
};

/* hyp_trace_files.c: the instance's directory */
#define HYP_TRACE_DIR	"hypervisor"

struct dentry *hyp_trace_create_dir(const char *name);
void hyp_trace_create_links(void);
int hyp_trace_create_files(struct dentry *dir, const struct hyp_trace_file *files, void *data);
int hyp_trace_open(struct inode *inode, struct file *file);
loff_t hyp_trace_lseek(struct file *file, loff_t offset, int whence);
int hyp_trace_file_cpu(struct inode *inode);

/* Has the file of @file_cpu, or of all CPUs, the events of @cpu? */
static inline bool hyp_trace_file_has_cpu(int file_cpu, int cpu)
{
	return file_cpu == RING_BUFFER_ALL_CPUS || file_cpu == cpu;
}

/* hyp_trace_read.c: what those who consume events share */
extern const struct file_operations hyp_trace_percent_fops;

void hyp_trace_read_init(void);
void hyp_trace_read_lock(int cpu);
void hyp_trace_read_unlock(int cpu);
void hyp_trace_assert_read_locked(int cpu);
bool hyp_trace_is_empty(struct trace_buffer *buffer, int cpu);
unsigned int hyp_trace_get_percent(void);
void hyp_trace_pause(struct trace_buffer *buffer, int cpu);
int hyp_trace_wait(struct trace_buffer *buffer, int cpu, int full, ring_buffer_cond_fn cond,
		   void *data);
__poll_t hyp_trace_poll(struct trace_buffer *buffer, int cpu, struct file *file, poll_table *pt);

/* hyp_trace_errors.c: error_log */
extern const struct file_operations hyp_trace_errors_fops;

void hyp_trace_log_error(const char *str, const struct trace_filter_error *error);

/* hyp_trace_dump.c: the last events, on the console */
#ifdef CONFIG_KVM_HYP_TRACING_DUMP
bool hyp_trace_is_dumping(void);
void hyp_trace_dump_panic(void);
void hyp_trace_dump_init(void);
#else
static inline bool hyp_trace_is_dumping(void)
{
	return false;
}

static inline void hyp_trace_dump_panic(void)
{
}

static inline void hyp_trace_dump_init(void)
{
}
#endif

/* hyp_trace_pipe.c: trace_pipe, reading as text */
extern const struct file_operations hyp_trace_pipe_fops;

/* hyp_trace_raw.c: trace_pipe_raw, reading pages */
extern const struct file_operations hyp_trace_raw_fops;

/* hyp_trace_show.c: trace, looking as text */
extern const struct file_operations hyp_trace_show_fops;

/* hyp_trace_stats.c: per_cpu/cpuN/stats */
extern const struct file_operations hyp_trace_stats_fops;

void hyp_trace_stats_keep(struct trace_buffer *buffer);
void hyp_trace_stats_forget(int which);

/**
 * struct hyp_event - an event
 * @call:	what the host knows of it: the id, in @call.event.type, the name,
 *		and how user space prints a record
 * @fields:	what a record holds after the header, up to one without a name
 * @enabled:	by the user; under a lock of hyp_events.c
 * @filter:	what was written as its filter; NULL for none; under a lock of
 *		hyp_event_filter.c
 */
struct hyp_event {
	struct trace_event_call		call;
	const struct hyp_event_field	*fields;
	bool				enabled;
	char				*filter;
};

/**
 * struct hyp_event_field - a field of a record
 * @type:	as C spells it
 * @name:	its name
 * @offset:	in the record, bytes
 * @size:	bytes
 * @is_signed:	of @type
 */
struct hyp_event_field {
	const char	*type;
	const char	*name;
	unsigned int	offset;
	unsigned int	size;
	bool		is_signed;
};

/* hyp_events.c: the events */
#define HYP_EVENT_GROUP	"hypervisor"

extern const struct hyp_event_field hyp_event_common_fields[];

int hyp_events_init(void);
void hyp_events_exit(void);
int hyp_events_start(void);
void hyp_events_stop(void);
struct hyp_event *hyp_event_get(unsigned int nr);
unsigned int hyp_event_nr(const struct hyp_event *event);
void hyp_events_mark(const struct hyp_event *event, bool enable);
int hyp_events_apply(void);
int hyp_events_enable(const struct hyp_event *event, bool enable);
bool hyp_event_is_enabled(const struct hyp_event *event);
enum print_line_t hyp_event_print(struct trace_iterator *iter);

/* hyp_event_site.c: where EL2's code calls them */
int hyp_event_sites_patch(const unsigned long *on);

/* hyp_event_filter.c: their filters */
int hyp_event_set_filter(struct hyp_event *event, const char *str);
char *hyp_event_get_filter(struct hyp_event *event);

/* hyp_event_files.c: events/, set_event, available_events */
int hyp_event_set(const char *word);
int hyp_event_create_files(struct dentry *dir);

#endif /* __ARM64_KVM_HYP_TRACE_H__ */
