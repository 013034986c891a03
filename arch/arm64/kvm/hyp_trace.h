/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The host's side of tracing the hypervisor.
 */
#ifndef __ARM64_KVM_HYP_TRACE_H__
#define __ARM64_KVM_HYP_TRACE_H__

#include <linux/ring_buffer.h>
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
extern struct mutex hyp_trace_read_lock;

int hyp_trace_open(struct inode *inode, struct file *file);
bool hyp_trace_is_on(void);
struct trace_buffer *hyp_trace_get_reader(void);
void hyp_trace_put_reader(void);

/* hyp_trace_buffer.c: the rings' memory */
unsigned long hyp_trace_buffer_max_size(void);
struct hyp_trace_buffer *hyp_trace_buffer_load(unsigned long size);
void hyp_trace_buffer_unload(struct hyp_trace_buffer *buffer);

/* hyp_trace_clock.c: EL2's clock */
int hyp_trace_clock_start(void);
void hyp_trace_clock_stop(void);

/* hyp_trace_pipe.c: reading as text */
extern const struct file_operations hyp_trace_pipe_fops;

/* hyp_events.c: the events */
int hyp_events_init(struct dentry *dir);
int hyp_events_start(void);
void hyp_events_stop(void);
enum print_line_t hyp_event_print(struct trace_iterator *iter);

#endif /* __ARM64_KVM_HYP_TRACE_H__ */
