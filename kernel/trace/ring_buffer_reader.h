/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What ring_buffer.c asks of ring_buffer_reader.c, for the buffers that a
 * foreign writer fills. Included by ring_buffer.c alone.
 */
#ifdef CONFIG_RING_BUFFER_READER

static bool rb_writer_empty(struct ring_buffer_per_cpu *cpu_buffer);
static struct ring_buffer_event *
rb_writer_peek(struct ring_buffer_per_cpu *cpu_buffer, u64 *ts, unsigned long *lost_events);
static void rb_writer_advance(struct ring_buffer_per_cpu *cpu_buffer);
static void rb_writer_setup_ids(struct ring_buffer_per_cpu *cpu_buffer,
				unsigned long *subbuf_ids);
static void rb_writer_map_get_reader(struct ring_buffer_per_cpu *cpu_buffer);

static inline bool rb_has_writer(struct ring_buffer_per_cpu *cpu_buffer)
{
	return cpu_buffer->reader;
}

#else

static inline bool rb_writer_empty(struct ring_buffer_per_cpu *cpu_buffer)
{
	return true;
}

static inline struct ring_buffer_event *
rb_writer_peek(struct ring_buffer_per_cpu *cpu_buffer, u64 *ts, unsigned long *lost_events)
{
	return NULL;
}

static inline void rb_writer_advance(struct ring_buffer_per_cpu *cpu_buffer)
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

#endif /* CONFIG_RING_BUFFER_READER */
