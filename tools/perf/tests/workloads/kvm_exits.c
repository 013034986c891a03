// SPDX-License-Identifier: GPL-2.0
/*
 * A VM whose vCPUs leave the guest a known number of times
 *
 * Each vCPU waits in the kernel, in arm64's WFI or x86's HLT. For each line on standard input,
 * all of them make hypercalls, read a system register (x86: execute CPUID) and access a device,
 * and go back to wait; then a line for each vCPU says how many exits KVM has counted. Only the
 * accesses return to user space, and only vCPU 0 makes any.
 */
#include <linux/compiler.h>
#include <stdio.h>
#include "../tests.h"

#if defined(__aarch64__) || defined(__x86_64__)
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <linux/kernel.h>
#include <linux/kvm.h>

#define MAX_VCPUS	8
#define DEADLINE	120		/* seconds */

/* arm64's guest runs without caches: each side has cache lines of its own. */
struct block {
	uint64_t go;		/* the round to make */
	uint64_t hvc;		/* hypercalls */
	uint64_t sysreg;	/* reads of a system register */
	uint64_t mmio;		/* accesses to the device, half of them writes */
	uint8_t  pad1[256 - 4 * 8];
	uint64_t done;		/* the round made */
	uint8_t  pad2[256 - 8];
};

enum counter { EXITS, HVC, WFI, MMIO, NR_STATS };

struct vcpu {
	int id, fd, stats_fd;
	struct kvm_run *run;
	struct block *block;
	off_t offsets[NR_STATS];
	uint64_t stats[NR_STATS];
	unsigned long accesses;
	pid_t tid;		/* the thread that runs it, or the last one */
	bool started;
	uint64_t begin, end;	/* before it first ran, and after its last access */
	pthread_mutex_t turn;
};

static struct {
	unsigned long vcpus, hvc, sysreg, mmio, delay, threads, late;
} option = { .vcpus = 1, .hvc = 10, .sysreg = 10, .threads = 1 };

static int kvm_fd, vm_fd;
static void *memory;
static struct vcpu vcpus[MAX_VCPUS];
static unsigned long nr_vcpus;

static int xioctl(int fd, unsigned long request, unsigned long arg, const char *name)
{
	int ret = ioctl(fd, request, arg);

	if (ret < 0)
		err(1, "%s", name);
	return ret;
}

#define XIOCTL(fd, request, arg) xioctl(fd, request, (unsigned long)(arg), #request)

static uint64_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

/*
 * The guest's code. Each of these headers has it, where it and the rest of the guest are, and
 * what makes it run and wakes it.
 */
extern const char kvm_exits_payload[], kvm_exits_payload_end[];

#ifdef __aarch64__
#include "kvm_exits_arm64.h"
#else
#include "kvm_exits_x86.h"
#endif

static void create_vm(void)
{
	struct kvm_userspace_memory_region region = {
		.guest_phys_addr	= MEMORY_GPA,
		.memory_size		= MEMORY_SIZE,
	};
	size_t offset;

	kvm_fd = open("/dev/kvm", O_RDWR | O_CLOEXEC);
	if (kvm_fd < 0)
		err(2, "/dev/kvm");
	vm_fd = XIOCTL(kvm_fd, KVM_CREATE_VM, 0);
	memory = mmap(NULL, MEMORY_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		err(1, "mmap");
	memcpy(memory + PAYLOAD, kvm_exits_payload, kvm_exits_payload_end - kvm_exits_payload);
	for (offset = 0; offset < MEMORY_SIZE; offset += 64)
		flush(memory + offset);
	region.userspace_addr = (uintptr_t)memory;
	XIOCTL(vm_fd, KVM_SET_USER_MEMORY_REGION, &region);
	init_vm();
}

static void xpread(int fd, void *buf, size_t size, off_t offset)
{
	if (pread(fd, buf, size, offset) != (ssize_t)size)
		err(1, "reading KVM's statistics");
}

/* See KVM_GET_STATS_FD in Documentation/virt/kvm/api.rst */
static off_t stat_offset(int fd, const char *name)
{
	struct {
		struct kvm_stats_desc desc;
		char name[256];
	} entry;
	struct kvm_stats_header header;
	unsigned int i;
	size_t size;

	xpread(fd, &header, sizeof(header), 0);
	size = sizeof(entry.desc) + header.name_size;
	if (size > sizeof(entry))
		errx(1, "KVM's statistics have names of %u bytes", header.name_size);
	for (i = 0; i < header.num_desc; i++) {
		xpread(fd, &entry, size, header.desc_offset + i * size);
		if (!strcmp((char *)&entry + sizeof(entry.desc), name))
			return header.data_offset + entry.desc.offset;
	}
	errx(1, "KVM has no statistic %s", name);
}

static uint64_t read_stat(const struct vcpu *vcpu, enum counter counter)
{
	uint64_t value;

	xpread(vcpu->stats_fd, &value, sizeof(value), vcpu->offsets[counter]);
	return value;
}

static void create_vcpu(int id)
{
	struct vcpu *vcpu = &vcpus[id];
	int i;

	vcpu->id = id;
	vcpu->fd = XIOCTL(vm_fd, KVM_CREATE_VCPU, id);
	vcpu->run = mmap(NULL, XIOCTL(kvm_fd, KVM_GET_VCPU_MMAP_SIZE, 0), PROT_READ | PROT_WRITE,
			 MAP_SHARED, vcpu->fd, 0);
	if (vcpu->run == MAP_FAILED)
		err(1, "mmap");
	vcpu->block = memory + BLOCKS + id * sizeof(struct block);
	init_vcpu(vcpu);
	vcpu->stats_fd = XIOCTL(vcpu->fd, KVM_GET_STATS_FD, 0);
	for (i = 0; i < NR_STATS; i++)
		vcpu->offsets[i] = stat_offset(vcpu->stats_fd, counter_names[i]);
	pthread_mutex_init(&vcpu->turn, NULL);
	nr_vcpus = id + 1;
}

static void access_device(struct vcpu *vcpu)
{
	struct timespec delay = { .tv_nsec = option.delay * 1000 };

	if (vcpu->run->exit_reason != KVM_EXIT_MMIO)
		errx(1, "vCPU %d: exit reason %u", vcpu->id, vcpu->run->exit_reason);
	if (option.delay)
		nanosleep(&delay, NULL);
	vcpu->accesses++;
	vcpu->end = now();
}

/* With several threads, each runs the vCPU until its next access. */
static void *run_vcpu(void *arg)
{
	struct vcpu *vcpu = arg;
	pid_t tid = syscall(SYS_gettid);

	for (;;) {
		pthread_mutex_lock(&vcpu->turn);
		if (option.threads > 1 && vcpu->tid == tid) {
			pthread_mutex_unlock(&vcpu->turn);
			usleep(100);
			continue;
		}
		vcpu->tid = tid;
		if (!vcpu->begin)
			vcpu->begin = now();
		if (!ioctl(vcpu->fd, KVM_RUN, 0))
			access_device(vcpu);
		else if (errno != EINTR)
			err(1, "KVM_RUN");
		pthread_mutex_unlock(&vcpu->turn);
	}
	return NULL;
}

static void start_vcpu(struct vcpu *vcpu)
{
	unsigned long i, threads = vcpu->id ? 1 : option.threads;
	pthread_t thread;

	vcpu->started = true;
	for (i = 0; i < threads; i++) {
		errno = pthread_create(&thread, NULL, run_vcpu, vcpu);
		if (errno)
			err(1, "pthread_create");
	}
}

static char thread_state(pid_t tid)
{
	char name[64], text[256], *end;
	ssize_t len;
	int fd;

	snprintf(name, sizeof(name), "/proc/self/task/%d/stat", tid);
	fd = open(name, O_RDONLY);
	len = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (len < 0)
		err(1, "%s", name);
	close(fd);
	text[len] = '\0';
	end = strrchr(text, ')');
	return end ? end[2] : '?';
}

static void wait_until(bool (*done)(const struct vcpu *vcpu), const struct vcpu *vcpu)
{
	time_t deadline = time(NULL) + DEADLINE;

	while (!done(vcpu)) {
		if (time(NULL) > deadline)
			errx(1, "vCPU %d: not done after %d s", vcpu->id, DEADLINE);
		usleep(1000);
	}
}

static bool round_is_made(const struct vcpu *vcpu)
{
	flush(&vcpu->block->done);
	return READ_ONCE(vcpu->block->done) == vcpu->block->go;
}

/* The round is made: what the thread sleeps in is the next WFI. */
static bool waits(const struct vcpu *vcpu)
{
	return READ_ONCE(vcpu->tid) && thread_state(vcpu->tid) == 'S';
}

static void let_go(struct vcpu *vcpu, uint64_t round)
{
	struct block *block = vcpu->block;

	block->hvc = option.hvc * (vcpu->id + 1);
	block->sysreg = option.sysreg * (vcpu->id + 1);
	block->mmio = vcpu->id ? 0 : option.mmio;
	block->go = round;
	flush(block);
	wake(vcpu);
}

static void report(struct vcpu *vcpu)
{
	uint64_t stats[NR_STATS];
	int i;

	for (i = 0; i < NR_STATS; i++) {
		stats[i] = read_stat(vcpu, i) - vcpu->stats[i];
		vcpu->stats[i] += stats[i];
	}
	printf("vm=%d-%d vcpu=%d tid=%d exits=%lu hvc=%lu wfi=%lu mmio=%lu sysreg=%lu ns=%lu\n",
	       getpid(), vm_fd, vcpu->id, vcpu->tid, stats[EXITS], stats[HVC], stats[WFI],
	       stats[MMIO], (unsigned long)vcpu->block->sysreg,
	       vcpu->accesses ? vcpu->end - vcpu->begin : 0);
}

/* Round 0 has nothing to do: what is touched first is then mapped. */
static void make_round(uint64_t round)
{
	unsigned long i;

	for (i = 0; i < nr_vcpus; i++) {
		if (!vcpus[i].started && (round || i < nr_vcpus - option.late))
			start_vcpu(&vcpus[i]);
		if (round && vcpus[i].started)
			let_go(&vcpus[i], round);
	}
	for (i = 0; i < nr_vcpus; i++) {
		if (!vcpus[i].started)
			continue;
		wait_until(round_is_made, &vcpus[i]);
		end_wake(&vcpus[i]);
		wait_until(waits, &vcpus[i]);
	}
	for (i = 0; i < nr_vcpus; i++)
		report(&vcpus[i]);
	printf("round %lu\n", round);
	fflush(stdout);
}

static void parse(int argc, const char **argv)
{
	static const struct {
		const char *name;
		unsigned long *value;
	} options[] = {
		{ "vcpus", &option.vcpus }, { "hvc", &option.hvc }, { "sysreg", &option.sysreg },
		{ "mmio", &option.mmio }, { "delay", &option.delay },
		{ "threads", &option.threads }, { "late", &option.late },
	};
	char name[32];
	unsigned long value;
	size_t n;
	int i;

	for (i = 0; i < argc; i++) {
		if (sscanf(argv[i], "%31[a-z]=%lu", name, &value) != 2)
			errx(1, "not NAME=NUMBER: %s", argv[i]);
		for (n = 0; n < ARRAY_SIZE(options) && strcmp(name, options[n].name); n++)
			;
		if (n == ARRAY_SIZE(options))
			errx(1, "no option %s", name);
		*options[n].value = value;
	}
	if (!option.vcpus || option.vcpus > MAX_VCPUS || option.late > option.vcpus ||
	    option.threads > 2 || option.delay >= 1000000)
		errx(1, "a number is out of range");
}

static int kvm_exits(int argc, const char **argv)
{
	uint64_t round = 0;
	unsigned long i;
	char line[16];

	parse(argc, argv);
	create_vm();
	for (i = 0; i < option.vcpus; i++)
		create_vcpu(i);
	init_irqs();
	make_round(round);
	while (fgets(line, sizeof(line), stdin))
		make_round(++round);
	return 0;
}
#else
static int kvm_exits(int argc __maybe_unused, const char **argv __maybe_unused)
{
	fprintf(stderr, "There is no guest for this architecture\n");
	return 2;
}
#endif

DEFINE_WORKLOAD(kvm_exits);
