/* SPDX-License-Identifier: GPL-2.0 */
#ifndef HYPSTAT_DAT_WRITE_H
#define HYPSTAT_DAT_WRITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <linux/types.h>

#define DAT_MAX_CPUS		4096
#define DAT_MAX_OPTIONS		64

/* The numbers of sections and options, see trace-cmd.dat.v7(5) */
enum dat_id {
	DAT_OPTIONS		= 0,
	DAT_BUFFER		= 3,
	DAT_TRACECLOCK		= 4,
	DAT_CPUCOUNT		= 8,
	DAT_VERSION		= 9,
	DAT_STRINGS		= 15,
	DAT_HEADER_INFO		= 16,
	DAT_FTRACE_EVENTS	= 17,
	DAT_EVENT_FORMATS	= 18,
	DAT_KALLSYMS		= 19,
	DAT_PRINTK		= 20,
	DAT_CMDLINES		= 21,
};

/* Where the pages of a CPU are in the file */
struct dat_cpu {
	u32			id;
	u64			offset;
	u64			size;
};

/* The data of an option, which are written last */
struct dat_option {
	u16			id;
	u32			size;
	char			*data;
};

/**
 * struct dat_writer - a trace.dat that is being written
 * @file: the file
 * @section: where the section begins that is being written
 * @page_size: the size of the ring's pages
 * @options: what the last section of the file will have
 * @nr_options: how many these are
 * @cpus: the CPUs of the buffer that is being written
 * @nr_cpus: how many these are
 * @error: the first errno, or 0; nothing is written after an error
 */
struct dat_writer {
	FILE			*file;
	u64			section;
	u32			page_size;
	struct dat_option	options[DAT_MAX_OPTIONS];
	int			nr_options;
	struct dat_cpu		*cpus;
	int			nr_cpus;
	int			error;
};

int dat_create(struct dat_writer *dat, const char *path, u32 page_size);
void dat_section(struct dat_writer *dat, enum dat_id id);
void dat_section_end(struct dat_writer *dat, enum dat_id id);
void dat_write(struct dat_writer *dat, const void *data, size_t size);
void dat_write_u32(struct dat_writer *dat, u32 value);
void dat_write_u64(struct dat_writer *dat, u64 value);
void dat_write_text(struct dat_writer *dat, const char *text, size_t size);
void dat_option(struct dat_writer *dat, enum dat_id id, const void *data, size_t size);
void dat_buffer(struct dat_writer *dat);
void dat_buffer_cpu(struct dat_writer *dat, u32 cpu);
void dat_buffer_page(struct dat_writer *dat, const void *page);
void dat_buffer_end(struct dat_writer *dat, const char *name, const char *clock);
int dat_finish(struct dat_writer *dat);

#endif
