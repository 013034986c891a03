// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit: the functions of a remote that are traced, by which tracer, and the text of its records
 */
#include <linux/ftrace.h>
#include <linux/kallsyms.h>
#include <linux/string.h>
#include <linux/trace_seq.h>

#include "../remote.h"
#include "test.h"

/* One has no name. */
static const char * const names[] = { "alpha", "beta_one", "beta_two", "", "gamma" };

static unsigned long traced;	/* a bit for each that the remote traces */
static unsigned long graph;	/* those that begin a graph; 0 for all */
static unsigned int max_depth;	/* of the graph */
static int refused;		/* what it answers */

static void functions_name(void *priv, unsigned int nr, char *name)
{
	strscpy(name, names[nr], KSYM_NAME_LEN);
}

static void functions_print(void *priv, struct trace_seq *s, u64 ip)
{
	trace_seq_printf(s, "f%llu", ip);
}

static int functions_set(void *priv, const struct trace_remote_traced *wanted)
{
	if (refused)
		return refused;

	traced = *wanted->on;
	graph = wanted->graph ? *wanted->graph : 0;
	max_depth = wanted->max_depth;
	return 0;
}

const struct trace_remote_functions kunit_remote_functions = {
	.nr	= ARRAY_SIZE(names),
	.name	= functions_name,
	.print	= functions_print,
	.set	= functions_set,
};

static int set_function(struct trace_remote *remote, const char *text,
			enum trace_remote_list which)
{
	char word[32];

	strscpy(word, text);
	return trace_remote_set_function(remote, word, which) ?:
	       trace_remote_apply_functions(remote);
}

/* Words, one after the other; what they return, and what is traced then */
static const struct {
	const char		*word;
	enum trace_remote_list	which;
	int			ret;
	unsigned long		traced;
} words[] = {
	{ "beta_two",	TRACE_REMOTE_FILTER,	0,		0b00100 },
	{ "nothing",	TRACE_REMOTE_FILTER,	-EINVAL,	0b00100 },
	{ "!nothing",	TRACE_REMOTE_FILTER,	-EINVAL,	0b00100 },
	{ "!alpha",	TRACE_REMOTE_FILTER,	0,		0b00100 },
	{ "*",		TRACE_REMOTE_FILTER,	0,		0b10111 },
	{ "beta*",	TRACE_REMOTE_NOTRACE,	0,		0b10001 },
	{ "!*two",	TRACE_REMOTE_NOTRACE,	0,		0b10101 },
	{ "!*mm*",	TRACE_REMOTE_FILTER,	0,		0b00101 },
	{ "g?mm[a]",	TRACE_REMOTE_FILTER,	0,		0b10101 },
	{ "!1",		TRACE_REMOTE_FILTER,	0,		0b10100 },
	{ "5",		TRACE_REMOTE_NOTRACE,	0,		0b00100 },
	{ "4",		TRACE_REMOTE_FILTER,	-EINVAL,	0b00100 },
	{ "6",		TRACE_REMOTE_FILTER,	-EINVAL,	0b00100 },
	{ "0",		TRACE_REMOTE_FILTER,	-EINVAL,	0b00100 },
	{ "!beta_two",	TRACE_REMOTE_FILTER,	0,		0b00000 },
	{ "!alpha",	TRACE_REMOTE_GRAPH,	-EINVAL,	0b00000 },
	{ "alpha",	TRACE_REMOTE_GRAPH,	0,		0b00000 },
	{ "!*",		TRACE_REMOTE_GRAPH,	0,		0b00000 },
	{ "!*",		TRACE_REMOTE_GRAPH,	-EINVAL,	0b00000 },
};

/* The remote traces what one list has and the other one does not. */
void remote_test_functions(struct kunit *test)
{
	struct trace_remote *remote = kunit_remote_register(test);
	int i;

	traced = 0;
	refused = 0;
	for (i = 0; i < ARRAY_SIZE(words); i++) {
		KUNIT_EXPECT_EQ_MSG(test, words[i].ret,
				    set_function(remote, words[i].word, words[i].which),
				    "%s", words[i].word);
		KUNIT_EXPECT_EQ_MSG(test, words[i].traced, traced, "%s", words[i].word);
	}
}

/* What the remote refuses is its error. It is asked again, also when the remote ends. */
void remote_test_functions_refused(struct kunit *test)
{
	struct trace_remote *remote = kunit_remote_register(test);

	traced = 0;
	kunit_remote_make_rings(test);
	kunit_remote_desc.events[1].is_function = true;
	KUNIT_ASSERT_EQ(test, 0, trace_remote_set_on(remote, true));

	refused = -EIO;
	KUNIT_EXPECT_EQ(test, -EIO, set_function(remote, "alpha", TRACE_REMOTE_FILTER));
	KUNIT_EXPECT_EQ(test, 0, traced);
	KUNIT_EXPECT_EQ(test, 0b01, kunit_remote_events_on() & 0b11);
	refused = 0;
	KUNIT_EXPECT_EQ(test, 0, trace_remote_apply_functions(remote));
	KUNIT_EXPECT_EQ(test, 1, traced);
	KUNIT_EXPECT_EQ(test, 0b11, kunit_remote_events_on() & 0b11);

	refused = -EIO;
	trace_remote_clear_functions(remote, TRACE_REMOTE_FILTER);
	KUNIT_EXPECT_EQ(test, -EIO, trace_remote_apply_functions(remote));
	refused = 0;
	KUNIT_EXPECT_EQ(test, 0, trace_remote_apply_functions(remote));
	KUNIT_EXPECT_EQ(test, 0, traced);
	KUNIT_EXPECT_EQ(test, 0b01, kunit_remote_events_on() & 0b11);

	KUNIT_EXPECT_EQ(test, 0, trace_remote_set_on(remote, false));
	kunit_remote_desc.events[1].is_function = false;
}

/* The functions of a list come in order. */
void remote_test_functions_list(struct kunit *test)
{
	struct trace_remote *remote = kunit_remote_register(test);

	refused = 0;
	KUNIT_EXPECT_EQ(test, -1, trace_remote_next_function(remote, TRACE_REMOTE_FILTER, 0));
	KUNIT_EXPECT_EQ(test, 0, set_function(remote, "beta*", TRACE_REMOTE_FILTER));
	KUNIT_EXPECT_EQ(test, 1, trace_remote_next_function(remote, TRACE_REMOTE_FILTER, 0));
	KUNIT_EXPECT_EQ(test, 2, trace_remote_next_function(remote, TRACE_REMOTE_FILTER, 2));
	KUNIT_EXPECT_EQ(test, -1, trace_remote_next_function(remote, TRACE_REMOTE_FILTER, 3));
	KUNIT_EXPECT_EQ(test, 3,
			trace_remote_next_function(remote, TRACE_REMOTE_ALL_FUNCTIONS, 3));
	KUNIT_EXPECT_EQ(test, -1,
			trace_remote_next_function(remote, TRACE_REMOTE_ALL_FUNCTIONS, 5));
}

/* What is written, one after the other: a tracer, or a word of a list; and what is traced then */
static const struct {
	const char		*tracer;
	const char		*word;
	enum trace_remote_list	which;
	int			ret;
	unsigned long		traced;
	unsigned long		graph;
} tracers[] = {
	{ "function",		NULL,		0,			0,	 0b11111, 0 },
	{ "no_tracer",		NULL,		0,			-EINVAL, 0b11111, 0 },
	{ "func",		NULL,		0,			-EINVAL, 0b11111, 0 },
	{ NULL,			"beta*",	TRACE_REMOTE_NOTRACE,	0,	 0b11001, 0 },
	{ NULL,			"alpha",	TRACE_REMOTE_FILTER,	0,	 0b00001, 0 },
	{ "nop",		NULL,		0,			0,	 0b00001, 0 },
	{ "function_graph",	NULL,		0,			0,	 0b00001, 0 },
	{ NULL,			"gamma",	TRACE_REMOTE_GRAPH,	0,	 0b00001, 0b10000 },
	{ NULL,			"nothing",	TRACE_REMOTE_GRAPH,	-EINVAL, 0b00001, 0b10000 },
	{ NULL,			"!alpha",	TRACE_REMOTE_FILTER,	0,	 0b11001, 0b10000 },
	{ NULL,			"!gamma",	TRACE_REMOTE_GRAPH,	0,	 0b11001, 0 },
	{ "nop",		NULL,		0,			0,	 0b00000, 0 },
};

/* A tracer traces all functions if none is selected. */
void remote_test_tracer(struct kunit *test)
{
	struct trace_remote *remote = kunit_remote_register(test);
	const char *what;
	int i, ret;

	traced = 0;
	refused = 0;
	for (i = 0; i < ARRAY_SIZE(tracers); i++) {
		what = tracers[i].tracer ?: tracers[i].word;
		ret = tracers[i].tracer ? trace_remote_set_tracer(remote, tracers[i].tracer) :
					  set_function(remote, what, tracers[i].which);
		KUNIT_EXPECT_EQ_MSG(test, tracers[i].ret, ret, "%s", what);
		KUNIT_EXPECT_EQ_MSG(test, tracers[i].traced, traced, "%s", what);
		KUNIT_EXPECT_EQ_MSG(test, tracers[i].graph, graph, "%s", what);
	}
}

#define TRACER_BITS	(kunit_remote_events_on() >> kunit_remote_desc.nr_events)

/*
 * The tracer's records are on while tracing is. An event of functions is on while some are
 * selected, whatever the tracer.
 */
void remote_test_tracer_events(struct kunit *test)
{
	struct trace_remote *remote = kunit_remote_register(test);

	refused = 0;
	kunit_remote_make_rings(test);
	kunit_remote_desc.events[1].is_function = true;
	KUNIT_EXPECT_EQ(test, 0, trace_remote_set_tracer(remote, "function"));
	KUNIT_EXPECT_EQ(test, 0, TRACER_BITS);
	KUNIT_ASSERT_EQ(test, 0, trace_remote_set_on(remote, true));
	KUNIT_EXPECT_EQ(test, BIT(TRACE_REMOTE_FUNCTION), TRACER_BITS);
	KUNIT_EXPECT_EQ(test, 0b01, kunit_remote_events_on() & 0b11);
	KUNIT_EXPECT_EQ(test, 0, set_function(remote, "alpha", TRACE_REMOTE_FILTER));
	KUNIT_EXPECT_EQ(test, 0b11, kunit_remote_events_on() & 0b11);
	KUNIT_EXPECT_EQ(test, 0, trace_remote_set_tracer(remote, "function_graph"));
	KUNIT_EXPECT_EQ(test, BIT(TRACE_REMOTE_GRAPH_ENTRY) | BIT(TRACE_REMOTE_GRAPH_EXIT),
			TRACER_BITS);
	KUNIT_EXPECT_EQ(test, 0b11, kunit_remote_events_on() & 0b11);
	KUNIT_EXPECT_EQ(test, 0, set_function(remote, "!alpha", TRACE_REMOTE_FILTER));
	KUNIT_EXPECT_EQ(test, 0b01, kunit_remote_events_on() & 0b11);
	KUNIT_EXPECT_EQ(test, 0, trace_remote_set_on(remote, false));
	KUNIT_EXPECT_EQ(test, 0, kunit_remote_events_on());
	KUNIT_ASSERT_EQ(test, 0, trace_remote_set_on(remote, true));
	KUNIT_EXPECT_EQ(test, BIT(TRACE_REMOTE_GRAPH_ENTRY) | BIT(TRACE_REMOTE_GRAPH_EXIT),
			TRACER_BITS);
	KUNIT_EXPECT_EQ(test, 0, trace_remote_set_tracer(remote, "nop"));
	KUNIT_EXPECT_EQ(test, 0, TRACER_BITS);
	KUNIT_EXPECT_EQ(test, 0, trace_remote_set_on(remote, false));
	kunit_remote_desc.events[1].is_function = false;
}

/* A consuming reader keeps the tracer. Another tracer clears the events, the same one does not. */
void remote_test_tracer_busy(struct kunit *test)
{
	struct trace_remote *remote = kunit_remote_register(test);
	unsigned int nr;

	refused = 0;
	kunit_remote_make_rings(test);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, trace_remote_get_reader(remote));
	KUNIT_EXPECT_EQ(test, -EBUSY, trace_remote_set_tracer(remote, "function"));
	KUNIT_EXPECT_EQ(test, -EINVAL, trace_remote_set_tracer(remote, "no_tracer"));
	KUNIT_EXPECT_EQ(test, 0, trace_remote_set_tracer(remote, "nop"));
	trace_remote_put_reader(remote);

	KUNIT_ASSERT_EQ(test, 0, trace_remote_set_on(remote, true));
	nr = kunit_remote_nr_resets();
	KUNIT_EXPECT_EQ(test, 0, trace_remote_set_tracer(remote, "function"));
	KUNIT_EXPECT_LT(test, nr, kunit_remote_nr_resets());
	nr = kunit_remote_nr_resets();
	KUNIT_EXPECT_EQ(test, 0, trace_remote_set_tracer(remote, "function"));
	KUNIT_EXPECT_EQ(test, nr, kunit_remote_nr_resets());
	KUNIT_EXPECT_EQ(test, 0, trace_remote_set_on(remote, false));

	refused = -EIO;
	KUNIT_EXPECT_EQ(test, -EIO, trace_remote_set_tracer(remote, "function_graph"));
	KUNIT_EXPECT_EQ(test, TRACE_REMOTE_NOP, trace_remote_tracer(remote));
	refused = 0;
}

/* The depth is passed to the remote, which refuses it or not. */
void remote_test_graph(struct kunit *test)
{
	struct trace_remote *remote = kunit_remote_register(test);

	refused = 0;
	KUNIT_EXPECT_EQ(test, 0, trace_remote_set_graph_depth(remote, 3));
	KUNIT_EXPECT_EQ(test, 3, max_depth);
	refused = -EIO;
	KUNIT_EXPECT_EQ(test, -EIO, trace_remote_set_graph_depth(remote, 4));
	refused = 0;
	KUNIT_EXPECT_EQ(test, 0, trace_remote_apply_functions(remote));
	KUNIT_EXPECT_EQ(test, 3, max_depth);
	KUNIT_EXPECT_EQ(test, 0, trace_remote_set_graph_depth(remote, 0));
	KUNIT_EXPECT_EQ(test, 0, max_depth);
}

static const char *print_record(struct kunit *test, struct trace_remote *remote,
				struct trace_iterator *iter, void *record, unsigned int size)
{
	trace_seq_init(&iter->seq);
	iter->cpu = 0;
	iter->ts = 1234567000;
	iter->ent = record;
	iter->ent_size = size;
	KUNIT_EXPECT_EQ(test, TRACE_TYPE_HANDLED, trace_remote_print_event(remote, iter));
	trace_seq_putc(&iter->seq, '\0');
	return iter->seq.buffer;
}

static struct trace_remote_graph_ret graph_exit = {
	.ent.type	= TRACE_GRAPH_RET,
	.ret		= { .func = 7, .depth = 1 },
};

/* Durations, and their column: as the kernel prints them */
static const struct {
	u64		ns;
	const char	*text;
} durations[] = {
	{ 0,			"  0.000 us    |  " },
	{ 740,			"  0.740 us    |  " },
	{ 10001,		"+ 10.001 us   |  " },
	{ 100000,		"+ 100.000 us  |  " },
	{ 100001,		"! 100.001 us  |  " },
	{ 1000001,		"# 1000.001 us |  " },
	{ 10000001,		"* 10000.00 us |  " },
	{ 100000001,		"@ 100000.0 us |  " },
	{ 1000000001,		"$ 1000000 us  |  " },
	{ 12345678901,		"$ 12345678 us |  " },
};

static void test_durations(struct kunit *test, struct trace_remote *remote,
			   struct trace_iterator *iter)
{
	char expected[64];
	int i;

	for (i = 0; i < ARRAY_SIZE(durations); i++) {
		graph_exit.ret.calltime = 1000;
		graph_exit.ret.rettime = graph_exit.ret.calltime + durations[i].ns;
		scnprintf(expected, sizeof(expected), "%s  } /* f7 */\n", durations[i].text);
		KUNIT_EXPECT_STREQ(test, expected,
				   strstr(print_record(test, remote, iter, &graph_exit,
						       sizeof(graph_exit)), ") ") + 2);
	}
}

/* A record of a tracer that ends too early is not read. */
static void test_short(struct kunit *test, struct trace_remote *remote,
		       struct trace_iterator *iter, void *record, unsigned int size)
{
	char expected[64];

	scnprintf(expected, sizeof(expected), "[000]     1.234567: unknown record of %u bytes\n",
		  size);
	KUNIT_EXPECT_STREQ(test, expected, print_record(test, remote, iter, record, size));
}

/* Each record as a line: of function, of function_graph, and another event among these */
void remote_test_tracer_text(struct kunit *test)
{
	struct trace_remote *remote = kunit_remote_register(test);
	struct trace_iterator *iter = kunit_kzalloc(test, sizeof(*iter), GFP_KERNEL);
	struct ftrace_entry function = { .ent.type = TRACE_FN, .ip = 1, .parent_ip = 2 };
	struct ftrace_graph_ent_entry entry = {
		.ent.type	= TRACE_GRAPH_ENT,
		.graph_ent	= { .func = 7, .depth = 2 },
	};

	KUNIT_ASSERT_NOT_NULL(test, iter);
	refused = 0;
	KUNIT_EXPECT_STREQ(test, "[000]     1.234567: f1 <-f2\n",
			   print_record(test, remote, iter, &function, sizeof(function)));
	KUNIT_EXPECT_STREQ(test, "[000]     1.234567:               |      f7() {\n",
			   print_record(test, remote, iter, &entry, sizeof(entry)));
	test_short(test, remote, iter, &function, sizeof(function) - 4);
	test_short(test, remote, iter, &entry, sizeof(entry) - 4);
	test_short(test, remote, iter, &graph_exit, sizeof(graph_exit) - 4);

	KUNIT_ASSERT_EQ(test, 0, trace_remote_set_tracer(remote, "function_graph"));
	KUNIT_EXPECT_STREQ(test, "              |      f7() {\n",
			   strstr(print_record(test, remote, iter, &entry, sizeof(entry)),
				  ") ") + 2);
	KUNIT_EXPECT_STREQ(test, "              |  /* f1 <-f2 */\n",
			   strstr(print_record(test, remote, iter, &function, sizeof(function)),
				  ") ") + 2);
	test_durations(test, remote, iter);
	iter->private = &graph_exit;
	graph_exit.ret.rettime = graph_exit.ret.calltime + 740;
	KUNIT_EXPECT_STREQ(test, "  0.740 us    |      f7();\n",
			   strstr(print_record(test, remote, iter, &entry, sizeof(entry)),
				  ") ") + 2);
}

/* Two records are a leaf only if the second one is the first one's return. */
void remote_test_leaf(struct kunit *test)
{
	struct ftrace_graph_ent_entry entry = {
		.ent.type	= TRACE_GRAPH_ENT,
		.graph_ent	= { .func = 7, .depth = 1 },
	};
	struct trace_remote_graph_ret ret = {
		.ent.type	= TRACE_GRAPH_RET,
		.ret		= { .func = 7, .depth = 1 },
	};

	KUNIT_EXPECT_TRUE(test, trace_remote_is_leaf(&entry, sizeof(entry), &ret, sizeof(ret)));
	KUNIT_EXPECT_FALSE(test, trace_remote_is_leaf(&entry, sizeof(entry) - 4, &ret,
						      sizeof(ret)));
	KUNIT_EXPECT_FALSE(test, trace_remote_is_leaf(&entry, sizeof(entry), &ret,
						      sizeof(ret) - 4));
	KUNIT_EXPECT_FALSE(test, trace_remote_is_leaf(&entry, sizeof(entry), &entry, 100));
	KUNIT_EXPECT_FALSE(test, trace_remote_is_leaf(&ret, sizeof(ret), &ret, sizeof(ret)));
	ret.ret.depth = 2;
	KUNIT_EXPECT_FALSE(test, trace_remote_is_leaf(&entry, sizeof(entry), &ret, sizeof(ret)));
	ret.ret.depth = 1;
	ret.ret.func = 8;
	KUNIT_EXPECT_FALSE(test, trace_remote_is_leaf(&entry, sizeof(entry), &ret, sizeof(ret)));
}
