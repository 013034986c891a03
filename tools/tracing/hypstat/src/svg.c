// SPDX-License-Identifier: GPL-2.0
/* A picture as SVG, which each browser shows, without scripts */
#include <errno.h>
#include <string.h>

#include "svg.h"
#include "utils.h"

/* What all pictures have */
static const char common_style[] =
	"text { font: 12px sans-serif; fill: #222 }\n"
	".row { fill: #f4f4f4 } .tick { stroke: #bbb; shape-rendering: crispEdges }\n"
	".end { text-anchor: end } .middle { text-anchor: middle } .title { font-size: 15px }\n";

/**
 * svg_open - make the file of a picture, or exit
 * @path: its path
 *
 * Return: the file.
 */
FILE *svg_open(const char *path)
{
	FILE *file = fopen(path, "we");

	if (!file)
		die("can't open %s: %s", path, strerror(errno));
	return file;
}

/**
 * svg_begin - begin a picture with a white background
 * @file: where to
 * @width: of the picture
 * @height: of the picture
 * @style: the styles that it has beside those of all pictures
 */
void svg_begin(FILE *file, unsigned int width, unsigned int height, const char *style)
{
	fprintf(file, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%u\" height=\"%u\"", width,
		height);
	fprintf(file, " viewBox=\"0 0 %u %u\">\n<style>\n%s%s</style>\n", width, height,
		common_style, style);
	fprintf(file, "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n");
}

/**
 * svg_close - end a picture, or exit if it could not be written
 * @file: the file
 * @path: its path
 */
void svg_close(FILE *file, const char *path)
{
	int failed;

	fprintf(file, "</svg>\n");
	failed = ferror(file);
	if (fclose(file) || failed)
		die("can't write %s", path);
}
