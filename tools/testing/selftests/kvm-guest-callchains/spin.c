// SPDX-License-Identifier: GPL-2.0-only
/*
 * A guest for perf to sample: it spins at EL0 and EL1 until standard input ends.
 *
 * usage: spin KALLSYMS
 *
 * Writes the functions of EL1 to a file as /proc/kallsyms has them. Those of EL0 are where
 * this program has them.
 */
#include <err.h>
#include <stdio.h>
#include <unistd.h>

#include "vm.h"

#define SPINS	20000

static struct vm vm;

static void write_symbol(FILE *file, const char *label, const char *name)
{
	fprintf(file, "%lx T %s\n", (unsigned long)kernel_code(&vm, label), name);
}

static void write_symbols(const char *path)
{
	FILE *file = fopen(path, "w");

	if (!file)
		err(1, "%s", path);
	write_symbol(file, guest_begin, "_text");
	write_symbol(file, guest_begin, "_stext");
	write_symbol(file, k_vectors, "k_vectors");
	write_symbol(file, k_entry, "k_entry");
	write_symbol(file, k_outer, "k_outer");
	write_symbol(file, k_middle, "k_middle");
	write_symbol(file, k_leaf, "k_leaf");
	write_symbol(file, k_start, "k_start");
	write_symbol(file, guest_end, "_etext");
	if (fclose(file))
		err(1, "%s", path);
}

int main(int argc, char **argv)
{
	static const struct layout layout = { 12, 48 };
	struct vcpu vcpu;

	if (argc != 2)
		errx(2, "usage: spin KALLSYMS");
	if (!create_vm(&vm, &layout))
		errx(1, "no VM with pages of 4 KiB");
	create_vcpu(&vm, &vcpu, 0);
	set_register(&vcpu, 19, SPINS);
	set_register(&vcpu, 20, SPINS);
	set_register(&vcpu, 21, 1);
	start_vcpu(&vcpu);
	write_symbols(argv[1]);
	while (getchar() != EOF)
		;
	return 0;
}
