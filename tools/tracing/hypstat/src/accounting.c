// SPDX-License-Identifier: GPL-2.0
/* The files in tracefs by which EL2's accounting is switched, reset and read */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "accounting.h"
#include "cpus.h"
#include "instance.h"
#include "utils.h"

#define SWITCH		"accounting"
#define TOTAL		"accounting_total"
#define CPU_FILE	"per_cpu/cpu%d/accounting"
#define CPU_FILE_SIZE	64

static int dir_to_turn_off;

static char *cpu_file(int cpu, char *name)
{
	snprintf(name, CPU_FILE_SIZE, CPU_FILE, cpu);
	return name;
}

static void count_cpus(struct accounting *accounting)
{
	char name[CPU_FILE_SIZE];
	int nr = 0;

	while (nr < CPUS_MAX && !faccessat(accounting->dir, cpu_file(nr, name), F_OK, 0))
		nr++;
	accounting->nr_cpus = nr;
}

static void check_cpus(const struct accounting *accounting)
{
	int cpu = 0;

	while (cpu < accounting->nr_cpus && !cpus_has(accounting->cpus, cpu))
		cpu++;
	if (cpu == accounting->nr_cpus)
		die("there is none of these CPUs: the last one is CPU %d",
		    accounting->nr_cpus - 1);
}

/**
 * accounting_open - find the files, or exit
 * @accounting: them
 * @cpus: the CPUs that are read, or NULL for all
 */
void accounting_open(struct accounting *accounting, const struct cpus *cpus)
{
	accounting->dir = instance_open_hypervisor(getenv("TRACEFS_PATH"));
	accounting->cpus = cpus;
	if (faccessat(accounting->dir, SWITCH, F_OK, 0))
		die("this kernel has no accounting at EL2: use 'hypstat record'");
	count_cpus(accounting);
	check_cpus(accounting);
}

static void turn_off(void)
{
	write_file(dir_to_turn_off, SWITCH, "0");
}

/**
 * accounting_turn_on - let EL2 count, or exit
 * @accounting: the files; if EL2 did not count, it does not after the exit
 */
void accounting_turn_on(struct accounting *accounting)
{
	char *text = hyp_read(accounting->dir, SWITCH);

	if (*text != '1') {
		hyp_write(accounting->dir, SWITCH, "1");
		dir_to_turn_off = accounting->dir;
		atexit(turn_off);
	}
	free(text);
}

/**
 * accounting_reset - set all that was counted to 0, or exit
 * @accounting: the files
 */
void accounting_reset(const struct accounting *accounting)
{
	char name[CPU_FILE_SIZE];
	int cpu;

	if (!accounting->cpus) {
		hyp_write(accounting->dir, TOTAL, "0");
		return;
	}
	for (cpu = 0; cpu < accounting->nr_cpus; cpu++) {
		if (cpus_has(accounting->cpus, cpu))
			hyp_write(accounting->dir, cpu_file(cpu, name), "0");
	}
}

static void read_account(int dir, const char *name, struct account *account)
{
	char *text = hyp_read(dir, name);
	const char *error = account_parse(account, text);

	if (error)
		die("hypervisor/%s, line %u: %s", name, account->line, error);
	free(text);
}

/**
 * accounting_read_cpu - read what a CPU has counted, or exit
 * @accounting: the files
 * @cpu: the CPU
 * @account: where that goes
 */
void accounting_read_cpu(const struct accounting *accounting, int cpu, struct account *account)
{
	char name[CPU_FILE_SIZE];

	read_account(accounting->dir, cpu_file(cpu, name), account);
	account->cpu = cpu;
}

/**
 * accounting_read - read what all CPUs have counted, or those of the list, or exit
 * @accounting: the files
 * @account: where that goes
 */
void accounting_read(const struct accounting *accounting, struct account *account)
{
	static struct account one;
	int cpu;

	if (!accounting->cpus) {
		read_account(accounting->dir, TOTAL, account);
		return;
	}
	account_clear(account);
	for (cpu = 0; cpu < accounting->nr_cpus; cpu++) {
		if (!cpus_has(accounting->cpus, cpu))
			continue;
		accounting_read_cpu(accounting, cpu, &one);
		account_add(account, &one);
	}
}
