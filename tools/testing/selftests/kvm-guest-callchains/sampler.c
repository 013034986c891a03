// SPDX-License-Identifier: GPL-2.0-only
#include <err.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <asm/perf_regs.h>

#include "../kselftest.h"
#include "sampler.h"

#define DEADLINE	60	/* seconds */
#define RING_SIZE	(256 * 1024UL)

bool use_pmu;

/* The host is excluded unless the caller changes that. */
void init_event(struct perf_event_attr *attr)
{
	*attr = (struct perf_event_attr) {
		.type		= use_pmu ? PERF_TYPE_HARDWARE : PERF_TYPE_SOFTWARE,
		.size		= sizeof(*attr),
		.config		= use_pmu ? PERF_COUNT_HW_CPU_CYCLES : PERF_COUNT_SW_CPU_CLOCK,
		.sample_period	= 200000,
		.sample_type	= PERF_SAMPLE_IP | PERF_SAMPLE_CALLCHAIN,
		.exclude_host	= 1,
		.wakeup_events	= 1,
	};
}

/* The bit guest_callchain_host, which older headers lack: the last one behind read_format */
#define HOST_BIT	0x8000000000000000ULL

static uint64_t *bits_of(const struct perf_event_attr *attr)
{
	return (uint64_t *)&attr->read_format + 1;
}

void want_host_frames(struct perf_event_attr *attr)
{
	*bits_of(attr) |= HOST_BIT;
}

bool wants_host_frames(const struct perf_event_attr *attr)
{
	return *bits_of(attr) & HOST_BIT;
}

/* The next one is guest_regs_stack. */
#define STACK_BIT	(HOST_BIT >> 1)

/* In the order of struct guest_stack */
#if defined(__aarch64__)
#define REGISTERS	(1UL << PERF_REG_ARM64_X29 | 1UL << PERF_REG_ARM64_SP |		\
			 1UL << PERF_REG_ARM64_PC)
#else
#define REGISTERS	(1UL << PERF_REG_X86_BP | 1UL << PERF_REG_X86_SP | 1UL << PERF_REG_X86_IP)
#endif

void want_guest_stack(struct perf_event_attr *attr, unsigned int size)
{
	attr->sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
	attr->sample_regs_user = REGISTERS;
	attr->sample_stack_user = size;
	*bits_of(attr) |= STACK_BIT;
}

/* Fails with errno if the kernel refuses the event. */
bool open_sampler(struct sampler *sampler, struct perf_event_attr *attr, pid_t tid)
{
	*sampler = (struct sampler) {};
	sampler->fd = syscall(SYS_perf_event_open, attr, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (sampler->fd < 0)
		return false;
	sampler->ring = mmap(NULL, getpagesize() + RING_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED,
			     sampler->fd, 0);
	if (sampler->ring == MAP_FAILED)
		err(1, "mmap of the event");
	return true;
}

void close_sampler(struct sampler *sampler)
{
	munmap(sampler->ring, getpagesize() + RING_SIZE);
	close(sampler->fd);
}

static void copy(const struct sampler *sampler, uint64_t tail, void *to, size_t size)
{
	const char *data = sampler->ring + getpagesize();
	size_t i;

	for (i = 0; i < size; i++)
		((char *)to)[i] = data[(tail + i) % RING_SIZE];
}

/* Returns how long this part of the sample is. */
static size_t parse_stack(const struct sampler *sampler, uint64_t tail, struct guest_stack *stack)
{
	size_t at = sizeof(stack->abi);

	copy(sampler, tail, &stack->abi, sizeof(stack->abi));
	if (stack->abi) {
		copy(sampler, tail + at, &stack->fp, 3 * sizeof(stack->fp));
		at += 3 * sizeof(stack->fp);
	}
	copy(sampler, tail + at, &stack->size, sizeof(stack->size));
	at += sizeof(stack->size);
	stack->copied = 0;
	if (!stack->size)
		return at;
	if (stack->size > sizeof(stack->data))
		errx(1, "a stack of %lu bytes", (unsigned long)stack->size);
	copy(sampler, tail + at, stack->data, stack->size);
	at += stack->size;
	copy(sampler, tail + at, &stack->copied, sizeof(stack->copied));
	return at + sizeof(stack->copied);
}

static void parse(const struct sampler *sampler, uint64_t tail,
		  const struct perf_event_header *header, struct sample *sample)
{
	size_t fixed = sizeof(*header) + 2 * sizeof(uint64_t), end;

	sample->cpumode = header->misc & PERF_RECORD_MISC_CPUMODE_MASK;
	copy(sampler, tail + sizeof(*header), &sample->ip, sizeof(sample->ip));
	copy(sampler, tail + sizeof(*header) + 8, &sample->nr, sizeof(sample->nr));
	end = fixed + sample->nr * 8;
	if (sampler->stack)
		end += parse_stack(sampler, tail + end, sampler->stack);
	if (sample->nr > MAX_CHAIN || end != header->size)
		errx(1, "a sample of %u bytes has %lu entries", header->size,
		     (unsigned long)sample->nr);
	copy(sampler, tail + fixed, sample->chain, sample->nr * 8);
}

/*
 * If the event overflows while the guest exits, the interrupt comes in the host, and the sample
 * is the host's. A clock event has no such delay.
 */
bool is_late(const struct sample *sample)
{
	return use_pmu && sample->cpumode == PERF_RECORD_MISC_KERNEL;
}

/* The next sample in the ring, if there is one */
bool next_sample(struct sampler *sampler, struct sample *sample)
{
	struct perf_event_mmap_page *page = (void *)sampler->ring;
	uint64_t head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
	uint64_t tail = page->data_tail, lost[2];
	struct perf_event_header header;
	bool found = false;

	while (!found && tail != head) {
		copy(sampler, tail, &header, sizeof(header));
		found = header.type == PERF_RECORD_SAMPLE;
		if (found)
			parse(sampler, tail, &header, sample);
		if (header.type == PERF_RECORD_LOST) {
			copy(sampler, tail + sizeof(header), lost, sizeof(lost));
			sampler->lost += lost[1];
		}
		tail += header.size;
	}
	__atomic_store_n(&page->data_tail, tail, __ATOMIC_RELEASE);
	sampler->samples += found;
	return found;
}

void print_chain(const struct sample *sample)
{
	uint64_t i;

	ksft_print_msg("mode %u, ip %#lx, chain of %lu:", sample->cpumode,
		       (unsigned long)sample->ip, (unsigned long)sample->nr);
	for (i = 0; i < sample->nr; i++)
		printf(" %#lx", (unsigned long)sample->chain[i]);
	printf("\n");
}

/* Sample the thread until @nr samples are good. Prints the reason for a bad one. */
bool samples_are(pid_t tid, unsigned int nr,
		 bool (*good)(const struct sample *sample, const void *arg), const void *arg)
{
	time_t deadline = time(NULL) + DEADLINE;
	struct perf_event_attr attr;
	struct sampler sampler;
	struct sample sample;
	unsigned int n = 0;

	init_event(&attr);
	if (!open_sampler(&sampler, &attr, tid))
		err(1, "perf_event_open");
	while (n < nr && time(NULL) < deadline) {
		if (!next_sample(&sampler, &sample)) {
			usleep(1000);
			continue;
		}
		if (is_late(&sample))
			continue;
		if (!good(&sample, arg))
			break;
		n++;
	}
	close_sampler(&sampler);
	if (n < nr)
		ksft_print_msg("%u of %u samples are good\n", n, nr);
	return n == nr;
}
