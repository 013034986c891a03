// SPDX-License-Identifier: GPL-2.0
/* Writes to trace.dat what a reader must know of the kernel: the formats of its events. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tracefs.h>

#include "dat_formats.h"
#include "events.h"

/* A file of the top level; without it, an empty text. */
static void write_file(struct dat_writer *dat, const char *name)
{
	int size = 0;
	char *text = tracefs_instance_file_read(NULL, name, &size);

	dat_write_text(dat, text ?: "", text ? size : 0);
	free(text);
}

static void write_short_file(struct dat_writer *dat, const char *name)
{
	int size = 0;
	char *text = tracefs_instance_file_read(NULL, name, &size);

	dat_write_u32(dat, text ? size : 0);
	dat_write(dat, text, text ? size : 0);
	free(text);
}

static void write_headers(struct dat_writer *dat)
{
	dat_section(dat, DAT_HEADER_INFO);
	dat_write(dat, "header_page", sizeof("header_page"));
	write_file(dat, "events/header_page");
	dat_write(dat, "header_event", sizeof("header_event"));
	write_file(dat, "events/header_event");
	dat_section_end(dat, DAT_HEADER_INFO);
}

static void write_event(struct dat_writer *dat, const char *system, const char *event)
{
	char *name = NULL;

	if (asprintf(&name, "events/%s/%s/format", system, event) < 0)
		return;
	write_file(dat, name);
	free(name);
}

static void write_system(struct dat_writer *dat, const char *system)
{
	char **events = tracefs_system_events(NULL, system), **event;
	u32 nr = 0;

	for (event = events; event && *event; event++)
		nr++;
	dat_write_u32(dat, nr);
	for (event = events; event && *event; event++)
		write_event(dat, system, *event);
	tracefs_list_free(events);
}

static void write_systems(struct dat_writer *dat, const char * const *systems, unsigned int nr)
{
	dat_section(dat, DAT_FTRACE_EVENTS);
	write_system(dat, "ftrace");
	dat_section_end(dat, DAT_FTRACE_EVENTS);
	dat_section(dat, DAT_EVENT_FORMATS);
	dat_write_u32(dat, nr);
	for (; nr; nr--, systems++) {
		dat_write(dat, *systems, strlen(*systems) + 1);
		write_system(dat, *systems);
	}
	dat_section_end(dat, DAT_EVENT_FORMATS);
}

/* The symbols of EL2's image. No other function of the kernel is in an event that is recorded. */
static void write_symbols(struct dat_writer *dat)
{
	char *text = NULL, *line = NULL;
	FILE *kallsyms = fopen("/proc/kallsyms", "re"), *out;
	size_t size = 0, room = 0;

	out = open_memstream(&text, &size);
	while (kallsyms && out && getline(&line, &room, kallsyms) > 0) {
		if (strstr(line, " " NVHE_PREFIX))
			fputs(line, out);
	}
	if (out)
		fclose(out);
	if (kallsyms)
		fclose(kallsyms);
	dat_write_u32(dat, size);
	dat_write(dat, text, size);
	free(text);
	free(line);
}

static void write_texts(struct dat_writer *dat)
{
	dat_section(dat, DAT_KALLSYMS);
	write_symbols(dat);
	dat_section_end(dat, DAT_KALLSYMS);
	dat_section(dat, DAT_PRINTK);
	write_short_file(dat, "printk_formats");
	dat_section_end(dat, DAT_PRINTK);
	dat_section(dat, DAT_CMDLINES);
	write_file(dat, "saved_cmdlines");
	dat_section_end(dat, DAT_CMDLINES);
}

/**
 * dat_formats - write the kernel's formats of events, and the names of tasks
 * @dat: the file
 * @systems: the groups of events
 * @nr: how many
 */
void dat_formats(struct dat_writer *dat, const char * const *systems, unsigned int nr)
{
	write_headers(dat);
	write_systems(dat, systems, nr);
	write_texts(dat);
}
