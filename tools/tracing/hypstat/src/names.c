// SPDX-License-Identifier: GPL-2.0
/*
 * The names of a field's values are in the text of its event, in __print_symbolic(). They are
 * looked up there once; a trace has them of the kernel that wrote it.
 */
#include <stdlib.h>
#include <string.h>
#include <event-parse.h>

#include "names.h"
#include "utils.h"

/* An expression may be deeper than any format needs, in a file that is corrupted. */
#define MAX_DEPTH	64

static bool mentions(const struct tep_print_arg *arg, const char *field, int depth)
{
	if (!arg || depth == MAX_DEPTH)
		return false;
	switch (arg->type) {
	case TEP_PRINT_FIELD:
		return arg->field.name && !strcmp(arg->field.name, field);
	case TEP_PRINT_TYPE:
		return mentions(arg->typecast.item, field, depth + 1);
	case TEP_PRINT_OP:
		return mentions(arg->op.left, field, depth + 1) ||
		       mentions(arg->op.right, field, depth + 1);
	default:
		return false;
	}
}

static unsigned int count(const struct tep_print_flag_sym *symbol)
{
	unsigned int nr = 0;

	for (; symbol; symbol = symbol->next)
		nr++;
	return nr;
}

static void copy(struct names *names, const struct tep_print_flag_sym *symbol)
{
	struct name *name;

	names->nr = count(symbol);
	names->names = xcalloc(names->nr, sizeof(*names->names));
	for (name = names->names; symbol; symbol = symbol->next, name++) {
		name->value = symbol->value ? strtoull(symbol->value, NULL, 0) : 0;
		name->text = symbol->str ?: "";
	}
}

/**
 * names_read - find the names of a field's values
 * @names: empty if there are none; they last as long as the event does
 * @event: the event
 * @field: the field, which the text prints by __print_symbolic()
 */
void names_read(struct names *names, struct tep_event *event, const char *field)
{
	struct tep_print_arg *arg;

	memset(names, 0, sizeof(*names));
	for (arg = event->print_fmt.args; arg; arg = arg->next) {
		if (arg->type == TEP_PRINT_SYMBOL && arg->symbol.symbols &&
		    mentions(arg->symbol.field, field, 0)) {
			copy(names, arg->symbol.symbols);
			return;
		}
	}
}

/**
 * names_find - the name of a value
 * @names: the names
 * @value: the value
 *
 * Return: the name, or NULL.
 */
const char *names_find(const struct names *names, u64 value)
{
	unsigned int i;

	for (i = 0; i < names->nr; i++) {
		if (names->names[i].value == value)
			return names->names[i].text;
	}
	return NULL;
}

/**
 * names_value - the value of a name
 * @names: the names
 * @text: the name
 * @value: the value
 *
 * Return: whether there is such a name.
 */
bool names_value(const struct names *names, const char *text, u64 *value)
{
	unsigned int i;

	for (i = 0; i < names->nr; i++) {
		if (!strcmp(names->names[i].text, text)) {
			*value = names->names[i].value;
			return true;
		}
	}
	return false;
}

/**
 * names_free - free the list of names
 * @names: the names
 */
void names_free(struct names *names)
{
	free(names->names);
	memset(names, 0, sizeof(*names));
}
