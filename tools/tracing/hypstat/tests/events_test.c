// SPDX-License-Identifier: GPL-2.0
/* events_test DIRECTORY: a trace.dat is read, and records of random bytes are decoded */
#include <string.h>
#include <event-parse.h>

#include "../src/load.h"
#include "../src/summary.h"
#include "sample.h"
#include "tap.h"

static struct summary summary;
static char path[4096];

static void write_host(struct dat_writer *dat)
{
	static struct ring ring;

	dat_buffer(dat);
	dat_buffer_cpu(dat, 0);
	ring_begin(&ring, dat);
	sample_switch(&ring, 900, 0, 78, "vcpu-0");
	sample_irq(&ring, 1450, 78, true, 27);
	sample_irq(&ring, 1650, 78, false, 27);
	ring_flush(&ring);
	dat_buffer_cpu(dat, 1);
	dat_buffer_end(dat, "", "boot");
}

/* A hypercall of 100 ns within an interrupt, a run of a guest, a long time, and a loss */
static void write_cpu0(struct dat_writer *dat)
{
	static struct ring ring;

	dat_buffer_cpu(dat, 0);
	ring_begin(&ring, dat);
	sample_func(&ring, 1490, FUNC_TRAP, 0);
	sample_enter(&ring, 1500, ENTER_HVC, -1);
	sample_func(&ring, 1510, FUNC_SHARE, FUNC_TRAP);
	sample_func(&ring, 1520, FUNC_WALK, FUNC_SHARE);
	sample_func_ret(&ring, 1550, FUNC_WALK);
	sample_func(&ring, 1550, FUNC_NO_NAME, FUNC_SHARE);
	sample_func_ret(&ring, 1570, FUNC_SHARE);
	sample_hcall(&ring, 1590, HCALL_SHARE, 0);
	sample_exit(&ring, 1600, EXIT_HOST, -1);
	sample_enter(&ring, 2000, ENTER_HVC, -1);
	sample_guest_enter(&ring, 2100, 0, 77, 4);
	sample_exit(&ring, 2200, EXIT_GUEST, 0);
	sample_enter(&ring, 3000, ENTER_GUEST, 0);
	sample_guest_exit(&ring, 3010, 0, 77, 4, EXIT_CODE_TRAP, ESR_WFX);
	sample_hcall(&ring, 3020, HCALL_VCPU_RUN, 0);
	sample_exit(&ring, 3300, EXIT_HOST, -1);
	sample_enter(&ring, 500000000, ENTER_ABORT, -1);
	sample_exit(&ring, 900000000, EXIT_HOST, -1);
	sample_enter(&ring, 900000010, ENTER_ABORT, -1);
	ring_lose(&ring, 42);
	sample_exit(&ring, 900000500, EXIT_HOST, -1);
	ring_flush(&ring);
}

static void write_file(void)
{
	static struct dat_writer dat;
	static struct ring ring;

	sample_begin(&dat, path);
	write_host(&dat);
	dat_buffer(&dat);
	write_cpu0(&dat);
	dat_buffer_cpu(&dat, 1);
	ring_begin(&ring, &dat);
	sample_hcall(&ring, 100, HCALL_NO_NAME, 0);
	sample_exit(&ring, 200, EXIT_HOST, -1);
	ring_flush(&ring);
	dat_buffer_end(&dat, "hypervisor", "boot");
	sample_end(&dat);
	ok(!dat.error, "a file is written");
}

static struct row *row_of(enum section_id id, const char *name)
{
	static struct row none;
	unsigned int i;

	for (i = 0; i < summary.tables[id].nr; i++) {
		if (!strcmp(summary.tables[id].rows[i]->name, name))
			return summary.tables[id].rows[i];
	}
	return &none;
}

static void check_row(enum section_id id, const char *name, u64 count, u64 total)
{
	const struct row *row = row_of(id, name);

	if (!ok(row->hist.count == count && row->hist.total == total, "%s: %s", sections[id].name,
		name))
		printf("# %llu, %llu ns\n", (unsigned long long)row->hist.count,
		       (unsigned long long)row->hist.total);
}

static void check_tables(void)
{
	check_row(SECTION_REASON, "hvc", 2, 300);
	check_row(SECTION_REASON, "guest", 1, 300);
	check_row(SECTION_REASON, "abort", 1, 400000000);
	check_row(SECTION_HCALL, "__pkvm_host_share_hyp", 1, 100);
	check_row(SECTION_HCALL, "__kvm_vcpu_run (enter)", 1, 200);
	check_row(SECTION_HCALL, "__kvm_vcpu_run (exit)", 1, 300);
	check_row(SECTION_EXIT, "WFx", 1, 300);
	check_row(SECTION_VM, "77-4", 2, 500);
	check_row(SECTION_VCPU, "77-4 vcpu 0", 2, 500);
	check_row(SECTION_TASK, "irq 27", 1, 100);
	check_row(SECTION_TASK, "vcpu-0-78", 3, 400000500);
	check_row(SECTION_FUNCTION, "handle_trap", 1, 100);
	check_row(SECTION_FUNCTION, "share", 1, 60);
	check_row(SECTION_FUNCTION, "walk", 1, 30);
	check_row(SECTION_FUNCTION, "0xffffffc07fffff00", 1, 20);
	equals("the function's own time", row_of(SECTION_FUNCTION, "share")->self, 10);
	equals("the guest's time", row_of(SECTION_VM, "77-4")->guest, 800);
}

static void check_rest(const struct load *load)
{
	const struct losses *losses = &summary.stays.losses;
	const struct stay *stay = &summary.longest.stays[0];

	equals("CPUs", load->nr_cpus, 2);
	equals("lost events", losses->hyp, 42);
	equals("stays dropped", losses->dropped, 1);
	equals("stays cut by the ends", losses->partial, 1);
	equals("corrupted events", losses->corrupt + losses->unpaired, 0);
	equals("the longest stays", summary.longest.nr, 4);
	equals("the longest one", stay->end - stay->begin, 400000000);
	equals("the hypercall before it", stay->last_hcall, HCALL_VCPU_RUN);
	stay = &summary.longest.stays[3];
	equals("the functions of the first stay", stay->nr_functions, 4);
	ok(stay->functions[0].ip == FUNC_TRAP && stay->functions[0].self == 40 &&
	   stay->functions[3].ip == FUNC_SHARE, "... the longest first");
}

/* A small generator, so that each run has the same bytes */
static u32 some(void)
{
	static u32 seed = 1;

	seed = seed * 1664525 + 1013904223;
	return seed >> 8;
}

/* The record of a sched_switch to a task that is none */
static void check_signed(void)
{
	char record[48] = { 300 % 256, 300 / 256 };
	struct event event;
	s32 pid = -2;

	memcpy(record + 44, &pid, sizeof(pid));
	events_decode(&summary.events, record, sizeof(record), &event);
	equals("a signed field", event.values[SWITCH_NEXT_PID], pid);
}

/* What a record of the sample may be, but for its bytes and its size */
static void check_random(void)
{
	static char data[128];
	struct event event = {};
	unsigned int round, size, i;

	for (round = 0; round < 300000; round++) {
		size = some() % 80;
		char *record = malloc(size);	/* so that a read behind it is found */

		for (i = 0; i < size; i++)
			data[i] = some() % 4 ? 0 : some();
		data[0] = some() % 8 + (some() % 2 ? 0xe8 : 0x2c);
		data[1] = (u8)data[0] >= 0xe8 ? 3 : 1;
		memcpy(record, data, size);
		events_decode(&summary.events, record, size, &event);
		event.ts += some() % 1000;
		if (some() % 100 == 0)
			stays_lost(&summary.stays, some() % 2, some() % 3 - 1);
		stays_event(&summary.stays, &event);
		free(record);
	}
	ok(summary.all.count > 1000, "records of random bytes make %llu stays",
	   (unsigned long long)summary.all.count);
	ok(summary.tables[SECTION_VM].nr == TABLE_ROWS + 1, "and more VMs than there are rows");
}

int main(int argc, char **argv)
{
	struct load load = {
		.file = path, .events = &summary.events, .stays = &summary.stays,
	};

	snprintf(path, sizeof(path), "%s/events.dat", argv[1]);
	write_file();
	load_open(&load);
	summary.file = path;
	summary_init(&summary);
	load_run(&load);
	check_tables();
	check_rest(&load);
	check_signed();
	check_random();
	summary_sort(&summary);
	summary_free(&summary);
	load_close(&load);
	return tap_end();
}
