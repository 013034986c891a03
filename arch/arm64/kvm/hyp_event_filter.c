// SPDX-License-Identifier: GPL-2.0-only
/*
 * The filters of the hypervisor's events
 *
 * An expression is compiled by the host's own parser, and handed to EL2 a predicate
 * a hypercall; there it is checked, and gone through before an event takes
 * room. Beyond what the host's filters know, a name that an event's text has for a
 * number can be written in its place: reason == "hvc".
 */
#include <linux/ctype.h>
#include <linux/delay.h>
#include <linux/kvm_host.h>
#include <linux/mutex.h>
#include <linux/seq_buf.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/trace_events.h>
#include <linux/trace_remote_filter.h>

#include <asm/kvm_asm.h>
#include <asm/kvm_hypevents_defs.h>

#include "hyp_trace.h"

/* Covers the texts, and that EL2 has the filters that they say. */
static DEFINE_MUTEX(hyp_filter_lock);

/* The last expression that was written for all events */
static char *hyp_filter_all;

/* A stretch of text, not ended by a null. */
struct hyp_word {
	const char	*start;
	int		len;
};

/*
 * The number that print fmt has for a name, in the text: of the list
 *	__print_symbolic(REC->field, { 0, "name" }, ...)
 */
static bool hyp_filter_symbol(const char *print_fmt, struct hyp_word field, struct hyp_word name,
			      struct hyp_word *number)
{
	char key[64];
	const char *list, *end, *at;

	if (snprintf(key, sizeof(key), "__print_symbolic(REC->%.*s, ", field.len, field.start) >=
	    sizeof(key))
		return false;

	list = strstr(print_fmt, key);
	end = list ? strstr(list, "})") : NULL;
	if (!end || snprintf(key, sizeof(key), ", \"%.*s\" }", name.len, name.start) >= sizeof(key))
		return false;

	at = strnstr(list, key, end + 1 - list);
	if (!at)
		return false;

	for (number->start = at; number->start[-1] != '{'; number->start--)
		;
	number->len = at - number->start;
	return true;
}

/* A field's name, or a number, whole. */
static const char *hyp_filter_put_word(struct seq_buf *out, const char *str, struct hyp_word *field)
{
	field->start = str;
	while (isalnum(*str) || *str == '_')
		str++;
	field->len = str - field->start;
	seq_buf_putmem(out, field->start, field->len);
	return str;
}

/*
 * Put the next piece of an expression: a word, a character, or what is in quotation marks,
 * with a number for a name. @field is the last word. Returns what is behind it.
 */
static const char *hyp_filter_put_piece(struct seq_buf *out, const char *print_fmt,
					const char *str, struct hyp_word *field)
{
	struct hyp_word name, number;
	const char *end;

	if (isalpha(*str) || *str == '_')
		return hyp_filter_put_word(out, str, field);

	end = *str == '"' || *str == '\'' ? strchr(str + 1, *str) : NULL;
	if (!end) {
		seq_buf_putc(out, *str);
		return str + 1;
	}

	name = (struct hyp_word){ str + 1, end - str - 1 };
	if (hyp_filter_symbol(print_fmt, *field, name, &number))
		seq_buf_putmem(out, number.start, number.len);
	else
		seq_buf_putmem(out, str, end + 1 - str);
	return end + 1;
}

/*
 * Put numbers for the names in an expression, until there are @max bytes or more. Returns
 * what is left of the expression.
 */
static const char *hyp_filter_resolve(struct seq_buf *out, const char *print_fmt, const char *str,
				      size_t max)
{
	struct hyp_word field = { };

	while (*str && seq_buf_used(out) < max)
		str = hyp_filter_put_piece(out, print_fmt, str, &field);

	return str;
}

/* Where in the expression is what is at @pos with numbers for the names? */
static size_t hyp_filter_origin(const char *print_fmt, const char *str, size_t pos, char *buf)
{
	const char *left;
	struct seq_buf out;
	size_t extra;

	seq_buf_init(&out, buf, PAGE_SIZE);
	left = hyp_filter_resolve(&out, print_fmt, str, pos);
	extra = seq_buf_used(&out) - min(pos, seq_buf_used(&out));
	return max_t(ssize_t, left - str - extra, 0);
}

/* How often a predicate is handed over, and how long to wait before the next time */
#define HYP_FILTER_TRIES	1000
#define HYP_FILTER_WAIT_US	20

static int hyp_filter_add(unsigned int nr, int index, const struct trace_remote_pred *pred)
{
	return hyp_trace_hypcall(__hyp_trace_add_pred, nr, index, pred->code, pred->val);
}

/*
 * The first predicate overwrites the program that was in use before the last one. EL2
 * refuses it while a CPU there may still read that program. An event is filtered within a
 * microsecond, unless another hypervisor has preempted the CPU.
 */
static int hyp_filter_add_first(unsigned int nr, const struct trace_remote_pred *pred)
{
	int tries, ret = -EAGAIN;

	for (tries = 0; tries < HYP_FILTER_TRIES && ret == -EAGAIN; tries++) {
		if (tries)
			usleep_range(HYP_FILTER_WAIT_US, 5 * HYP_FILTER_WAIT_US);
		ret = hyp_filter_add(nr, 0, pred);
	}

	return ret == -EAGAIN ? -EBUSY : ret;
}

/* Have EL2 use a program. */
static int hyp_filter_tell(struct hyp_event *event, const struct trace_remote_pred *preds, int nr)
{
	unsigned int event_nr = hyp_event_nr(event);
	int i, ret = 0;

	lockdep_assert_held(&hyp_filter_lock);

	if (nr)
		ret = hyp_filter_add_first(event_nr, &preds[0]);
	for (i = 1; i < nr && !ret; i++)
		ret = hyp_filter_add(event_nr, i, &preds[i]);

	return ret ?: hyp_trace_hypcall(__hyp_trace_set_filter, event_nr, nr);
}

/**
 * struct hyp_filter - a filter that is not used yet
 * @preds:	the program
 * @nr:		predicates it has; 0 for no filter
 * @text:	what the file shows: the expression, and, if it is refused, why
 * @wrong:	-EINVAL if it is refused
 * @error:	why
 */
struct hyp_filter {
	struct trace_remote_pred	*preds;
	int				nr;
	char				*text;
	int				wrong;
	struct trace_filter_error	error;
};

static void hyp_filter_drop(struct hyp_filter *filter)
{
	kfree(filter->preds);
	kfree(filter->text);
}

static int hyp_filter_too_long(struct hyp_filter *filter, const char *str)
{
	filter->error = (struct trace_filter_error){ "Filter is too long", strlen(str) };
	return -EINVAL;
}

/* Compile it, with a page in @buf. Returns how many predicates, -EINVAL or -ENOMEM. */
static int hyp_filter_compile(struct hyp_event *event, const char *str, char *buf,
			      struct hyp_filter *filter)
{
	char *print_fmt = event->call.print_fmt;
	struct seq_buf resolved;
	int ret;

	seq_buf_init(&resolved, buf, PAGE_SIZE);
	hyp_filter_resolve(&resolved, print_fmt, str, PAGE_SIZE);
	if (strlen(str) >= PAGE_SIZE || seq_buf_has_overflowed(&resolved))
		return hyp_filter_too_long(filter, str);

	seq_buf_str(&resolved);
	ret = trace_compile_remote_filter(&event->call, buf, filter->preds, TRACE_REMOTE_MAX_PREDS,
					  &filter->error);
	if (ret == -EINVAL)
		filter->error.pos = hyp_filter_origin(print_fmt, str, filter->error.pos, buf);
	return ret;
}

/* What the file shows. That of one that is refused is in the words of the host's. */
static char *hyp_filter_text(const char *str, const struct hyp_filter *filter)
{
	int pos = filter->error.pos;

	if (!filter->wrong)
		return kstrdup(str, GFP_KERNEL);

	/* The host's mark is a column off, but for the first one. */
	return kasprintf(GFP_KERNEL, "%s\n%*s\nparse_error: %s\n", str, pos ? pos + 1 : 0, "^",
			 filter->error.text);
}

/*
 * Make a filter of an expression: all that takes memory, so that what follows can't
 * fail for want of it. Returns -ENOMEM, or 0 also if the expression is wrong.
 */
static int hyp_filter_make(struct hyp_event *event, const char *str, struct hyp_filter *filter)
{
	char *buf = kmalloc(PAGE_SIZE, GFP_KERNEL);
	int ret = -ENOMEM;

	*filter = (struct hyp_filter){
		.preds	= kcalloc(TRACE_REMOTE_MAX_PREDS, sizeof(*filter->preds), GFP_KERNEL),
	};
	if (buf && filter->preds)
		ret = hyp_filter_compile(event, str, buf, filter);
	kfree(buf);

	filter->nr = max(ret, 0);
	filter->wrong = min(ret, 0);
	if (ret != -ENOMEM)
		filter->text = hyp_filter_text(str, filter);
	if (filter->text)
		return 0;

	hyp_filter_drop(filter);
	return -ENOMEM;
}

static void hyp_filter_set_text(char **text, char *new)
{
	kfree(*text);
	*text = new;
}

/* Use a filter, and have its text. */
static int hyp_filter_use(struct hyp_event *event, struct hyp_filter *filter)
{
	int ret = hyp_filter_tell(event, filter->preds, filter->nr);

	if (!ret) {
		hyp_filter_set_text(&event->filter, filter->text);
		filter->text = NULL;
	}
	return ret;
}

/*
 * Filter an event by an expression. If that is refused, there is no filter, and the file
 * and the log show why.
 */
static int hyp_filter_set(struct hyp_event *event, const char *str)
{
	struct hyp_filter filter;
	int ret;

	ret = hyp_filter_make(event, str, &filter);
	if (ret)
		return ret;

	ret = hyp_filter_use(event, &filter);
	if (filter.wrong)
		hyp_trace_log_error(str, &filter.error);
	hyp_filter_drop(&filter);
	return ret ?: filter.wrong;
}

static int hyp_filter_clear(struct hyp_event *event)
{
	struct hyp_filter none = { };

	return hyp_filter_use(event, &none);
}

static int hyp_filter_clear_all(void)
{
	struct hyp_event *event;
	int i, ret = 0;

	for (i = 0; (event = hyp_event_get(i)); i++)
		ret = hyp_filter_clear(event) ?: ret;

	hyp_filter_set_text(&hyp_filter_all, NULL);
	return ret;
}

/* Use those that are not refused: of each event there is one. */
static int hyp_filter_use_all(struct hyp_filter *filters)
{
	struct hyp_event *event;
	int i, ret = 0;

	for (i = 0; (event = hyp_event_get(i)) && !ret; i++) {
		if (!filters[i].wrong)
			ret = hyp_filter_use(event, &filters[i]);
	}

	return ret;
}

/* Of those that are all refused, the one of which most was right; NULL if one is not. */
static struct hyp_filter *hyp_filter_refused_all(struct hyp_filter *filters)
{
	struct hyp_filter *filter, *best = filters;

	for (filter = filters; filter < filters + NR_HYP_EVENTS; filter++) {
		if (!filter->wrong)
			return NULL;
		if (filter->error.pos > best->error.pos)
			best = filter;
	}

	return best;
}

/* Use what there is for the group; its file shows @str, or why no event can have it. */
static int hyp_filter_set_made(struct hyp_filter *filters, const char *str, char **text)
{
	struct hyp_filter *refused = hyp_filter_refused_all(filters);
	int ret = refused ? hyp_filter_clear_all() : hyp_filter_use_all(filters);

	if (refused) {
		hyp_trace_log_error(str, &refused->error);
		swap(*text, refused->text);
	}
	if (!ret)
		swap(hyp_filter_all, *text);
	return ret ?: refused ? -EINVAL : 0;
}

/*
 * Filter those events that have the fields. All are made before one is used. If there is
 * no such event the expression is refused, and no event has a filter.
 */
static int hyp_filter_set_all(const char *str)
{
	struct hyp_filter *filters = kcalloc(NR_HYP_EVENTS, sizeof(*filters), GFP_KERNEL);
	char *text = kstrdup(str, GFP_KERNEL);
	int nr = 0, ret = -ENOMEM;

	if (filters && text) {
		for (ret = 0; nr < NR_HYP_EVENTS && !ret; nr += !ret)
			ret = hyp_filter_make(hyp_event_get(nr), str, &filters[nr]);
		ret = ret ?: hyp_filter_set_made(filters, str, &text);
	}

	kfree(text);
	while (nr--)
		hyp_filter_drop(&filters[nr]);
	kfree(filters);
	return ret;
}

static int hyp_event_set_filter_locked(struct hyp_event *event, const char *str)
{
	lockdep_assert_held(&hyp_filter_lock);

	if (!strcmp(str, "0"))
		return event ? hyp_filter_clear(event) : hyp_filter_clear_all();
	return event ? hyp_filter_set(event, str) : hyp_filter_set_all(str);
}

/**
 * hyp_event_set_filter - filter an event
 * @event:	the event; NULL for all that have the fields
 * @str:	the expression, or "0" for no filter
 *
 * Context: process context, may sleep.
 * Return: 0; -EINVAL for an expression that is refused: then the event, or with NULL each
 * event, has no filter; or, with nothing changed, -ENOMEM, -EBUSY when a CPU at EL2
 * does not leave the filter, or what EL2 refused with.
 */
int hyp_event_set_filter(struct hyp_event *event, const char *str)
{
	int ret;

	ret = hyp_trace_get_el2();
	if (ret)
		return ret;

	scoped_guard(mutex, &hyp_filter_lock)
		ret = hyp_event_set_filter_locked(event, str);
	hyp_trace_put_el2();
	return ret;
}

/**
 * hyp_event_get_filter - what was written as an event's filter
 * @event:	the event; NULL for what was written for all
 *
 * Context: process context, may sleep.
 * Return: the expression, and why if it is refused, or "none", with a newline, for kfree();
 * NULL when there is no memory for it.
 */
char *hyp_event_get_filter(struct hyp_event *event)
{
	const char *text;

	guard(mutex)(&hyp_filter_lock);
	text = event ? event->filter : hyp_filter_all;
	return kasprintf(GFP_KERNEL, "%s\n", text ?: "none");
}
