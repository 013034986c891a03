// SPDX-License-Identifier: GPL-2.0
/*
 * Filters of events that others write
 *
 * Included by trace_events_filter.c, whose parser it uses: the program that this
 * makes of an expression is put into words that do not point into the kernel,
 * for whoever writes the events to go through it.
 */

static const struct {
	u8	size;
	bool	is_signed;
} foreign_pred_types[] = {
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

static const u8 foreign_pred_ops[] = {
	[OP_EQ]		= TRACE_FOREIGN_EQ,
	[OP_NE]		= TRACE_FOREIGN_EQ,	/* and pred->not */
	[OP_LE]		= TRACE_FOREIGN_LE,
	[OP_LT]		= TRACE_FOREIGN_LT,
	[OP_GE]		= TRACE_FOREIGN_GE,
	[OP_GT]		= TRACE_FOREIGN_GT,
	[OP_BAND]	= TRACE_FOREIGN_AND,
};

/* The operand in the field's type, as 64 bits; the kernel's predicates convert it. */
static u64 foreign_val(u64 val, u8 size, bool is_signed)
{
	unsigned int msb = size * 8 - 1;

	return is_signed ? sign_extend64(val, msb) : val & GENMASK_ULL(msb, 0);
}

/*
 * False for what only the kernel can evaluate: strings, the task's name; and for the
 * word that says where a field is, which the kernel takes for a number.
 */
static bool foreign_pred(const struct filter_pred *pred, struct trace_foreign_pred *foreign)
{
	if (!pred->field || str_has_prefix(pred->field->type, "__data_loc") ||
	    pred->fn_num >= ARRAY_SIZE(foreign_pred_types) ||
	    !foreign_pred_types[pred->fn_num].size ||
	    pred->op >= ARRAY_SIZE(foreign_pred_ops) || !foreign_pred_ops[pred->op])
		return false;

	*foreign = (struct trace_foreign_pred) {
		.offset		= pred->offset,
		.size		= foreign_pred_types[pred->fn_num].size,
		.is_signed	= foreign_pred_types[pred->fn_num].is_signed,
		.op		= foreign_pred_ops[pred->op],
		.not		= pred->not,
	};
	foreign->val = foreign_val(pred->val, foreign->size, foreign->is_signed);
	return true;
}

/* Where to go when a predicate branches; the kernel's loop adds 1 to its target. */
static unsigned int foreign_target(const struct prog_entry *prog, unsigned int nr, int target)
{
	if (target + 1 < nr)
		return target + 1;
	return prog[target + 1].target ? nr : nr + 1;
}

/* Behind the first place that names the field, where the parser puts its marks, too. */
static size_t foreign_field_pos(const struct filter_pred *pred, const char *str)
{
	const char *at = pred->field ? strstr(str, pred->field->name) : NULL;

	return at ? at - str + strlen(pred->field->name) : 0;
}

static int foreign_refuse(struct trace_filter_error *error, const char *text, size_t pos)
{
	*error = (struct trace_filter_error){ text, pos };
	return -EINVAL;
}

static int foreign_prog(const struct prog_entry *prog, const char *str,
			struct trace_foreign_pred *preds, unsigned int max,
			struct trace_filter_error *error)
{
	unsigned int i, nr = 0;

	while (prog[nr].pred)
		nr++;
	if (nr > max)
		return foreign_refuse(error, err_text[FILT_ERR_TOO_MANY_PREDS], strlen(str));

	for (i = 0; i < nr; i++) {
		if (!foreign_pred(prog[i].pred, &preds[i]))
			return foreign_refuse(error, "Only the kernel can evaluate this field",
					      foreign_field_pos(prog[i].pred, str));
		preds[i].when = prog[i].when_to_branch;
		preds[i].target = foreign_target(prog, nr, prog[i].target);
	}

	return nr;
}

/* The parser has more error codes than one, and for some errors no text. */
static int foreign_parse(struct trace_event_call *call, const char *str,
			 struct event_filter *filter, struct filter_parse_error *pe,
			 struct trace_filter_error *error)
{
	int ret = process_preds(call, str, filter, pe);

	if (!ret || ret == -ENOMEM)
		return ret;
	if (pe->lasterr <= 0)
		return foreign_refuse(error, err_text[FILT_ERR_INVALID_FILTER], 0);
	return foreign_refuse(error, err_text[pe->lasterr],
			      min_t(size_t, pe->lasterr_pos, strlen(str)));
}

/**
 * trace_compile_foreign_filter - make a program of a filter expression
 * @call:	the event
 * @str:	the expression
 * @preds:	the program: from the first one on, each goes to the next, or
 *		to its target. Past the last one the event matches, and one
 *		further on it does not
 * @max:	how many of them there may be
 * @error:	why there is no program, after -EINVAL
 *
 * The error is not logged: the caller has a log of its own.
 *
 * Context: process context, may sleep.
 * Return: how many predicates; -EINVAL for an expression that is none, that only
 * the kernel can evaluate, or that is too long; -ENOMEM.
 */
int trace_compile_foreign_filter(struct trace_event_call *call, char *str,
				 struct trace_foreign_pred *preds, unsigned int max,
				 struct trace_filter_error *error)
{
	struct filter_parse_error *pe = NULL;
	struct event_filter *filter = NULL;
	int ret;

	guard(mutex)(&event_mutex);
	ret = create_filter_start(str, false, &pe, &filter);
	if (ret)
		return ret;

	ret = foreign_parse(call, str, filter, pe, error);
	if (!ret)
		ret = foreign_prog(rcu_access_pointer(filter->prog), str, preds, max, error);

	create_filter_finish(pe);
	__free_filter(filter);
	return ret;
}
