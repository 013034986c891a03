// SPDX-License-Identifier: GPL-2.0
/* The figures that hypstat top shows, but for the line that has the time of day */
#include <string.h>

#include "../src/top_text.h"
#include "tap.h"

static const char text[] =
	"# version=1 cpus=2\n"
	"smc count=50 total_ns=10000000 max_ns=900000 hist=17:49,20:1\n"
	"psci:CPU_OFF count=0 total_ns=2000000 max_ns=0\n"
	"ffa count=0\n"
	"in:idle count=1 total_ns=500000000 max_ns=500000000 hist=29:1\n";

static const char by_reason[] =
	"\n"
	"REASON                                 RATE/s   TIME%    MEAN us    MAX* us      P50 us"
	"      P90 us      P99 us    P99.9 us\n"
	"smc                                     100.0   1.000     200.00     900.00   <=131.072"
	"   <=131.072  <=1048.576  <=1048.576\n"
	"psci:CPU_OFF                              0.0   0.200          -       0.00           -"
	"           -           -           -\n"
	"and 1 more\n"
	"\n"
	"not at EL2: in:idle 50.000 %\n"
	"*: since the last reset. Percentiles are bounds: powers of two, within a factor of two\n";

static const char by_vm[] =
	"\n"
	"VM                                     RATE/s   TIME%    MEAN ns  GUEST%\n"
	"12-3                                     20.0   0.000        100  25.000\n"
	"\n";

static struct account account;
static struct top_round round_shown = { .elapsed = 500000000, .nr_cpus = 2, .max_rows = 2 };

/* What top_text() prints, from its second line on */
static const char *shown(void)
{
	static char *printed;
	static size_t size;
	FILE *kept = stdout;

	free(printed);
	stdout = open_memstream(&printed, &size);
	top_text(&round_shown);
	fclose(stdout);
	stdout = kept;
	return strchr(printed, '\n') + 1;
}

static void check(const char *what, const char *expected)
{
	const char *found = shown();

	if (!ok(!strcmp(found, expected), "%s", what))
		printf("# %s\n", found);
}

static void show_guest(void)
{
	struct entry *entry;

	round_shown.view = parse_view("vm");
	round_shown.nano = true;
	account_clear(&round_shown.rows);
	account_clear(&round_shown.gaps);
	entry = account_entry(&round_shown.rows, "12-3", 0);
	entry->hist.count = 10;
	entry->hist.total = 1000;
	entry->guest = 250000000;
}

int main(void)
{
	round_shown.view = parse_view("reason");
	ok(!account_parse(&account, text), "a text can be read");
	view_select(round_shown.view, &account, NULL, &round_shown.rows);
	view_gaps(&account, NULL, &round_shown.gaps);
	check("by reason, with room for two rows", by_reason);
	show_guest();
	check("by VM, in nanoseconds", by_vm);
	return tap_end();
}
