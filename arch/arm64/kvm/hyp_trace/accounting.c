// SPDX-License-Identifier: GPL-2.0-only
/*
 * Accounting for the time at EL2: its files in tracefs
 *
 *	accounting			0 or 1: whether EL2 counts
 *	accounting_total		what it has counted on all CPUs
 *	per_cpu/cpuN/accounting		... on one CPU
 *	stop_tracing_us			how long a stay may take before EL2 stops tracing
 *
 * EL2 counts (nvhe/stay.c), and copies its counters to a page that is shared with it
 * (nvhe/acct.c). They are reset by keeping a copy that is subtracted from then on. So nothing
 * has to run on a CPU that is idle or offline, or does what must not be interrupted.
 *
 * EL2 compares a stay with the time in stop_tracing_us only if it is a new maximum
 * (nvhe/stay_stop.c). So all maxima are cleared at EL2 when that time is passed to it: while
 * accounting and tracing are on. What was cleared is kept here, and shown.
 *
 * To turn accounting on, a hypercall on each CPU prepares it. In plain nVHE mode KVM may leave
 * EL2 to the hyp stub while there is no VM. While accounting is on, or is being read, KVM's
 * virtualization is kept enabled.
 *
 * Locking: hyp_acct_lock covers all of this. It nests inside trace_remote.lock, and
 * cpu_hotplug_lock nests inside it.
 */
#include <linux/cpu.h>
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/kstrtox.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/mutex.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/trace_remote.h>
#include <linux/uaccess.h>

#include <asm/arch_timer.h>
#include <asm/kvm_asm.h>
#include <asm/kvm_hypacct.h>
#include <asm/kvm_mmu.h>

#include "acct_clock.h"
#include "acct_names.h"
#include "hyp_trace.h"

/*
 * EL2 is asked again, a little later, if a CPU changed its counters each time that EL2 tried to
 * copy them: another hypervisor may have preempted it in the middle of that.
 */
#define HYP_ACCT_TRIES		100
#define HYP_ACCT_WAIT_US	100

/* Of the text of all reasons */
#define HYP_ACCT_TEXT_SIZE	SZ_32K

struct hyp_acct_counters {
	struct hyp_acct_cell	cell[NR_HYP_ACCT_REASONS];
};

static DEFINE_MUTEX(hyp_acct_lock);	/* covers what follows */
static bool hyp_acct_on;
static struct hyp_acct_cell *hyp_acct_page;
static u32 hyp_acct_stop_us;		/* 0: EL2 does not stop tracing */
static bool hyp_acct_is_tracing;
static bool hyp_acct_is_armed;		/* EL2 was passed a threshold */
static bool hyp_acct_had_threshold;	/* ... since tracing began; also read without the lock */

/* What is subtracted since a reset; of stays, max is what has been cleared at EL2 since then. */
static struct hyp_acct_counters *hyp_acct_bases[NR_CPUS];

/* The page stays shared: EL2 may have it mapped. */
static int hyp_acct_get_page(void)
{
	void *page;
	int ret;

	lockdep_assert_held(&hyp_acct_lock);

	if (hyp_acct_page)
		return 0;

	page = (void *)get_zeroed_page(GFP_KERNEL);
	if (!page)
		return -ENOMEM;

	ret = kvm_share_hyp(page, page + PAGE_SIZE);
	if (ret) {
		free_page((unsigned long)page);
		return ret;
	}

	hyp_acct_page = page;
	return 0;
}

static int hyp_acct_read_page(int cpu, unsigned int first, bool clear)
{
	int tries, ret = -EAGAIN;

	for (tries = 0; tries < HYP_ACCT_TRIES && ret == -EAGAIN; tries++) {
		if (tries)
			usleep_range(HYP_ACCT_WAIT_US, 5 * HYP_ACCT_WAIT_US);
		ret = hyp_trace_hypcall(__hyp_acct_read, cpu,
					page_to_pfn(virt_to_page(hyp_acct_page)), first, clear);
	}

	return ret == -EAGAIN ? -EBUSY : ret;
}

/* What a CPU has counted since boot. EL2 returns no cells if that is nothing. */
static int hyp_acct_read_raw(int cpu, struct hyp_acct_counters *counters, bool clear)
{
	unsigned int first = 0;
	int nr;

	lockdep_assert_held(&hyp_acct_lock);

	memset(counters, 0, sizeof(*counters));
	while (first < NR_HYP_ACCT_REASONS) {
		nr = hyp_acct_read_page(cpu, first, clear);
		if (nr <= 0)
			return nr;

		nr = min_t(unsigned int, nr, NR_HYP_ACCT_REASONS - first);
		memcpy(&counters->cell[first], hyp_acct_page, nr * sizeof(struct hyp_acct_cell));
		first += nr;
	}

	return 0;
}

static void hyp_acct_cell_sub(struct hyp_acct_cell *cell, const struct hyp_acct_cell *base,
			      bool gap)
{
	int i;

	cell->total -= base->total;
	if (gap)
		cell->nr_gaps -= base->nr_gaps;
	else
		cell->max = max(cell->max, base->max);
	for (i = 0; i < HYP_ACCT_NR_BUCKETS; i++)
		cell->buckets[i] -= base->buckets[i];
}

static void hyp_acct_cell_add(struct hyp_acct_cell *sum, const struct hyp_acct_cell *cell,
			      bool gap)
{
	int i;

	sum->total += cell->total;
	if (gap)
		sum->nr_gaps += cell->nr_gaps;
	else
		sum->max = max(sum->max, cell->max);
	for (i = 0; i < HYP_ACCT_NR_BUCKETS; i++)
		sum->buckets[i] += cell->buckets[i];
}

/* Add what a CPU has counted since the last reset to @sum. */
static int hyp_acct_add_cpu(struct hyp_acct_counters *sum, int cpu,
			    struct hyp_acct_counters *counters)
{
	const struct hyp_acct_counters *base = hyp_acct_bases[cpu];
	int i, ret = hyp_acct_read_raw(cpu, counters, false);

	for (i = 0; i < NR_HYP_ACCT_REASONS && !ret; i++) {
		if (base)
			hyp_acct_cell_sub(&counters->cell[i], &base->cell[i],
					  i < HYP_ACCT_NR_GAPS);
		hyp_acct_cell_add(&sum->cell[i], &counters->cell[i], i < HYP_ACCT_NR_GAPS);
	}

	return ret;
}

/* Call @fn for each CPU of a file, while EL2 has KVM's hypervisor. */
static int hyp_acct_for_cpus(int file_cpu, int (*fn)(void *data, int cpu), void *data)
{
	int cpu, ret;

	lockdep_assert_held(&hyp_acct_lock);

	ret = hyp_trace_get(NULL);
	if (ret)
		return ret;

	ret = hyp_acct_get_page();
	for_each_possible_cpu(cpu) {
		if (!ret && (file_cpu == TRACE_REMOTE_ALL || file_cpu == cpu))
			ret = fn(data, cpu);
	}

	hyp_trace_put(NULL);
	return ret;
}

/**
 * struct hyp_acct_sum - what the CPUs of a file have counted
 * @sum:	of them all
 * @cpu:	of the last one
 */
struct hyp_acct_sum {
	struct hyp_acct_counters	sum;
	struct hyp_acct_counters	cpu;
};

static int hyp_acct_sum_cpu(void *data, int cpu)
{
	struct hyp_acct_sum *sum = data;

	return hyp_acct_add_cpu(&sum->sum, cpu, &sum->cpu);
}

/* If that fails, what is subtracted stays as it was. */
static int hyp_acct_reset_cpu(void *data, int cpu)
{
	struct hyp_acct_counters *base = kvzalloc(sizeof(*base), GFP_KERNEL);
	int i, ret;

	if (!base)
		return -ENOMEM;

	ret = hyp_acct_read_raw(cpu, base, true);
	for (i = HYP_ACCT_NR_GAPS; i < NR_HYP_ACCT_REASONS; i++)
		base->cell[i].max = 0;
	if (!ret)
		swap(base, hyp_acct_bases[cpu]);
	kvfree(base);
	return ret;
}

/* What a CPU has as its base; NULL if there is no memory for it. */
static struct hyp_acct_counters *hyp_acct_get_base(int cpu)
{
	lockdep_assert_held(&hyp_acct_lock);

	if (!hyp_acct_bases[cpu])
		hyp_acct_bases[cpu] = kvzalloc(sizeof(*hyp_acct_bases[cpu]), GFP_KERNEL);
	return hyp_acct_bases[cpu];
}

/* Clear the maxima at EL2, and keep them here: also those that were read before an error. */
static int hyp_acct_clear_maxima(void *data, int cpu)
{
	struct hyp_acct_counters *base = hyp_acct_get_base(cpu), *counters = data;
	int i, ret;

	if (!base)
		return -ENOMEM;

	ret = hyp_acct_read_raw(cpu, counters, true);
	for (i = HYP_ACCT_NR_GAPS; i < NR_HYP_ACCT_REASONS; i++)
		base->cell[i].max = max(base->cell[i].max, counters->cell[i].max);
	return ret;
}

static int hyp_acct_reset(int file_cpu)
{
	guard(mutex)(&hyp_acct_lock);
	return hyp_acct_for_cpus(file_cpu, hyp_acct_reset_cpu, NULL);
}

/* The fewest cycles that are longer than the time in stop_tracing_us; 0 if nothing stops EL2. */
static u64 hyp_acct_threshold(void)
{
	if (!hyp_acct_stop_us || !hyp_acct_on || !hyp_acct_is_tracing)
		return 0;

	return mul_u64_u64_div_u64(hyp_acct_stop_us, arch_timer_get_rate(), USEC_PER_SEC) + 1;
}

static int hyp_acct_set_threshold(u64 cycles)
{
	int ret = hyp_trace_hypcall(__hyp_acct_set_threshold, cycles);

	if (ret)
		return ret;

	hyp_acct_is_armed = cycles;
	if (hyp_acct_is_armed)
		WRITE_ONCE(hyp_acct_had_threshold, true);
	return 0;
}

static int hyp_acct_arm(u64 cycles)
{
	struct hyp_acct_counters *counters __free(kvfree) = kvzalloc(sizeof(*counters), GFP_KERNEL);
	int ret;

	if (!counters)
		return -ENOMEM;

	/* The threshold is set before the maxima are cleared: (T) of nvhe/trace.c. */
	ret = hyp_acct_set_threshold(cycles);
	if (ret)
		return ret;

	ret = hyp_acct_for_cpus(TRACE_REMOTE_ALL, hyp_acct_clear_maxima, counters);
	if (ret)
		hyp_acct_set_threshold(0);
	return ret;
}

/* Pass to EL2 what has become of the threshold. Without one EL2 may not be there. */
static int hyp_acct_update_threshold(void)
{
	u64 cycles = hyp_acct_threshold();

	lockdep_assert_held(&hyp_acct_lock);

	if (cycles)
		return hyp_acct_arm(cycles);
	return hyp_acct_is_armed ? hyp_acct_set_threshold(0) : 0;
}

/**
 * hyp_acct_set_tracing - tracing has begun, or is about to end
 * @priv:	not used
 * @on:		which
 *
 * Context: process context, may sleep; with trace_remote.lock.
 * Return: 0; or an errno if EL2 can't stop tracing, as stop_tracing_us says it shall.
 */
int hyp_acct_set_tracing(void *priv, bool on)
{
	guard(mutex)(&hyp_acct_lock);

	hyp_acct_is_tracing = on;
	/* Readers of tracing_on ask EL2 until tracing is off. */
	if (on)
		WRITE_ONCE(hyp_acct_had_threshold, false);
	return hyp_acct_update_threshold();
}

/**
 * hyp_acct_may_stop - can the threshold have stopped tracing?
 *
 * Context: any.
 * Return: whether it can, since tracing began.
 */
bool hyp_acct_may_stop(void)
{
	return READ_ONCE(hyp_acct_had_threshold);
}

/**
 * struct hyp_acct_prepare - CPUs are prepared
 * @cpu:	the next one
 * @ret:	0, or an errno
 */
struct hyp_acct_prepare {
	int	cpu;
	int	ret;
};

static void hyp_acct_prepare_cpu(void *data)
{
	struct hyp_acct_prepare *prepare = data;

	prepare->ret = hyp_trace_hypcall(__hyp_acct_prepare, prepare->cpu, hyp_acct_mult());
}

/* Each CPU that is online prepares itself; this one those that are not. */
static int hyp_acct_prepare_cpus(void)
{
	struct hyp_acct_prepare prepare = { };

	lockdep_assert_cpus_held();

	for_each_possible_cpu(prepare.cpu) {
		if (cpu_online(prepare.cpu))
			smp_call_function_single(prepare.cpu, hyp_acct_prepare_cpu, &prepare, 1);
		else
			hyp_acct_prepare_cpu(&prepare);
		if (prepare.ret)
			break;
	}

	return prepare.ret;
}

static int hyp_acct_turn_on(void)
{
	int ret = hyp_trace_get(NULL);

	if (ret)
		return ret;

	scoped_guard(cpus_read_lock)
		ret = hyp_acct_prepare_cpus() ?: hyp_trace_hypcall(__hyp_acct_enable, true);
	if (ret)
		hyp_trace_put(NULL);
	return ret;
}

static int hyp_acct_turn_off(void)
{
	int ret = hyp_trace_hypcall(__hyp_acct_enable, false);

	if (!ret)
		hyp_trace_put(NULL);
	return ret;
}

/**
 * hyp_acct_set_on - turn accounting on or off
 * @on:		whether it is on
 *
 * Context: process context, may sleep.
 * Return: 0; -ENODEV when tracing has ended for good; what enabling virtualization returned; or
 * another errno if accounting is on, but can't stop tracing.
 */
int hyp_acct_set_on(bool on)
{
	int ret;

	guard(mutex)(&hyp_acct_lock);

	if (on == hyp_acct_on)
		return 0;

	ret = on ? hyp_acct_turn_on() : hyp_acct_turn_off();
	if (ret)
		return ret;

	hyp_acct_on = on;
	return hyp_acct_update_threshold();
}

static ssize_t hyp_acct_on_read(struct file *file, char __user *ubuf, size_t cnt, loff_t *ppos)
{
	return trace_remote_read_number(ubuf, cnt, ppos, READ_ONCE(hyp_acct_on));
}

static ssize_t hyp_acct_on_write(struct file *file, const char __user *ubuf, size_t cnt,
				 loff_t *ppos)
{
	unsigned long val;
	int ret;

	ret = trace_remote_get_number(ubuf, cnt, 1, &val);
	if (!ret)
		ret = hyp_acct_set_on(val);

	return trace_remote_written(ret, cnt, ppos);
}

TRACE_REMOTE_FOPS(hyp_acct_on_fops, hyp_acct_on_read, hyp_acct_on_write);

static ssize_t hyp_acct_stop_read(struct file *file, char __user *ubuf, size_t cnt, loff_t *ppos)
{
	return trace_remote_read_number(ubuf, cnt, ppos, READ_ONCE(hyp_acct_stop_us));
}

static int hyp_acct_set_stop(u32 us)
{
	guard(mutex)(&hyp_acct_lock);

	WRITE_ONCE(hyp_acct_stop_us, us);
	return hyp_acct_update_threshold();
}

static ssize_t hyp_acct_stop_write(struct file *file, const char __user *ubuf, size_t cnt,
				   loff_t *ppos)
{
	u32 us;
	int ret;

	ret = kstrtou32_from_user(ubuf, cnt, 10, &us);
	if (!ret)
		ret = hyp_acct_set_stop(us);

	return trace_remote_written(ret, cnt, ppos);
}

TRACE_REMOTE_FOPS(hyp_acct_stop_fops, hyp_acct_stop_read, hyp_acct_stop_write);

static u64 hyp_acct_ns(u64 cycles)
{
	return mul_u64_u64_div_u64(cycles, NSEC_PER_SEC, arch_timer_get_rate());
}

static u64 hyp_acct_nr_stays(const struct hyp_acct_cell *cell)
{
	u64 nr = 0;
	int i;

	for (i = 0; i < HYP_ACCT_NR_BUCKETS; i++)
		nr += cell->buckets[i];
	return nr;
}

/* Each guest that has run has exited, for one of the last reasons. */
static void hyp_acct_count_guests(struct hyp_acct_counters *sum)
{
	int reason;

	for (reason = HYP_ACCT_GUEST_IRQ; reason < NR_HYP_ACCT_REASONS; reason++)
		sum->cell[HYP_ACCT_IN_GUEST].nr_gaps += hyp_acct_nr_stays(&sum->cell[reason]);
}

static void hyp_acct_show_buckets(struct seq_file *m, const struct hyp_acct_cell *cell)
{
	const char *before = " hist=";
	u64 nr;
	int i;

	for (i = 0; i < HYP_ACCT_NR_BUCKETS; i++) {
		nr = cell->buckets[HYP_ACCT_BUCKET(i)];
		if (!nr)
			continue;
		seq_printf(m, "%s%d:%llu", before, i, nr);
		before = ",";
	}
}

static void hyp_acct_show_reason(struct seq_file *m, unsigned int reason,
				 const struct hyp_acct_cell *cell)
{
	bool gap = reason < HYP_ACCT_NR_GAPS;
	u64 nr = gap ? cell->nr_gaps : hyp_acct_nr_stays(cell);

	if (!nr && !cell->total)
		return;

	hyp_acct_show_name(m, reason);
	seq_printf(m, " count=%llu total_ns=%llu", nr, hyp_acct_ns(cell->total));
	if (!gap)
		seq_printf(m, " max_ns=%llu", hyp_acct_ns(cell->max));
	hyp_acct_show_buckets(m, cell);
	seq_putc(m, '\n');
}

static void hyp_acct_show_head(struct seq_file *m, int cpu)
{
	seq_puts(m, "# version=1 ");
	if (cpu == TRACE_REMOTE_ALL)
		seq_printf(m, "cpus=%u", num_possible_cpus());
	else
		seq_printf(m, "cpu=%d", cpu);
	seq_printf(m, " on=%d\n", READ_ONCE(hyp_acct_on));
}

static int hyp_acct_show(struct seq_file *m, void *v)
{
	struct hyp_acct_sum *sum __free(kvfree) = kvzalloc(sizeof(*sum), GFP_KERNEL);
	int ret, reason, cpu = trace_remote_file_nr(m->private);

	if (!sum)
		return -ENOMEM;

	scoped_guard(mutex, &hyp_acct_lock)
		ret = hyp_acct_for_cpus(cpu, hyp_acct_sum_cpu, sum);
	if (ret)
		return ret;

	hyp_acct_count_guests(&sum->sum);
	hyp_acct_show_head(m, cpu);
	for (reason = 0; reason < NR_HYP_ACCT_REASONS; reason++)
		hyp_acct_show_reason(m, reason, &sum->sum.cell[reason]);
	return 0;
}

static int hyp_acct_start(struct inode *inode, struct file *file)
{
	int ret = 0;

	if (file->f_mode & FMODE_WRITE && file->f_flags & O_TRUNC)
		ret = hyp_acct_reset(trace_remote_file_nr(inode));
	if (!ret && file->f_mode & FMODE_READ)
		ret = single_open_size(file, hyp_acct_show, inode, HYP_ACCT_TEXT_SIZE);
	return ret;
}

static int hyp_acct_open(struct inode *inode, struct file *file)
{
	int ret = trace_remote_open(inode, file);

	if (ret)
		return ret;

	ret = hyp_acct_start(inode, file);
	if (ret)
		trace_remote_release(inode, file);
	return ret;
}

/* Only 0 is taken: it resets the counters. */
static ssize_t hyp_acct_write(struct file *file, const char __user *ubuf, size_t cnt,
			      loff_t *ppos)
{
	unsigned long val;
	int ret;

	ret = trace_remote_get_number(ubuf, cnt, 0, &val);
	if (!ret)
		ret = hyp_acct_reset(trace_remote_file_nr(file_inode(file)));

	return trace_remote_written(ret, cnt, ppos);
}

static int hyp_acct_release(struct inode *inode, struct file *file)
{
	if (file->f_mode & FMODE_READ)
		single_release(inode, file);
	return trace_remote_release(inode, file);
}

static const struct file_operations hyp_acct_fops = {
	.open		= hyp_acct_open,
	.read		= seq_read,
	.write		= hyp_acct_write,
	.llseek		= trace_remote_lseek,
	.release	= hyp_acct_release,
};

const struct trace_remote_file hyp_acct_files[] = {
	{ "accounting",		0640,	&hyp_acct_on_fops },
	{ "accounting_total",	0640,	&hyp_acct_fops },
	{ "stop_tracing_us",	0640,	&hyp_acct_stop_fops },
	{ }
};

const struct trace_remote_file hyp_acct_cpu_files[] = {
	{ "accounting",		0640,	&hyp_acct_fops },
	{ }
};
