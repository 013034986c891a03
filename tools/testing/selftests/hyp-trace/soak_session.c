// SPDX-License-Identifier: GPL-2.0-only
/*
 * The lines that a soak's readers read
 *
 * Each line is checked: its format, its order and time, and that a writer wrote such an event.
 * Then it is noted in the account.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "soak.h"

struct line {
	enum { LINE_SELFTEST, LINE_OTHER, LINE_LOST } kind;
	unsigned long cpu, us, id, lost;
};

static bool take_text(const char **at, const char *text)
{
	size_t len = strlen(text);

	if (strncmp(*at, text, len))
		return false;
	*at += len;
	return true;
}

static bool take_number(const char **at, unsigned long *value)
{
	const char *from = *at;

	for (*value = 0; **at >= '0' && **at <= '9'; (*at)++)
		*value = *value * 10 + **at - '0';
	return *at != from;
}

/* "CPU:1 [LOST 2 EVENTS]"; UNKNOWN without a number. */
static bool parse_lost(const char *at, struct line *line)
{
	line->kind = LINE_LOST;
	line->lost = UNKNOWN;
	if (!take_number(&at, &line->cpu))
		return false;
	if (!strcmp(at, " [LOST EVENTS]"))
		return true;
	return take_text(&at, " [LOST ") && take_number(&at, &line->lost) && line->lost &&
	       !strcmp(at, " EVENTS]");
}

/* "[001]     1.000001: selftest id=2" */
static bool parse_event(const char *at, struct line *line)
{
	unsigned long s, us;

	if (!take_number(&at, &line->cpu) || !take_text(&at, "] "))
		return false;
	while (take_text(&at, " "))
		;
	if (!take_number(&at, &s) || !take_text(&at, ".") || !take_number(&at, &us) ||
	    !take_text(&at, ": "))
		return false;
	line->us = s * 1000000 + us;
	line->kind = LINE_OTHER;
	if (!take_text(&at, "selftest "))
		return take_text(&at, "hyp_enter reason=") || take_text(&at, "hyp_exit reason=");
	line->kind = LINE_SELFTEST;
	return take_text(&at, "id=") && take_number(&at, &line->id) && !*at;
}

static bool parse_line(const char *text, struct line *line)
{
	bool good = take_text(&text, "[") ? parse_event(text, line) :
		    take_text(&text, "CPU:") && parse_lost(text, line);

	return good && line->cpu < (unsigned long)nr_cpus;
}

void begin_session(struct session *s, int fd, int cpu, bool consumes)
{
	int i;

	memset(s, 0, sizeof(*s));
	s->fd = fd;
	s->cpu = cpu;
	s->consumes = consumes;
	for (i = 0; i < nr_cpus; i++)
		s->next[i][i] = load(&accounts[i].floor);
}

/* A non-consuming reader may not learn how many events are lost. */
static void take_unknown(struct session *s, const struct line *line)
{
	s->unknown = true;
	add(&done.unknown, 1);
	if (s->consumes)
		violation("CPU %d has lost events, and their number is not known", (int)line->cpu);
}

static void take_lost(struct session *s, const struct line *line)
{
	if (s->lost[line->cpu])
		violation("CPU %d has events lost twice in a row", (int)line->cpu);
	s->lost[line->cpu] = line->lost;
	s->torn = true;
	if (line->lost == UNKNOWN) {
		take_unknown(s, line);
		return;
	}

	if (s->consumes)
		add(&accounts[line->cpu].reported, line->lost);
	s->shown += line->lost;
	add(&done.lost, line->lost);
}

static void take_time(struct session *s, const struct line *line)
{
	if (line->us < s->us[line->cpu])
		violation("time of CPU %d goes backwards, from %lu to %lu", (int)line->cpu,
			  s->us[line->cpu], line->us);
	if (line->us < s->last_us && !s->consumes)
		violation("CPU %d at %lu us comes after %lu us", (int)line->cpu, line->us,
			  s->last_us);
	s->us[line->cpu] = line->us;
	s->last_us = line->us;
}

static struct writer *find_writer(const struct line *line)
{
	unsigned int w = line->id >> 32 & 0xffff;
	struct writer *writer = &writers[w];
	unsigned int seq = line->id;

	if (line->id >> 48 != plan.nr || w >= (unsigned int)nr_writers ||
	    seq >= load(&writer->begun)) {
		violation("an event that was not written: id %#lx", line->id);
		return NULL;
	}
	if (writer->cpu != (int)line->cpu && !(plan.flags & (HOTPLUG | ROAM)))
		violation("event %u of writer %u comes from CPU %d", seq, w, (int)line->cpu);
	return writer;
}

static void take_id(struct session *s, const struct line *line, unsigned long lost)
{
	struct writer *writer = find_writer(line);
	unsigned int seq = line->id, *next;

	if (!writer)
		return;

	next = &s->next[line->cpu][writer - writers];
	if (seq < *next)
		violation("CPU %d: event %u of writer %d, after those before %u were %s",
			  (int)line->cpu, seq, (int)(writer - writers), *next,
			  s->us[line->cpu] ? "read" : "cleared");
	if (s->consumes) {
		note_read(writer, seq, lost);
		add(&done.read, 1);
	} else if (is_orderly() && lost != UNKNOWN && (lost || seq > *next)) {
		note_gap(line->cpu, *next, seq, lost);
	}
	*next = seq + 1;
}

static void take_event(struct session *s, const struct line *line)
{
	unsigned long lost = s->lost[line->cpu];

	s->torn = false;
	s->lost[line->cpu] = 0;
	s->shown++;
	if (s->consumes)
		add(&accounts[line->cpu].lines, 1);
	if (line->kind == LINE_SELFTEST)
		take_id(s, line, lost);
	else if (!(plan.flags & NOISE))
		violation("an event that is not enabled");
	take_time(s, line);
}

/* An event of a page of the session's CPU, and how many events were lost before it */
void take_raw(struct session *s, unsigned long id, unsigned long us, unsigned long lost)
{
	struct line line = { .kind = LINE_SELFTEST, .cpu = s->cpu, .us = us, .id = id };

	if (lost == UNKNOWN)
		lost = (unsigned int)id - s->next[s->cpu][s->cpu];
	if (lost) {
		line.lost = lost;
		take_lost(s, &line);
	}
	take_event(s, &line);
}

static void take_comment(struct session *s)
{
	unsigned long in;

	if (s->consumes || s->shown)
		violation("a comment where events are: %s", s->text);
	if (sscanf(s->text, "# entries-in-buffer/entries-written: %lu/%lu", &in,
		   &s->written) == 2 && in > s->written)
		violation("%s", s->text);
}

static void take_line(struct session *s)
{
	struct line line = { 0 };

	if (s->text[0] == '#')
		return take_comment(s);
	if (!parse_line(s->text, &line))
		violation("no line: %s", s->text);
	else if (s->cpu >= 0 && s->cpu != (int)line.cpu)
		violation("a line in the file of CPU %d: %s", s->cpu, s->text);
	else if (line.kind == LINE_LOST)
		take_lost(s, &line);
	else
		take_event(s, &line);
}

static void take(struct session *s, const char *data, size_t size)
{
	for (; size--; data++) {
		if (*data != '\n' && s->len < sizeof(s->text) - 1) {
			s->text[s->len++] = *data;
			continue;
		}
		s->text[s->len] = '\0';
		s->len = 0;
		take_line(s);
	}
}

/* The kernel has consumed the rest of the line, or the event after a report, already. */
bool is_torn(const struct session *s)
{
	return s->len || s->torn;
}

/* Read and take @size bytes at most. What read() returned, or -errno. */
ssize_t read_some(struct session *s, size_t size)
{
	char buf[16384];
	ssize_t ret;

	doing("read", me->file);
	ret = read(s->fd, buf, size < sizeof(buf) ? size : sizeof(buf));
	if (ret < 0) {
		if (errno == EINTR)
			add(&done.signals, 1);
		return -errno;
	}
	doing("take", me->file);
	take(s, buf, ret);
	return ret;
}
