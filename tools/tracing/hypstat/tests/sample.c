// SPDX-License-Identifier: GPL-2.0
/* Writes a trace.dat whose events are known. */
#include <string.h>

#include "sample.h"

#define HEADER_PAGE							\
	"\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"	\
	"\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"	\
	"\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"	\
	"\tfield: char data;\toffset:16;\tsize:4080;\tsigned:0;\n"
#define HEADER_EVENT							\
	"# compressed entry header\n"					\
	"\ttype_len    :    5 bits\n\ttime_delta  :   27 bits\n\tarray       :   32 bits\n\n" \
	"\tpadding     : type == 29\n\ttime_extend : type == 30\n"	\
	"\ttime_stamp : type == 31\n\tdata max type_len  == 28\n"

#define FIELD(type, name, offset, size, sign)				\
	"\tfield:" #type " " #name ";\toffset:" #offset ";\tsize:" #size ";\tsigned:" #sign ";\n"
#define FORMAT(name, id, fields, print)					\
	"name: " #name "\nID: " #id "\nformat:\n"			\
	FIELD(unsigned short, common_type, 0, 2, 0)			\
	FIELD(unsigned char, common_flags, 2, 1, 0)			\
	FIELD(unsigned char, common_preempt_count, 3, 1, 0)		\
	FIELD(int, common_pid, 4, 4, 1) "\n" fields "\nprint fmt: " print "\n"

enum {
	ID_SWITCH = 300,
	ID_IRQ_ENTRY,
	ID_IRQ_EXIT,
	ID_ENTER = 1000,
	ID_EXIT,
	ID_HCALL,
	ID_GUEST_ENTER,
	ID_GUEST_EXIT,
	ID_FUNC,
	ID_FUNC_RET,
};

static const char * const hypervisor_formats[] = {
	FORMAT(hyp_enter, 1000, FIELD(u8, reason, 8, 1, 0) FIELD(s16, vcpu, 10, 2, 1),
	       "\"reason=%s\", __print_symbolic(REC->reason, {0, \"hvc\" }, {1, \"abort\" }, "
	       "{2, \"guest\" })"),
	FORMAT(hyp_exit, 1001, FIELD(u8, reason, 8, 1, 0) FIELD(s16, vcpu, 10, 2, 1),
	       "\"reason=%s\", __print_symbolic(REC->reason, {0, \"host\" }, {1, \"guest\" })"),
	FORMAT(host_hcall, 1002,
	       FIELD(u32, id, 8, 4, 0) FIELD(u8, invalid, 12, 1, 0) FIELD(s64, ret, 16, 8, 1),
	       "\"id=%u name=%s invalid=%u ret=%lld\", REC->id, __print_symbolic(REC->id, "
	       "{ 9, \"__pkvm_host_share_hyp\" }, { 12, \"__kvm_vcpu_run\" }), "
	       "REC->invalid, REC->ret"),
	FORMAT(guest_enter, 1003,
	       FIELD(u32, vcpu, 8, 4, 0) FIELD(s32, vm_pid, 12, 4, 1) FIELD(s32, vm_fd, 16, 4, 1),
	       "\"vcpu=%u vm_pid=%d vm_fd=%d\", REC->vcpu, REC->vm_pid, REC->vm_fd"),
	FORMAT(guest_exit, 1004,
	       FIELD(u32, vcpu, 8, 4, 0) FIELD(u32, exit_code, 12, 4, 0) FIELD(u64, esr, 16, 8, 0)
	       FIELD(s32, vm_pid, 24, 4, 1) FIELD(s32, vm_fd, 28, 4, 1),
	       "\"vcpu=%u exit_code=%s ec=%s\", REC->vcpu, __print_symbolic(REC->exit_code, "
	       "{0, \"IRQ\" }, {2, \"TRAP\" }), __print_symbolic((REC->esr) >> 26 & 0x3f, "
	       "{ (((0x01UL))), \"WFx\" }, { (((0x16UL))), \"HVC64\" })"),
	FORMAT(func, 1005, FIELD(u64, ip, 8, 8, 0) FIELD(u64, parent_ip, 16, 8, 0),
	       "\"%ps <-%ps\", (void *)REC->ip, (void *)REC->parent_ip"),
	FORMAT(func_ret, 1006, FIELD(u64, ip, 8, 8, 0), "\"%ps\", (void *)REC->ip"),
};

static const char * const sched_formats[] = {
	FORMAT(sched_switch, 300,
	       FIELD(char, prev_comm[16], 8, 16, 0) FIELD(pid_t, prev_pid, 24, 4, 1)
	       FIELD(char, next_comm[16], 28, 16, 0) FIELD(pid_t, next_pid, 44, 4, 1),
	       "\"prev_pid=%d next_pid=%d\", REC->prev_pid, REC->next_pid"),
};

static const char * const irq_formats[] = {
	FORMAT(irq_handler_entry, 301, FIELD(int, irq, 8, 4, 1), "\"irq=%d\", REC->irq"),
	FORMAT(irq_handler_exit, 302, FIELD(int, irq, 8, 4, 1), "\"irq=%d\", REC->irq"),
};

static void write_headers(struct dat_writer *dat)
{
	dat_section(dat, DAT_HEADER_INFO);
	dat_write(dat, "header_page", sizeof("header_page"));
	dat_write_text(dat, HEADER_PAGE, strlen(HEADER_PAGE));
	dat_write(dat, "header_event", sizeof("header_event"));
	dat_write_text(dat, HEADER_EVENT, strlen(HEADER_EVENT));
	dat_section_end(dat, DAT_HEADER_INFO);
}

static void write_system(struct dat_writer *dat, const char *name, const char * const *formats,
			 u32 nr)
{
	dat_write(dat, name, strlen(name) + 1);
	dat_write_u32(dat, nr);
	while (nr--) {
		dat_write_text(dat, *formats, strlen(*formats));
		formats++;
	}
}

#define WRITE_SYSTEM(dat, name)						\
	write_system(dat, #name, name##_formats, sizeof(name##_formats) / sizeof(*name##_formats))

static void write_formats(struct dat_writer *dat)
{
	dat_section(dat, DAT_FTRACE_EVENTS);
	dat_write_u32(dat, 0);
	dat_section_end(dat, DAT_FTRACE_EVENTS);
	dat_section(dat, DAT_EVENT_FORMATS);
	dat_write_u32(dat, 3);
	WRITE_SYSTEM(dat, hypervisor);
	WRITE_SYSTEM(dat, sched);
	WRITE_SYSTEM(dat, irq);
	dat_section_end(dat, DAT_EVENT_FORMATS);
}

static void write_rest(struct dat_writer *dat)
{
	static const char comms[] = "77 vmm\n78 vcpu-0\n";
	static const char symbols[] =
		"ffffffc080000000 T __kvm_nvhe_begin\n"
		"ffffffc080001000 t __kvm_nvhe_handle_trap\n"
		"ffffffc080002000 t __kvm_nvhe_share\n"
		"ffffffc080003000 T __kvm_nvhe_walk\n";

	dat_section(dat, DAT_KALLSYMS);
	dat_write_u32(dat, strlen(symbols));
	dat_write(dat, symbols, strlen(symbols));
	dat_section_end(dat, DAT_KALLSYMS);
	dat_section(dat, DAT_PRINTK);
	dat_write_u32(dat, 0);
	dat_section_end(dat, DAT_PRINTK);
	dat_section(dat, DAT_CMDLINES);
	dat_write_text(dat, comms, strlen(comms));
	dat_section_end(dat, DAT_CMDLINES);
}

/**
 * sample_begin - begin a trace.dat
 * @dat: the file
 * @path: its path
 */
void sample_begin(struct dat_writer *dat, const char *path)
{
	if (dat_create(dat, path, RING_PAGE))
		return;
	write_headers(dat);
	write_formats(dat);
	write_rest(dat);
}

/**
 * sample_end - end a trace.dat
 * @dat: the file
 */
void sample_end(struct dat_writer *dat)
{
	u32 nr_cpus = 2;

	dat_option(dat, DAT_CPUCOUNT, &nr_cpus, sizeof(nr_cpus));
	dat_finish(dat);
}

/* The common fields of each record */
struct common {
	u16	type;
	u8	flags;
	u8	preempt_count;
	s32	pid;
};

static void reason_event(struct ring *ring, u64 ts, u16 id, u8 reason, s16 vcpu)
{
	struct {
		struct common common;
		u8 reason;
		s16 vcpu;
	} event = { { .type = id }, reason, vcpu };

	ring_event(ring, ts, &event, sizeof(event));
}

void sample_enter(struct ring *ring, u64 ts, u8 reason, s16 vcpu)
{
	reason_event(ring, ts, ID_ENTER, reason, vcpu);
}

void sample_exit(struct ring *ring, u64 ts, u8 reason, s16 vcpu)
{
	reason_event(ring, ts, ID_EXIT, reason, vcpu);
}

void sample_hcall(struct ring *ring, u64 ts, u32 id, s64 ret)
{
	struct {
		struct common common;
		u32 id;
		u8 invalid;
		s64 ret;
	} event = { { .type = ID_HCALL }, id, 0, ret };

	ring_event(ring, ts, &event, sizeof(event));
}

void sample_guest_enter(struct ring *ring, u64 ts, u32 vcpu, s32 vm_pid, s32 vm_fd)
{
	struct {
		struct common common;
		u32 vcpu;
		s32 vm_pid;
		s32 vm_fd;
	} event = { { .type = ID_GUEST_ENTER }, vcpu, vm_pid, vm_fd };

	ring_event(ring, ts, &event, sizeof(event));
}

void sample_guest_exit(struct ring *ring, u64 ts, u32 vcpu, s32 vm_pid, s32 vm_fd, u32 code,
		       u64 esr)
{
	struct {
		struct common common;
		u32 vcpu;
		u32 exit_code;
		u64 esr;
		s32 vm_pid;
		s32 vm_fd;
	} event = { { .type = ID_GUEST_EXIT }, vcpu, code, esr, vm_pid, vm_fd };

	ring_event(ring, ts, &event, sizeof(event));
}

void sample_func(struct ring *ring, u64 ts, u64 ip, u64 parent)
{
	struct {
		struct common common;
		u64 ip;
		u64 parent;
	} event = { { .type = ID_FUNC }, ip, parent };

	ring_event(ring, ts, &event, sizeof(event));
}

void sample_func_ret(struct ring *ring, u64 ts, u64 ip)
{
	struct {
		struct common common;
		u64 ip;
	} event = { { .type = ID_FUNC_RET }, ip };

	ring_event(ring, ts, &event, sizeof(event));
}

void sample_switch(struct ring *ring, u64 ts, s32 prev_pid, s32 next_pid, const char *next_comm)
{
	struct {
		struct common common;
		char prev_comm[16];
		s32 prev_pid;
		char next_comm[16];
		s32 next_pid;
	} event = { { .type = ID_SWITCH, .pid = prev_pid }, "", prev_pid, "", next_pid };

	snprintf(event.next_comm, sizeof(event.next_comm), "%s", next_comm);
	ring_event(ring, ts, &event, sizeof(event));
}

void sample_irq(struct ring *ring, u64 ts, s32 pid, bool entry, s32 irq)
{
	struct {
		struct common common;
		s32 irq;
	} event = { { .type = entry ? ID_IRQ_ENTRY : ID_IRQ_EXIT, .pid = pid }, irq };

	ring_event(ring, ts, &event, sizeof(event));
}
