// SPDX-License-Identifier: GPL-2.0
/*
 * Writes trace.dat, version 7, as trace-cmd.dat.v7(5) describes it, without compression.
 * libtracecmd has no public function for that.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dat_write.h"
#include "utils.h"

#define MAGIC		"\x17\x08\x44tracing7"
#define HEADER_SIZE	16	/* of a section */

static void dat_fail(struct dat_writer *dat)
{
	if (!dat->error)
		dat->error = errno ?: EIO;
}

/**
 * dat_write - append bytes
 * @dat: the file
 * @data: the bytes
 * @size: how many
 */
void dat_write(struct dat_writer *dat, const void *data, size_t size)
{
	if (!dat->error && size && fwrite(data, size, 1, dat->file) != 1)
		dat_fail(dat);
}

static void dat_write_u8(struct dat_writer *dat, u8 value)
{
	dat_write(dat, &value, sizeof(value));
}

static void dat_write_u16(struct dat_writer *dat, u16 value)
{
	dat_write(dat, &value, sizeof(value));
}

/**
 * dat_write_u32 - append a number of four bytes
 * @dat: the file
 * @value: the number
 */
void dat_write_u32(struct dat_writer *dat, u32 value)
{
	dat_write(dat, &value, sizeof(value));
}

/**
 * dat_write_u64 - append a number of eight bytes
 * @dat: the file
 * @value: the number
 */
void dat_write_u64(struct dat_writer *dat, u64 value)
{
	dat_write(dat, &value, sizeof(value));
}

/**
 * dat_write_text - append a text and, before it, its size in eight bytes
 * @dat: the file
 * @text: the text
 * @size: its size
 */
void dat_write_text(struct dat_writer *dat, const char *text, size_t size)
{
	dat_write_u64(dat, size);
	dat_write(dat, text, size);
}

static u64 dat_tell(struct dat_writer *dat)
{
	off_t at = ftello(dat->file);

	if (at < 0)
		dat_fail(dat);
	return at;
}

/* Write a number at a place before */
static void dat_patch(struct dat_writer *dat, u64 at, u64 value)
{
	u64 end = dat_tell(dat);

	if (dat->error)
		return;
	if (fseeko(dat->file, at, SEEK_SET))
		dat_fail(dat);
	dat_write_u64(dat, value);
	if (fseeko(dat->file, end, SEEK_SET))
		dat_fail(dat);
}

/**
 * dat_section - begin a section
 * @dat: the file
 * @id: its number
 */
void dat_section(struct dat_writer *dat, enum dat_id id)
{
	dat->section = dat_tell(dat);
	dat_write_u16(dat, id);
	dat_write_u16(dat, 0);		/* flags: not compressed */
	dat_write_u32(dat, 0);		/* no description */
	dat_write_u64(dat, 0);		/* the size, later */
}

static void dat_section_size(struct dat_writer *dat)
{
	dat_patch(dat, dat->section + 8, dat_tell(dat) - dat->section - HEADER_SIZE);
}

/**
 * dat_section_end - end a section, and add the option that says where it is
 * @dat: the file
 * @id: its number
 */
void dat_section_end(struct dat_writer *dat, enum dat_id id)
{
	dat_section_size(dat);
	dat_option(dat, id, &dat->section, sizeof(dat->section));
}

/**
 * dat_option - add an option
 * @dat: the file
 * @id: its number
 * @data: its data
 * @size: their size
 */
void dat_option(struct dat_writer *dat, enum dat_id id, const void *data, size_t size)
{
	struct dat_option *option = &dat->options[dat->nr_options];

	if (dat->error)
		return;
	errno = ENOSPC;
	if (dat->nr_options == DAT_MAX_OPTIONS) {
		dat_fail(dat);
		return;
	}
	option->id = id;
	option->size = size;
	option->data = xcalloc(1, size);
	memcpy(option->data, data, size);
	dat->nr_options++;
}

/**
 * dat_buffer - begin the section of a buffer
 * @dat: the file
 */
void dat_buffer(struct dat_writer *dat)
{
	dat_section(dat, DAT_BUFFER);
	dat->nr_cpus = 0;
}

/* trace-cmd maps the pages, so they are aligned. */
static void dat_align(struct dat_writer *dat)
{
	while (!dat->error && dat_tell(dat) % dat->page_size)
		dat_write_u8(dat, 0);
}

/**
 * dat_buffer_cpu - begin the pages of a CPU
 * @dat: the file
 * @cpu: the CPU
 */
void dat_buffer_cpu(struct dat_writer *dat, u32 cpu)
{
	errno = ENOSPC;
	if (dat->nr_cpus == DAT_MAX_CPUS) {
		dat_fail(dat);
		return;
	}
	dat_align(dat);
	dat->cpus[dat->nr_cpus++] = (struct dat_cpu) { .id = cpu, .offset = dat_tell(dat) };
}

/**
 * dat_buffer_page - append a page of the CPU that was begun last
 * @dat: the file
 * @page: the page, as trace_pipe_raw has it
 */
void dat_buffer_page(struct dat_writer *dat, const void *page)
{
	dat_write(dat, page, dat->page_size);
	dat->cpus[dat->nr_cpus - 1].size += dat->page_size;
}

static void *append(void *to, const void *data, size_t size)
{
	return (char *)memcpy(to, data, size) + size;
}

/**
 * dat_buffer_end - end the section of a buffer, and add the option that describes it
 * @dat: the file
 * @name: the name of the instance, empty for the top level
 * @clock: the clock of its events
 */
void dat_buffer_end(struct dat_writer *dat, const char *name, const char *clock)
{
	size_t size = 8 + strlen(name) + 1 + strlen(clock) + 1 + 8 + dat->nr_cpus * 20;
	char *data = xcalloc(1, size), *at = data;
	u32 nr_cpus = dat->nr_cpus;

	dat_section_size(dat);
	at = append(at, &dat->section, 8);
	at = append(at, name, strlen(name) + 1);
	at = append(at, clock, strlen(clock) + 1);
	at = append(at, &dat->page_size, 4);
	at = append(at, &nr_cpus, 4);
	for (struct dat_cpu *cpu = dat->cpus; cpu < dat->cpus + nr_cpus; cpu++) {
		at = append(at, &cpu->id, 4);
		at = append(at, &cpu->offset, 8);
		at = append(at, &cpu->size, 8);
	}
	dat_option(dat, DAT_BUFFER, data, size);
	free(data);
}

static bool big_endian(void)
{
	u16 one = 1;

	return !*(u8 *)&one;
}

/**
 * dat_create - begin a file
 * @dat: the file
 * @path: its path
 * @page_size: the size of the ring's pages
 *
 * Return: 0, or an errno.
 */
int dat_create(struct dat_writer *dat, const char *path, u32 page_size)
{
	memset(dat, 0, sizeof(*dat));
	dat->page_size = page_size;
	dat->file = fopen(path, "we");
	if (!dat->file) {
		dat_fail(dat);
		return dat->error;
	}
	dat->cpus = xcalloc(DAT_MAX_CPUS, sizeof(*dat->cpus));
	dat_write(dat, MAGIC, sizeof(MAGIC));
	dat_write_u8(dat, big_endian());
	dat_write_u8(dat, sizeof(long));
	dat_write_u32(dat, page_size);
	dat_write(dat, "none\0", 6);	/* no compression, and its version */
	dat_write_u64(dat, 0);		/* where the options are, later */
	return dat->error;
}

/* The place of that number */
static u64 dat_options_at(void)
{
	return sizeof(MAGIC) + 2 + 4 + 6;
}

static void dat_write_options(struct dat_writer *dat)
{
	struct dat_option *option;

	dat_section(dat, DAT_OPTIONS);
	for (option = dat->options; option < dat->options + dat->nr_options; option++) {
		dat_write_u16(dat, option->id);
		dat_write_u32(dat, option->size);
		dat_write(dat, option->data, option->size);
		free(option->data);
	}
	dat_write_u16(dat, 0);		/* the end, */
	dat_write_u32(dat, 8);
	dat_write_u64(dat, 0);		/* and no other section of options */
	dat_section_size(dat);
	dat_patch(dat, dat_options_at(), dat->section);
}

/**
 * dat_finish - end a file
 * @dat: the file
 *
 * Return: 0, or the errno of the first write that failed.
 */
int dat_finish(struct dat_writer *dat)
{
	dat_write_options(dat);
	if (fclose(dat->file))
		dat_fail(dat);
	free(dat->cpus);
	return dat->error;
}
