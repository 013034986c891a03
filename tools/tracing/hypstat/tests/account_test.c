// SPDX-License-Identifier: GPL-2.0
/* The text of the kernel's files: what is read of it, and what is refused */
#include <stdlib.h>
#include <string.h>

#include "../src/account.h"
#include "tap.h"

#define ROUNDS	200000

static const char text[] =
	"# version=1 cpus=4 on=1 later=x\n"
	"hcall:__kvm_vcpu_run count=6 total_ns=9000 max_ns=3000 hist=10:5,12:1\n"
	"psci:CPU_OFF count=0 total_ns=70 max_ns=0\n"
	"guest:WFx  count=1 total_ns=8 later=7:8,9 max_ns=8 hist=4:1\n"
	"in:guest count=18446744073709551615 total_ns=1 max_ns=1 hist=31:18446744073709551615\n";

/* What can't be read, and in which line; each comes behind a good head if it has none. */
static const struct {
	const char	*text;
	unsigned int	line;
	const char	*error;
} wrong[] = {
	{ "", 1, "begin with #" },
	{ "x", 1, "begin with #" },
	{ "# version=1 cpus=4 on=1", 1, "truncated" },
	{ "# version=2 cpus=4 on=1\n", 1, "another version" },
	{ "# cpus=4 on=1\n", 1, "another version" },
	{ "# version=1 cpus=x\n", 1, "not understood" },
	{ "# version=1 cpus=5000\n", 1, "not understood" },
	{ "# version=1 cpu=4096\n", 1, "not understood" },
	{ "# version=1 on\n", 1, "not understood" },
	{ "# version=1\nsmc", 2, "truncated" },
	{ "# version=1\n\n", 2, "no name" },
	{ "# version=1\n count=1\n", 2, "no name" },
	{ "# version=1\ns\033mc count=0\n", 2, "no name" },
	{ "# version=1\nsmc count\n", 2, "not understood" },
	{ "# version=1\nsmc count=\n", 2, "not understood" },
	{ "# version=1\nsmc count=-1\n", 2, "not understood" },
	{ "# version=1\nsmc count=1x\n", 2, "not understood" },
	{ "# version=1\nsmc total_ns=18446744073709551616\n", 2, "not understood" },
	{ "# version=1\nsmc count=1 hist=\n", 2, "not understood" },
	{ "# version=1\nsmc count=1 hist=32:1\n", 2, "not understood" },
	{ "# version=1\nsmc count=1 hist=3\n", 2, "not understood" },
	{ "# version=1\nsmc count=1 hist=3:1,\n", 2, "not understood" },
	{ "# version=1\nsmc count=1 hist=3:1;\n", 2, "not understood" },
	{ "# version=1\nsmc count=0 hist=3:1\n", 2, "another sum" },
	{ "# version=1\nffa count=0\nsmc count=2 hist=3:1\n", 3, "another sum" },
	{ "# version=1\nffa count=0\nsmc count=1 hist=3:1", 3, "truncated" },
};

static struct account account, other;

/* The sanitizer finds an access behind a copy that is not larger than the text. */
static const char *parse(struct account *to, const char *from, size_t size)
{
	char *copy = malloc(size + 1);
	const char *error;

	memcpy(copy, from, size);
	copy[size] = '\0';
	error = account_parse(to, copy);
	free(copy);
	return error;
}

static void check_text(void)
{
	const struct entry *entries = account.entries;

	ok(!parse(&account, text, strlen(text)), "a text can be read");
	equals("its entries", account.nr, 4);
	equals("its CPUs", account.nr_cpus, 4);
	equals("it is of no CPU", account.cpu, NO_CPU);
	ok(account.on, "EL2 counts");
	ok(!strcmp(entries[0].name, "hcall:__kvm_vcpu_run"), "a name");
	equals("a count", entries[0].hist.count, 6);
	equals("a total", entries[0].hist.total, 9000);
	equals("a maximum", entries[0].hist.max, 3000);
	equals("a bucket", entries[0].hist.buckets[10], 5);
	equals("another bucket", entries[0].hist.buckets[12], 1);
	equals("a time without a count", entries[1].hist.total, 70);
	equals("a word behind one that is not known", entries[2].hist.max, 8);
	ok(entries[3].hist.buckets[31] == ~0ULL, "the largest number");
	ok(!parse(&account, "# version=1 cpu=3 on=0\n", 23), "a CPU that counted nothing");
	equals("its number", account.cpu, 3);
	equals("it is one CPU", account.nr_cpus, 1);
	ok(!account.on, "it does not count");
}

static void check_wrong(void)
{
	unsigned int i;

	for (i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		const char *error = parse(&account, wrong[i].text, strlen(wrong[i].text));

		if (!ok(error && strstr(error, wrong[i].error) && account.line == wrong[i].line,
			"refused text %u: %s", i, wrong[i].error))
			printf("# line %u: %s\n", account.line, error ?: "no error");
	}
}

static void check_many(void)
{
	static char many[(ACCOUNT_ENTRIES + 2) * 16];
	unsigned int i, at = sprintf(many, "# version=1\n");

	for (i = 0; i <= ACCOUNT_ENTRIES; i++)
		at += sprintf(many + at, "r%u count=0\n", i);
	ok(parse(&account, many, at), "too many lines are refused");
	equals("at their number", account.line, ACCOUNT_ENTRIES + 2);
	ok(!parse(&account, many, strstr(many, "r1024") - many), "one less is not");
}

/* All that is cut within a line is refused. */
static void check_truncated(void)
{
	size_t size;
	unsigned int failed = 0;

	for (size = 0; size < strlen(text); size++) {
		bool at_end = size && text[size - 1] == '\n';

		failed += !parse(&account, text, size) != at_end;
	}
	equals("each truncated text is refused", failed, 0);
}

/* Bytes that a parser cares about */
static char some_byte(void)
{
	static const char bytes[] = "#\n =:,0129-x";

	return random() % 4 ? bytes[random() % (sizeof(bytes) - 1)] : random();
}

static void check_corrupted(void)
{
	unsigned int i, nr, readable = 0;
	char copy[sizeof(text)];

	srandom(1);
	for (i = 0; i < ROUNDS; i++) {
		memcpy(copy, text, sizeof(text));
		for (nr = random() % 4 + 1; nr; nr--)
			copy[random() % (sizeof(text) - 1)] = some_byte();
		readable += !parse(&account, copy, random() % sizeof(text));
	}
	ok(readable < ROUNDS, "%u texts are corrupted, and %u can be read", ROUNDS, readable);
}

/* A time that was under way is dropped when accounting is turned off. */
static void check_under_way(void)
{
	static const char before[] =
		"# version=1 cpus=1\n"
		"smc count=0 total_ns=9\n"
		"in:idle count=1 total_ns=5000\n";
	static const char now[] = "# version=1 cpus=1\nin:idle count=1 total_ns=4000\n";

	parse(&other, before, strlen(before));
	parse(&account, now, strlen(now));
	ok(account_since(&account, &other), "less time is no reset");
	equals("and nothing was counted", account.entries[0].hist.total, 0);
}

static void check_since(void)
{
	static const char before[] =
		"# version=1 cpus=4\n"
		"guest:WFx count=1 total_ns=9 max_ns=9 hist=4:1\n"
		"in:guest count=1 total_ns=9 max_ns=9 hist=4:1\n";
	static const char now[] =
		"# version=1 cpus=4\n"
		"ffa count=2 total_ns=3 max_ns=2 hist=2:2\n"
		"guest:WFx count=3 total_ns=30 max_ns=12 hist=4:3\n"
		"in:guest count=1 total_ns=9 max_ns=9 hist=4:1\n";

	parse(&other, before, strlen(before));
	parse(&account, now, strlen(now));
	ok(account_since(&account, &other), "more was counted");
	equals("what is new, whole", account.entries[0].hist.total, 3);
	equals("what is more", account.entries[1].hist.total, 21);
	equals("a maximum is that since the reset", account.entries[1].hist.max, 12);
	equals("what is the same", account.entries[2].hist.count, 0);
	account_remove_idle(&account);
	equals("which can be removed", account.nr, 2);
	parse(&account, before, strlen(before));
	parse(&other, now, strlen(now));
	ok(!account_since(&account, &other), "less was counted: a reset");
	parse(&account, "# version=1\n", 12);
	ok(!account_since(&account, &other), "nothing was counted: a reset");
	check_under_way();
}

static void check_sum(void)
{
	static struct account sum;

	account_clear(&sum);
	parse(&account, text, strlen(text));
	parse(&other, "# version=1 cpu=2 on=0\nsmc count=0\nguest:WFx count=0 total_ns=2\n", 64);
	account_add(&sum, &account);
	account_add(&sum, &other);
	equals("a sum's CPUs", sum.nr_cpus, 5);
	equals("a sum has each entry once", sum.nr, 5);
	equals("and its times", account_find(&sum, "guest:WFx", 0)->hist.total, 10);
	ok(sum.on, "one of the CPUs counts");
	ok(!account_find(&sum, "in:idle", 0), "it has no other entry");
	account_copy(&other, &sum);
	ok(!strcmp(other.entries[4].name, "smc"), "a copy");
}

int main(void)
{
	check_text();
	check_wrong();
	check_many();
	check_truncated();
	check_corrupted();
	check_since();
	check_sum();
	return tap_end();
}
