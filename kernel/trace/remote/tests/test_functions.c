// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit: the functions of a remote that are traced
 */
#include <linux/kallsyms.h>
#include <linux/string.h>

#include "../remote.h"
#include "test.h"

/* One has no name. */
static const char * const names[] = { "alpha", "beta_one", "beta_two", "", "gamma" };

static unsigned long traced;	/* a bit for each that the remote traces */
static int refused;		/* what it answers */

static void functions_name(void *priv, unsigned int nr, char *name)
{
	strscpy(name, names[nr], KSYM_NAME_LEN);
}

static int functions_set(void *priv, const unsigned long *on)
{
	if (!refused)
		traced = *on;
	return refused;
}

const struct trace_remote_functions kunit_remote_functions = {
	.nr	= ARRAY_SIZE(names),
	.name	= functions_name,
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
	refused = -EIO;
	KUNIT_EXPECT_EQ(test, -EIO, set_function(remote, "alpha", TRACE_REMOTE_FILTER));
	KUNIT_EXPECT_EQ(test, 0, traced);
	refused = 0;
	KUNIT_EXPECT_EQ(test, 0, trace_remote_apply_functions(remote));
	KUNIT_EXPECT_EQ(test, 1, traced);
	trace_remote_clear_functions(remote, TRACE_REMOTE_FILTER);
	KUNIT_EXPECT_EQ(test, 0, trace_remote_apply_functions(remote));
	KUNIT_EXPECT_EQ(test, 0, traced);
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
