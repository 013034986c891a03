// SPDX-License-Identifier: GPL-2.0
/* What is written in pictures: times below them, and what is said of a line or a bar */
#include <string.h>

#include "../src/histograms.h"
#include "../src/timeline_svg.h"
#include "tap.h"

#define MS	1000000ULL

static char *picture;

static FILE *begin(void)
{
	static size_t size;

	free(picture);
	picture = NULL;
	return open_memstream(&picture, &size);
}

static void shows(const char *what, const char *text)
{
	ok(strstr(picture, text), "%s: %s", what, text);
}

static void hides(const char *what, const char *text)
{
	ok(!strstr(picture, text), "%s: no %s", what, text);
}

/* A stay from 10 to 20 ms after the first event, in a picture of these times */
static void draw_timeline(u64 from, u64 to)
{
	static const struct guest guest = { .known = true, .vm_pid = 12, .vm_fd = 3 };
	static struct summary summary = { .file = "a&b" };
	struct lanes lanes = { .first = MS, .from = MS + from, .to = MS + to };
	FILE *file = begin();

	lanes_add(&lanes, LANE_EL2, 0, NULL, MS + 10 * MS, MS + 20 * MS);
	lanes_add(&lanes, LANE_GUEST, 0, &guest, MS + 20 * MS, MS + 21 * MS);
	lanes_add(&lanes, LANE_EL2, 1, NULL, MS, MS + 40 * MS);
	timeline_svg(file, &lanes, &summary);
	fclose(file);
	lanes_free(&lanes);
}

static void check_timeline(void)
{
	draw_timeline(0, 41 * MS);
	shows("the file's name", "a&#38;b: host");
	shows("a line", "<title>CPU 0 EL2: 10.000 ms, 24.39 %</title>");
	shows("a guest", ">CPU 0 12-3 vcpu 0</text>");
	shows("the first round time", ">0 ms<");
	shows("the last one", ">40 ms<");
	hides("no other one", ">41 ms<");
	draw_timeline(15 * MS + 1, 15 * MS + 901);
	shows("of a part", "<title>CPU 0 EL2: 0.001 ms, 100.00 %</title>");
	hides("a line without anything", "12-3");
	shows("times are after the first event", ">15.0001 ms<");
	hides("none is before the picture", ">15.0000 ms<");
	shows("by 1, 2 or 5", ">15.0009 ms<");
}

static const char text[] =
	"# version=1 cpus=1\n"
	"guest:WFx count=3 total_ns=40 max_ns=20 hist=4:2,5:1\n"
	"in:guest count=1 total_ns=9000000000 max_ns=9000000000";

static void draw_histograms(const char *gap, bool nano)
{
	static struct account account;
	struct histograms histograms = {
		.accounts = &account, .nr = 1, .view = parse_view("exit"), .nano = nano,
	};
	FILE *file = begin();
	char all[256];

	snprintf(all, sizeof(all), "%s%s\n", text, gap);
	ok(!account_parse(&account, all), "a text can be read");
	histograms_svg(file, &histograms);
	fclose(file);
}

static void check_histograms(void)
{
	draw_histograms("", false);
	shows("one CPU", "by exit, 1 CPU, since the last reset");
	shows("a bar", "<title>2: 8 ns .. 16 ns</title>");
	shows("the lower bound", ">8 ns</text>");
	shows("the upper one", ">32 ns</text>");
	hides("nothing is green", "Green");
	draw_histograms(" hist=31:1", true);
	shows("what is not EL2's", "Green");
	shows("an endless bar", "<title>1: 1073741824 ns .. </title>");
	shows("a wide text", ">134217728 ns</text>");
	hides("has room", ">33554432 ns</text>");
	hides("the last bound", ">2147483648 ns</text>");
}

int main(void)
{
	check_timeline();
	check_histograms();
	free(picture);
	return tap_end();
}
