// SPDX-License-Identifier: GPL-2.0-only
/*
 * The hypervisor's events: what the host makes of the catalogue
 *
 * Of each entry of asm/kvm_hypevents.h the host makes the description of its
 * record (events/hypervisor/<event>/format), a function that prints one, and
 * the files that turn it on and off. EL2 is told only while tracing is on, so
 * that an event costs next to nothing otherwise.
 */
#include <linux/kvm_host.h>
#include <linux/mutex.h>
#include <linux/seq_file.h>
#include <linux/trace_events.h>
#include <linux/trace_seq.h>
#include <linux/tracefs.h>
#include <linux/uaccess.h>

#include <asm/kvm_asm.h>
#include <asm/kvm_hypevents_defs.h>

#include "hyp_trace.h"

/**
 * struct hyp_event_field - a field of a record
 * @type:	as C spells it
 * @name:	its name
 * @offset:	in the record, bytes
 * @size:	bytes
 * @is_signed:	of @type
 */
struct hyp_event_field {
	const char	*type;
	const char	*name;
	unsigned int	offset;
	unsigned int	size;
	bool		is_signed;
};

/**
 * struct hyp_event - an event
 * @event:	its id, in @event.type
 * @name:	its name
 * @print_fmt:	how user space prints a record
 * @fields:	what a record holds after the header, up to one without a name
 * @size:	of a record, bytes
 * @enabled:	by the user; under hyp_events_lock
 */
struct hyp_event {
	struct trace_event		event;
	const char			*name;
	const char			*print_fmt;
	const struct hyp_event_field	*fields;
	unsigned int			size;
	bool				enabled;
};

#define HE_FIELD(record, ftype, fname)			\
	{						\
		.type		= #ftype,		\
		.name		= #fname,		\
		.offset		= offsetof(record, fname),	\
		.size		= sizeof_field(record, fname),	\
		.is_signed	= is_signed_type(ftype),	\
	}

/* How the host spells the header, kernel/trace/trace_events.c. */
static const struct hyp_event_field hyp_event_common_fields[] = {
	{ "unsigned short", "common_type", offsetof(struct hyp_event_header, type), 2, false },
	{ "unsigned char", "common_flags", offsetof(struct hyp_event_header, flags), 1, false },
	{ "unsigned char", "common_preempt_count",
	  offsetof(struct hyp_event_header, preempt_count), 1, false },
	{ "int", "common_pid", offsetof(struct hyp_event_header, pid), 4, true },
	{ }
};

static_assert(sizeof(struct hyp_event_header) == sizeof(struct trace_entry));
static_assert(offsetof(struct hyp_event_header, pid) == offsetof(struct trace_entry, pid));

/* First reading: the fields, as the compiler lays them out. */
#define he_field(type, name)	HE_FIELD(typeof(*record), type, name),
#define HE_PRINTK(fmt, args...)
#define HYP_EVENT(name, proto, struct_fields, assign, printk)			\
static const struct hyp_event_field *hyp_event_fields_##name(void)		\
{										\
	struct hyp_event_##name *record __maybe_unused;				\
	static const struct hyp_event_field fields[] = { struct_fields { } };	\
										\
	return fields;								\
}
#include <asm/kvm_hypevents.h>
#undef HYP_EVENT
#undef HE_PRINTK
#undef he_field

/* Second reading: print fmt, in the words of user space's parsers. */
#define he_field(type, name)
#define __entry			REC
#define HE_PRINTK(fmt, args...)	"\"" fmt "\", " __stringify(args)
#define HYP_EVENT(name, proto, struct_fields, assign, printk)	\
static const char hyp_event_print_fmt_##name[] = printk;
#include <asm/kvm_hypevents.h>
#undef HYP_EVENT
#undef HE_PRINTK

/* Third reading: the functions that print, with the host's own helpers. */
#include <trace/stages/stage3_trace_output.h>

#define HE_PRINTK(fmt, args...)	fmt "\n", ##args
#define HYP_EVENT(name, proto, struct_fields, assign, printk)			\
static enum print_line_t							\
hyp_event_print_##name(struct trace_iterator *iter, int flags,			\
		       struct trace_event *event)				\
{										\
	struct trace_seq *p __maybe_unused = &iter->tmp_seq;			\
	struct hyp_event_##name *field __maybe_unused = (void *)iter->ent;	\
										\
	trace_seq_init(p);							\
	trace_seq_printf(&iter->seq, printk);					\
	return trace_handle_return(&iter->seq);					\
}										\
										\
static struct trace_event_functions hyp_event_funcs_##name = {			\
	.trace	= hyp_event_print_##name,					\
};
#include <asm/kvm_hypevents.h>
#undef HYP_EVENT

/* Fourth reading: the events, all of them on at first. */
#define HYP_EVENT(ename, proto, struct_fields, assign, printk)	\
	[HYP_EVENT_##ename] = {					\
		.event.funcs	= &hyp_event_funcs_##ename,	\
		.name		= #ename,			\
		.print_fmt	= hyp_event_print_fmt_##ename,	\
		.size		= sizeof(struct hyp_event_##ename),	\
		.enabled	= true,				\
	},
static struct hyp_event hyp_events[] = {
#include <asm/kvm_hypevents.h>
};
#undef HYP_EVENT

/* Fifth: what an initialiser can't hold. */
#define HYP_EVENT(name, proto, struct_fields, assign, printk)	\
	hyp_events[HYP_EVENT_##name].fields = hyp_event_fields_##name();
static void __init hyp_events_init_fields(void)
{
#include <asm/kvm_hypevents.h>
}
#undef HYP_EVENT
#undef HE_PRINTK
#undef he_field

/* Covers hyp_event.enabled and hyp_events_on, and that EL2 agrees. */
static DEFINE_MUTEX(hyp_events_lock);
static bool hyp_events_on;

static int hyp_event_tell(struct hyp_event *event)
{
	unsigned int id = hyp_events_on && event->enabled ? event->event.type : 0;

	lockdep_assert_held(&hyp_events_lock);
	return kvm_call_hyp_nvhe(__hyp_trace_set_event, event - hyp_events, id);
}

static int hyp_events_tell(void)
{
	int i, ret = 0;

	for (i = 0; i < NR_HYP_EVENTS && !ret; i++)
		ret = hyp_event_tell(&hyp_events[i]);

	return ret;
}

/**
 * hyp_events_stop - turn all events off at EL2
 *
 * Which of them the user enabled is kept.
 *
 * Context: process context.
 */
void hyp_events_stop(void)
{
	guard(mutex)(&hyp_events_lock);
	hyp_events_on = false;
	WARN_ON_ONCE(hyp_events_tell());
}

/**
 * hyp_events_start - turn on the events that the user enabled
 *
 * Context: process context.
 * Return: 0, or what EL2 refused with; then all are off.
 */
int hyp_events_start(void)
{
	int ret;

	scoped_guard(mutex, &hyp_events_lock) {
		hyp_events_on = true;
		ret = hyp_events_tell();
	}

	if (ret)
		hyp_events_stop();
	return ret;
}

static struct hyp_event *hyp_event_find(int id)
{
	int i;

	for (i = 0; i < NR_HYP_EVENTS; i++) {
		if (hyp_events[i].event.type == id)
			return &hyp_events[i];
	}

	return NULL;
}

/**
 * hyp_event_print - print a line for a record
 * @iter:	where to, @iter->seq; the record is @iter->ent, of @iter->ent_size
 *		bytes, from @iter->cpu at @iter->ts
 *
 * Context: any in which @iter can't be used by others.
 * Return: whether the line fit, as for the host's events.
 */
enum print_line_t hyp_event_print(struct trace_iterator *iter)
{
	struct trace_seq *s = &iter->seq;
	struct hyp_event_header *header = (void *)iter->ent;
	struct hyp_event *event = NULL;
	u64 us = div_u64(iter->ts, NSEC_PER_USEC);
	u32 rem = do_div(us, USEC_PER_SEC);

	if (iter->ent_size >= sizeof(*header))
		event = hyp_event_find(header->type);

	if (iter->lost_events)
		trace_seq_printf(s, "CPU:%d [LOST %lu EVENTS]\n", iter->cpu, iter->lost_events);
	trace_seq_printf(s, "[%03d] %5llu.%06u: ", iter->cpu, us, rem);

	if (event && iter->ent_size >= event->size) {
		trace_seq_printf(s, "%s: ", event->name);
		return event->event.funcs->trace(iter, 0, &event->event);
	}

	/* Not a record of ours: the pages are shared, and not only with us. */
	trace_seq_printf(s, "unknown record of %d bytes\n", iter->ent_size);
	return trace_handle_return(s);
}

/* The event of a file; NULL for the files that are for all of them. */
static struct hyp_event *hyp_event_of(struct file *file)
{
	return file_inode(file)->i_private;
}

static ssize_t hyp_event_enable_read(struct file *file, char __user *ubuf, size_t cnt,
				     loff_t *ppos)
{
	static const char state[] = "?01X";
	struct hyp_event *event = hyp_event_of(file);
	unsigned int set = 0;
	char buf[2];
	int i;

	scoped_guard(mutex, &hyp_events_lock) {
		for (i = 0; i < NR_HYP_EVENTS; i++) {
			if (!event || event == &hyp_events[i])
				set |= 1 << hyp_events[i].enabled;
		}
	}

	buf[0] = state[set];
	buf[1] = '\n';
	return simple_read_from_buffer(ubuf, cnt, ppos, buf, sizeof(buf));
}

static ssize_t hyp_event_enable_write(struct file *file, const char __user *ubuf, size_t cnt,
				      loff_t *ppos)
{
	struct hyp_event *event = hyp_event_of(file);
	unsigned long val;
	int i, ret;

	ret = kstrtoul_from_user(ubuf, cnt, 10, &val);
	if (ret)
		return ret;
	if (val > 1)
		return -EINVAL;

	guard(mutex)(&hyp_events_lock);
	for (i = 0; i < NR_HYP_EVENTS; i++) {
		if (!event || event == &hyp_events[i])
			hyp_events[i].enabled = val;
	}

	ret = hyp_events_tell();
	if (ret)
		return ret;

	*ppos += cnt;
	return cnt;
}

static const struct file_operations hyp_event_enable_fops = {
	.open	= hyp_trace_open,
	.read	= hyp_event_enable_read,
	.write	= hyp_event_enable_write,
	.llseek	= default_llseek,
};

static ssize_t hyp_event_id_read(struct file *file, char __user *ubuf, size_t cnt, loff_t *ppos)
{
	char buf[16];
	int len = scnprintf(buf, sizeof(buf), "%d\n", hyp_event_of(file)->event.type);

	return simple_read_from_buffer(ubuf, cnt, ppos, buf, len);
}

static const struct file_operations hyp_event_id_fops = {
	.read	= hyp_event_id_read,
	.llseek	= default_llseek,
};

static void hyp_event_show_fields(struct seq_file *m, const struct hyp_event_field *field)
{
	for (; field->name; field++)
		seq_printf(m, "\tfield:%s %s;\toffset:%u;\tsize:%u;\tsigned:%d;\n",
			   field->type, field->name, field->offset, field->size,
			   field->is_signed);
	seq_putc(m, '\n');
}

static int hyp_event_format_show(struct seq_file *m, void *v)
{
	struct hyp_event *event = m->private;

	seq_printf(m, "name: %s\n", event->name);
	seq_printf(m, "ID: %d\n", event->event.type);
	seq_puts(m, "format:\n");
	hyp_event_show_fields(m, hyp_event_common_fields);
	hyp_event_show_fields(m, event->fields);
	seq_printf(m, "print fmt: %s\n", event->print_fmt);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(hyp_event_format);

static int __init hyp_event_create_files(struct hyp_event *event, struct dentry *parent)
{
	struct dentry *dir = tracefs_create_dir(event->name, parent);

	if (!dir ||
	    !tracefs_create_file("enable", HYP_TRACE_MODE_WRITE, dir, event,
				 &hyp_event_enable_fops) ||
	    !tracefs_create_file("id", HYP_TRACE_MODE_READ, dir, event, &hyp_event_id_fops) ||
	    !tracefs_create_file("format", HYP_TRACE_MODE_READ, dir, event,
				 &hyp_event_format_fops))
		return -ENOMEM;

	return 0;
}

static int __init hyp_events_create_files(struct dentry *parent)
{
	struct dentry *events = tracefs_create_dir("events", parent);
	struct dentry *group = events ? tracefs_create_dir("hypervisor", events) : NULL;
	int i, ret = 0;

	if (!group ||
	    !tracefs_create_file("enable", HYP_TRACE_MODE_WRITE, events, NULL,
				 &hyp_event_enable_fops) ||
	    !tracefs_create_file("enable", HYP_TRACE_MODE_WRITE, group, NULL,
				 &hyp_event_enable_fops))
		return -ENOMEM;

	for (i = 0; i < NR_HYP_EVENTS && !ret; i++)
		ret = hyp_event_create_files(&hyp_events[i], group);

	return ret;
}

static void __init hyp_events_unregister(int nr)
{
	while (nr--)
		unregister_trace_event(&hyp_events[nr].event);
}

/**
 * hyp_events_init - give the events their ids, and make their files
 * @dir:	the instance's directory
 *
 * The ids come from where the host's events have theirs.
 *
 * Return: 0; -ENOMEM, or -ENOSPC when the host has no more ids. The files that
 * were made go with @dir, which the caller removes.
 */
int __init hyp_events_init(struct dentry *dir)
{
	int i, ret;

	hyp_events_init_fields();

	for (i = 0; i < NR_HYP_EVENTS; i++) {
		if (!register_trace_event(&hyp_events[i].event)) {
			hyp_events_unregister(i);
			return -ENOSPC;
		}
	}

	ret = hyp_events_create_files(dir);
	if (ret)
		hyp_events_unregister(NR_HYP_EVENTS);
	return ret;
}
