/* SPDX-License-Identifier: GPL-2.0 */
#ifndef HYPSTAT_EVENTS_H
#define HYPSTAT_EVENTS_H

#include <stdbool.h>
#include <linux/types.h>

#include "names.h"

/* What the kernel's symbols of EL2's image begin with */
#define NVHE_PREFIX	"__kvm_nvhe_"

struct tep_handle;
struct tep_event;

/* The events that hypstat evaluates */
enum kind {
	KIND_OTHER,		/* of the host, not known */
	KIND_HYP_OTHER,		/* of the hypervisor; shown within a stay */
	KIND_HYP_ENTER,
	KIND_HYP_EXIT,
	KIND_HOST_HCALL,
	KIND_GUEST_ENTER,
	KIND_GUEST_EXIT,
	KIND_FUNC,
	KIND_FUNC_RET,
	KIND_SCHED_SWITCH,
	KIND_IRQ_ENTRY,
	KIND_IRQ_EXIT,
	KIND_SOFTIRQ_ENTRY,
	KIND_SOFTIRQ_EXIT,
	KIND_CORRUPT,		/* shorter than its format says */
	NR_KINDS,
};

#define EVENT_FIELDS	5

/* The fields of each kind, in the order of struct event's values */
enum { ENTER_REASON };
enum { HCALL_ID, HCALL_INVALID };
enum { GUEST_VCPU, GUEST_VM_PID, GUEST_VM_FD, GUEST_EXIT_CODE, GUEST_ESR };
enum { FUNC_IP };
enum { SWITCH_NEXT_PID };
enum { IRQ_NUMBER };

/**
 * struct event - an event that was decoded
 * @kind: which one
 * @ts: its time in nanoseconds
 * @pid: the task, as the event's common field has it; 0 may be unknown
 * @values: its fields, by the order of its kind; 0 for a field that it lacks
 * @comm: the task's name of a sched_switch, not terminated
 * @comm_size: the size of that name's field
 * @data: the record
 * @size: its size
 */
struct event {
	enum kind	kind;
	u64		ts;
	int		pid;
	s64		values[EVENT_FIELDS];
	const char	*comm;
	unsigned int	comm_size;
	const void	*data;
	unsigned int	size;
};

/* Where a field is in a record */
struct field {
	unsigned int	offset;
	unsigned int	size;
	bool		is_signed;
};

/* How to decode a kind of event */
struct decoder {
	enum kind	kind;
	unsigned int	min_size;
	unsigned int	nr_fields;
	struct field	fields[EVENT_FIELDS];
	struct field	comm;
};

#define MAX_DECODERS	64

/**
 * struct events - how to decode the events of a file
 * @tep: the file's formats
 * @type: where a record has its event's id
 * @pid: where it has its task
 * @decoders: by number; the first one is of unknown events
 * @nr_decoders: how many
 * @by_id: the number of an id's decoder
 * @enter_reasons: the names of hyp_enter's reasons
 * @hcalls: the names of hypercalls
 * @exit_codes: the names of guest_exit's codes
 * @classes: the names of exception classes
 * @reason_guest: hyp_enter's reason of a guest's exit
 * @reason_psci: hyp_enter's reason of a CPU that the firmware turns on or resumes
 * @exit_trap: guest_exit's code of a trap
 * @exit_guest: hyp_exit's reason of an entry into a guest
 * @exit_host: hyp_exit's reason of a return to the host
 */
struct events {
	struct tep_handle	*tep;
	struct field		type;
	struct field		pid;
	struct decoder		decoders[MAX_DECODERS];
	unsigned int		nr_decoders;
	u8			by_id[1 << 16];
	struct names		enter_reasons;
	struct names		hcalls;
	struct names		exit_codes;
	struct names		classes;
	u64			reason_guest;
	u64			reason_psci;
	u64			exit_trap;
	u64			exit_guest;
	u64			exit_host;
};

/* The exception class of a syndrome */
static inline unsigned int esr_class(u64 esr)
{
	return esr >> 26 & 0x3f;
}

const char *events_function(const struct events *events, u64 ip, char *text, size_t size);

bool events_init(struct events *events, struct tep_handle *tep);
void events_decode(const struct events *events, const void *data, unsigned int size,
		   struct event *event);
void events_free(struct events *events);

#endif
