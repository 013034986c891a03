/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What ring_buffer.c asks of the reader, for the buffers that a remote writer fills. Included by
 * ring_buffer.c alone. Without CONFIG_RING_BUFFER_READER there is no such buffer, and all of it
 * is constant.
 */
#ifdef CONFIG_RING_BUFFER_READER

#include "ring_buffer_reader_internal.h"

static inline bool rb_has_writer(struct ring_buffer_per_cpu *cpu_buffer)
{
	return unlikely(cpu_buffer->reader);
}

/* The kernel can't write to it: only a remote writer can. */
static inline bool rb_buffer_has_writer(struct trace_buffer *buffer)
{
	return unlikely(buffer->reader_ops);
}

static inline void rb_writer_free(struct trace_buffer *buffer)
{
	buffer->reader_ops->free(buffer);
}

static inline void rb_writer_reset(struct trace_buffer *buffer, const struct cpumask *cpus)
{
	buffer->reader_ops->reset(buffer, cpus);
}

static inline bool rb_writer_empty(struct ring_buffer_per_cpu *cpu_buffer)
{
	return cpu_buffer->buffer->reader_ops->is_empty(cpu_buffer->reader);
}

static inline u64 rb_writer_oldest_ts(struct ring_buffer_per_cpu *cpu_buffer)
{
	return cpu_buffer->buffer->reader_ops->oldest_ts(cpu_buffer->reader);
}

static inline void rb_writer_setup_ids(struct ring_buffer_per_cpu *cpu_buffer,
				       unsigned long *subbuf_ids)
{
	cpu_buffer->buffer->reader_ops->setup_ids(cpu_buffer->reader, subbuf_ids);
}

static inline void rb_writer_map_get_reader(struct ring_buffer_per_cpu *cpu_buffer)
{
	lockdep_assert_held(&cpu_buffer->mapping_lock);
	cpu_buffer->buffer->reader_ops->map_get_reader(cpu_buffer->reader);
}

#else

static inline void rb_writer_free(struct trace_buffer *buffer)
{
}

static inline bool rb_writer_empty(struct ring_buffer_per_cpu *cpu_buffer)
{
	return true;
}

static inline u64 rb_writer_oldest_ts(struct ring_buffer_per_cpu *cpu_buffer)
{
	return 0;
}

static inline void rb_writer_reset(struct trace_buffer *buffer, const struct cpumask *cpus)
{
}

static inline void rb_writer_setup_ids(struct ring_buffer_per_cpu *cpu_buffer,
				       unsigned long *subbuf_ids)
{
}

static inline void rb_writer_map_get_reader(struct ring_buffer_per_cpu *cpu_buffer)
{
}

static inline bool rb_has_writer(struct ring_buffer_per_cpu *cpu_buffer)
{
	return false;
}

static inline bool rb_buffer_has_writer(struct trace_buffer *buffer)
{
	return false;
}

#endif /* CONFIG_RING_BUFFER_READER */
