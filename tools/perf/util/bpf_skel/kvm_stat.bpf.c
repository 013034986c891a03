// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * perf kvm stat --use-bpf: count what each event of a vCPU takes
 *
 * Rules say what begins an event and what ends it, by the formats of the tracepoints: no BTF
 * of the kernel is needed. An event is of a vCPU once a tracepoint has named that, and of a
 * thread before. Only one CPU at a time has events of the same vCPU or thread, so no value
 * needs atomic updates. perf puts other maps in the place of those in @stats and @octaves,
 * and then reads what was counted: that returns when no program uses the old ones.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include "kvm_stat_data.h"

struct stats_map {
	__uint(type, BPF_MAP_TYPE_HASH);
	__type(key, struct kvm_bpf_key);
	__type(value, struct kvm_bpf_stats);
	__uint(max_entries, KVM_BPF_MAX_ENTRIES);
} stats0 SEC(".maps"), stats1 SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__type(key, u32);
	__uint(max_entries, 1);
	__array(values, struct stats_map);
} stats SEC(".maps") = { .values = { &stats0 } };

struct octaves_map {
	__uint(type, BPF_MAP_TYPE_HASH);
	__type(key, struct kvm_bpf_hist_key);
	__type(value, struct kvm_bpf_octave);
	__uint(max_entries, KVM_BPF_MAX_ENTRIES);
} octaves0 SEC(".maps"), octaves1 SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__type(key, u32);
	__uint(max_entries, 1);
	__array(values, struct octaves_map);
} octaves SEC(".maps") = { .values = { &octaves0 } };

/* No one says when a vCPU is gone. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__type(key, struct kvm_bpf_owner);
	__type(value, struct kvm_bpf_vcpu);
	__uint(max_entries, KVM_BPF_MAX_ENTRIES);
} vcpus SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__type(key, u32);
	__type(value, struct kvm_bpf_thread);
	__uint(max_entries, KVM_BPF_MAX_ENTRIES);
} threads SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__type(key, u32);
	__type(value, u8);
	__uint(max_entries, 1);
} processes SEC(".maps");

const volatile struct kvm_bpf_tp tps[KVM_BPF_TPS];
const volatile struct kvm_bpf_vcpu_fields vcpu_fields;
const volatile struct kvm_bpf_switch_fields switch_fields;
const volatile u32 has_processes;
const volatile u32 has_histogram;

u32 enabled;
u64 lost;	/* events that found a full map */

static const struct kvm_bpf_stats no_stats;
static const struct kvm_bpf_octave no_octave;
static const struct kvm_bpf_vcpu no_vcpu;
static const struct kvm_bpf_thread no_thread;

static __always_inline u64 read_field(void *ctx, const volatile struct kvm_bpf_field *field)
{
	void *from = ctx + field->offset;
	u64 eight = 0;
	u32 four = 0;
	__u16 two = 0;
	u8 one = 0;

	switch (field->size) {
	case 1:
		bpf_probe_read_kernel(&one, sizeof(one), from);
		return one;
	case 2:
		bpf_probe_read_kernel(&two, sizeof(two), from);
		return two;
	case 4:
		bpf_probe_read_kernel(&four, sizeof(four), from);
		return four;
	case 8:
		bpf_probe_read_kernel(&eight, sizeof(eight), from);
		return eight;
	default:
		return 0;
	}
}

static __always_inline void count_lost(void)
{
	__sync_fetch_and_add(&lost, 1);
}

/* The value of a key; new ones are @none. */
static __always_inline void *findnew(void *map, const void *key, const void *none)
{
	void *value = bpf_map_lookup_elem(map, key);

	if (value)
		return value;
	bpf_map_update_elem(map, key, none, BPF_NOEXIST);
	value = bpf_map_lookup_elem(map, key);
	if (!value)
		count_lost();
	return value;
}

static __always_inline u32 current_tid(void)
{
	return bpf_get_current_pid_tgid();
}

static __always_inline bool is_wanted(void)
{
	u32 pid = bpf_get_current_pid_tgid() >> 32;

	if (!enabled)
		return false;
	return !has_processes || bpf_map_lookup_elem(&processes, &pid);
}

/* Threads: whose events are theirs, and how long they are off the CPU */

static __always_inline struct kvm_bpf_thread *findnew_thread(void)
{
	struct kvm_bpf_thread *thread;
	u32 tid = current_tid();

	thread = findnew(&threads, &tid, &no_thread);
	if (thread && !thread->owner.tid && !thread->owner.vm_pid) {
		thread->owner.vcpu_id = KVM_BPF_UNKNOWN;
		thread->owner.tid = tid;
	}
	return thread;
}

static __always_inline void add_interval(struct kvm_bpf_off *off,
					 const struct kvm_bpf_thread *thread, u64 now)
{
	if (!thread->out || now < thread->out)
		return;
	if (thread->is_preempted)
		off->preempted += now - thread->out;
	else
		off->slept += now - thread->out;
}

static __always_inline struct kvm_bpf_off off_until(const struct kvm_bpf_thread *thread, u64 now)
{
	struct kvm_bpf_off off = thread->off;

	add_interval(&off, thread, now);
	return off;
}

static __always_inline struct kvm_bpf_vcpu *findnew_vcpu(const struct kvm_bpf_owner *owner)
{
	return findnew(&vcpus, owner, &no_vcpu);
}

/* What is open of the thread goes on as that of the vCPU that it is. */
static __always_inline void move_open(const struct kvm_bpf_owner *from,
				      const struct kvm_bpf_owner *to)
{
	struct kvm_bpf_vcpu *vcpu = bpf_map_lookup_elem(&vcpus, from), copy;

	if (!vcpu)
		return;
	copy = *vcpu;
	copy.open.owner = *to;
	bpf_map_update_elem(&vcpus, to, &copy, BPF_ANY);
	bpf_map_delete_elem(&vcpus, from);
}

static __always_inline void set_owner(struct kvm_bpf_thread *thread,
				      const struct kvm_bpf_owner *owner, bool is_same)
{
	struct kvm_bpf_owner old = thread->owner;

	if (is_same && old.tid)
		move_open(&old, owner);
	if (is_same && old.tid && owner->vm_pid)
		thread->was = *owner;
	thread->owner = *owner;
}

/* A vCPU's id alone: what the thread did before is that vCPU's if nothing said otherwise. */
static __always_inline void set_vcpu_id(struct kvm_bpf_thread *thread, s32 vcpu_id)
{
	struct kvm_bpf_owner owner = {
		.vcpu_id = vcpu_id,
		.tid = current_tid(),
	};

	if (thread->owner.vcpu_id != vcpu_id)
		set_owner(thread, &owner, thread->owner.vcpu_id == KVM_BPF_UNKNOWN);
}

/* Counting */

/* The square of a time is up to 128 bits wide. */
static __always_inline void add_square(struct kvm_bpf_stats *value, u64 time)
{
	u64 high = time >> 32, low = time & 0xffffffff, middle = high * low;
	u64 part = low * low, sum = part + (middle << 33);

	value->square[1] += high * high + (middle >> 31) + (sum < part);
	value->square[0] += sum;
	value->square[1] += value->square[0] < sum;
}

static __always_inline u32 log2_of(u64 value)
{
	u32 bit = 0, step;

#pragma unroll
	for (step = 32; step; step >>= 1) {
		if (value >> step) {
			value >>= step;
			bit += step;
		}
	}
	return bit;
}

static __always_inline void count_octave(const struct kvm_bpf_key *key, u64 time)
{
	struct kvm_bpf_hist_key hist_key = { .key = *key };
	struct kvm_bpf_octave *octave;
	u32 zero = 0, shift = 0;
	void *map;

	map = bpf_map_lookup_elem(&octaves, &zero);
	if (!map)
		return;
	if (time >= KVM_BPF_SUBS) {
		shift = log2_of(time) - KVM_BPF_SUB_BITS;
		hist_key.octave = shift + 1;
	}
	octave = findnew(map, &hist_key, &no_octave);
	if (octave)
		octave->buckets[(time >> shift) % KVM_BPF_SUBS]++;
}

static __always_inline struct kvm_bpf_stats *count(const struct kvm_bpf_key *key, u64 time)
{
	struct kvm_bpf_stats *value;
	u32 zero = 0;
	void *map;

	map = bpf_map_lookup_elem(&stats, &zero);
	value = map ? findnew(map, key, &no_stats) : NULL;
	if (!value)
		return NULL;
	if (!value->nr || time < value->min)
		value->min = time;
	if (time > value->max)
		value->max = time;
	value->nr++;
	value->time += time;
	value->pid = bpf_get_current_pid_tgid() >> 32;
	value->tid = current_tid();
	return value;
}

static __always_inline void count_event(const struct kvm_bpf_vcpu *vcpu, u64 time,
					const struct kvm_bpf_off *off)
{
	struct kvm_bpf_key key = vcpu->open;
	struct kvm_bpf_stats *value;

	value = count(&key, time);
	if (!value)
		return;
	add_square(value, time);
	if (vcpu->off_unknown) {
		value->off_unknown++;
	} else {
		value->off.preempted += vcpu->off.preempted + off->preempted;
		value->off.slept += vcpu->off.slept + off->slept;
	}
	if (has_histogram)
		count_octave(&key, time);
}

static __always_inline void count_guest(struct kvm_bpf_vcpu *vcpu,
					const struct kvm_bpf_owner *owner, u64 now)
{
	struct kvm_bpf_key key = {
		.owner = *owner,
		.rule = KVM_BPF_GUEST,
	};

	if (vcpu->entry && now > vcpu->entry)
		count(&key, now - vcpu->entry);
	vcpu->entry = 0;
}

/* Events */

static __always_inline void begin(struct kvm_bpf_vcpu *vcpu, const struct kvm_bpf_key *key,
				  bool has_key, u64 now, const struct kvm_bpf_off *off)
{
	vcpu->open = *key;
	vcpu->has_key = has_key;
	vcpu->begin = now;
	vcpu->off.preempted = -off->preempted;
	vcpu->off.slept = -off->slept;
	vcpu->off_unknown = 0;
}

/* The key may be known at the end only. */
static __always_inline void end(struct kvm_bpf_vcpu *vcpu, const struct kvm_bpf_key *key,
				bool has_key, u64 now, const struct kvm_bpf_off *off)
{
	u64 start = vcpu->begin;

	if (!start || (!vcpu->has_key && !has_key))
		return;
	if (!vcpu->has_key)
		vcpu->open = *key;
	vcpu->begin = 0;
	if (now >= start)
		count_event(vcpu, now - start, off);
}

/* The vCPU's event goes on, on this thread. */
static __always_inline void hand_over(struct kvm_bpf_vcpu *vcpu, u64 now,
				      const struct kvm_bpf_off *off)
{
	u32 tid = current_tid(), before = vcpu->tid;
	struct kvm_bpf_thread *other;
	struct kvm_bpf_off sum;

	if (before == tid)
		return;
	vcpu->pid = bpf_get_current_pid_tgid() >> 32;
	vcpu->tid = tid;
	other = bpf_map_lookup_elem(&threads, &before);
	if (!other) {
		vcpu->off_unknown = 1;
		return;
	}
	sum = off_until(other, now);
	vcpu->off.preempted += sum.preempted - off->preempted;
	vcpu->off.slept += sum.slept - off->slept;
}

static __always_inline const volatile struct kvm_bpf_when *
find_rule(void *ctx, const volatile struct kvm_bpf_tp *tp)
{
	const volatile struct kvm_bpf_when *rule;
	u32 i;

#pragma unroll
	for (i = 0; i < KVM_BPF_RULES; i++) {
		rule = &tp->rules[i];
		if (!rule->does)
			break;
		if (!rule->when.size || read_field(ctx, &rule->when) == rule->is)
			return rule;
	}
	return NULL;
}

static __always_inline void apply_rule(void *ctx, const volatile struct kvm_bpf_when *rule,
				       struct kvm_bpf_vcpu *vcpu,
				       const struct kvm_bpf_owner *owner, u64 now,
				       const struct kvm_bpf_off *off)
{
	struct kvm_bpf_key key = {
		.owner = *owner,
		.key = read_field(ctx, &rule->key),
		.info = read_field(ctx, &rule->info),
		.rule = rule->rule,
	};

	if (rule->does == KVM_BPF_BEGIN)
		begin(vcpu, &key, rule->key.size, now, off);
	else
		end(vcpu, &key, rule->key.size, now, off);
}

/* KVM_RUN completes an access to a device before it loads the vCPU. */
static __always_inline bool is_early(struct kvm_bpf_thread *thread,
				     const volatile struct kvm_bpf_when *rule, u64 now)
{
	if (!thread->put || !rule || rule->does != KVM_BPF_END)
		return false;
	thread->early = now;
	thread->early_off = thread->off;
	return true;
}

static __always_inline int on_event(void *ctx, const volatile struct kvm_bpf_tp *tp)
{
	const volatile struct kvm_bpf_when *rule;
	struct kvm_bpf_thread *thread;
	u64 now = bpf_ktime_get_ns();
	struct kvm_bpf_owner owner;
	struct kvm_bpf_vcpu *vcpu;
	struct kvm_bpf_off off;

	if (!is_wanted())
		return 0;
	thread = findnew_thread();
	if (!thread)
		return 0;
	rule = find_rule(ctx, tp);
	if (is_early(thread, rule, now))
		return 0;
	if (tp->is_entry && tp->vcpu_id.size)
		set_vcpu_id(thread, read_field(ctx, &tp->vcpu_id));
	owner = thread->owner;
	off = thread->off;
	vcpu = findnew_vcpu(&owner);
	if (!vcpu)
		return 0;
	hand_over(vcpu, now, &off);
	if (tp->is_entry)
		vcpu->entry = now;
	else if (tp->is_exit)
		count_guest(vcpu, &owner, now);
	if (rule)
		apply_rule(ctx, rule, vcpu, &owner, now, &off);
	return 0;
}

#define ON_EVENT(nr)							\
SEC("tp")								\
int on_event##nr(void *ctx)						\
{									\
	return on_event(ctx, &tps[nr]);					\
}

ON_EVENT(0)
ON_EVENT(1)
ON_EVENT(2)
ON_EVENT(3)

/* A tracepoint has named the vCPU of this thread. Was it loaded before? */
static __always_inline struct kvm_bpf_thread *on_vcpu(void *ctx, bool was_loaded)
{
	struct kvm_bpf_thread *thread;
	struct kvm_bpf_owner owner = {
		.vm_pid = read_field(ctx, &vcpu_fields.vm_pid),
		.vm_fd = read_field(ctx, &vcpu_fields.vm_fd),
		.vcpu_id = read_field(ctx, &vcpu_fields.vcpu_id),
	};

	if (!is_wanted())
		return NULL;
	thread = findnew_thread();
	if (thread)
		set_owner(thread, &owner, was_loaded);
	return thread;
}

SEC("tp")
int on_load(void *ctx)
{
	static const struct kvm_bpf_key no_key;
	struct kvm_bpf_thread *thread;
	u64 now = bpf_ktime_get_ns();
	struct kvm_bpf_owner owner;
	struct kvm_bpf_vcpu *vcpu;
	struct kvm_bpf_off off;

	thread = on_vcpu(ctx, false);
	if (!thread)
		return 0;
	owner = thread->owner;
	vcpu = findnew_vcpu(&owner);
	if (!vcpu)
		return 0;
	thread->put = 0;
	off = thread->early ? thread->early_off : thread->off;
	if (thread->early)
		now = thread->early;
	hand_over(vcpu, now, &off);
	if (thread->early)
		end(vcpu, &no_key, false, now, &off);
	thread->early = 0;
	return 0;
}

SEC("tp")
int on_put(void *ctx)
{
	struct kvm_bpf_thread *thread = on_vcpu(ctx, true);

	if (thread)
		thread->put = 1;
	return 0;
}

SEC("tp")
int on_sched_in(void *ctx)
{
	on_vcpu(ctx, true);
	return 0;
}

SEC("tp")
int on_sched_out(void *ctx)
{
	on_vcpu(ctx, true);
	return 0;
}

/* The bits below those that tell a preemption: see the format of sched_switch. */
#define SLEEPS	0xff

SEC("tp")
int on_switch(void *ctx)
{
	u32 prev = read_field(ctx, &switch_fields.prev_pid);
	u32 next = read_field(ctx, &switch_fields.next_pid);
	struct kvm_bpf_thread *thread;
	u64 now = bpf_ktime_get_ns();

	thread = bpf_map_lookup_elem(&threads, &prev);
	if (thread) {
		thread->is_preempted = !(read_field(ctx, &switch_fields.prev_state) & SLEEPS);
		thread->out = now;
	}
	thread = bpf_map_lookup_elem(&threads, &next);
	if (thread) {
		add_interval(&thread->off, thread, now);
		thread->out = 0;
	}
	return 0;
}

/* Its id may be another's from now on. */
SEC("tp")
int on_thread_exit(void *ctx)
{
	u32 tid = current_tid();
	struct kvm_bpf_thread *thread = bpf_map_lookup_elem(&threads, &tid);
	struct kvm_bpf_owner owner;

	if (!thread)
		return 0;
	owner = thread->owner;
	if (owner.tid)
		bpf_map_delete_elem(&vcpus, &owner);
	bpf_map_delete_elem(&threads, &tid);
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
