// SPDX-License-Identifier: GPL-2.0-only
/*
 * The filters of a remote's events
 *
 * The kernel's own parser compiles an expression. The remote gets the program, and runs it
 * before an event takes room in the ring. Beyond what the kernel's filters know, a name
 * that a field has for a number can be written in its place: reason == "hvc".
 */
#include <linux/ctype.h>
#include <linux/seq_buf.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "remote.h"

/* A stretch of text, not ended by a null. */
struct remote_word {
	const char	*start;
	int		len;
};

static bool remote_word_is(struct remote_word word, const char *str)
{
	return strlen(str) == word.len && !strncmp(str, word.start, word.len);
}

/* The number of a field that has a name; NULL if there is none. */
static const struct trace_print_flags *remote_filter_find(const struct trace_remote_names *names,
							  struct remote_word field,
							  struct remote_word name)
{
	const struct trace_print_flags *entry;

	for (; names && names->field; names++) {
		if (!remote_word_is(field, names->field))
			continue;

		for (entry = names->names; entry->name; entry++) {
			if (remote_word_is(name, entry->name))
				return entry;
		}
	}

	return NULL;
}

/* A field's name, or a number, whole. */
static const char *remote_filter_put_word(struct seq_buf *out, const char *str,
					  struct remote_word *field)
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
static const char *remote_filter_put_piece(struct seq_buf *out,
					   const struct trace_remote_names *names,
					   const char *str, struct remote_word *field)
{
	const struct trace_print_flags *number;
	struct remote_word name;
	const char *end;

	if (isalpha(*str) || *str == '_')
		return remote_filter_put_word(out, str, field);

	end = *str == '"' || *str == '\'' ? strchr(str + 1, *str) : NULL;
	if (!end) {
		seq_buf_putc(out, *str);
		return str + 1;
	}

	name = (struct remote_word){ str + 1, end - str - 1 };
	number = remote_filter_find(names, *field, name);
	if (number)
		seq_buf_printf(out, "%lu", number->mask);
	else
		seq_buf_putmem(out, str, end + 1 - str);
	return end + 1;
}

/*
 * Put numbers for the names in an expression, until there are @max bytes or more. Returns
 * what is left of the expression.
 */
static const char *remote_filter_resolve(struct seq_buf *out,
					 const struct trace_remote_names *names,
					 const char *str, size_t max)
{
	struct remote_word field = { };

	while (*str && seq_buf_used(out) < max)
		str = remote_filter_put_piece(out, names, str, &field);

	return str;
}

/* Where in the expression is what is at @pos with numbers for the names? */
static size_t remote_filter_origin(const struct trace_remote_names *names, const char *str,
				   size_t pos, char *buf)
{
	const char *left;
	struct seq_buf out;
	size_t extra;

	seq_buf_init(&out, buf, PAGE_SIZE);
	left = remote_filter_resolve(&out, names, str, pos);
	extra = seq_buf_used(&out) - min(pos, seq_buf_used(&out));
	return max_t(ssize_t, left - str - extra, 0);
}

/**
 * trace_remote_drop_filter - free what trace_remote_make_filter() made
 * @filter:	that
 */
void trace_remote_drop_filter(struct trace_remote_filter *filter)
{
	kfree(filter->preds);
	kfree(filter->text);
}

static int remote_filter_too_long(struct trace_remote_filter *filter, const char *str)
{
	filter->error = (struct trace_filter_error){ "Filter is too long", strlen(str) };
	return -EINVAL;
}

/* The parser finds the values behind the fields of the record. */
static int remote_filter_parse(struct trace_remote_event *event, char *str,
			       struct trace_remote_filter *filter)
{
	struct trace_event_class class = {
		.system		= event->call.class->system,
		.fields_array	= event->call.class->fields_array,
		.fields		= LIST_HEAD_INIT(class.fields),
	};
	struct trace_event_call call = { .class = &class, .name = event->call.name };
	int ret = trace_define_remote_fields(&call, event->values);

	if (!ret)
		ret = trace_compile_remote_filter(&call, str, filter->preds,
						  TRACE_REMOTE_MAX_PREDS, &filter->error);
	trace_destroy_fields(&call);
	return ret;
}

/* Compile it, with a page in @buf. Returns how many predicates, -EINVAL or -ENOMEM. */
static int remote_filter_compile(struct trace_remote_event *event, const char *str, char *buf,
				 struct trace_remote_filter *filter)
{
	struct seq_buf resolved;
	int ret;

	seq_buf_init(&resolved, buf, PAGE_SIZE);
	remote_filter_resolve(&resolved, event->names, str, PAGE_SIZE);
	if (strlen(str) >= PAGE_SIZE || seq_buf_has_overflowed(&resolved))
		return remote_filter_too_long(filter, str);

	seq_buf_str(&resolved);
	ret = remote_filter_parse(event, buf, filter);
	if (ret == -EINVAL)
		filter->error.pos = remote_filter_origin(event->names, str, filter->error.pos,
							 buf);
	return ret;
}

/* What the file shows. That of one that is refused is in the words of the host's. */
static char *remote_filter_text(const char *str, const struct trace_remote_filter *filter)
{
	int pos = filter->error.pos;

	if (!filter->wrong)
		return kstrdup(str, GFP_KERNEL);

	/* The host's mark is a column off, but for the first one. */
	return kasprintf(GFP_KERNEL, "%s\n%*s\nparse_error: %s\n", str, pos ? pos + 1 : 0, "^",
			 filter->error.text);
}

/**
 * trace_remote_make_filter - make a filter of an expression
 * @event:	the event
 * @str:	the expression
 * @filter:	the filter, until trace_remote_drop_filter()
 *
 * This takes all memory, so that what follows can't fail for want of it.
 *
 * Context: process context, may sleep.
 * Return: -ENOMEM, with nothing to be dropped; or 0, also if the expression is wrong: @filter has
 * what is wrong with it.
 */
int trace_remote_make_filter(struct trace_remote_event *event, const char *str,
			     struct trace_remote_filter *filter)
{
	char *buf = kmalloc(PAGE_SIZE, GFP_KERNEL);
	int ret = -ENOMEM;

	*filter = (struct trace_remote_filter){
		.preds	= kcalloc(TRACE_REMOTE_MAX_PREDS, sizeof(*filter->preds), GFP_KERNEL),
	};
	if (buf && filter->preds)
		ret = remote_filter_compile(event, str, buf, filter);
	kfree(buf);

	filter->nr = max(ret, 0);
	filter->wrong = min(ret, 0);
	if (ret != -ENOMEM)
		filter->text = remote_filter_text(str, filter);
	if (filter->text)
		return 0;

	trace_remote_drop_filter(filter);
	return -ENOMEM;
}

static void remote_filter_set_text(char **text, char *new)
{
	kfree(*text);
	*text = new;
}

/* Use a filter, and have its text. */
static int remote_filter_use(struct trace_remote *remote, struct trace_remote_event *event,
			     struct trace_remote_filter *filter)
{
	int ret;

	lockdep_assert_held(&remote->filter_lock);

	ret = trace_remote_call(remote, set_filter, trace_remote_event_nr(event), filter->preds,
				filter->nr);
	if (!ret) {
		remote_filter_set_text(&event->filter, filter->text);
		filter->text = NULL;
	}
	return ret;
}

/*
 * Filter an event by an expression. If that is refused, there is no filter, and the file
 * and the log show why.
 */
static int remote_filter_set(struct trace_remote *remote, struct trace_remote_event *event,
			     const char *str)
{
	struct trace_remote_filter filter;
	int ret;

	ret = trace_remote_make_filter(event, str, &filter);
	if (ret)
		return ret;

	ret = remote_filter_use(remote, event, &filter);
	if (filter.wrong)
		trace_remote_log_error(remote, str, &filter.error);
	trace_remote_drop_filter(&filter);
	return ret ?: filter.wrong;
}

static int remote_filter_clear(struct trace_remote *remote, struct trace_remote_event *event)
{
	struct trace_remote_filter none = { };

	return remote_filter_use(remote, event, &none);
}

static int remote_filter_clear_all(struct trace_remote *remote)
{
	struct trace_remote_event *event;
	int i, ret = 0;

	for (i = 0; (event = trace_remote_event(remote, i)); i++)
		ret = remote_filter_clear(remote, event) ?: ret;

	remote_filter_set_text(&remote->filter_all, NULL);
	return ret;
}

/*
 * Use those that are not refused: of each event there is one. If the remote does not take
 * one, no event has a filter.
 */
static int remote_filter_use_all(struct trace_remote *remote, struct trace_remote_filter *filters)
{
	struct trace_remote_event *event;
	int i, ret = 0;

	for (i = 0; (event = trace_remote_event(remote, i)) && !ret; i++) {
		if (!filters[i].wrong)
			ret = remote_filter_use(remote, event, &filters[i]);
	}

	if (ret)
		remote_filter_clear_all(remote);
	return ret;
}

/* Of those that are all refused, the one of which most was right; NULL if one is not. */
static struct trace_remote_filter *remote_filter_refused_all(struct trace_remote *remote,
							     struct trace_remote_filter *filters)
{
	struct trace_remote_filter *filter, *best = filters;

	for (filter = filters; filter < filters + remote->desc->nr_events; filter++) {
		if (!filter->wrong)
			return NULL;
		if (filter->error.pos > best->error.pos)
			best = filter;
	}

	return best;
}

/* Use what there is for the group; its file shows @str, or why no event can have it. */
static int remote_filter_set_made(struct trace_remote *remote, struct trace_remote_filter *filters,
				  const char *str, char **text)
{
	struct trace_remote_filter *refused = remote_filter_refused_all(remote, filters);
	int ret = refused ? remote_filter_clear_all(remote) :
			    remote_filter_use_all(remote, filters);

	if (refused) {
		trace_remote_log_error(remote, str, &refused->error);
		swap(*text, refused->text);
	}
	if (!ret)
		swap(remote->filter_all, *text);
	return ret ?: refused ? -EINVAL : 0;
}

/*
 * Filter those events that have the fields. All are made before one is used. If there is
 * no such event the expression is refused, and no event has a filter.
 */
static int remote_filter_set_all(struct trace_remote *remote, const char *str)
{
	int nr = 0, nr_events = remote->desc->nr_events, ret = -ENOMEM;
	struct trace_remote_filter *filters = kcalloc(nr_events, sizeof(*filters), GFP_KERNEL);
	char *text = kstrdup(str, GFP_KERNEL);

	if (filters && text) {
		for (ret = 0; nr < nr_events && !ret; nr += !ret)
			ret = trace_remote_make_filter(trace_remote_event(remote, nr), str,
						       &filters[nr]);
		ret = ret ?: remote_filter_set_made(remote, filters, str, &text);
	}

	kfree(text);
	while (nr--)
		trace_remote_drop_filter(&filters[nr]);
	kfree(filters);
	return ret;
}

static int remote_filter_set_locked(struct trace_remote *remote, int nr, const char *str)
{
	struct trace_remote_event *event;

	lockdep_assert_held(&remote->filter_lock);

	if (nr == TRACE_REMOTE_ALL)
		return strcmp(str, "0") ? remote_filter_set_all(remote, str) :
					  remote_filter_clear_all(remote);

	event = trace_remote_event(remote, nr);
	return strcmp(str, "0") ? remote_filter_set(remote, event, str) :
				  remote_filter_clear(remote, event);
}

/**
 * trace_remote_set_filter - filter an event
 * @remote:	the remote
 * @nr:		the event's number; TRACE_REMOTE_ALL for all that have the fields
 * @str:	the expression, or "0" for no filter
 *
 * Context: process context, may sleep.
 * Return: 0; -EINVAL for an expression that is refused: then the event, or with
 * TRACE_REMOTE_ALL each event, has no filter; with nothing changed, -ENOMEM, or what the
 * remote's get() returned; or what its set_filter() returned. Then the event keeps its
 * filter, and with TRACE_REMOTE_ALL no event has one.
 */
int trace_remote_set_filter(struct trace_remote *remote, int nr, const char *str)
{
	int ret;

	ret = trace_remote_get_writer(remote);
	if (ret)
		return ret;

	scoped_guard(mutex, &remote->filter_lock)
		ret = remote_filter_set_locked(remote, nr, str);
	trace_remote_put_writer(remote);
	return ret;
}

/**
 * trace_remote_get_filter - what was written as an event's filter
 * @remote:	the remote
 * @nr:		the event's number; TRACE_REMOTE_ALL for what was written for all
 *
 * Context: process context, may sleep.
 * Return: the expression, and why if it is refused, or "none", with a newline, for kfree();
 * NULL when there is no memory for it.
 */
char *trace_remote_get_filter(struct trace_remote *remote, int nr)
{
	const char *text;

	guard(mutex)(&remote->filter_lock);
	text = nr == TRACE_REMOTE_ALL ? remote->filter_all :
					trace_remote_event(remote, nr)->filter;
	return kasprintf(GFP_KERNEL, "%s\n", text ?: "none");
}

/**
 * trace_remote_free_filters - free the filters' texts
 * @remote:	the remote, of which no file is open
 *
 * Context: process context.
 */
void trace_remote_free_filters(struct trace_remote *remote)
{
	struct trace_remote_event *event;
	int i;

	for (i = 0; (event = trace_remote_event(remote, i)); i++)
		remote_filter_set_text(&event->filter, NULL);
	remote_filter_set_text(&remote->filter_all, NULL);
}
