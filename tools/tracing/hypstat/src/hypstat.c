// SPDX-License-Identifier: GPL-2.0
#include <stddef.h>
#include <string.h>

#include "histograms.h"
#include "overhead.h"
#include "record.h"
#include "report.h"
#include "timeline.h"
#include "top.h"
#include "utils.h"

static const char * const help[] = {
	"",
	"hypstat version " VERSION,
	"",
	"  usage: hypstat COMMAND ...",
	"",
	"  commands:",
	"     hist     - shows how EL2's times are distributed, as EL2 itself counts them",
	"     overhead - measures what tracing and accounting cost on this machine",
	"     record   - writes the hypervisor's events, and those of the host, to a trace.dat",
	"     report   - sums up the hypervisor's events of a trace.dat",
	"     top      - shows live what EL2 costs, as EL2 itself counts it",
	"     timeline - draws when the host, EL2 and each guest ran",
	"",
	NULL,
};

/* A command, and its main function */
struct command {
	const char	*name;
	int		(*main)(int argc, char **argv);
};

static const struct command commands[] = {
	{ "hist", histograms_main },
	{ "overhead", overhead_main },
	{ "record", record_main },
	{ "report", report_main },
	{ "timeline", timeline_main },
	{ "top", top_main },
};

int main(int argc, char **argv)
{
	const struct command *command = commands;

	if (argc < 2)
		usage(help, STATUS_ERROR);
	for (; command < commands + sizeof(commands) / sizeof(*commands); command++) {
		if (!strcmp(argv[1], command->name))
			return command->main(argc - 1, argv + 1);
	}
	usage(help, strcmp(argv[1], "-h") && strcmp(argv[1], "--help") ? STATUS_ERROR : 0);
}
