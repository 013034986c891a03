// SPDX-License-Identifier: GPL-2.0
/* Which rows are made of what EL2 has counted */
#include <string.h>

#include "../src/view.h"
#include "tap.h"

static const char text[] =
	"# version=1 cpus=1\n"
	"hcall:__kvm_vcpu_run count=2 total_ns=20 max_ns=15 hist=4:2\n"
	"hcall:__kvm_adjust_pc count=1 total_ns=70 max_ns=70 hist=7:1\n"
	"psci:CPU_OFF count=1 total_ns=80 max_ns=80 hist=7:1\n"
	"psci:CPU_SUSPEND count=1 total_ns=5 max_ns=5 hist=3:1\n"
	"smc count=3 total_ns=3 max_ns=1 hist=1:3\n"
	"guest:WFx count=1 total_ns=9 max_ns=9 hist=4:1\n"
	"in:guest count=1 total_ns=900 max_ns=900 hist=10:1\n";

/* What each view shows, sorted */
static const struct {
	const char	*by;
	const char	*reason;
	const char	*sort;
	const char	*rows;
} shown[] = {
	{ "reason", NULL, "time", "hcall psci:CPU_OFF guest:WFx psci:CPU_SUSPEND smc " },
	{ "reason", NULL, "rate", "hcall smc guest:WFx psci:CPU_OFF psci:CPU_SUSPEND " },
	{ "reason", NULL, "mean", "psci:CPU_OFF hcall guest:WFx psci:CPU_SUSPEND smc " },
	{ "reason", NULL, "max", "psci:CPU_OFF hcall guest:WFx psci:CPU_SUSPEND smc " },
	{ "reason", NULL, "p99", "hcall psci:CPU_OFF guest:WFx psci:CPU_SUSPEND smc " },
	{ "reason", NULL, "name", "guest:WFx hcall psci:CPU_OFF psci:CPU_SUSPEND smc " },
	{ "reason", "psci", "name", "psci:CPU_OFF psci:CPU_SUSPEND " },
	{ "reason", "psc", "name", "" },
	{ "reason", "smc", "name", "smc " },
	{ "reason", "*:CPU_*", "name", "psci:CPU_OFF psci:CPU_SUSPEND " },
	{ "reason", "hcall", "name", "hcall:__kvm_adjust_pc hcall:__kvm_vcpu_run " },
	{ "reason", "in", "name", "" },
	{ "hypercall", NULL, "time", "__kvm_adjust_pc __kvm_vcpu_run " },
	{ "hypercall", "hcall:*run", "time", "__kvm_vcpu_run " },
	{ "exit", NULL, "guest", "WFx " },
};

static struct account account, rows;

static const char *names(void)
{
	static char list[512];
	unsigned int i, at = 0;

	*list = '\0';
	for (i = 0; i < rows.nr; i++)
		at += snprintf(list + at, sizeof(list) - at, "%.40s ", rows.entries[i].name);
	return list;
}

static void check_rows(void)
{
	unsigned int i;

	for (i = 0; i < sizeof(shown) / sizeof(*shown); i++) {
		view_select(parse_view(shown[i].by), &account, shown[i].reason, &rows);
		view_sort(&rows, parse_sort(shown[i].sort));
		if (!ok(!strcmp(names(), shown[i].rows), "by %s, %s, sorted by %s", shown[i].by,
			shown[i].reason ?: "all", shown[i].sort))
			printf("# %s\n", names());
	}
}

static void check_sums(void)
{
	struct loghist total = view_total(&account);

	view_select(parse_view("reason"), &account, NULL, &rows);
	equals("the hypercalls' count", rows.entries[0].hist.count, 3);
	equals("the hypercalls' time", rows.entries[0].hist.total, 90);
	equals("the hypercalls' maximum", rows.entries[0].hist.max, 70);
	equals("all stays", total.count, 9);
	equals("the time of all stays", total.total, 187);
	view_gaps(&account, NULL, &rows);
	ok(!strcmp(names(), "in:guest "), "what is not EL2's time");
	view_gaps(&account, "smc", &rows);
	equals("which one reason has none of", rows.nr, 0);
}

int main(void)
{
	ok(!account_parse(&account, text), "a text can be read");
	check_rows();
	check_sums();
	ok(parse_view("vm")->guests && !parse_view("vm")->vcpus, "the view of VMs");
	ok(parse_view("vcpu")->guests && parse_view("vcpu")->vcpus, "the view of vCPUs");
	return tap_end();
}
