// SPDX-License-Identifier: GPL-2.0-only
/*
 * A guest for perf to sample: it spins in its kernel and in its program until standard input
 * ends.
 *
 * usage: spin KALLSYMS [SPINS]
 *
 * Writes the functions of the guest's kernel to a file as /proc/kallsyms has them. Those of
 * its program are where this one has them. SPINS is how often each of the two spins before
 * the other one runs.
 */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#ifdef __aarch64__
#include "vm.h"
#define KERNEL(name)	k_##name
#else
#include "x86_vm.h"
#define KERNEL(name)	k64_##name
#endif

#define SPINS	20000

static struct vm vm;

#ifdef __aarch64__
static const struct layout layout = { 12, 48 };

static void set_work(struct vcpu *vcpu, unsigned int nr)
{
	set_register(vcpu, 19, nr);
	set_register(vcpu, 20, nr);
	set_register(vcpu, 21, 1);
}
#else
static const struct layout layout = { 64, 64, 4 };

static void set_work(struct vcpu *vcpu, unsigned int nr)
{
	const struct spins work = { nr, nr, 1 };

	run_program(vcpu, &work);
}
#endif

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
	write_symbol(file, KERNEL(entry), "k_entry");
	write_symbol(file, KERNEL(outer), "k_outer");
	write_symbol(file, KERNEL(middle), "k_middle");
	write_symbol(file, KERNEL(leaf), "k_leaf");
	write_symbol(file, guest_end, "_etext");
	if (fclose(file))
		err(1, "%s", path);
}

int main(int argc, char **argv)
{
	unsigned int nr = argc == 3 ? strtoul(argv[2], NULL, 0) : SPINS;
	struct vcpu vcpu;

	if (argc < 2 || argc > 3 || !nr)
		errx(2, "usage: spin KALLSYMS [SPINS]");
	if (!create_vm(&vm, &layout))
		errx(1, "no VM with pages of 4 KiB");
	create_vcpu(&vm, &vcpu, 0);
	set_work(&vcpu, nr);
	start_vcpu(&vcpu);
	write_symbols(argv[1]);
	while (getchar() != EOF)
		;
	return 0;
}
