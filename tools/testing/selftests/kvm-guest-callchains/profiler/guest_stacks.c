// SPDX-License-Identifier: GPL-2.0-only
/*
 * A profiler of guests, by BPF and libbpf: prints the call chains that all guests have been in
 * as folded stacks, from which flame graphs are made. They begin with the process of the VMM.
 *
 * usage: guest_stacks SECONDS [KALLSYMS]
 *
 * KALLSYMS is the guest's /proc/kallsyms. guest_stacks.bpf.o is beside the program.
 */
#include <err.h>
#include <libgen.h>
#include <limits.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "guest_stacks.h"

#define FREQUENCY	999	/* samples in a second of a CPU */

struct symbol {
	unsigned long long	address;
	char			name[64];
};

static struct symbol *symbols;
static size_t nr_symbols;

static int compare_symbols(const void *a, const void *b)
{
	const struct symbol *l = a, *r = b;

	return l->address < r->address ? -1 : l->address > r->address;
}

static void read_symbols(const char *path)
{
	FILE *file = fopen(path, "r");
	struct symbol symbol;
	char type;

	if (!file)
		err(1, "%s", path);
	while (fscanf(file, "%llx %c %63s%*[^\n]", &symbol.address, &type, symbol.name) == 3) {
		symbols = reallocarray(symbols, nr_symbols + 1, sizeof(symbol));
		if (!symbols)
			err(1, "reallocarray");
		symbols[nr_symbols++] = symbol;
	}
	fclose(file);
	qsort(symbols, nr_symbols, sizeof(*symbols), compare_symbols);
}

/* The last one that begins at or below an address, or NULL */
static const struct symbol *find_symbol(unsigned long long address)
{
	size_t low = 0, high = nr_symbols;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (symbols[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? &symbols[low - 1] : NULL;
}

/* All guests on a CPU: the host is excluded. The sample has the chain, which BPF finds there. */
static void attach(struct bpf_program *program, int cpu)
{
	struct perf_event_attr attr = {
		.type		= PERF_TYPE_SOFTWARE,
		.size		= sizeof(attr),
		.config		= PERF_COUNT_SW_CPU_CLOCK,
		.sample_freq	= FREQUENCY,
		.freq		= 1,
		.sample_type	= PERF_SAMPLE_CALLCHAIN,
		.exclude_host	= 1,
	};
	int fd = syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0) {
		warn("CPU %d", cpu);
		return;
	}
	if (!bpf_program__attach_perf_event(program, fd))
		err(1, "bpf_program__attach_perf_event");
}

static struct bpf_object *load(const char *directory)
{
	struct bpf_object *object;
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/guest_stacks.bpf.o", directory);
	object = bpf_object__open_file(path, NULL);
	if (!object || bpf_object__load(object))
		err(1, "%s", path);
	return object;
}

/* The caller comes first. The chain of a sample begins with a mark of the mode, which is none. */
static void print_stack(const struct guest_stack *stack, int stacks, unsigned long long nr)
{
	__u64 addresses[MAX_FRAMES] = {};
	const struct symbol *symbol;
	int i;

	if (bpf_map_lookup_elem(stacks, &stack->id, addresses))
		return;
	printf("%u;%s", stack->vmm, stack->user ? "user" : "kernel");
	for (i = MAX_FRAMES - 1; i >= 0; i--) {
		if (!addresses[i] || addresses[i] >= PERF_CONTEXT_MAX)
			continue;
		symbol = stack->user ? NULL : find_symbol(addresses[i]);
		if (symbol)
			printf(";%s", symbol->name);
		else
			printf(";0x%llx", (unsigned long long)addresses[i]);
	}
	printf(" %llu\n", nr);
}

static void print_stacks(int counts, int stacks)
{
	struct guest_stack stack, *last = NULL;
	__u64 nr;

	while (!bpf_map_get_next_key(counts, last, &stack)) {
		if (!bpf_map_lookup_elem(counts, &stack, &nr))
			print_stack(&stack, stacks, nr);
		last = &stack;
	}
}

int main(int argc, char **argv)
{
	int cpu, cpus = libbpf_num_possible_cpus();
	struct bpf_object *object;

	if (argc < 2 || argc > 3 || atoi(argv[1]) <= 0)
		errx(2, "usage: guest_stacks SECONDS [KALLSYMS]");
	if (argc == 3)
		read_symbols(argv[2]);

	object = load(dirname(argv[0]));
	for (cpu = 0; cpu < cpus; cpu++)
		attach(bpf_object__find_program_by_name(object, "count_guest"), cpu);
	sleep(atoi(argv[1]));
	print_stacks(bpf_object__find_map_fd_by_name(object, "counts"),
		     bpf_object__find_map_fd_by_name(object, "stacks"));
	bpf_object__close(object);
	return 0;
}
