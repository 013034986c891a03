// SPDX-License-Identifier: GPL-2.0
/*
 * Histograms as SVG: a row for each reason, with a bar for each bucket. All rows have the same
 * times below each other; the highest bar of a row has its full height.
 */
#include "escape.h"
#include "histograms.h"
#include "svg.h"

#define LABEL_WIDTH	420
#define LEAST_WIDTH	240	/* of the bars, so that the texts above have room */
#define BAR_WIDTH	30
#define ROW_HEIGHT	46
#define BAR_HEIGHT	34
#define TOP		70
#define BOTTOM		40

static const char style[] =
	".stay { fill: #cc3311 } .gap { fill: #228833 } .bound { font-size: 10px }\n"
	".small { font-size: 11px; fill: #666 }\n";

/* The rows, and the first and the last bucket that one of them has */
struct picture {
	const struct histograms	*histograms;
	FILE			*file;
	struct account		rows;
	unsigned int		nr_stays;
	unsigned int		first;
	unsigned int		last;
};

static unsigned int bars_width(const struct picture *picture)
{
	return (picture->last - picture->first + 1) * BAR_WIDTH;
}

static unsigned int picture_width(const struct picture *picture)
{
	unsigned int width = bars_width(picture);

	return LABEL_WIDTH + (width > LEAST_WIDTH ? width : LEAST_WIDTH) + 50;
}

static unsigned int x_of(const struct picture *picture, unsigned int bucket)
{
	return LABEL_WIDTH + (bucket - picture->first) * BAR_WIDTH;
}

static void find_buckets(struct picture *picture)
{
	unsigned int i, bucket;

	picture->first = LOGHIST_BUCKETS - 1;
	picture->last = 0;
	for (i = 0; i < picture->rows.nr; i++) {
		for (bucket = 0; bucket < LOGHIST_BUCKETS; bucket++) {
			if (!picture->rows.entries[i].hist.buckets[bucket])
				continue;
			if (bucket < picture->first)
				picture->first = bucket;
			if (bucket > picture->last)
				picture->last = bucket;
		}
	}
	if (picture->first > picture->last)
		picture->first = picture->last;
}

/* The stays by their total times, then the rest */
static void find_rows(struct picture *picture)
{
	const struct histograms *histograms = picture->histograms;
	static struct account gaps;
	unsigned int i;

	view_select(histograms->view, histograms->accounts, histograms->reason, &picture->rows);
	view_sort(&picture->rows, parse_sort("time"));
	picture->nr_stays = picture->rows.nr;
	view_gaps(histograms->accounts, histograms->reason, &gaps);
	for (i = 0; i < gaps.nr; i++) {
		if (loghist_has_buckets(&gaps.entries[i].hist))
			*account_entry(&picture->rows, gaps.entries[i].name, 0) = gaps.entries[i];
	}
}

static void put_title(const struct picture *picture)
{
	const struct histograms *histograms = picture->histograms;
	char text[TIME_TEXT];

	fprintf(picture->file, "<text class=\"title\" x=\"10\" y=\"24\">");
	fprintf(picture->file, "Stays at EL2 by %s, %u CPU%s, ", histograms->view->name,
		histograms->accounts->nr_cpus, histograms->accounts->nr_cpus == 1 ? "" : "s");
	if (histograms->elapsed)
		fprintf(picture->file, "%s</text>\n",
			histograms_time(histograms, histograms->elapsed, text));
	else
		fprintf(picture->file, "since the last reset</text>\n");
	fprintf(picture->file, "<text class=\"small\" x=\"10\" y=\"44\">");
	fprintf(picture->file, "A bar: the stays of a time between two powers of two. ");
	fprintf(picture->file, "Each row has a scale of its own. *: since the last reset.");
	fprintf(picture->file, "%s</text>\n",
		picture->nr_stays < picture->rows.nr ? " Green: not at EL2" : "");
}

/* A line at each bound of a bucket, and its time. The last bucket has no upper one. */
static void put_bounds(const struct picture *picture)
{
	unsigned int bottom = TOP + picture->rows.nr * ROW_HEIGHT, bound;
	const struct histograms *histograms = picture->histograms;
	unsigned int step = histograms->nano ? 4 : 2;	/* A text is as wide as so many bars. */
	FILE *file = picture->file;
	char text[TIME_TEXT];

	for (bound = picture->first; bound <= picture->last + 1; bound++) {
		unsigned int x = x_of(picture, bound);

		fprintf(file, "<path class=\"tick\" d=\"M%u %u V%u\"/>\n", x, TOP, bottom + 4);
		if (bound == LOGHIST_BUCKETS || (bound - picture->first) % step)
			continue;
		fprintf(file, "<text class=\"middle bound\" x=\"%u\" y=\"%u\">%s</text>\n", x,
			bottom + 18, histograms_time(histograms, loghist_low(bound), text));
	}
}

static void put_label(const struct picture *picture, const struct entry *row, unsigned int y)
{
	const struct loghist *hist = &row->hist;
	char text[TIME_TEXT];

	fprintf(picture->file, "<text class=\"end\" x=\"%u\" y=\"%u\">", LABEL_WIDTH - 10, y + 18);
	escape_xml(picture->file, row->name);
	fprintf(picture->file, "</text><text class=\"end small\" x=\"%u\" y=\"%u\">%llu, mean %s",
		LABEL_WIDTH - 10, y + 34, (unsigned long long)hist->count,
		histograms_time(picture->histograms, loghist_mean(hist), text));
	fprintf(picture->file, ", p99 &lt;= %s",
		histograms_time(picture->histograms, loghist_percentile(hist, 990), text));
	fprintf(picture->file, ", longest* %s</text>\n",
		histograms_time(picture->histograms, hist->max, text));
}

static void put_bar(const struct picture *picture, unsigned int bucket, u64 count, double height,
		    unsigned int bottom)
{
	char from[TIME_TEXT], to[TIME_TEXT];

	fprintf(picture->file, "<rect x=\"%u\" y=\"%.1f\" width=\"%u\" height=\"%.1f\">",
		x_of(picture, bucket) + 1, bottom - height, BAR_WIDTH - 2, height);
	fprintf(picture->file, "<title>%llu: %s .. %s</title></rect>\n", (unsigned long long)count,
		histograms_time(picture->histograms, loghist_low(bucket), from),
		histograms_bound(picture->histograms, bucket, to));
}

static void put_row(const struct picture *picture, unsigned int nr)
{
	const struct entry *row = &picture->rows.entries[nr];
	unsigned int y = TOP + nr * ROW_HEIGHT, bucket;
	u64 most = loghist_most(&row->hist);

	put_label(picture, row, y);
	fprintf(picture->file, "<rect class=\"row\" x=\"%u\" y=\"%u\"", LABEL_WIDTH, y + 2);
	fprintf(picture->file, " width=\"%u\" height=\"%u\"/>\n", bars_width(picture),
		ROW_HEIGHT - 4);
	fprintf(picture->file, "<g class=\"%s\">\n", nr < picture->nr_stays ? "stay" : "gap");
	for (bucket = picture->first; bucket <= picture->last; bucket++) {
		u64 count = row->hist.buckets[bucket];

		/* One stay is seen beside a million others. */
		if (count)
			put_bar(picture, bucket, count, 2 + (double)count / most * (BAR_HEIGHT - 2),
				y + ROW_HEIGHT - 4);
	}
	fprintf(picture->file, "</g>\n");
}

/**
 * histograms_svg - draw histograms
 * @file: where to
 * @histograms: them
 */
void histograms_svg(FILE *file, const struct histograms *histograms)
{
	static struct picture picture;
	unsigned int i;

	picture.histograms = histograms;
	picture.file = file;
	find_rows(&picture);
	find_buckets(&picture);
	svg_begin(file, picture_width(&picture), TOP + picture.rows.nr * ROW_HEIGHT + BOTTOM,
		  style);
	put_title(&picture);
	for (i = 0; i < picture.rows.nr; i++)
		put_row(&picture, i);
	put_bounds(&picture);
}
