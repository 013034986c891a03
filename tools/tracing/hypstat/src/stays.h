/* SPDX-License-Identifier: GPL-2.0 */
#ifndef HYPSTAT_STAYS_H
#define HYPSTAT_STAYS_H

#include <linux/compiler.h>

#include "calls.h"
#include "events.h"

#define COMM_SIZE	16
#define STAY_EVENTS	12	/* that are kept of a stay */
#define STAY_BYTES	72	/* that are kept of an event: each but a long text fits */
#define NO_HCALL	(-1)

/* A guest's vCPU */
struct guest {
	bool	known;
	int	vcpu;
	int	vm_pid;
	int	vm_fd;
};

/* Whose time it is: the task, and the interrupt that it was interrupted by */
struct owner {
	bool	known;
	int	pid;
	char	comm[COMM_SIZE + 1];
	int	irq;			/* -1: none */
	int	softirq;		/* -1: none */
};

/* An event within a stay */
struct inside {
	u64	ts;
	u32	size;
	char	data[STAY_BYTES] __aligned(8);
};

/**
 * struct stay - a stay at EL2: from a hyp_enter to the next hyp_exit of that CPU
 * @cpu: the CPU
 * @begin: when it began
 * @end: when it ended
 * @reason: hyp_enter's
 * @exit_reason: hyp_exit's
 * @hcall: the hypercall that ended in it, or NO_HCALL
 * @hcall_known: the hypercall exists
 * @entered: a guest was entered at its end
 * @exited: a guest has exited at its begin
 * @guest: the guest of either
 * @exit_code: guest_exit's
 * @esr: guest_exit's
 * @owner: who ran before it
 * @last_hcall: the hypercall before it on that CPU, or NO_HCALL
 * @last_guest: the guest that was entered or exited last before it
 * @nr_functions: how many functions are kept
 * @functions: those that took most of it
 * @nr_events: how many events are in it, without those of functions
 * @events: the first of them
 */
struct stay {
	int		cpu;
	u64		begin;
	u64		end;
	s64		reason;
	s64		exit_reason;
	s64		hcall;
	bool		hcall_known;
	bool		entered;
	bool		exited;
	struct guest	guest;
	u64		exit_code;
	u64		esr;
	struct owner	owner;
	s64		last_hcall;
	struct guest	last_guest;
	unsigned int	nr_functions;
	struct part	functions[STAY_FUNCTIONS];
	unsigned int	nr_events;
	struct inside	events[STAY_EVENTS];
};

/**
 * struct losses - what is missing
 * @hyp: events of the hypervisor that were lost
 * @hyp_unknown: losses of the hypervisor's events without a number
 * @host: events of the host that were lost
 * @host_unknown: losses of the host's events without a number
 * @dropped: stays into which a loss fell
 * @partial: stays that began before the recording, or ended after it
 * @unpaired: a hyp_enter without its hyp_exit or the reverse, without a loss
 * @corrupt: events that are shorter than their format, or out of order
 */
struct losses {
	u64	hyp;
	u64	hyp_unknown;
	u64	host;
	u64	host_unknown;
	u64	dropped;
	u64	partial;
	u64	unpaired;
	u64	corrupt;
};

/* What came before a hyp_exit that has no hyp_enter */
enum before {
	BEFORE_NOTHING,		/* the recording begins here */
	BEFORE_EVENTS,
	BEFORE_LOSS,		/* outside a stay */
	BEFORE_LOSS_IN_STAY,	/* which was dropped then */
};

/**
 * struct stays - the stays of one CPU after another
 * @ended: called for each stay that is whole
 * @ran: called for each time that a guest ran, from its entry to the next stay
 * @arg: for both
 * @losses: what is missing, of all CPUs
 * @first: the time of the first event of the hypervisor, of all CPUs
 * @last: the time of the last one
 * @nr_events: the hypervisor's events, of all CPUs
 * @enter_psci: hyp_enter's reason of a CPU that the firmware turns on or resumes
 * @exit_guest: hyp_exit's reason of an entry into a guest
 * @exit_host: hyp_exit's reason of a return to the host
 * @cpu: the CPU that is read, of which all below is the state
 * @open: it is at EL2
 * @before: what came before the next event
 * @entered_at: when a guest was entered that runs; 0: none runs
 * @guest: the guest that was entered or exited last
 * @last_hcall: the last hypercall, or NO_HCALL
 * @owner: what runs on the host
 * @stay: the stay that is open
 * @calls: the functions that are entered; what the stay has of them, while @ended is called
 */
struct stays {
	void		(*ended)(const struct stay *stay, void *arg);
	void		(*ran)(const struct guest *guest, u64 from, u64 to, int cpu, void *arg);
	void		*arg;
	struct losses	losses;
	u64		first;
	u64		last;
	u64		nr_events;
	u64		enter_psci;
	u64		exit_guest;
	u64		exit_host;

	int		cpu;
	bool		open;
	enum before	before;
	u64		entered_at;
	struct guest	guest;
	s64		last_hcall;
	struct owner	owner;
	struct stay	stay;
	struct calls	calls;
};

void stays_begin(struct stays *stays, int cpu);
void stays_event(struct stays *stays, const struct event *event);
void stays_lost(struct stays *stays, bool host, s64 count);
void stays_end(struct stays *stays);
void stays_free(struct stays *stays);

#endif
