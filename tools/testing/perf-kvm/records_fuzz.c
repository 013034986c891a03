// SPDX-License-Identifier: GPL-2.0
/*
 * What perf kvm stat does with a recording that anybody may have made: the records of which
 * thread had run which vCPU, the tracepoints that name a vCPU, lost events, threads that exit,
 * and where the features of the header are. Each event counts one, and what is counted must be
 * that of a vCPU that is listed, whatever it turns out to be.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <linux/kernel.h>
#include <linux/list.h>
#include <api/fs/fs.h>
#include <perf/event.h>

#include "header.h"
#include "kvm-vcpu-threads.h"
#include "kvm-vcpus.h"

#define NR_THREADS	8
#define NR_IDS		4

struct input {
	const uint8_t *data;
	size_t size;
};

static struct kvm_vcpus vcpus;
static u64 now, counted;

/* The debugfs is not read here. */
const char *debugfs__mountpoint(void)
{
	return NULL;
}

int filename__read_int(const char *filename, int *value)
{
	abort();
}

static uint8_t byte(struct input *input)
{
	if (!input->size)
		return 0;
	input->size--;
	return *input->data++;
}

static u64 word(struct input *input)
{
	u64 value = 0;
	int i;

	for (i = 0; i < 8; i++)
		value = value << 8 | byte(input);
	return value;
}

/* From a byte: threads have one of a few ids, in both namespaces. */
static struct kvm_where where(struct input *input)
{
	uint8_t what = byte(input);
	struct kvm_where where = {
		.pid = 1 + what % 2, .tid = what / 2 % NR_THREADS,
		.cpu = what / 16 % 3, .time = now += what / 64,
	};

	where.perf_tid = what & 128 ? where.tid / 2 : where.tid;
	if (where.cpu == 2)
		where.cpu = -1;
	return where;
}

/* The record ends where its memory does. */
static void record(struct input *input)
{
	size_t size = byte(input) % 96, given = min(input->size, size);
	struct kvm_vcpu_thread thread;
	union perf_event *event = calloc(1, sizeof(event->header) + size);

	memcpy((void *)event + sizeof(event->header), input->data, given);
	input->data += given;
	input->size -= given;
	event->header.type = byte(input) % 8 ? PERF_RECORD_HEADER_EVENT_TYPE : byte(input);
	event->header.size = sizeof(event->header) + size;
	if (kvm_vcpu_thread__from_event(&thread, event)) {
		/* sscanf() reads on without the sanitizer's notice. */
		if (!memchr(event->event_type.event_type.name, '\0', MAX_EVENT_NAME))
			abort();
		kvm_vcpus__seed(&vcpus, &thread, !event->event_type.event_type.event_id);
	}
	free(event);
}

/* One that perf has written */
static void seed(struct input *input)
{
	struct kvm_vcpu_thread thread = { 1, 3 + byte(input) % 2, byte(input) % NR_IDS,
					  byte(input) % NR_THREADS }, read;
	union perf_event event;

	kvm_vcpu_thread__to_event(&thread, byte(input) % 4, &event);
	if (!kvm_vcpu_thread__from_event(&read, &event) || memcmp(&thread, &read, sizeof(read)))
		abort();
	kvm_vcpus__seed(&vcpus, &read, !event.event_type.event_type.event_id);
}

/* A section that fits is within the file. */
static void section(struct input *input)
{
	struct perf_file_section section = { word(input), word(input) };
	u64 size = word(input);
	__uint128_t end = (__uint128_t)section.offset + section.size;
	bool fits = end <= size;

	if (perf_file_section__fits(&section, size) != fits)
		abort();
}

static void count(struct kvm_vcpu *vcpu)
{
	vcpu->guest_time++;
	vcpu->start_time = now;
	counted++;
}

static void switch_vcpu(struct input *input)
{
	struct kvm_where here = where(input);
	uint8_t what = byte(input);

	count(kvm_vcpus__switch(&vcpus, &here, what % 4, 1 + what / 4 % 2, 3 + what / 8 % 2,
				what / 16 % NR_IDS));
}

static void early(struct input *input)
{
	u32 tid = byte(input) % NR_THREADS;

	if (kvm_vcpus__is_put(&vcpus, tid))
		kvm_vcpus__set_early(&vcpus, tid, now);
	kvm_vcpus__take_early(&vcpus, tid);
}

static void step(struct input *input)
{
	struct kvm_where here;

	switch (byte(input) % 10) {
	case 0:
		record(input);
		break;
	case 1:
		seed(input);
		break;
	case 2:
		section(input);
		break;
	case 3:
		here = where(input);
		kvm_vcpus__lost(&vcpus, &here);
		break;
	case 4:
		kvm_vcpus__thread_exit(&vcpus, byte(input) % NR_THREADS);
		break;
	case 5:
		kvm_vcpus__resolve(&vcpus);
		break;
	case 6:
		here = where(input);
		count(kvm_vcpus__set_id(&vcpus, &here, byte(input) % NR_IDS));
		break;
	case 7:
		here = where(input);
		count(kvm_vcpus__find(&vcpus, &here));
		break;
	case 8:
		early(input);
		break;
	default:
		switch_vcpu(input);
	}
}

static void check(void)
{
	uint8_t *seen = calloc(1, vcpus.nr + 1);
	struct kvm_vcpu *vcpu;
	int nr_pending = 0;
	u64 sum = 0;
	char name[64];

	list_for_each_entry(vcpu, &vcpus.vcpus, node) {
		if (vcpu->index >= vcpus.nr || seen[vcpu->index]++)
			abort();
		sum += vcpu->guest_time;
		nr_pending += vcpu->pending;
		kvm_vcpu__scnprintf(vcpu, name, sizeof(name));
	}
	if (sum != counted || nr_pending > NR_THREADS)
		abort();
	free(seen);
}

static void merge(struct kvm_vcpus *all, struct kvm_vcpu *from, struct kvm_vcpu *to)
{
	if (from == to || !from->pending || to->pending)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = { data, size };

	now = 1;
	counted = 0;
	kvm_vcpus__init(&vcpus);
	vcpus.has_switches = byte(&input) % 4;
	vcpus.merge = merge;
	while (input.size) {
		step(&input);
		check();
	}
	kvm_vcpus__exit(&vcpus);
	return 0;
}
