// SPDX-License-Identifier: GPL-2.0-only
/*
 * guest - a small KVM guest that enters and leaves EL2 a known number of times
 *
 * Each vCPU runs the same payload (payload.S): a number of hypercalls, of writes to an
 * emulated device, and of WFIs. The program compares these numbers with KVM's statistics, and
 * prints them together with `exits`, the number of all exits that KVM counted, also for
 * interrupts of the host. The payload does nothing that EL2 handles by itself (no FP, no trapped
 * system register), so EL2 sees as many exits as KVM does; with --fp, EL2 handles more.
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <linux/kvm.h>

#include "argument.h"
#include "payload.h"

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

#define MEMORY_IPA	0x40000000UL
#define MEMORY_SIZE	0x10000UL	/* a page of any size */

#define DEVICE_IPA	0x10000000UL	/* no memory there: an exit */

#define MAX_VCPUS	64	/* of a VM */
#define MAX_VMS		4
#define TIME_LIMIT	240	/* seconds */

enum statistic {
	STAT_EXITS, STAT_HVC, STAT_WFI, STAT_MMIO,
	STAT_HYP_EXITS, STAT_HYP_NS, STAT_GUEST_NS, STAT_HYP_HIST, NR_STATS
};

/* From STAT_HYP_EXITS on, KVM has them if it can account for the time at EL2. */
static const char * const counter_names[] = {
	[STAT_EXITS]	= "exits",
	[STAT_HVC]	= "hvc_exit_stat",
	[STAT_WFI]	= "wfi_exit_stat",
	[STAT_MMIO]	= "mmio_exit_user",
	[STAT_HYP_EXITS] = "hyp_exits",
	[STAT_HYP_NS]	= "hyp_ns",
	[STAT_GUEST_NS]	= "guest_ns",
	[STAT_HYP_HIST]	= "hyp_hist",
};

struct vcpu {
	int		index, fd, cpu;	/* cpu: -1 if not pinned */
	int		vm;		/* its file descriptor */
	struct kvm_run	*run;
	pthread_t	thread;
	pid_t		tid;
	bool		over;		/* the payload said so */
	bool		stopped;	/* released by the thread when it ends */

	int		stats_fd;
	struct counter {
		off_t		offset;	/* in the file */
		unsigned int	size;	/* numbers: 0 if KVM has none */
	} counters[NR_STATS];

	unsigned long	written, refused, mmio, woken;
	struct timespec	from, to;	/* boot clock around the run */
};

static struct {
	unsigned long	hvc, mmio, wfi, vcpus, vms;
	long		cpu;
	unsigned long	counter;
	bool		has_counter;
	bool		rom;
	bool		hold;
	bool		fp;
} option = { .hvc = 32, .mmio = 32, .wfi = 4, .vcpus = 1, .vms = 1, .cpu = -1 };

/* Of all VMs */
static unsigned long nr_vcpus(void)
{
	return option.vms * option.vcpus;
}

static int xioctl(int fd, unsigned long request, void *arg, const char *name)
{
	int ret = ioctl(fd, request, arg);

	if (ret < 0)
		err(1, "%s", name);
	return ret;
}

#define XIOCTL(fd, request, arg) \
	xioctl(fd, request, (void *)(uintptr_t)(arg), #request)

static void *xmmap(size_t size, int flags, int fd)
{
	void *addr = mmap(NULL, size, PROT_READ | PROT_WRITE, flags, fd, 0);

	if (addr == MAP_FAILED)
		err(1, "mmap");
	return addr;
}

static void xpread(int fd, void *buf, size_t size, off_t offset)
{
	if (pread(fd, buf, size, offset) != (ssize_t)size)
		err(1, "reading KVM's statistics");
}

/* KVM's statistics describe themselves: see KVM_GET_STATS_FD in kvm/api.rst */
static struct counter find_stat(int fd, const char *name)
{
	struct {
		struct kvm_stats_desc desc;
		char name[256];
	} entry;
	struct kvm_stats_header header;
	size_t size;
	unsigned int i;

	xpread(fd, &header, sizeof(header), 0);
	size = sizeof(entry.desc) + header.name_size;
	if (size > sizeof(entry))
		errx(1, "KVM's statistics have names of %u bytes", header.name_size);

	for (i = 0; i < header.num_desc; i++) {
		xpread(fd, &entry, size, header.desc_offset + i * size);
		if (!strcmp(entry.name, name))
			return (struct counter){ header.data_offset + entry.desc.offset,
						 entry.desc.size };
	}
	return (struct counter){ };
}

static void open_stats(struct vcpu *vcpu)
{
	size_t i;

	vcpu->stats_fd = XIOCTL(vcpu->fd, KVM_GET_STATS_FD, 0);
	for (i = 0; i < ARRAY_SIZE(vcpu->counters); i++) {
		vcpu->counters[i] = find_stat(vcpu->stats_fd, counter_names[i]);
		if (!vcpu->counters[i].size && i < STAT_HYP_EXITS)
			errx(1, "KVM has no statistic %s", counter_names[i]);
	}
}

/* A counter, or the sum of a histogram */
static unsigned long read_stat(const struct vcpu *vcpu, enum statistic stat)
{
	const struct counter *counter = &vcpu->counters[stat];
	unsigned long value, sum = 0;
	unsigned int i;

	for (i = 0; i < counter->size; i++) {
		xpread(vcpu->stats_fd, &value, sizeof(value), counter->offset + i * sizeof(value));
		sum += value;
	}
	return sum;
}

static void set_reg(const struct vcpu *vcpu, uint64_t id, unsigned long value)
{
	struct kvm_one_reg reg = {
		.id	= id,
		.addr	= (uintptr_t)&value,
	};

	XIOCTL(vcpu->fd, KVM_SET_ONE_REG, &reg);
}

#define SET_REG(vcpu, reg, value) \
	set_reg(vcpu, KVM_REG_ARM64 | KVM_REG_SIZE_U64 | KVM_REG_ARM_CORE | \
		offsetof(struct kvm_regs, regs.reg) / sizeof(unsigned int), value)

/*
 * The device's address has memory that can be read alone: a write exits by a stage-2 permission
 * fault once the guest has read it, by a translation fault before.
 */
static void add_rom(int vm)
{
	struct kvm_userspace_memory_region region = {
		.slot			= 1,
		.flags			= KVM_MEM_READONLY,
		.guest_phys_addr	= DEVICE_IPA,
		.memory_size		= MEMORY_SIZE,
	};
	void *memory = xmmap(MEMORY_SIZE, MAP_SHARED | MAP_ANONYMOUS, -1);

	region.userspace_addr = (uintptr_t)memory;
	XIOCTL(vm, KVM_SET_USER_MEMORY_REGION, &region);
}

static int create_vm(int kvm)
{
	struct kvm_userspace_memory_region region = {
		.guest_phys_addr	= MEMORY_IPA,
		.memory_size		= MEMORY_SIZE,
	};
	int vm = XIOCTL(kvm, KVM_CREATE_VM, 0);
	void *memory = xmmap(MEMORY_SIZE, MAP_SHARED | MAP_ANONYMOUS, -1);

	memcpy(memory, payload, payload_end - payload);
	__builtin___clear_cache(memory, (char *)memory + MEMORY_SIZE);
	region.userspace_addr = (uintptr_t)memory;
	XIOCTL(vm, KVM_SET_USER_MEMORY_REGION, &region);
	if (option.rom)
		add_rom(vm);
	return vm;
}

static int pick_cpu(int nr)
{
	long cpus = sysconf(_SC_NPROCESSORS_CONF);

	if (option.cpu >= cpus)
		errx(2, "no CPU %ld: there are %ld", option.cpu, cpus);
	return option.cpu < 0 ? -1 : (option.cpu + nr) % cpus;
}

/* nr: index among the vCPUs of all VMs */
static void create_vcpu(struct vcpu *vcpu, int kvm, int vm, int nr)
{
	struct kvm_vcpu_init init;

	vcpu->index = nr % option.vcpus;
	vcpu->cpu = pick_cpu(nr);
	vcpu->vm = vm;
	vcpu->fd = XIOCTL(vm, KVM_CREATE_VCPU, vcpu->index);
	XIOCTL(vm, KVM_ARM_PREFERRED_TARGET, &init);
	XIOCTL(vcpu->fd, KVM_ARM_VCPU_INIT, &init);
	vcpu->run = xmmap(XIOCTL(kvm, KVM_GET_VCPU_MMAP_SIZE, 0), MAP_SHARED, vcpu->fd);

	SET_REG(vcpu, pc, MEMORY_IPA);
	SET_REG(vcpu, regs[19], option.hvc);
	SET_REG(vcpu, regs[20], option.mmio);
	SET_REG(vcpu, regs[21], DEVICE_IPA);
	SET_REG(vcpu, regs[23], option.fp);
	if (option.has_counter)
		set_reg(vcpu, KVM_REG_ARM_TIMER_CNT, option.counter);
	open_stats(vcpu);
}

static void device_write(struct vcpu *vcpu, unsigned long addr, unsigned int value)
{
	switch (addr) {
	case DEVICE_IPA + DEVICE_DATA:
		if (value != option.mmio - vcpu->written++)
			errx(1, "vCPU %d: device write out of turn", vcpu->index);
		break;
	case DEVICE_IPA + DEVICE_OVER:
		vcpu->refused = value;
		vcpu->over = true;
		break;
	default:
		errx(1, "vCPU %d: device write to %#lx", vcpu->index, addr);
	}
}

static unsigned int device_read(const struct vcpu *vcpu, unsigned long addr)
{
	if (addr != DEVICE_IPA + DEVICE_WFI)
		errx(1, "vCPU %d: device read of %#lx", vcpu->index, addr);
	return option.wfi - read_stat(vcpu, STAT_WFI);
}

static void device_access(struct vcpu *vcpu)
{
	unsigned long addr = vcpu->run->mmio.phys_addr;
	unsigned int value;

	vcpu->mmio++;
	if (vcpu->run->mmio.is_write) {
		memcpy(&value, vcpu->run->mmio.data, sizeof(value));
		device_write(vcpu, addr, value);
	} else {
		value = device_read(vcpu, addr);
		memcpy(vcpu->run->mmio.data, &value, sizeof(value));
	}
}

static void *run_vcpu(void *arg)
{
	struct vcpu *vcpu = arg;

	vcpu->tid = gettid();
	if (vcpu->cpu >= 0)
		pin(vcpu->cpu);
	clock_gettime(CLOCK_BOOTTIME, &vcpu->from);
	while (!vcpu->over) {
		if (ioctl(vcpu->fd, KVM_RUN, 0)) {
			if (errno != EINTR)
				err(1, "KVM_RUN");
			continue;
		}
		if (vcpu->run->exit_reason != KVM_EXIT_MMIO)
			errx(1, "vCPU %d: exit reason %u", vcpu->index,
			     vcpu->run->exit_reason);
		device_access(vcpu);
	}
	clock_gettime(CLOCK_BOOTTIME, &vcpu->to);
	__atomic_store_n(&vcpu->stopped, true, __ATOMIC_RELEASE);
	return NULL;
}

static void wake(int signal)
{
}

static void start(struct vcpu *vcpus)
{
	struct sigaction action = { .sa_handler = wake };	/* no SA_RESTART */
	unsigned long i;
	int ret;

	sigaction(SIGUSR1, &action, NULL);
	for (i = 0; i < nr_vcpus(); i++) {
		ret = pthread_create(&vcpus[i].thread, NULL, run_vcpu, &vcpus[i]);
		if (ret)
			errx(1, "pthread_create: %s", strerror(ret));
	}
}

/*
 * A vCPU waiting in a WFI has no interrupt to wait for: a signal ends it. It
 * is sent only once KVM has counted the WFI, so that it is never too early.
 */
static void end_wfi(struct vcpu *vcpu)
{
	unsigned long waits = read_stat(vcpu, STAT_WFI);

	if (waits != vcpu->woken) {
		vcpu->woken = waits;
		pthread_kill(vcpu->thread, SIGUSR1);
	}
}

static unsigned long end_waits(struct vcpu *vcpus)
{
	unsigned long i, running = 0;

	for (i = 0; i < nr_vcpus(); i++) {
		if (__atomic_load_n(&vcpus[i].stopped, __ATOMIC_ACQUIRE))
			continue;
		end_wfi(&vcpus[i]);
		running++;
	}
	return running;
}

static void wait_for(struct vcpu *vcpus)
{
	time_t limit = time(NULL) + TIME_LIMIT;

	while (end_waits(vcpus)) {
		if (time(NULL) > limit)
			errx(1, "not done after %d s", TIME_LIMIT);
		usleep(1000);
	}
}

static bool check(const struct vcpu *vcpu, const char *what, unsigned long found,
		  unsigned long expected)
{
	if (found == expected)
		return true;
	warnx("vCPU %d: %s: %lu, expected %lu", vcpu->index, what, found, expected);
	return false;
}

static bool check_vcpu(const struct vcpu *vcpu)
{
	return check(vcpu, "HVCs refused", vcpu->refused, option.hvc) &
	       check(vcpu, "device writes", vcpu->written, option.mmio) &
	       check(vcpu, counter_names[STAT_HVC], read_stat(vcpu, STAT_HVC), option.hvc) &
	       check(vcpu, counter_names[STAT_WFI], read_stat(vcpu, STAT_WFI), option.wfi) &
	       check(vcpu, counter_names[STAT_MMIO], read_stat(vcpu, STAT_MMIO), vcpu->mmio);
}

static void print_vcpu(const struct vcpu *vcpu)
{
	printf("vcpu=%d cpu=%d hvc=%lu mmio=%lu wfi=%lu exits=%lu ", vcpu->index, vcpu->cpu,
	       option.hvc, vcpu->mmio, option.wfi, read_stat(vcpu, STAT_EXITS));
	if (read_stat(vcpu, STAT_HYP_EXITS))
		printf("hyp_exits=%lu hyp_ns=%lu guest_ns=%lu hyp_hist=%lu ",
		       read_stat(vcpu, STAT_HYP_EXITS), read_stat(vcpu, STAT_HYP_NS),
		       read_stat(vcpu, STAT_GUEST_NS), read_stat(vcpu, STAT_HYP_HIST));
	printf("from=%ld.%09ld to=%ld.%09ld tid=%d vm_pid=%d vm_fd=%d\n", vcpu->from.tv_sec,
	       vcpu->from.tv_nsec, vcpu->to.tv_sec, vcpu->to.tv_nsec, vcpu->tid, getpid(),
	       vcpu->vm);
}

static void usage(FILE *stream)
{
	fprintf(stream,
		"Usage: guest [--hvc N] [--mmio N] [--wfi N] [--vcpus N] [--vms N]\n"
		"             [--cpu N] [--counter N] [--rom] [--fp]\n"
		"       guest --hold\n"
		"Run a KVM guest whose vCPUs each make N hypercalls, N device writes and N\n"
		"waits for an interrupt; with --vms, run N such guests; with --cpu, the first\n"
		"vCPU runs on that CPU and each of the others on the next one; with --counter,\n"
		"their virtual counter begins at N; with --rom, the device is memory that can be\n"
		"read, for guests without waits; with --fp, an FP instruction comes before each\n"
		"device write. Prints, for each vCPU, the CPU (-1: any), the hypercalls, all\n"
		"device accesses, the waits, all exits to the host, what EL2 has counted if\n"
		"accounting is on, the boot clock before and after, the thread's id, and its\n"
		"VM: this process and a file descriptor. With --hold, make a guest that never\n"
		"runs, and keep it in the background.\n");
}

static void parse_options(int argc, char **argv)
{
	static const struct option options[] = {
		{ "hvc",	required_argument, NULL, 'h' },
		{ "mmio",	required_argument, NULL, 'm' },
		{ "wfi",	required_argument, NULL, 'w' },
		{ "vcpus",	required_argument, NULL, 'v' },
		{ "vms",	required_argument, NULL, 'n' },
		{ "cpu",	required_argument, NULL, 'c' },
		{ "counter",	required_argument, NULL, 'o' },
		{ "rom",	no_argument,	   NULL, 'r' },
		{ "fp",		no_argument,	   NULL, 'f' },
		{ "hold",	no_argument,	   NULL, 'l' },
		{ "help",	no_argument,	   NULL, '?' },
		{ }
	};
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (c) {
		case 'h':
			option.hvc = parse_number(optarg, 0, INT_MAX);
			break;
		case 'm':
			option.mmio = parse_number(optarg, 0, INT_MAX);
			break;
		case 'w':
			option.wfi = parse_number(optarg, 0, INT_MAX);
			break;
		case 'v':
			option.vcpus = parse_number(optarg, 1, MAX_VCPUS);
			break;
		case 'n':
			option.vms = parse_number(optarg, 1, MAX_VMS);
			break;
		case 'c':
			option.cpu = parse_number(optarg, 0, INT_MAX);
			break;
		case 'o':
			option.counter = parse_number(optarg, 0, ULONG_MAX);
			option.has_counter = true;
			break;
		case 'r':
			option.rom = true;
			break;
		case 'f':
			option.fp = true;
			break;
		case 'l':
			option.hold = true;
			break;
		default:
			usage(stderr);
			exit(2);
		}
	}
	if (optind != argc) {
		usage(stderr);
		exit(2);
	}
}

static void hold(void)
{
	if (daemon(0, 0))
		err(1, "daemon");
	for (;;)
		pause();
}

int main(int argc, char **argv)
{
	static struct vcpu vcpus[MAX_VMS * MAX_VCPUS];
	unsigned long i;
	bool good = true;
	int kvm, vm = -1;

	parse_options(argc, argv);
	kvm = open("/dev/kvm", O_RDWR | O_CLOEXEC);
	if (kvm < 0)
		err(1, "/dev/kvm");
	for (i = 0; i < nr_vcpus(); i++) {
		if (!(i % option.vcpus))
			vm = create_vm(kvm);
		if (option.hold)
			hold();
		create_vcpu(&vcpus[i], kvm, vm, i);
	}

	start(vcpus);
	wait_for(vcpus);
	for (i = 0; i < nr_vcpus(); i++) {
		pthread_join(vcpus[i].thread, NULL);
		good &= check_vcpu(&vcpus[i]);
		print_vcpu(&vcpus[i]);
	}
	return !good;
}
