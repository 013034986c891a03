// SPDX-License-Identifier: GPL-2.0
/*
 * perf kvm stat --use-bpf: load the BPF programs that count events of KVM, and read what they
 * have counted
 */
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <linux/build_bug.h>
#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/string.h>
#include <linux/zalloc.h>
#include <bpf/bpf.h>

#include "bpf_counter.h"
#include "debug.h"
#include "evlist.h"
#include "evsel.h"
#include "intlist.h"
#include "kvm-bpf.h"
#include "kvm-hist.h"
#include "kvm-stat.h"
#include "kvm-vcpus.h"
#include "namespaces.h"
#include "trace-event.h"

#include "bpf_skel/kvm_stat_data.h"
#include "bpf_skel/kvm_stat.skel.h"

/* Larger than the record of any tracepoint of KVM */
#define KVM_BPF_MAX_RECORD	4096

static struct kvm_stat_bpf *skel;
static const struct kvm_bpf_rule *all_rules;
static u64 seen_lost;
static int used;	/* which of two maps the programs use */

static struct evsel *find(struct perf_kvm_stat *kvm, const char *tracepoint)
{
	return evlist__find_tracepoint_by_name(kvm->evlist, tracepoint);
}

static int set_field(struct kvm_bpf_field *to, struct evsel *evsel, const char *name)
{
	struct tep_format_field *field = evsel__field(evsel, name);

	if (!field || field->offset + field->size > KVM_BPF_MAX_RECORD) {
		pr_err("%s has no field %s.\n", evsel__name(evsel), name);
		return -ENOENT;
	}
	to->offset = field->offset;
	to->size = field->size;
	return 0;
}

/* Not all tracepoints have it. */
static int set_field_if(struct kvm_bpf_field *to, struct evsel *evsel, const char *name)
{
	return name ? set_field(to, evsel, name) : 0;
}

static int set_rule(struct kvm_bpf_when *when, struct evsel *evsel, const struct kvm_bpf_rule *rule)
{
	when->does = rule->ends ? KVM_BPF_END : KVM_BPF_BEGIN;
	when->rule = rule - all_rules;
	when->is = rule->is;
	return set_field_if(&when->when, evsel, rule->when) ?:
	       set_field_if(&when->key, evsel, rule->key) ?:
	       set_field_if(&when->info, evsel, rule->info);
}

static int set_rules(struct kvm_bpf_tp *tp, struct evsel *evsel)
{
	const struct kvm_bpf_rule *rule;
	int nr = 0, err = 0;

	for (rule = all_rules; !err && rule->tracepoint; rule++) {
		if (!evsel__name_is(evsel, rule->tracepoint))
			continue;
		if (nr == KVM_BPF_RULES)
			return -E2BIG;
		err = set_rule(&tp->rules[nr++], evsel, rule);
	}
	return err;
}

/* Which tracepoint a program is attached to; without one, it is not loaded. */
struct attached {
	struct bpf_program *program;
	struct bpf_link **link;
	struct evsel *evsel;
};

static struct attached to_event(int nr, struct evsel *evsel)
{
	const struct attached programs[KVM_BPF_TPS] = {
		{ skel->progs.on_event0, &skel->links.on_event0, evsel },
		{ skel->progs.on_event1, &skel->links.on_event1, evsel },
		{ skel->progs.on_event2, &skel->links.on_event2, evsel },
		{ skel->progs.on_event3, &skel->links.on_event3, evsel },
	};

	return programs[nr];
}

/* The tracepoints of KVM that have rules, or tell when the guest runs */
static int set_tps(struct perf_kvm_stat *kvm, const char *vcpu_id, struct attached *attached)
{
	struct kvm_bpf_tp *tp = skel->rodata->tps;
	struct evsel *evsel;
	int nr = 0, err;

	evlist__for_each_entry(kvm->evlist, evsel) {
		if (nr == KVM_BPF_TPS)
			break;
		memset(tp, 0, sizeof(*tp));
		err = set_rules(tp, evsel);
		if (err)
			return err;
		tp->is_entry = kvm_entry_event(evsel);
		tp->is_exit = kvm_exit_event(evsel);
		if (!tp->is_entry && !tp->is_exit && !tp->rules[0].does)
			continue;
		if (tp->is_entry && vcpu_id && evsel__field(evsel, vcpu_id) &&
		    set_field(&tp->vcpu_id, evsel, vcpu_id))
			return -ENOENT;
		attached[nr] = to_event(nr, evsel);
		nr++;
		tp++;
	}
	return 0;
}

static int set_vcpu_fields(struct evsel *load)
{
	struct kvm_bpf_vcpu_fields *fields = &skel->rodata->vcpu_fields;

	return set_field(&fields->vm_pid, load, "vm_pid") ?:
	       set_field(&fields->vm_fd, load, "vm_fd") ?:
	       set_field(&fields->vcpu_id, load, "vcpu_id");
}

static int set_switch_fields(struct evsel *evsel)
{
	struct kvm_bpf_switch_fields *fields = &skel->rodata->switch_fields;

	return set_field(&fields->prev_pid, evsel, "prev_pid") ?:
	       set_field(&fields->prev_state, evsel, "prev_state") ?:
	       set_field(&fields->next_pid, evsel, "next_pid");
}

/* perf needs only their formats. The evlist is never opened. */
static int add_sched_tracepoints(struct perf_kvm_stat *kvm)
{
	if (evlist__add_newtp(kvm->evlist, "sched", "sched_switch", NULL) ||
	    evlist__add_newtp(kvm->evlist, "sched", "sched_process_exit", NULL)) {
		pr_err("The kernel has no tracepoints of the scheduler.\n");
		return -ENOENT;
	}
	return 0;
}

#define NR_OTHERS	6
#define NR_ATTACHED	(KVM_BPF_TPS + NR_OTHERS)

/* Those first that what others do depends on */
static int set_programs(struct perf_kvm_stat *kvm, const char *vcpu_id, struct attached *attached)
{
	const struct attached others[NR_OTHERS] = {
		{ skel->progs.on_switch, &skel->links.on_switch,
		  find(kvm, "sched:sched_switch") },
		{ skel->progs.on_thread_exit, &skel->links.on_thread_exit,
		  find(kvm, "sched:sched_process_exit") },
		{ skel->progs.on_load, &skel->links.on_load,
		  find(kvm, "kvm:kvm_vcpu_load") },
		{ skel->progs.on_put, &skel->links.on_put,
		  find(kvm, "kvm:kvm_vcpu_put") },
		{ skel->progs.on_sched_in, &skel->links.on_sched_in,
		  find(kvm, "kvm:kvm_vcpu_sched_in") },
		{ skel->progs.on_sched_out, &skel->links.on_sched_out,
		  find(kvm, "kvm:kvm_vcpu_sched_out") },
	};

	memcpy(attached, others, sizeof(others));
	return set_tps(kvm, vcpu_id, attached + NR_OTHERS) ?:
	       set_switch_fields(others[0].evsel) ?:
	       (others[2].evsel ? set_vcpu_fields(others[2].evsel) : 0);
}

static void load_attached_only(const struct attached *attached)
{
	struct bpf_program *program;
	int i;

	bpf_object__for_each_program(program, skel->obj)
		bpf_program__set_autoload(program, false);
	for (i = 0; i < NR_ATTACHED; i++)
		if (attached[i].evsel)
			bpf_program__set_autoload(attached[i].program, true);
}

static int attach_program(const struct attached *attached)
{
	const char *name = evsel__name(attached->evsel), *event = strchr(name, ':') + 1;
	char system[8];

	scnprintf(system, sizeof(system), "%.*s", (int)(event - 1 - name), name);
	*attached->link = bpf_program__attach_tracepoint(attached->program, system, event);
	if (*attached->link)
		return 0;
	pr_err("Failed to attach a BPF program to %s: %m\n", name);
	return -errno;
}

static int attach_all(const struct attached *attached)
{
	int i, err;

	for (i = 0; i < NR_ATTACHED; i++) {
		err = attached[i].evsel ? attach_program(&attached[i]) : 0;
		if (err)
			return err;
	}
	return 0;
}

/* The programs see the ids of the first PID namespace. */
static int set_nr_processes(struct perf_kvm_stat *kvm)
{
	if (!kvm->pid_list)
		return 0;
	if (!nsinfo__is_in_root_namespace()) {
		pr_err("--use-bpf takes -p in the first PID namespace only.\n");
		return -EINVAL;
	}
	skel->rodata->has_processes = 1;
	return bpf_map__set_max_entries(skel->maps.processes, intlist__nr_entries(kvm->pid_list));
}

static int add_processes(struct perf_kvm_stat *kvm)
{
	struct int_node *pos;
	u8 one = 1;
	u32 pid;

	if (!kvm->pid_list)
		return 0;
	intlist__for_each_entry(pos, kvm->pid_list) {
		pid = pos->i;
		if (bpf_map_update_elem(bpf_map__fd(skel->maps.processes), &pid, &one, BPF_ANY))
			return -errno;
	}
	return 0;
}

static int load_programs(struct perf_kvm_stat *kvm, const struct attached *attached)
{
	int err = set_nr_processes(kvm);

	if (err)
		return err;
	skel->rodata->has_histogram = kvm->percentiles || kvm->histogram;
	load_attached_only(attached);
	set_max_rlimit();
	err = kvm_stat_bpf__load(skel);
	if (err)
		pr_err("Failed to load the BPF programs: %s\n", strerror(-err));
	return err ?: add_processes(kvm);
}

/**
 * kvm_bpf__start - begin to count
 * @kvm:	what is asked for; @kvm->evlist has the tracepoints of KVM
 * @arch:	the name of this machine's architecture
 * @vcpu_id:	the field of the guest's entries that has the vCPU's id; NULL if there is none
 *
 * Return: 0, or a negative error, with a message.
 */
int kvm_bpf__start(struct perf_kvm_stat *kvm, const char *arch, const char *vcpu_id)
{
	struct attached attached[NR_ATTACHED] = {};
	int err;

	BUILD_BUG_ON(KVM_BPF_SUB_BITS != KVM_HIST_SUB_BITS || KVM_BPF_SUBS != KVM_HIST_SUBS);
	all_rules = kvm_bpf_rules(arch, kvm->report_event);
	seen_lost = 0;
	used = 0;
	err = add_sched_tracepoints(kvm);
	if (err)
		return err;
	skel = kvm_stat_bpf__open();
	if (!skel) {
		pr_err("Failed to open the BPF programs: %m\n");
		return -errno;
	}
	err = set_programs(kvm, vcpu_id, attached) ?:
	      load_programs(kvm, attached) ?:
	      attach_all(attached);
	if (err) {
		kvm_bpf__stop();
		return err;
	}
	skel->bss->enabled = 1;
	return 0;
}

void kvm_bpf__stop(void)
{
	kvm_stat_bpf__destroy(skel);
	skel = NULL;
}

/* The maps that the programs use from now on. No program uses the others when it returns. */
static int use_maps(int which)
{
	int stats = bpf_map__fd(which ? skel->maps.stats1 : skel->maps.stats0);
	int octaves = bpf_map__fd(which ? skel->maps.octaves1 : skel->maps.octaves0);
	u32 zero = 0;

	if (bpf_map_update_elem(bpf_map__fd(skel->maps.octaves), &zero, &octaves, BPF_ANY) ||
	    bpf_map_update_elem(bpf_map__fd(skel->maps.stats), &zero, &stats, BPF_ANY)) {
		pr_err("Failed to exchange the maps of the BPF programs: %m\n");
		return -errno;
	}
	return 0;
}

/* What the thread does from now on is that vCPU's, as if a tracepoint had just said so. */
static struct kvm_vcpu *vcpu_of(struct perf_kvm_stat *kvm, const struct kvm_bpf_owner *owner,
				u32 pid, u32 tid)
{
	struct kvm_where where = { .pid = pid, .tid = tid };

	if (owner->vm_pid)
		return kvm_vcpus__switch(&kvm->vcpus, &where, KVM_VCPU_LOAD, owner->vm_pid,
					 owner->vm_fd, owner->vcpu_id);
	if (owner->vcpu_id != KVM_BPF_UNKNOWN)
		return kvm_vcpus__set_id(&kvm->vcpus, &where, owner->vcpu_id);
	return kvm_vcpus__find(&kvm->vcpus, &where);
}

/* The fields of a tracepoint's record, as far as a rule has them */
struct record {
	struct evsel *evsel;
	char *data;
};

static void put_field(struct record *record, const char *name, u64 value)
{
	struct tep_format_field *field = name ? evsel__field(record->evsel, name) : NULL;
	u32 four = value;
	u16 two = value;
	u8 one = value;

	if (!field)
		return;
	switch (field->size) {
	case 1:
		memcpy(record->data + field->offset, &one, sizeof(one));
		break;
	case 2:
		memcpy(record->data + field->offset, &two, sizeof(two));
		break;
	case 4:
		memcpy(record->data + field->offset, &four, sizeof(four));
		break;
	default:
		memcpy(record->data + field->offset, &value, sizeof(value));
		break;
	}
}

/* The functions that know a key of a sample's fields are given such a sample. */
static int get_event_key(struct perf_kvm_stat *kvm, const struct kvm_bpf_ops *ops,
			 const struct kvm_bpf_key *key, struct event_key *event_key)
{
	const struct kvm_bpf_rule *rule = &all_rules[key->rule];
	struct record record = { .evsel = find(kvm, rule->tracepoint) };
	struct perf_sample sample = { .raw_size = KVM_BPF_MAX_RECORD };
	int err;

	record.data = zalloc(KVM_BPF_MAX_RECORD);
	if (!record.data)
		return -ENOMEM;
	put_field(&record, rule->key, key->key);
	put_field(&record, rule->info, key->info);
	put_field(&record, rule->when, rule->is);
	sample.raw_data = record.data;
	err = ops->get_key(kvm, record.evsel, &sample, rule->ends, event_key);
	free(record.data);
	return err;
}

/* The sum of the squares of the differences from the mean */
static double squares_of(const struct kvm_bpf_stats *stats, double mean)
{
	long double squares = stats->square[1] * 0x1p64L + stats->square[0];

	return max((double)(squares - (long double)mean * stats->time), 0.0);
}

static struct kvm_event_stats stats_of(const struct kvm_bpf_stats *stats)
{
	double mean = (double)stats->time / stats->nr;

	return (struct kvm_event_stats) {
		.time = stats->time,
		.stats = {
			.n	= stats->nr,
			.mean	= mean,
			.M2	= squares_of(stats, mean),
			.max	= stats->max,
			.min	= stats->min,
		},
		.off = {
			.preempted = stats->off.preempted,
			.slept	= stats->off.slept,
		},
		.off_unknown = stats->off_unknown,
	};
}

/* Take one octave of a key out of the map, if it is there. */
static int take_octave(struct kvm_hist *hist, int map, const struct kvm_bpf_hist_key *key)
{
	struct kvm_bpf_octave octave;
	struct kvm_hist from = {};
	int i;

	if (bpf_map_lookup_elem(map, key, &octave))
		return 0;
	bpf_map_delete_elem(map, key);
	for (i = 0; i < KVM_BPF_SUBS; i++)
		from.nr += octave.buckets[i];
	from.octaves[key->octave] = octave.buckets;
	return kvm_hist__add(hist, &from);
}

static struct kvm_hist *take_hist(const struct kvm_bpf_key *key, int map)
{
	struct kvm_bpf_hist_key hist_key = { .key = *key };
	struct kvm_hist *hist = kvm_hist__new();
	int err = hist ? 0 : -ENOMEM;

	for (; !err && hist_key.octave < KVM_HIST_OCTAVES; hist_key.octave++)
		err = take_octave(hist, map, &hist_key);
	if (!err)
		return hist;
	kvm_hist__delete(hist);
	return NULL;
}

static int add_events(struct perf_kvm_stat *kvm, const struct kvm_bpf_ops *ops,
		      struct kvm_vcpu *vcpu, const struct kvm_bpf_key *key,
		      const struct kvm_bpf_stats *from, int octaves)
{
	struct kvm_event_stats stats = stats_of(from);
	struct event_key event_key;
	int err = get_event_key(kvm, ops, key, &event_key);

	if (err)
		return err;
	if (skel->rodata->has_histogram) {
		stats.hist = take_hist(key, octaves);
		if (!stats.hist)
			return -ENOMEM;
	}
	err = ops->add(kvm, vcpu, &event_key, &stats);
	kvm_hist__delete(stats.hist);
	return err;
}

static int add_one(struct perf_kvm_stat *kvm, const struct kvm_bpf_ops *ops,
		   const struct kvm_bpf_key *key, const struct kvm_bpf_stats *stats, int octaves)
{
	struct kvm_vcpu *vcpu = vcpu_of(kvm, &key->owner, stats->pid, stats->tid);

	if (!vcpu)
		return -ENOMEM;
	if (key->rule == KVM_BPF_GUEST) {
		vcpu->guest_time += stats->time;
		return 0;
	}
	return add_events(kvm, ops, vcpu, key, stats, octaves);
}

struct row {
	struct kvm_bpf_key key;
	struct kvm_bpf_stats stats;
};

/* Take all out of a map that no program uses. Return: how many, or -ENOMEM. */
static int take_rows(int map, struct row **rows)
{
	struct kvm_bpf_key *last = NULL;
	struct row *row;
	int nr = 0, i;

	row = calloc(KVM_BPF_MAX_ENTRIES + 1, sizeof(*row));
	if (!row)
		return -ENOMEM;
	*rows = row;
	while (nr < KVM_BPF_MAX_ENTRIES && !bpf_map_get_next_key(map, last, &row[nr].key) &&
	       !bpf_map_lookup_elem(map, &row[nr].key, &row[nr].stats))
		last = &row[nr++].key;
	for (i = 0; i < nr; i++)
		bpf_map_delete_elem(map, &row[i].key);
	return nr;
}

/* If the first that named a thread's vCPU was a put, its events before were of that, too. */
static int add_first_put(struct perf_kvm_stat *kvm, const struct row *row)
{
	struct kvm_where where = { .pid = row->stats.pid, .tid = row->stats.tid };
	struct kvm_bpf_thread thread;

	if (bpf_map_lookup_elem(bpf_map__fd(skel->maps.threads), &where.tid, &thread) ||
	    !thread.was.vm_pid)
		return 0;
	return kvm_vcpus__switch(&kvm->vcpus, &where, KVM_VCPU_PUT, thread.was.vm_pid,
				 thread.was.vm_fd, thread.was.vcpu_id) ? 0 : -ENOMEM;
}

/* What threads did before a tracepoint named their vCPUs comes first. */
static int add_rows(struct perf_kvm_stat *kvm, const struct kvm_bpf_ops *ops,
		    const struct row *rows, int nr, int octaves)
{
	int i, err = 0;

	for (i = 0; i < nr && !err; i++) {
		if (rows[i].key.owner.tid)
			err = add_one(kvm, ops, &rows[i].key, &rows[i].stats, octaves);
	}
	for (i = 0; i < nr && !err; i++) {
		if (rows[i].key.owner.tid)
			err = add_first_put(kvm, &rows[i]);
	}
	for (i = 0; i < nr && !err; i++) {
		if (!rows[i].key.owner.tid)
			err = add_one(kvm, ops, &rows[i].key, &rows[i].stats, octaves);
	}
	return err;
}

static int add_open(struct perf_kvm_stat *kvm, const struct kvm_bpf_ops *ops,
		    const struct kvm_bpf_vcpu *from)
{
	struct event_key event_key;
	struct kvm_vcpu *vcpu;
	int err;

	if (!from->begin || !from->has_key)
		return 0;
	err = get_event_key(kvm, ops, &from->open, &event_key);
	if (err)
		return err;
	vcpu = vcpu_of(kvm, &from->open.owner, from->pid, from->tid);
	return vcpu ? ops->open(kvm, vcpu, &event_key, from->begin) : -ENOMEM;
}

/* The programs go on: one that is seen twice does not matter. */
static int read_open(struct perf_kvm_stat *kvm, const struct kvm_bpf_ops *ops)
{
	int map = bpf_map__fd(skel->maps.vcpus), nr, err = 0;
	struct kvm_bpf_owner owner, *last = NULL;
	struct kvm_bpf_vcpu from;
	struct kvm_vcpu *vcpu;

	list_for_each_entry(vcpu, &kvm->vcpus.vcpus, node)
		vcpu->start_time = 0;
	for (nr = 0; nr < 2 * KVM_BPF_MAX_ENTRIES && !err; nr++) {
		if (bpf_map_get_next_key(map, last, &owner))
			break;
		last = &owner;
		if (!bpf_map_lookup_elem(map, &owner, &from))
			err = add_open(kvm, ops, &from);
	}
	return err;
}

/* Events for which a program did not run, as another one ran on that CPU */
static u64 nr_missed(void)
{
	struct bpf_program *program;
	struct bpf_prog_info info;
	u64 missed = 0;
	u32 size;

	bpf_object__for_each_program(program, skel->obj) {
		memset(&info, 0, sizeof(info));
		size = sizeof(info);
		if (bpf_program__fd(program) >= 0 &&
		    !bpf_prog_get_info_by_fd(bpf_program__fd(program), &info, &size))
			missed += info.recursion_misses;
	}
	return missed;
}

static void count_lost(struct perf_kvm_stat *kvm)
{
	u64 lost = skel->bss->lost + nr_missed();

	kvm->lost_events += lost - seen_lost;
	seen_lost = lost;
}

/*
 * A kernel that is preemptible may let a vCPU have the CPU of a thread that is in an operation on
 * a map, where it runs no program of a tracepoint: the events of the vCPU would be lost. A thread
 * with the lowest real-time priority is preempted by other real-time threads alone. Returns the
 * policy as it was, or -1 if it was not changed: events that are lost then are counted.
 */
static int begin_realtime(void)
{
	const struct sched_param lowest = { .sched_priority = sched_get_priority_min(SCHED_FIFO) };
	int policy = sched_getscheduler(0), flags = policy & SCHED_RESET_ON_FORK;

	if (policy < 0)
		return -1;
	switch (policy & ~SCHED_RESET_ON_FORK) {
	case SCHED_OTHER:
	case SCHED_BATCH:
	case SCHED_IDLE:
		return sched_setscheduler(0, SCHED_FIFO | flags, &lowest) ? -1 : policy;
	default:
		return -1;
	}
}

static void end_realtime(int policy)
{
	const struct sched_param none = {};

	if (policy >= 0)
		sched_setscheduler(0, policy, &none);
}

static int read_maps(struct perf_kvm_stat *kvm, const struct kvm_bpf_ops *ops)
{
	struct bpf_map *stats = used ? skel->maps.stats1 : skel->maps.stats0;
	struct bpf_map *octaves = used ? skel->maps.octaves1 : skel->maps.octaves0;
	struct row *rows = NULL;
	int nr, err;

	used = !used;
	err = use_maps(used);
	if (err)
		return err;
	nr = take_rows(bpf_map__fd(stats), &rows);
	err = nr < 0 ? nr : add_rows(kvm, ops, rows, nr, bpf_map__fd(octaves));
	free(rows);
	count_lost(kvm);
	return err ?: read_open(kvm, ops);
}

/**
 * kvm_bpf__read - take what was counted since the last call
 * @kvm:	whose vCPUs it is of
 * @ops:	where to
 *
 * Return: 0, or a negative error.
 */
int kvm_bpf__read(struct perf_kvm_stat *kvm, const struct kvm_bpf_ops *ops)
{
	int policy = begin_realtime();
	int err = read_maps(kvm, ops);

	end_realtime(policy);
	return err;
}
