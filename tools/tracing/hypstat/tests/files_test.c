// SPDX-License-Identifier: GPL-2.0
/*
 * files_test DIRECTORY HYPSTAT GENERATE: hypstat reports truncated and corrupted files. It ends
 * with status 0 or 1, soon, and says in one line what is wrong.
 */
#include <string.h>
#include <linux/types.h>

#include "run.h"

#define ROUNDS		300
#define HEADER		64	/* bytes of the file's head */
#define OPTIONS		400	/* bytes at the file's end, which say where all the rest is */

static const char *directory, *hypstat, *generate;
static char file[4096];

static struct run *run(const char * const *args)
{
	static struct run run;

	run_start(&run, args);
	run_end(&run);
	return &run;
}

static struct run *report(const char *path)
{
	const char *args[] = { hypstat, "report", path, NULL };

	return run(args);
}

static void refuses(const char *what, const char *path, const char *why)
{
	refused(report(path), what, why);
}

static void write_file(const char *data, size_t size)
{
	FILE *to = fopen(file, "w");

	fwrite(data, 1, size, to);
	fclose(to);
}

static char *read_sample(size_t *size)
{
	const char *args[] = { generate, file, "200", NULL };
	char *data = malloc(1 << 20);
	FILE *from;

	run(args);
	from = fopen(file, "r");
	*size = fread(data, 1, 1 << 20, from);
	fclose(from);
	return data;
}

/* A place, most often where one byte decides much */
static size_t place(size_t size)
{
	if (random() % 2)
		return random() % size;
	if (random() % 2)
		return random() % HEADER;
	return size - 1 - random() % OPTIONS;
}

static void corrupt(char *data, size_t size)
{
	static const int numbers[] = { 1, 4, 40 };
	int nr = numbers[random() % 3];

	while (nr--)
		data[place(size)] = random() % 3 ? random() : random() % 2 - 1;
}

static bool survives(const char *data, size_t size, char *copy)
{
	struct run *result;

	memcpy(copy, data, size);
	if (random() % 3) {
		corrupt(copy, size);
		write_file(copy, size);
	} else {
		write_file(copy, random() % size);
	}
	result = report(file);
	if (run_is_fine(result))
		return true;
	printf("# status %#x, %s\n", result->status, result->errors);
	return false;
}

static void check_corruption(const char *data, size_t size)
{
	char *copy = malloc(size);
	unsigned int i, wrong = 0;

	srandom(1);
	for (i = 0; i < ROUNDS; i++)
		wrong += !survives(data, size, copy);
	equals("no truncated or corrupted file is its end", wrong, 0);
	free(copy);
}

static struct run *last(const char *us)
{
	const char *args[] = { hypstat, "report", "--stop", us, file, NULL };

	return run(args);
}

/* How long the stay took that is printed, us */
static double first_us(const char *text)
{
	double us = 0;

	text = strchr(text, '\n');
	if (text)
		sscanf(text, " %lf us", &us);
	return us;
}

/* Each stay took longer than 0.2 us, and none an hour. */
static void check_last(void)
{
	struct run *result = last("1");

	ok(!result->status && first_us(result->out) >= 1, "the last stay over a limit is printed");
	ok(strstr(result->out, "before: ") && !strstr(result->out, "THE LONGEST"),
	   "... with what was before it, and nothing else");
	result = last("4294967295");
	ok(!result->status && strstr(result->out, "is not there"), "... or that there is none");
	refused(last("0"), "a limit of 0", "microseconds");
	refused(last("4294967296"), "a limit that is too large", "microseconds");
	refused(last("5us"), "a limit with a unit", "microseconds");
}

static void check_folded(void)
{
	const char *args[] = { hypstat, "report", "--folded", file, NULL };
	struct run *result = run(args);

	ok(!result->status && strstr(result->out, "hcall:__pkvm_host_share_hyp;share;walk ") &&
	   strstr(result->out, "\nhcall:__pkvm_host_share_hyp;share ") &&
	   strstr(result->out, "guest:HVC64 "), "paths of functions");
}

int main(int argc, char **argv)
{
	struct run *result;
	size_t size;
	char *data;

	directory = argv[1];
	hypstat = argv[2];
	generate = argv[3];
	snprintf(file, sizeof(file), "%s/trace.dat", directory);
	data = read_sample(&size);
	result = report(file);
	ok(!result->status && !*result->errors, "a file is reported");
	check_last();
	check_folded();
	refuses("no file", "/nonexistent", "No such file");
	refuses("another file", "/proc/self/status", "no trace.dat");
	write_file(data, size / 2);
	refuses("half a file", file, "truncated");
	check_corruption(data, size);
	free(data);
	return tap_end();
}
