// SPDX-License-Identifier: GPL-2.0
/*
 * The strings that arguments of system calls point to, as text in events
 *
 * The tracepoint of system calls is faultable, so user memory can be read wherever it is. What
 * is read may be anything, and may change at any time: it is read once, and ends up as
 * printable text of a limited length. A record has, for each such argument, a __data_loc
 * behind the arguments, and the text:
 *
 *	entry->args[nb_args] | u32 loc[nr] | text NUL | text NUL ...
 *
 * In a text, "\ooo" stands for each byte that can't be printed, and for the backslash itself.
 * "..." ends a text that was too long. "(null)" stands for a null pointer, "(fault)" for what
 * can't be read. The strings of an array are separated by spaces; a space in one of them is
 * "\040".
 */
#include <linux/compat.h>
#include <linux/ctype.h>
#include <linux/mm.h>
#include <linux/string.h>
#include <linux/trace_events.h>
#include <linux/uaccess.h>
#include <trace/syscall.h>

#include "trace.h"
#include "trace_syscalls_text.h"

static const char ellipsis[] = "...";
#define ELLIPSIS_LEN	(sizeof(ellipsis) - 1)

/* What is read at a time. */
#define CHUNK		32

struct text_writer {
	char *buf;
	unsigned int size;	/* of @buf, with the NUL */
	unsigned int len;
	unsigned int cut;	/* as much of @len as leaves room for the ellipsis */
	bool full;
};

static void text_truncate(struct text_writer *w)
{
	memcpy(w->buf + w->cut, ellipsis, ELLIPSIS_LEN);
	w->len = w->cut + ELLIPSIS_LEN;
	w->full = true;
}

/* Append @n bytes, which stay together, or end the text. */
static void text_append(struct text_writer *w, const char *s, unsigned int n)
{
	if (w->full)
		return;
	if (w->len + n >= w->size) {
		text_truncate(w);
		return;
	}
	memcpy(w->buf + w->len, s, n);
	w->len += n;
	if (w->len + ELLIPSIS_LEN < w->size)
		w->cut = w->len;
}

/* Append @n characters, as many as there is room for. */
static void text_append_chars(struct text_writer *w, const char *s, unsigned int n)
{
	unsigned int fit = min(n, w->size - 1 - w->len);
	unsigned int last_cut = w->size - 1 - ELLIPSIS_LEN;

	if (w->full)
		return;
	memcpy(w->buf + w->len, s, fit);
	if (w->len <= last_cut)
		w->cut = min(w->len + fit, last_cut);
	w->len += fit;
	if (fit < n)
		text_truncate(w);
}

static void text_escape(struct text_writer *w, unsigned char c)
{
	char octal[4] = { '\\', '0' + (c >> 6), '0' + (c >> 3 & 7), '0' + (c & 7) };

	text_append(w, octal, sizeof(octal));
}

static bool is_plain(unsigned char c, bool in_array)
{
	return isascii(c) && isprint(c) && c != '\\' && !(in_array && c == ' ');
}

static void text_append_user(struct text_writer *w, const char *s, unsigned int n, bool in_array)
{
	unsigned int plain;

	while (n) {
		for (plain = 0; plain < n && is_plain(s[plain], in_array); plain++)
			;
		if (plain) {
			text_append_chars(w, s, plain);
		} else {
			text_escape(w, *s);
			plain = 1;
		}
		s += plain;
		n -= plain;
	}
}

static void text_append_string(struct text_writer *w, const char *s)
{
	text_append(w, s, strlen(s));
}

/* A chunk ends where its page does, so that all before a page that can't be read is. */
static void text_read_string(struct text_writer *w, const char __user *from,
			     unsigned long size, bool in_array)
{
	char chunk[CHUNK];
	unsigned long count;
	long n;

	for (; size && !w->full; size -= n) {
		count = min3(sizeof(chunk), PAGE_SIZE - offset_in_page(from), size);
		n = strncpy_from_user(chunk, from, count);
		if (n < 0) {
			text_append_string(w, "(fault)");
			return;
		}
		text_append_user(w, chunk, n, in_array);
		if (n < count)
			return;
		from += n;
	}
}

/* The pointers of an array have the size that they have in the task's ABI. */
static int get_user_pointer(const char __user **to, const void __user *array, unsigned int i)
{
#ifdef CONFIG_COMPAT
	if (in_compat_syscall()) {
		const compat_uptr_t __user *from = array;
		compat_uptr_t pointer;

		if (get_user(pointer, from + i))
			return -EFAULT;
		*to = compat_ptr(pointer);
		return 0;
	}
#endif
	return get_user(*to, (const char __user *const __user *)array + i);
}

/* Each round adds to the text, which ends at some time. */
static void text_read_array(struct text_writer *w, const void __user *array)
{
	const char __user *from;
	unsigned int i;

	for (i = 0; !w->full; i++) {
		if (get_user_pointer(&from, array, i)) {
			text_append_string(w, "(fault)");
			return;
		}
		if (!from)
			return;
		if (i)
			text_append(w, " ", 1);
		text_read_string(w, from, ULONG_MAX, true);
	}
}

static void text_read_arg(struct text_writer *w, const struct syscall_metadata *meta,
			  const unsigned long *args, unsigned int i)
{
	unsigned long size = ULONG_MAX;

	if (meta->text_length >= 0)
		size = lower_32_bits(args[meta->text_length]);
	if (!args[i])
		text_append_string(w, "(null)");
	else if (i == meta->text_array)
		text_read_array(w, (const void __user *)args[i]);
	else
		text_read_string(w, (const char __user *)args[i], size, false);
}

/**
 * syscall_read_texts - read the strings that arguments of a system call point to
 * @texts: where to
 * @meta: the system call
 * @args: its arguments
 * @size: the limit of each text, with the NUL; 0 to read nothing
 *
 * Context: process context, may sleep in a page fault.
 */
void syscall_read_texts(struct syscall_texts *texts, const struct syscall_metadata *meta,
			const unsigned long *args, unsigned int size)
{
	unsigned int mask;

	texts->nr = 0;
	for (mask = meta->text_mask; mask; mask &= mask - 1) {
		struct text_writer w = {
			.buf = texts->text[texts->nr],
			.size = min(size, SYSCALL_TEXT_MAX),
		};

		if (size)
			text_read_arg(&w, meta, args, __ffs(mask));
		w.buf[w.len] = '\0';
		texts->len[texts->nr++] = w.len + 1;
	}
}

/**
 * syscall_texts_size - what the texts need in a record behind the arguments
 * @texts: the texts
 *
 * Return: the size in bytes
 */
unsigned int syscall_texts_size(const struct syscall_texts *texts)
{
	unsigned int i, size = texts->nr * sizeof(u32);

	for (i = 0; i < texts->nr; i++)
		size += texts->len[i];
	return size;
}

/**
 * syscall_store_texts - write the texts to a record
 * @entry: the record
 * @nb_args: the number of arguments that it has
 * @texts: the texts
 */
void syscall_store_texts(struct syscall_trace_enter *entry, int nb_args,
			 const struct syscall_texts *texts)
{
	u32 *loc = (u32 *)&entry->args[nb_args];
	char *to = (char *)(loc + texts->nr);
	unsigned int i;

	for (i = 0; i < texts->nr; i++) {
		loc[i] = texts->len[i] << 16 | (to - (char *)entry);
		memcpy(to, texts->text[i], texts->len[i]);
		to += texts->len[i];
	}
}

/**
 * syscall_text - find a text in a record
 * @entry: the record
 * @nb_args: the number of arguments that it has
 * @nr: the number of the text
 *
 * Return: the text, which ends in a NUL
 */
const char *syscall_text(const struct syscall_trace_enter *entry, int nb_args, int nr)
{
	const u32 *loc = (const u32 *)&entry->args[nb_args];

	return (const char *)entry + (loc[nr] & 0xffff);
}
