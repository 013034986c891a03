// SPDX-License-Identifier: GPL-2.0
/*
 * Filters of a remote's events
 *
 * Included by trace_events_filter.c, for its parser and the structures of its program. The
 * program is translated into predicates that do not point into the kernel, for the remote
 * to evaluate: see linux/trace_remote_filter.h.
 */
#include <linux/trace_remote_filter.h>

static const struct {
	u8	size;
	bool	is_signed;
} remote_pred_types[] = {
	[FILTER_PRED_FN_64]	= { 8 },
	[FILTER_PRED_FN_S64]	= { 8, true },
	[FILTER_PRED_FN_U64]	= { 8 },
	[FILTER_PRED_FN_32]	= { 4 },
	[FILTER_PRED_FN_S32]	= { 4, true },
	[FILTER_PRED_FN_U32]	= { 4 },
	[FILTER_PRED_FN_16]	= { 2 },
	[FILTER_PRED_FN_S16]	= { 2, true },
	[FILTER_PRED_FN_U16]	= { 2 },
	[FILTER_PRED_FN_8]	= { 1 },
	[FILTER_PRED_FN_S8]	= { 1, true },
	[FILTER_PRED_FN_U8]	= { 1 },
};

static const u8 remote_pred_ops[] = {
	[OP_EQ]		= TRACE_REMOTE_EQ,
	[OP_NE]		= TRACE_REMOTE_EQ,	/* and pred->not */
	[OP_LE]		= TRACE_REMOTE_LE,
	[OP_LT]		= TRACE_REMOTE_LT,
	[OP_GE]		= TRACE_REMOTE_GE,
	[OP_GT]		= TRACE_REMOTE_GT,
	[OP_BAND]	= TRACE_REMOTE_AND,
};

/* The operand in the field's type, as 64 bits; the kernel's predicates convert it. */
static u64 remote_val(u64 val, u8 size, bool is_signed)
{
	unsigned int msb = size * 8 - 1;

	return is_signed ? sign_extend64(val, msb) : val & GENMASK_ULL(msb, 0);
}

/*
 * False for what only the kernel can evaluate: strings, the task's name. Also false for the
 * word with the offset of a dynamic field, which the kernel takes for a number.
 */
static bool remote_can_evaluate(const struct filter_pred *pred)
{
	return pred->field && !str_has_prefix(pred->field->type, "__data_loc") &&
	       pred->fn_num < ARRAY_SIZE(remote_pred_types) &&
	       remote_pred_types[pred->fn_num].size &&
	       pred->op < ARRAY_SIZE(remote_pred_ops) && remote_pred_ops[pred->op];
}

static struct trace_remote_pred remote_pred(const struct filter_pred *pred, bool when,
					    unsigned int target)
{
	u8 size = remote_pred_types[pred->fn_num].size;
	bool is_signed = remote_pred_types[pred->fn_num].is_signed;

	return (struct trace_remote_pred) {
		.code	= trace_remote_pred_code(pred->offset, size, is_signed,
						 remote_pred_ops[pred->op], when != pred->not,
						 target),
		.val	= remote_val(pred->val, size, is_signed),
	};
}

/* Where to go when a predicate branches; the kernel's loop adds 1 to its target. */
static unsigned int remote_target(const struct prog_entry *prog, unsigned int nr, int target)
{
	if (target + 1 < nr)
		return target + 1;
	return prog[target + 1].target ? nr : nr + 1;
}

/* After the first occurrence of the field, where the parser has its error positions, too. */
static size_t remote_field_pos(const struct filter_pred *pred, const char *str)
{
	const char *at = pred->field ? strstr(str, pred->field->name) : NULL;

	return at ? at - str + strlen(pred->field->name) : 0;
}

static int remote_refuse(struct trace_filter_error *error, const char *text, size_t pos)
{
	*error = (struct trace_filter_error){ text, pos };
	return -EINVAL;
}

static int remote_prog(const struct prog_entry *prog, const char *str,
		       struct trace_remote_pred *preds, unsigned int max,
		       struct trace_filter_error *error)
{
	unsigned int i, nr = 0;

	while (prog[nr].pred)
		nr++;
	if (nr > max)
		return remote_refuse(error, err_text[FILT_ERR_TOO_MANY_PREDS], strlen(str));

	for (i = 0; i < nr; i++) {
		if (!remote_can_evaluate(prog[i].pred))
			return remote_refuse(error, "Only the kernel can evaluate this field",
					     remote_field_pos(prog[i].pred, str));
		preds[i] = remote_pred(prog[i].pred, prog[i].when_to_branch,
				       remote_target(prog, nr, prog[i].target));
	}

	return nr;
}

/* The parser has more error codes than one, and for some errors no text. */
static int remote_parse(struct trace_event_call *call, const char *str,
			struct event_filter *filter, struct filter_parse_error *pe,
			struct trace_filter_error *error)
{
	int ret = process_preds(call, str, filter, pe);

	if (!ret || ret == -ENOMEM)
		return ret;
	if (pe->lasterr <= 0)
		return remote_refuse(error, err_text[FILT_ERR_INVALID_FILTER], 0);
	return remote_refuse(error, err_text[pe->lasterr],
			     min_t(size_t, pe->lasterr_pos, strlen(str)));
}

/**
 * trace_compile_remote_filter - make a program of a filter expression
 * @call:	the event
 * @str:	the expression
 * @preds:	the program, see linux/trace_remote_filter.h
 * @max:	predicates that @preds has room for, TRACE_REMOTE_MAX_PREDS at the most
 * @error:	why there is no program, after -EINVAL
 *
 * The error is not logged: the caller has a log of its own.
 *
 * Context: process context, may sleep.
 * Return: the number of predicates; -EINVAL for an expression that is wrong, that only the
 * kernel can evaluate, or that is too long; -ENOMEM.
 */
int trace_compile_remote_filter(struct trace_event_call *call, char *str,
				struct trace_remote_pred *preds, unsigned int max,
				struct trace_filter_error *error)
{
	struct filter_parse_error *pe = NULL;
	struct event_filter *filter = NULL;
	int ret;

	if (WARN_ON_ONCE(max > TRACE_REMOTE_MAX_PREDS))
		return -EINVAL;

	guard(mutex)(&event_mutex);
	ret = create_filter_start(str, false, &pe, &filter);
	if (ret)
		return ret;

	ret = remote_parse(call, str, filter, pe, error);
	if (!ret)
		ret = remote_prog(rcu_access_pointer(filter->prog), str, preds, max, error);

	create_filter_finish(pe);
	__free_filter(filter);
	return ret;
}
EXPORT_SYMBOL_GPL(trace_compile_remote_filter);
