// SPDX-License-Identifier: GPL-2.0
/*
 * What perf kvm stat reports, for other programs: a line for each event, or for what is
 * known of it, and a line of sums
 */
#ifdef HAVE_KVM_STAT_SUPPORT

#include <inttypes.h>
#include <string.h>
#include <sys/time.h>
#include <linux/kernel.h>
#include <linux/time64.h>
#include "debug.h"
#include "hist.h"
#include "kvm-fields.h"
#include "kvm-lines.h"
#include "kvm-stat.h"

bool kvm_lines__are_valid(struct perf_kvm_stat *kvm)
{
	if (kvm->separator && kvm->json_output) {
		pr_err("cannot use both --field-separator and --json-output\n");
		return false;
	}
	if (kvm->separator && !strcmp(kvm->separator, "\\t"))
		kvm->separator = "\t";
	if (kvm->separator || kvm->json_output)
		kvm_fields__init(&kvm->fields, kvm->separator, stdout);
	return true;
}

static void add_vcpu(struct kvm_fields *fields, const struct kvm_vcpu *vcpu)
{
	char vm[32];
	int len = scnprintf(vm, sizeof(vm), "%d", vcpu->vm_pid);

	if (vcpu->vm_fd != KVM_UNKNOWN)
		scnprintf(vm + len, sizeof(vm) - len, "-%d", vcpu->vm_fd);
	kvm_fields__string(fields, "vm", vm);
	if (vcpu->vcpu_id == KVM_UNKNOWN)
		kvm_fields__string(fields, "vcpu", "unknown");
	else
		kvm_fields__u64(fields, "vcpu", vcpu->vcpu_id);
	kvm_fields__u64(fields, "thread", vcpu->tid);
}

/* Live mode has lines of each display. */
static void begin_line(struct perf_kvm_stat *kvm)
{
	struct timeval now;

	if (!kvm->live)
		return;
	gettimeofday(&now, NULL);
	kvm_fields__u64(&kvm->fields, "time-of-day-us", now.tv_sec * USEC_PER_SEC + now.tv_usec);
}

static void begin_sums(struct perf_kvm_stat *kvm)
{
	begin_line(kvm);
	if (kvm->shown_vcpu)
		add_vcpu(&kvm->fields, kvm->shown_vcpu);
}

static void begin_event(struct perf_kvm_stat *kvm, struct kvm_event *event)
{
	char decode[KVM_EVENT_NAME_LEN];

	begin_sums(kvm);
	kvm->events_ops->decode_key(kvm, &event->key, decode);
	kvm_fields__string(&kvm->fields, "event", decode);
}

static void end_line(struct perf_kvm_stat *kvm)
{
	if (kvm_fields__end(&kvm->fields))
		pr_err("Not enough memory: a line is missing\n");
}

static double percent(u64 part, u64 all)
{
	return all ? 100. * part / all : 0;
}

static void add_percentiles(struct kvm_fields *fields, const struct kvm_event *event)
{
	char name[16];
	unsigned int i;

	for (i = 0; i < KVM_NR_PERCENTILES; i++) {
		scnprintf(name, sizeof(name), "%s-ns", kvm_percentiles[i].name);
		kvm_fields__u64(fields, name, event->percentiles[i]);
	}
}

static void add_off_cpu(struct perf_kvm_stat *kvm, const struct kvm_off_cpu *off)
{
	if (!kvm->switches.recorded)
		return;
	kvm_fields__u64(&kvm->fields, "preempted-time-ns", off->preempted);
	kvm_fields__u64(&kvm->fields, "slept-time-ns", off->slept);
}

static void add_off_unknown(struct perf_kvm_stat *kvm, u64 nr)
{
	if (kvm->switches.recorded)
		kvm_fields__u64(&kvm->fields, "unknown-off-cpu-samples", nr);
}

static void print_event(struct perf_kvm_stat *kvm, struct kvm_event *event)
{
	struct kvm_fields *fields = &kvm->fields;
	struct stats *stats = &event->total.stats;

	begin_event(kvm, event);
	kvm_fields__u64(fields, "samples", stats->n);
	kvm_fields__double(fields, "samples-percent", percent(stats->n, kvm->total_count));
	kvm_fields__double(fields, "time-percent", percent(event->total.time, kvm->total_time));
	kvm_fields__u64(fields, "time-ns", event->total.time);
	kvm_fields__u64(fields, "min-time-ns", stats->min);
	kvm_fields__u64(fields, "max-time-ns", stats->max);
	kvm_fields__double(fields, "mean-time-ns", event->total.time / stats->n);
	kvm_fields__double(fields, "mean-time-deviation-percent",
			   rel_stddev_stats(stddev_stats(stats), avg_stats(stats)));
	if (kvm->percentiles)
		add_percentiles(fields, event);
	add_off_cpu(kvm, &event->total.off);
	add_off_unknown(kvm, event->total.off_unknown);
	end_line(kvm);
}

static void print_histogram(struct perf_kvm_stat *kvm, struct kvm_event *event)
{
	unsigned int bit;
	u64 nr;

	for (bit = 0; event->total.hist && bit < 64; bit++) {
		nr = kvm_hist__log2(event->total.hist, bit);
		if (!nr)
			continue;
		begin_event(kvm, event);
		kvm_fields__u64(&kvm->fields, "from-ns", bit ? 1ULL << bit : 0);
		kvm_fields__u64(&kvm->fields, "to-ns", (1ULL << bit) - 1 + (1ULL << bit));
		kvm_fields__u64(&kvm->fields, "samples", nr);
		end_line(kvm);
	}
}

void kvm_lines__open_event(struct perf_kvm_stat *kvm, struct kvm_event *event)
{
	if (!event->open)
		return;
	begin_event(kvm, event);
	kvm_fields__u64(&kvm->fields, "not-ended", event->open);
	end_line(kvm);
}

static void print_each(struct perf_kvm_stat *kvm, struct hists *hists,
		       void (*print)(struct perf_kvm_stat *kvm, struct kvm_event *event))
{
	struct hist_entry *he;
	struct rb_node *nd;

	for (nd = rb_first_cached(&hists->entries); nd; nd = rb_next(nd)) {
		he = rb_entry(nd, struct hist_entry, rb_node);
		if (!he->filtered)
			print(kvm, container_of(he, struct kvm_event, he));
	}
}

void kvm_lines__sums(struct perf_kvm_stat *kvm)
{
	begin_sums(kvm);
	kvm_fields__u64(&kvm->fields, "total-samples", kvm->total_count);
	kvm_fields__u64(&kvm->fields, "total-time-ns", kvm->total_time);
	kvm_fields__u64(&kvm->fields, "guest-time-ns", kvm->guest_time);
	add_off_cpu(kvm, &kvm->off);
	end_line(kvm);
}

/* Of all vCPUs that are shown, or of one: its events, in their order */
void kvm_lines__events(struct perf_kvm_stat *kvm, struct hists *hists)
{
	print_each(kvm, hists, print_event);
	if (kvm->histogram)
		print_each(kvm, hists, print_histogram);
}

static void print_slow_line(struct perf_kvm_stat *kvm, const struct kvm_slow_event *slow,
			    const struct kvm_slow_line *line)
{
	struct kvm_fields *fields = &kvm->fields;

	kvm_fields__u64(fields, "slow-event-end-ns", slow->end);
	kvm_fields__u64(fields, "since-begin-ns", line->time - slow->begin);
	kvm_fields__u64(fields, "cpu", line->cpu);
	kvm_fields__u64(fields, "thread", line->tid);
	kvm_fields__string(fields, "host-event", line->name);
	kvm_fields__string(fields, "text", line->text);
	end_line(kvm);
}

/* An event that took long, and then what the host recorded meanwhile */
void kvm_lines__slow_event(struct perf_kvm_stat *kvm, const struct kvm_slow_event *slow)
{
	struct kvm_fields *fields = &kvm->fields;
	char pc[32];
	u32 i;

	add_vcpu(fields, slow->vcpu);
	kvm_fields__string(fields, "slow-event", slow->name);
	kvm_fields__u64(fields, "end-ns", slow->end);
	kvm_fields__u64(fields, "time-ns", slow->end - slow->begin);
	scnprintf(pc, sizeof(pc), "%#" PRIx64, slow->pc);
	kvm_fields__string(fields, "pc", slow->pc ? pc : "unknown");
	if (slow->off_known)
		add_off_cpu(kvm, &slow->off);
	end_line(kvm);
	for (i = 0; i < slow->nr_lines; i++)
		print_slow_line(kvm, slow, &slow->lines[i]);
}

/* What is not in the lines before */
void kvm_lines__doubts(struct perf_kvm_stat *kvm)
{
	begin_line(kvm);
	kvm_fields__u64(&kvm->fields, "unknown-vcpu-samples", kvm->unknown_count);
	kvm_fields__u64(&kvm->fields, "lost-events", max(kvm->lost_events, kvm->lost_samples));
	kvm_fields__u64(&kvm->fields, "left-out-samples", kvm->dropped);
	add_off_unknown(kvm, kvm->off_unknown);
	end_line(kvm);
	fflush(stdout);
}

#endif /* HAVE_KVM_STAT_SUPPORT */
