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

		ret = kvm_call_hyp_nvhe(__hyp_trace_add_pred, event_nr, i,
					hyp_pred(pred->offset, pred->size, pred->is_signed,
						 pred->op, pred->not, pred->when, pred->target),
					pred->val);
	}

	return ret ?: kvm_call_hyp_nvhe(__hyp_trace_set_filter, event_nr, nr);
}

/* Compile an expression for an event, and use it. What to show of an error goes to @error. */
static int hyp_filter_apply(struct hyp_event *event, const char *str, char **error)
{
	struct trace_foreign_pred *preds;
	char *buf = kmalloc(PAGE_SIZE, GFP_KERNEL);
	struct seq_buf resolved;
	int ret = -ENOMEM;

	*error = NULL;
	preds = kcalloc(HYP_FILTER_MAX_PREDS, sizeof(*preds), GFP_KERNEL);
	if (!buf || !preds)
		goto out;

	seq_buf_init(&resolved, buf, PAGE_SIZE);
	hyp_filter_resolve(&resolved, event->call.print_fmt, str);
	ret = -EINVAL;
	if (seq_buf_has_overflowed(&resolved))
		goto out;

	seq_buf_str(&resolved);
	ret = trace_compile_foreign_filter(&event->call, buf, preds, HYP_FILTER_MAX_PREDS, error);
	if (ret > 0)
		ret = hyp_filter_tell(event, preds, ret);
out:
	kfree(preds);
	kfree(buf);
	return ret;
}

static void hyp_filter_set_text(char **text, char *new)
{
	kfree(*text);
	*text = new;
}

/*
 * Filter an event by an expression. As with the host's, what is wrong with it is
 * shown in its place, and then there is no filter.
 */
static int hyp_filter_set(struct hyp_event *event, const char *str)
{
	char *text = kstrdup(str, GFP_KERNEL), *error;
	int ret;

	if (!text)
		return -ENOMEM;

	ret = hyp_filter_apply(event, str, &error);
	if (!ret) {
		hyp_filter_set_text(&event->filter, text);
		return 0;
	}

	kfree(text);
	if (error && !hyp_filter_tell(event, NULL, 0))
		hyp_filter_set_text(&event->filter, error);
	else
		kfree(error);
	return ret;
}

static int hyp_filter_clear(struct hyp_event *event)
{
	int ret = hyp_filter_tell(event, NULL, 0);

	if (!ret)
		hyp_filter_set_text(&event->filter, NULL);
	return ret;
}

/* Filter those events that have the fields. */
static int hyp_filter_set_all(const char *str)
{
	char *text = kstrdup(str, GFP_KERNEL), *error;
	bool clear = !strcmp(str, "0");
	struct hyp_event *event;
	int i, ret, taken = 0;

	if (!text)
		return -ENOMEM;

	for (i = 0; (event = hyp_event_get(i)); i++) {
		ret = clear ? hyp_filter_clear(event) : hyp_filter_apply(event, str, &error);
		if (ret && ret != -EINVAL)
			break;
		if (!clear) {
			kfree(error);
			if (!ret)
				hyp_filter_set_text(&event->filter, kstrdup(str, GFP_KERNEL));
		}
		taken += !ret;
	}

	if (taken)
		hyp_filter_set_text(&hyp_filter_all, clear ? NULL : text);
	if (!taken || clear)
		kfree(text);
	if (ret && ret != -EINVAL)
		return ret;
	return taken ? 0 : -EINVAL;
}

/**
 * hyp_event_set_filter - filter an event
 * @event:	the event; NULL for all that have the fields
 * @str:	the expression, or "0" for no filter
 *
 * Context: process context, may sleep.
 * Return: 0; -EINVAL for an expression that does not fit the event: then that has no
 * filter; -E2BIG for one of more than HYP_FILTER_MAX_PREDS predicates; -ENOMEM.
 */
int hyp_event_set_filter(struct hyp_event *event, const char *str)
{
	guard(mutex)(&hyp_filter_lock);

	if (!event)
		return hyp_filter_set_all(str);
	if (!strcmp(str, "0"))
		return hyp_filter_clear(event);
	return hyp_filter_set(event, str);
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
