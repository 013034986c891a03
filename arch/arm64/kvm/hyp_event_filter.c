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
#include <linux/kvm_host.h>
#include <linux/mutex.h>
#include <linux/seq_buf.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/string.h>
#include <linux/trace_events.h>

#include <asm/kvm_asm.h>
#include <asm/kvm_hypevents_defs.h>
#include <asm/kvm_hypfilter.h>

#include "hyp_trace.h"

static_assert(HYP_FILTER_EQ == (int)TRACE_FOREIGN_EQ);
static_assert(HYP_FILTER_LE == (int)TRACE_FOREIGN_LE);
static_assert(HYP_FILTER_LT == (int)TRACE_FOREIGN_LT);
static_assert(HYP_FILTER_GE == (int)TRACE_FOREIGN_GE);
static_assert(HYP_FILTER_GT == (int)TRACE_FOREIGN_GT);
static_assert(HYP_FILTER_AND == (int)TRACE_FOREIGN_AND);

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

/* Put numbers for the names in an expression. */
static void hyp_filter_resolve(struct seq_buf *out, const char *print_fmt, const char *str)
{
	struct hyp_word field = { }, name, number;
	const char *end;

	while (*str) {
		if (isalpha(*str) || *str == '_') {
			field.start = str;
			while (isalnum(*str) || *str == '_')
				str++;
			field.len = str - field.start;
			seq_buf_putmem(out, field.start, field.len);
			continue;
		}

		end = *str == '"' || *str == '\'' ? strchr(str + 1, *str) : NULL;
		if (!end) {
			seq_buf_putc(out, *str++);
			continue;
		}

		name = (struct hyp_word){ str + 1, end - str - 1 };
		if (hyp_filter_symbol(print_fmt, field, name, &number))
			seq_buf_putmem(out, number.start, number.len);
		else
			seq_buf_putmem(out, str, end + 1 - str);
		str = end + 1;
	}
}

/* Have EL2 use a program. */
static int hyp_filter_tell(struct hyp_event *event, const struct trace_foreign_pred *preds, int nr)
{
	unsigned int event_nr = hyp_event_nr(event);
	int i, ret = 0;

	lockdep_assert_held(&hyp_filter_lock);

	/* What comes now is put where the last but one was: no CPU shall be in that. */
	kick_all_cpus_sync();

	for (i = 0; i < nr && !ret; i++) {
		const struct trace_foreign_pred *pred = &preds[i];

		ret = hyp_trace_hypcall(__hyp_trace_add_pred, event_nr, i,
					hyp_pred(pred->offset, pred->size, pred->is_signed,
						 pred->op, pred->not, pred->when, pred->target),
					pred->val);
	}

	return ret ?: hyp_trace_hypcall(__hyp_trace_set_filter, event_nr, nr);
}

/**
 * struct hyp_filter - a filter that is not used yet
 * @preds:	the program
 * @nr:		predicates it has; 0 for no filter
 * @text:	what to show of it, or what is wrong with it; NULL for nothing
 * @wrong:	why there is no program
 */
struct hyp_filter {
	struct trace_foreign_pred	*preds;
	int				nr;
	char				*text;
	int				wrong;
};

static void hyp_filter_drop(struct hyp_filter *filter)
{
	kfree(filter->preds);
	kfree(filter->text);
}

static int hyp_filter_compile(struct hyp_event *event, const char *str, char *buf,
			      struct hyp_filter *filter)
{
	struct seq_buf resolved;
	char *error = NULL;
	int ret = -EINVAL;

	seq_buf_init(&resolved, buf, PAGE_SIZE);
	hyp_filter_resolve(&resolved, event->call.print_fmt, str);
	if (!seq_buf_has_overflowed(&resolved)) {
		seq_buf_str(&resolved);
		ret = trace_compile_foreign_filter(&event->call, buf, filter->preds,
						   HYP_FILTER_MAX_PREDS, &error);
	}

	if (ret < 0)
		swap(filter->text, error);
	else
		filter->nr = ret;
	kfree(error);
	return min(ret, 0);
}

/*
 * Make a filter of an expression: all that takes memory, so that what follows can't
 * fail for want of it. Returns -ENOMEM, or 0 also if the expression is wrong.
 */
static int hyp_filter_make(struct hyp_event *event, const char *str, struct hyp_filter *filter)
{
	char *buf = kmalloc(PAGE_SIZE, GFP_KERNEL);

	*filter = (struct hyp_filter){
		.preds	= kcalloc(HYP_FILTER_MAX_PREDS, sizeof(*filter->preds), GFP_KERNEL),
		.text	= kstrdup(str, GFP_KERNEL),
		.wrong	= -ENOMEM,
	};
	if (buf && filter->preds && filter->text)
		filter->wrong = hyp_filter_compile(event, str, buf, filter);
	kfree(buf);

	if (filter->wrong != -ENOMEM)
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
 * Filter an event by an expression. As with the host's, what is wrong with it is
 * shown in its place, and then there is no filter.
 */
static int hyp_filter_set(struct hyp_event *event, const char *str)
{
	struct hyp_filter filter;
	int ret;

	ret = hyp_filter_make(event, str, &filter);
	if (ret)
		return ret;

	if (!filter.wrong || filter.text)
		ret = hyp_filter_use(event, &filter);
	hyp_filter_drop(&filter);
	return filter.wrong ?: ret;
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

/* Use those filters that an event can have: of each there is one. */
static int hyp_filter_use_all(struct hyp_filter *filters)
{
	struct hyp_event *event;
	int i, ret = -EINVAL, err = 0;

	for (i = 0; (event = hyp_event_get(i)); i++) {
		if (filters[i].wrong && filters[i].wrong != -EINVAL)
			return filters[i].wrong;
		if (!filters[i].wrong)
			ret = 0;
	}

	for (i = 0; (event = hyp_event_get(i)) && !err; i++) {
		if (!filters[i].wrong)
			err = hyp_filter_use(event, &filters[i]);
	}

	return ret ?: err;
}

/* Filter those events that have the fields. All are made before one is used. */
static int hyp_filter_set_all(const char *str)
{
	struct hyp_filter *filters = kcalloc(NR_HYP_EVENTS, sizeof(*filters), GFP_KERNEL);
	char *text = kstrdup(str, GFP_KERNEL);
	int nr = 0, ret = -ENOMEM;

	if (filters && text) {
		for (ret = 0; nr < NR_HYP_EVENTS && !ret; nr += !ret)
			ret = hyp_filter_make(hyp_event_get(nr), str, &filters[nr]);
		ret = ret ?: hyp_filter_use_all(filters);
	}

	if (!ret)
		swap(hyp_filter_all, text);
	kfree(text);
	while (nr--)
		hyp_filter_drop(&filters[nr]);
	kfree(filters);
	return ret;
}

/**
 * hyp_event_set_filter - filter an event
 * @event:	the event; NULL for all that have the fields
 * @str:	the expression, or "0" for no filter
 *
 * Context: process context, may sleep.
 * Return: 0; -EINVAL for an expression that does not fit the event: then that has no
 * filter; -E2BIG for one of more than HYP_FILTER_MAX_PREDS predicates; -ENOMEM. Then, as
 * with -E2BIG, nothing has changed.
 */
int hyp_event_set_filter(struct hyp_event *event, const char *str)
{
	guard(mutex)(&hyp_filter_lock);

	if (!strcmp(str, "0"))
		return event ? hyp_filter_clear(event) : hyp_filter_clear_all();
	return event ? hyp_filter_set(event, str) : hyp_filter_set_all(str);
}

/**
 * hyp_event_get_filter - what was written as an event's filter
 * @event:	the event; NULL for what was written for all
 *
 * Context: process context, may sleep.
 * Return: the expression, or "none", with a newline, for kfree(); NULL when there is
 * no memory for it.
 */
char *hyp_event_get_filter(struct hyp_event *event)
{
	const char *text;

	guard(mutex)(&hyp_filter_lock);
	text = event ? event->filter : hyp_filter_all;
	return kasprintf(GFP_KERNEL, "%s\n", text ?: "none");
}
