// SPDX-License-Identifier: GPL-2.0
/*
 * A time line as SVG. The lines of a CPU are below each other. The darker a place is, the more
 * of its time the host, EL2 or the guest ran there.
 */
#include "escape.h"
#include "svg.h"
#include "timeline_svg.h"

#define LABEL_WIDTH	190
#define WIDTH		1600	/* of the time */
#define LANE_HEIGHT	20
#define CPU_GAP		8	/* between the lines of two CPUs */
#define TOP		70
#define BOTTOM		46
#define TICKS		10	/* at most */

static const char * const classes[] = {
	[LANE_HOST] = "host", [LANE_EL2] = "el2", [LANE_GUEST] = "guest",
};

static const char style[] =
	".host { fill: #4477aa } .el2 { fill: #cc3311 } .guest { fill: #228833 }\n"
	".mark { fill: #000 }\n";

static double x_of(const struct lanes *lanes, u64 ts)
{
	return LABEL_WIDTH + (double)WIDTH * (ts - lanes->from) / (lanes->to - lanes->from);
}

static double x_of_column(unsigned int column)
{
	return LABEL_WIDTH + (double)WIDTH * column / SPANS_COLUMNS;
}

/* The top of a line, or of what is below the last one */
static unsigned int y_of(const struct lanes *lanes, unsigned int nr)
{
	unsigned int y = TOP + nr * LANE_HEIGHT, i;

	for (i = 1; i <= nr && i < lanes->nr; i++) {
		if (lanes->lanes[i]->cpu != lanes->lanes[i - 1]->cpu)
			y += CPU_GAP;
	}
	return y;
}

static void put_head(FILE *file, const struct lanes *lanes, const struct summary *summary)
{
	svg_begin(file, LABEL_WIDTH + WIDTH + 60, y_of(lanes, lanes->nr) + BOTTOM, style);
	fprintf(file, "<text class=\"title\" x=\"10\" y=\"24\">");
	escape_xml(file, summary->file);
	fprintf(file, ": host, EL2 and guests from %.6f s to %.6f s</text>\n", lanes->from / 1e9,
		lanes->to / 1e9);
}

static void put_legend(FILE *file)
{
	static const char * const names[] = {
		[LANE_HOST] = "host, or idle", [LANE_EL2] = "EL2", [LANE_GUEST] = "guest",
	};
	unsigned int i, x = 10;

	for (i = 0; i < sizeof(names) / sizeof(*names); i++, x += 110) {
		fprintf(file, "<rect class=\"%s\" x=\"%u\" y=\"36\" width=\"12\" height=\"12\"/>",
			classes[i], x);
		fprintf(file, "<text x=\"%u\" y=\"46\">%s</text>\n", x + 18, names[i]);
	}
	fprintf(file, "<text x=\"%u\" y=\"46\">&#9660; one of the longest stays at EL2</text>\n",
		x);
	fprintf(file, "<text x=\"%u\" y=\"46\">The darker, the more of this time it ran</text>\n",
		x + 220);
}

/* The smallest of 1, 2, 5, 10, 20 .. ns that makes no more than TICKS of a time */
static u64 tick_step(u64 time)
{
	u64 step = 1;

	while (time / step > TICKS) {
		if (time / step <= 2 * TICKS)
			return step * 2;
		if (time / step <= 5 * TICKS)
			return step * 5;
		step *= 10;
	}
	return step;
}

/* At round times since the first event, as --from and --to count them */
static void put_ticks(FILE *file, const struct lanes *lanes)
{
	u64 step = tick_step(lanes->to - lanes->from), from = lanes->from - lanes->first, ms, at;
	unsigned int bottom = y_of(lanes, lanes->nr), decimals = 0;

	for (ms = 1000000; ms > step; ms /= 10)
		decimals++;
	for (at = (from + step - 1) / step * step; at <= lanes->to - lanes->first; at += step) {
		double x = x_of(lanes, lanes->first + at);

		fprintf(file, "<line class=\"tick\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%u\" y2=\"%u\"/>",
			x, x, TOP, bottom + 5);
		fprintf(file, "<text class=\"middle\" x=\"%.1f\" y=\"%u\">%.*f ms</text>\n", x,
			bottom + 20, decimals, at / 1e6);
	}
	fprintf(file, "<text x=\"%u\" y=\"%u\">after the first event, which is at %.6f s</text>\n",
		LABEL_WIDTH, bottom + 38, lanes->first / 1e9);
}

static const char *lane_name(const struct lane *lane, char *text)
{
	if (lane->kind == LANE_GUEST)
		return guest_name(&lane->guest, text, ROW_NAME);
	return lane->kind == LANE_EL2 ? "EL2" : "host";
}

static void put_lane(FILE *file, const struct lanes *lanes, unsigned int nr)
{
	const struct lane *lane = lanes->lanes[nr];
	unsigned int y = y_of(lanes, nr);
	char text[ROW_NAME];
	const char *name = lane_name(lane, text);
	struct run run = {};

	fprintf(file, "<text class=\"end\" x=\"%u\" y=\"%u\">CPU %d %s</text>\n", LABEL_WIDTH - 6,
		y + 14, lane->cpu, name);
	fprintf(file, "<g class=\"%s\"><title>CPU %d %s: %.3f ms, %.2f %%</title>",
		classes[lane->kind], lane->cpu, name, lane->total / 1e6,
		100. * lane->total / (lanes->to - lanes->from));
	fprintf(file, "<rect class=\"row\" x=\"%u\" y=\"%u\" width=\"%u\" height=\"%u\"/>\n",
		LABEL_WIDTH, y + 1, WIDTH, LANE_HEIGHT - 2);
	while (spans_next(&lane->spans, &run)) {
		double x = x_of_column(run.first);

		fprintf(file, "<rect x=\"%.1f\" y=\"%u\" width=\"%.1f\" height=\"%u\"", x, y + 1,
			x_of_column(run.first + run.nr) - x, LANE_HEIGHT - 2);
		if (run.level < SPANS_LEVELS)
			fprintf(file, " opacity=\"%.2f\"", 0.2 + 0.8 * run.level / SPANS_LEVELS);
		fprintf(file, "/>\n");
	}
	fprintf(file, "</g>\n");
}

static void put_mark(FILE *file, const struct lanes *lanes, const struct summary *summary,
		     const struct stay *stay)
{
	char text[ROW_NAME];
	unsigned int i;

	for (i = 0; i < lanes->nr; i++) {
		if (lanes->lanes[i]->kind == LANE_EL2 && lanes->lanes[i]->cpu == stay->cpu)
			break;
	}
	if (i == lanes->nr || stay->begin < lanes->from || stay->end > lanes->to)
		return;
	fprintf(file, "<text class=\"middle mark\" x=\"%.1f\" y=\"%u\"><title>%.2f us at %.9f s, ",
		x_of(lanes, stay->begin), y_of(lanes, i) + 7, stay_length(stay) / 1e3,
		stay->begin / 1e9);
	escape_xml(file, reason_name(summary, stay->reason, text, sizeof(text)));
	if (stay->hcall != NO_HCALL) {
		fprintf(file, ", ");
		escape_xml(file, hcall_name(summary, stay->hcall, text, sizeof(text)));
	}
	fprintf(file, "</title>&#9660;</text>\n");
}

/**
 * timeline_svg - draw a time line
 * @file: where to
 * @lanes: its lines, sorted
 * @summary: the longest stays, and names
 */
void timeline_svg(FILE *file, const struct lanes *lanes, const struct summary *summary)
{
	unsigned int i;

	put_head(file, lanes, summary);
	put_legend(file);
	put_ticks(file, lanes);
	for (i = 0; i < lanes->nr; i++)
		put_lane(file, lanes, i);
	for (i = 0; i < summary->longest.nr; i++)
		put_mark(file, lanes, summary, &summary->longest.stays[i]);
}
