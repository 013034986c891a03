// SPDX-License-Identifier: GPL-2.0
/*
 * The BPF programs of perf kvm stat in user space: threads that load and put vCPUs, are switched
 * out and in, exit and make events, at random. What the programs have counted must be what a
 * model says that remembers all that has happened.
 *
 *   bpf_test [SEED [RUNS]]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../perf/util/bpf_skel/kvm_stat.bpf.c"

#define NR_THREADS	4
#define NR_VCPUS	3
#define NR_STEPS	400
#define PID		7
#define MAX_ENTRIES	1024

/* A tracepoint's record: of KVM, of a vCPU, or of the scheduler */
struct record {
	u64 common;
	u8 type;
	u8 pad;
	u16 class;
	u32 reason;
	u64 address;
	s32 vm_pid, vm_fd, vcpu_id;
	s32 prev, next;
	u64 state;
};

#define ARRAY_SIZE(array)	(sizeof(array) / sizeof((array)[0]))
#define FIELD(name)	{ offsetof(struct record, name), sizeof(((struct record *)0)->name) }

/* The program's own come without values. */
const volatile struct kvm_bpf_tp tps[KVM_BPF_TPS] = {
	{ .is_entry = 1, .rules = { { .does = KVM_BPF_END, .rule = 4 } } },
	{ .is_exit = 1, .rules = {
		{ .does = KVM_BPF_BEGIN, .rule = 0, .when = FIELD(reason), .is = 2,
		  .key = FIELD(class) },
		{ .does = KVM_BPF_BEGIN, .rule = 1, .when = FIELD(reason), .is = 3 },
		{ .does = KVM_BPF_BEGIN, .rule = 2, .key = FIELD(reason) },
	} },
	{ .rules = { { .does = KVM_BPF_END, .rule = 3, .when = FIELD(type), .is = 1,
		       .key = FIELD(address), .info = FIELD(type) } } },
};

const volatile struct kvm_bpf_vcpu_fields vcpu_fields = {
	FIELD(vm_pid), FIELD(vm_fd), FIELD(vcpu_id),
};

const volatile struct kvm_bpf_switch_fields switch_fields = {
	FIELD(prev), FIELD(state), FIELD(next),
};

const volatile u32 has_histogram = 1;

/* Maps */

struct map {
	void *program;	/* its address there */
	size_t key_size, value_size;
	int nr;
	char *keys[MAX_ENTRIES], *values[MAX_ENTRIES];
};

static struct map maps[] = {
	{ .program = &stats0, .key_size = sizeof(struct kvm_bpf_key),
	  .value_size = sizeof(struct kvm_bpf_stats) },
	{ .program = &octaves0, .key_size = sizeof(struct kvm_bpf_hist_key),
	  .value_size = sizeof(struct kvm_bpf_octave) },
	{ .program = &vcpus, .key_size = sizeof(struct kvm_bpf_owner),
	  .value_size = sizeof(struct kvm_bpf_vcpu) },
	{ .program = &threads, .key_size = sizeof(u32),
	  .value_size = sizeof(struct kvm_bpf_thread) },
};

static struct map *map_of(void *program)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(maps); i++)
		if (maps[i].program == program)
			return &maps[i];
	abort();
}

static int index_of(struct map *map, const void *key)
{
	int i;

	for (i = 0; i < map->nr; i++)
		if (!memcmp(map->keys[i], key, map->key_size))
			return i;
	return -1;
}

void *bpf_map_lookup_elem(void *program, const void *key)
{
	struct map *map;
	int i;

	if (program == &stats)
		return &stats0;
	if (program == &octaves)
		return &octaves0;
	map = map_of(program);
	i = index_of(map, key);
	return i < 0 ? NULL : map->values[i];
}

static void *copy_of(const void *from, size_t size)
{
	return memcpy(malloc(size), from, size);
}

long bpf_map_update_elem(void *program, const void *key, const void *value, u64 flags)
{
	struct map *map = map_of(program);
	int i = index_of(map, key);

	if (i >= 0) {
		if (flags == BPF_NOEXIST)
			return -1;
		memcpy(map->values[i], value, map->value_size);
		return 0;
	}
	if (map->nr == MAX_ENTRIES)
		return -1;
	map->keys[map->nr] = copy_of(key, map->key_size);
	map->values[map->nr++] = copy_of(value, map->value_size);
	return 0;
}

static void delete(struct map *map, int i)
{
	free(map->keys[i]);
	free(map->values[i]);
	map->nr--;
	map->keys[i] = map->keys[map->nr];
	map->values[i] = map->values[map->nr];
}

long bpf_map_delete_elem(void *program, const void *key)
{
	struct map *map = map_of(program);
	int i = index_of(map, key);

	if (i < 0)
		return -1;
	delete(map, i);
	return 0;
}

long bpf_probe_read_kernel(void *to, u32 size, const void *from)
{
	memcpy(to, from, size);
	return 0;
}

/* The machine, and what the model knows of it */

static u64 now;
static u32 current;	/* the thread that runs a program */

u64 bpf_ktime_get_ns(void)
{
	return now;
}

u64 bpf_get_current_pid_tgid(void)
{
	return (u64)PID << 32 | current;
}

/* A time off the CPU; @in is ~0 as long as it lasts. */
struct interval {
	u32 tid;
	u64 out, in;
	bool slept;
};

/* A part of an event, on one thread; @to is ~0 for the last one. */
struct segment {
	u32 tid;
	u64 from, to;
};

/* Who has an event: a vCPU, or a thread whose vCPU no tracepoint has named */
struct model_vcpu {
	struct kvm_bpf_owner owner;
	u64 begin, entry;
	bool has_key, off_unknown;
	struct kvm_bpf_key key;
	u32 tid;
	struct segment segments[NR_STEPS];
	int nr_segments;
};

struct model_thread {
	u32 tid;
	bool on_cpu, seen, put;
	int loaded;			/* which vCPU, or -1 */
	int named;			/* whose its events are, or -1: its own */
	u64 early;
	struct model_vcpu own;
};

static struct model_thread model_threads[NR_THREADS];
static struct model_vcpu model_vcpus[NR_VCPUS];
static struct interval intervals[NR_STEPS * 2];
static int nr_intervals;
static u32 next_tid, gone[NR_STEPS];
static int nr_gone;

typedef unsigned __int128 u128;

/* What the model has counted */
static struct {
	struct kvm_bpf_key key;
	struct kvm_bpf_stats stats;
	u128 square;
	u64 buckets[64 * 59];
} expected[MAX_ENTRIES];
static int nr_expected;

static void fail(const char *what)
{
	printf("not ok: %s\n", what);
	exit(1);
}

static bool is_gone(u32 tid)
{
	int i;

	for (i = 0; i < nr_gone; i++)
		if (gone[i] == tid)
			return true;
	return false;
}

static u64 overlap(const struct interval *interval, const struct segment *segment, u64 end)
{
	u64 from = interval->out > segment->from ? interval->out : segment->from;
	u64 to = interval->in < segment->to ? interval->in : segment->to;

	if (to > end)
		to = end;
	return to > from ? to - from : 0;
}

static struct kvm_bpf_off off_of(const struct model_vcpu *vcpu, u64 end)
{
	struct kvm_bpf_off off = {};
	u64 time;
	int i, j;

	for (i = 0; i < vcpu->nr_segments; i++) {
		for (j = 0; j < nr_intervals; j++) {
			if (intervals[j].tid != vcpu->segments[i].tid)
				continue;
			time = overlap(&intervals[j], &vcpu->segments[i], end);
			if (intervals[j].slept)
				off.slept += time;
			else
				off.preempted += time;
		}
	}
	return off;
}

static int find_expected(const struct kvm_bpf_key *key)
{
	int i;

	for (i = 0; i < nr_expected; i++)
		if (!memcmp(&expected[i].key, key, sizeof(*key)))
			return i;
	expected[nr_expected].key = *key;
	return nr_expected++;
}

static int bucket_of(u64 time)
{
	int shift = time < 64 ? 0 : 57 - __builtin_clzll(time);

	return time < 64 ? time : (shift + 1) * 64 + (time >> shift) % 64;
}

static int expect(const struct kvm_bpf_key *key, u64 time)
{
	int i = find_expected(key);
	struct kvm_bpf_stats *stats = &expected[i].stats;

	if (!stats->nr || time < stats->min)
		stats->min = time;
	if (time > stats->max)
		stats->max = time;
	stats->nr++;
	stats->time += time;
	stats->pid = PID;
	stats->tid = current;
	return i;
}

static void model_end(struct model_vcpu *vcpu, const struct kvm_bpf_key *key, bool has_key,
		      u64 time)
{
	struct kvm_bpf_off off;
	int i;

	if (!vcpu->begin || (!vcpu->has_key && !has_key))
		return;
	i = expect(vcpu->has_key ? &vcpu->key : key, time - vcpu->begin);
	expected[i].square += (u128)(time - vcpu->begin) * (time - vcpu->begin);
	expected[i].buckets[bucket_of(time - vcpu->begin)]++;
	off = off_of(vcpu, time);
	if (vcpu->off_unknown) {
		expected[i].stats.off_unknown++;
	} else {
		expected[i].stats.off.preempted += off.preempted;
		expected[i].stats.off.slept += off.slept;
	}
	vcpu->begin = 0;
}

static void model_hand_over(struct model_vcpu *vcpu, u64 time)
{
	struct segment *last;

	if (vcpu->tid == current)
		return;
	if (is_gone(vcpu->tid))
		vcpu->off_unknown = true;
	vcpu->tid = current;
	if (!vcpu->nr_segments)
		return;
	last = &vcpu->segments[vcpu->nr_segments - 1];
	last->to = time;
	last[1] = (struct segment) { current, time, ~0ULL };
	vcpu->nr_segments++;
}

static void model_begin(struct model_vcpu *vcpu, const struct kvm_bpf_key *key, bool has_key)
{
	vcpu->begin = now;
	vcpu->key = *key;
	vcpu->has_key = has_key;
	vcpu->off_unknown = false;
	vcpu->segments[0] = (struct segment) { current, now, ~0ULL };
	vcpu->nr_segments = 1;
}

static struct model_vcpu *model_vcpu(struct model_thread *thread)
{
	return thread->named < 0 ? &thread->own : &model_vcpus[thread->named];
}

/* What threads do */

static void step(void)
{
	static const u64 longest[] = { 3, 100, 5000, 1000000, 1ULL << 36 };

	now += 1 + random() % longest[random() % 5];
}

static struct record vcpu_record(int vcpu)
{
	return (struct record) {
		.vm_pid		= 100 + vcpu / 2,
		.vm_fd		= 5,
		.vcpu_id	= vcpu % 2,
	};
}

static void model_event(struct model_thread *thread, int nr, const struct record *record)
{
	struct model_vcpu *vcpu = model_vcpu(thread);
	struct kvm_bpf_key key = { .owner = vcpu->owner };
	bool ends = nr != 1, has_key = true;

	thread->seen = true;
	if (nr == 1 && record->reason == 2) {
		key.key = record->class;
	} else if (nr == 1) {
		key.rule = record->reason == 3 ? 1 : 2;
		key.key = record->reason == 3 ? 0 : record->reason;
		has_key = record->reason != 3;
	} else if (nr == 2) {
		key.rule = 3;
		key.key = record->address;
		key.info = 1;
	} else {
		key.rule = 4;
		has_key = false;
	}
	if (ends && thread->put && (nr != 2 || record->type == 1)) {
		thread->early = now;
		return;
	}
	model_hand_over(vcpu, now);
	if (nr == 0)
		vcpu->entry = now;
	if (nr == 1 && vcpu->entry) {
		expect(&(struct kvm_bpf_key) { .owner = vcpu->owner, .rule = KVM_BPF_GUEST },
		       now - vcpu->entry);
		vcpu->entry = 0;
	}
	if (nr == 1)
		model_begin(vcpu, &key, has_key);
	else if (nr != 2 || record->type == 1)
		model_end(vcpu, &key, has_key, now);
}

static void make_event(struct model_thread *thread, int nr, int type)
{
	struct record record = {
		.type		= type,
		.class		= random() % 3,
		.reason		= random() % 5,
		.address	= (random() % 3) << 40,
	};

	step();
	model_event(thread, nr, &record);
	if (nr == 0)
		on_event0(&record);
	else if (nr == 1)
		on_event1(&record);
	else
		on_event2(&record);
}

/* A put or a switch has named the vCPU: what is open of the thread is that vCPU's. */
static void name_vcpu(struct model_thread *thread)
{
	struct model_vcpu *vcpu = &model_vcpus[thread->loaded];
	struct kvm_bpf_owner owner = vcpu->owner;

	if (thread->named < 0 && thread->seen && thread->own.tid) {
		*vcpu = thread->own;
		vcpu->owner = owner;
		vcpu->key.owner = owner;
		memset(&thread->own, 0, sizeof(thread->own));
		thread->own.owner = (struct kvm_bpf_owner) { 0, 0, KVM_BPF_UNKNOWN, thread->tid };
	}
	thread->named = thread->loaded;
	thread->seen = true;
}

static void load(struct model_thread *thread, int vcpu)
{
	struct record record = vcpu_record(vcpu);
	struct kvm_bpf_key none = {};
	u64 time;

	step();
	thread->loaded = vcpu;
	thread->named = vcpu;
	thread->seen = true;
	time = thread->early ?: now;
	model_hand_over(&model_vcpus[vcpu], time);
	if (thread->early)
		model_end(&model_vcpus[vcpu], &none, false, time);
	thread->early = 0;
	thread->put = false;
	on_load(&record);
}

static void put(struct model_thread *thread)
{
	struct record record = vcpu_record(thread->loaded);

	step();
	name_vcpu(thread);
	thread->loaded = -1;
	thread->put = true;
	on_put(&record);
}

static void switch_out(struct model_thread *thread)
{
	static const u64 states[] = { 0, 1, 2, 0x100, 0x80 };
	struct record record = { .prev = thread->tid, .state = states[random() % 5] };

	step();
	thread->on_cpu = false;
	intervals[nr_intervals++] = (struct interval) {
		.tid	= thread->tid,
		.out	= thread->seen ? now : ~0ULL,
		.in	= ~0ULL,
		.slept	= record.state && record.state != 0x100,
	};
	on_switch(&record);
	if (thread->loaded < 0)
		return;
	record = vcpu_record(thread->loaded);
	name_vcpu(thread);
	on_sched_out(&record);
}

static void switch_in(struct model_thread *thread)
{
	struct record record = { .next = thread->tid };
	int i;

	step();
	thread->on_cpu = true;
	for (i = 0; i < nr_intervals; i++)
		if (intervals[i].tid == thread->tid && intervals[i].in == ~0ULL)
			intervals[i].in = now;
	on_switch(&record);
	if (thread->loaded < 0)
		return;
	record = vcpu_record(thread->loaded);
	name_vcpu(thread);
	on_sched_in(&record);
}

static void new_thread(struct model_thread *thread)
{
	memset(thread, 0, sizeof(*thread));
	thread->tid = next_tid++;
	thread->on_cpu = true;
	thread->loaded = -1;
	thread->named = -1;
	thread->own.owner = (struct kvm_bpf_owner) { 0, 0, KVM_BPF_UNKNOWN, thread->tid };
}

static void exit_thread(struct model_thread *thread)
{
	on_thread_exit(NULL);
	gone[nr_gone++] = thread->tid;
	new_thread(thread);
}

static int free_vcpu(void)
{
	int vcpu = random() % NR_VCPUS, i;

	for (i = 0; i < NR_THREADS; i++)
		if (model_threads[i].loaded == vcpu)
			return -1;
	return vcpu;
}

/* KVM_RUN may complete an access before it loads the vCPU, which no other thread has then. */
static void run_vcpu(struct model_thread *thread, int vcpu)
{
	if (vcpu < 0)
		return;
	if (thread->put && random() % 2)
		make_event(thread, 2, 1);
	load(thread, vcpu);
}

static void act(struct model_thread *thread)
{
	int what = random() % 16;

	current = thread->tid;
	if (!thread->on_cpu) {
		switch_in(thread);
	} else if (what < 3) {
		switch_out(thread);
	} else if (thread->loaded >= 0) {
		if (what == 3)
			put(thread);
		else
			make_event(thread, random() % 3, random() % 3);
	} else if (what == 3) {
		exit_thread(thread);
	} else {
		run_vcpu(thread, free_vcpu());
	}
}

static void begin_run(void)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(maps); i++)
		while (maps[i].nr)
			delete(&maps[i], 0);
	memset(model_vcpus, 0, sizeof(model_vcpus));
	memset(expected, 0, sizeof(expected));
	nr_intervals = 0;
	nr_gone = 0;
	nr_expected = 0;
	next_tid = 1000;
	now = 1000;
	lost = 0;
	for (i = 0; i < NR_VCPUS; i++)
		model_vcpus[i].owner = (struct kvm_bpf_owner) { 100 + i / 2, 5, i % 2, 0 };
	for (i = 0; i < NR_THREADS; i++)
		new_thread(&model_threads[i]);
	/* These had loaded theirs before the programs were there. */
	model_threads[0].loaded = 0;
	model_threads[1].loaded = 1;
}

static void check_histogram(int i)
{
	struct kvm_bpf_hist_key key = { .key = expected[i].key };
	struct kvm_bpf_octave *octave;
	int bucket;

	for (bucket = 0; bucket < 64 * 59; bucket++) {
		key.octave = bucket / 64;
		octave = bpf_map_lookup_elem(&octaves0, &key);
		if ((octave ? octave->buckets[bucket % 64] : 0) != expected[i].buckets[bucket])
			fail("a bucket of a histogram");
	}
}

static void print_key(const struct kvm_bpf_key *key)
{
	const struct kvm_bpf_owner *owner = &key->owner;

	printf("# key %#llx %d by rule %d, of vCPU %d of %u-%d, thread %u\n",
	       (unsigned long long)key->key, key->info, key->rule, owner->vcpu_id, owner->vm_pid,
	       owner->vm_fd, owner->tid);
}

static void print_stats(const char *name, const struct kvm_bpf_stats *stats)
{
	printf("# %s: %llu in %llu ns, preempted %llu, slept %llu, unknown %llu, last of %u\n",
	       name, (unsigned long long)stats->nr, (unsigned long long)stats->time,
	       (unsigned long long)stats->off.preempted, (unsigned long long)stats->off.slept,
	       (unsigned long long)stats->off_unknown, stats->tid);
}

static void check_expected(int i)
{
	struct kvm_bpf_stats *found = bpf_map_lookup_elem(&stats0, &expected[i].key);
	struct kvm_bpf_stats *stats = &expected[i].stats;

	if (!found) {
		print_key(&expected[i].key);
		fail("a key was not counted");
	}
	stats->square[0] = expected[i].square;
	stats->square[1] = expected[i].square >> 64;
	if (memcmp(found, stats, sizeof(*stats))) {
		print_key(&expected[i].key);
		print_stats("counted", found);
		print_stats("expected", stats);
		fail("what was counted of a key");
	}
	check_histogram(i);
}

static void check_run(void)
{
	int i;

	for (i = 0; i < nr_expected; i++)
		check_expected(i);
	if (lost || map_of(&stats0)->nr != nr_expected)
		fail("the number of keys");
}

int main(int argc, char **argv)
{
	unsigned int seed = argc > 1 ? atoi(argv[1]) : 1, runs = argc > 2 ? atoi(argv[2]) : 200;
	unsigned int run;
	int i;

	enabled = 1;
	for (run = 0; run < runs; run++) {
		srandom(seed + run);
		begin_run();
		for (i = 0; i < NR_STEPS; i++)
			act(&model_threads[random() % NR_THREADS]);
		check_run();
	}
	printf("ok: %u runs from seed %u, %d keys in the last\n", runs, seed, nr_expected);
	return 0;
}
