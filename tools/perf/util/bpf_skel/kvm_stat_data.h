/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* What perf kvm stat shares with its BPF programs, which count events of KVM in the kernel */
#ifndef UTIL_BPF_SKEL_KVM_STAT_DATA_H
#define UTIL_BPF_SKEL_KVM_STAT_DATA_H

#define KVM_BPF_UNKNOWN		(-1)
#define KVM_BPF_TPS		4	/* tracepoints that one of the values of --event has */
#define KVM_BPF_RULES		3	/* and rules that one of those has */
#define KVM_BPF_SUB_BITS	6	/* as KVM_HIST_SUB_BITS */
#define KVM_BPF_SUBS		64
#define KVM_BPF_MAX_ENTRIES	16384
#define KVM_BPF_GUEST		(~0U)	/* in place of a rule: the time that the guest ran */

enum kvm_bpf_does {
	KVM_BPF_NOTHING,
	KVM_BPF_BEGIN,
	KVM_BPF_END,
};

/**
 * struct kvm_bpf_field - a field of a tracepoint
 * @offset:	where the record has it
 * @size:	in bytes; 0 if there is none
 */
struct kvm_bpf_field {
	u32 offset;
	u32 size;
};

/**
 * struct kvm_bpf_when - what a tracepoint means. The first rule that is true counts.
 * @does:	begin or end an event; KVM_BPF_NOTHING behind the last rule
 * @rule:	its number among those of all tracepoints
 * @when:	the rule is true if this field
 * @is:		is that; without the field, it always is
 * @key:	the field that has the event's key, if it is known here
 * @info:	the field that has more of the key
 */
struct kvm_bpf_when {
	u32 does;
	u32 rule;
	struct kvm_bpf_field when;
	u64 is;
	struct kvm_bpf_field key;
	struct kvm_bpf_field info;
};

/**
 * struct kvm_bpf_tp - a tracepoint
 * @is_entry:	the guest is entered
 * @is_exit:	the guest is left
 * @vcpu_id:	the field that has the vCPU's id, if it has one
 * @rules:	what it means
 */
struct kvm_bpf_tp {
	u32 is_entry;
	u32 is_exit;
	struct kvm_bpf_field vcpu_id;
	struct kvm_bpf_when rules[KVM_BPF_RULES];
};

/* Those of kvm_vcpu_load, kvm_vcpu_put, kvm_vcpu_sched_in and kvm_vcpu_sched_out */
struct kvm_bpf_vcpu_fields {
	struct kvm_bpf_field vm_pid;
	struct kvm_bpf_field vm_fd;
	struct kvm_bpf_field vcpu_id;
};

struct kvm_bpf_switch_fields {
	struct kvm_bpf_field prev_pid;
	struct kvm_bpf_field prev_state;
	struct kvm_bpf_field next_pid;
};

/**
 * struct kvm_bpf_owner - whose an event is
 * @vm_pid:	the VM; 0 as long as no tracepoint has named it
 * @vm_fd:	the VM
 * @vcpu_id:	the vCPU; KVM_BPF_UNKNOWN if no tracepoint has named that, neither
 * @tid:	the thread, if the VM is not known; else 0
 *
 * All ids of processes and threads are those of the first PID namespace.
 */
struct kvm_bpf_owner {
	u32 vm_pid;
	s32 vm_fd;
	s32 vcpu_id;
	u32 tid;
};

struct kvm_bpf_key {
	struct kvm_bpf_owner owner;
	u64 key;
	s32 info;
	u32 rule;	/* that gave the key */
};

/* How long a thread was off the CPU */
struct kvm_bpf_off {
	u64 preempted;
	u64 slept;
};

/**
 * struct kvm_bpf_stats - what was counted of a key
 * @nr:		events
 * @time:	of all together, in ns
 * @min:	of the shortest
 * @max:	of the longest
 * @square:	the sum of the squares, low half first
 * @off:	the part of @time that the threads were off the CPU
 * @off_unknown: events that @off has nothing of
 * @pid:	the process of the last one
 * @tid:	the thread of the last one
 */
struct kvm_bpf_stats {
	u64 nr;
	u64 time;
	u64 min;
	u64 max;
	u64 square[2];
	struct kvm_bpf_off off;
	u64 off_unknown;
	u32 pid;
	u32 tid;
};

struct kvm_bpf_hist_key {
	struct kvm_bpf_key key;
	u64 octave;
};

/* How many events took a time of each bucket of an octave: see struct kvm_hist */
struct kvm_bpf_octave {
	u64 buckets[KVM_BPF_SUBS];
};

/**
 * struct kvm_bpf_vcpu - a vCPU, or a thread whose vCPU is not known
 * @begin:	when the open event began; 0 if there is none
 * @entry:	when the guest was entered; 0 if it is not running
 * @open:	the open event's key
 * @has_key:	it has one
 * @pid:	the process of the last thread
 * @tid:	the last thread
 * @off:	how long the threads before were off the CPU in the open event, less how long
 *		the last one had been when it took over
 * @off_unknown: @off lacks the time of a thread
 */
struct kvm_bpf_vcpu {
	u64 begin;
	u64 entry;
	struct kvm_bpf_key open;
	u32 has_key;
	u32 off_unknown;
	u32 pid;
	u32 tid;
	struct kvm_bpf_off off;
};

/**
 * struct kvm_bpf_thread - a thread that has had an event of KVM
 * @owner:	whose its events are
 * @was:	whose they were before a tracepoint first named the vCPU, if that was a put
 * @put:	it has put the vCPU and not loaded one since
 * @is_preempted: it could run at @out
 * @early:	when it wrote the end of an event of the vCPU that it will load; 0 if not
 * @early_off:	how long it had been off the CPU then
 * @out:	since when it is off the CPU; 0 if it is not
 * @off:	how long it was off the CPU before that
 */
struct kvm_bpf_thread {
	struct kvm_bpf_owner owner;
	struct kvm_bpf_owner was;
	u32 put;
	u32 is_preempted;
	u64 early;
	struct kvm_bpf_off early_off;
	u64 out;
	struct kvm_bpf_off off;
};

#endif /* UTIL_BPF_SKEL_KVM_STAT_DATA_H */
