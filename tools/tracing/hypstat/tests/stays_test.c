// SPDX-License-Identifier: GPL-2.0
/* Events, written as letters, and the stays that they make */
#include <string.h>

#include "../src/stays.h"
#include "tap.h"

#define GUEST_REASON	7	/* hyp_exit's reason of an entry into a guest */
#define MAX_STAYS	16

static struct stay found[MAX_STAYS];
static unsigned int nr_found;
static u64 guest_time;

static void ended(const struct stay *stay, void *arg)
{
	if (nr_found < MAX_STAYS)
		found[nr_found++] = *stay;
}

static void ran(const struct guest *guest, u64 from, u64 to, int cpu, void *arg)
{
	guest_time += to - from;
}

static struct stays stays;
static u64 now;

/* One letter is one event. */
static const struct letter {
	char		letter;
	enum kind	kind;
	s64		values[EVENT_FIELDS];
	int		pid;
} letters[] = {
	{ '<', KIND_HYP_ENTER, { 1 } },
	{ '>', KIND_HYP_EXIT, { 0 } },
	{ 'G', KIND_HYP_EXIT, { GUEST_REASON } },
	{ 'h', KIND_HOST_HCALL, { 12 } },
	{ 'i', KIND_HOST_HCALL, { 99, 1 } },
	{ 'e', KIND_GUEST_ENTER, { 3, 77, 4 } },
	{ 'x', KIND_GUEST_EXIT, { 3, 77, 4, 2, 1 << 26 } },
	{ '.', KIND_HYP_OTHER },
	{ '!', KIND_CORRUPT },
	{ 's', KIND_SCHED_SWITCH, { 6 }, 5 },
	{ 'o', KIND_OTHER, { 0 }, 8 },
	{ '(', KIND_IRQ_ENTRY, { 27 }, 6 },
	{ ')', KIND_IRQ_EXIT, { 27 }, 6 },
	{ '[', KIND_SOFTIRQ_ENTRY, { 1 }, 6 },
	{ ']', KIND_SOFTIRQ_EXIT, { 1 }, 6 },
};

static void play_event(const struct letter *letter)
{
	static const char data[16];
	struct event event = {
		.kind = letter->kind, .ts = now, .pid = letter->pid, .comm = "next",
		.comm_size = 4, .data = data, .size = sizeof(data),
	};

	memcpy(event.values, letter->values, sizeof(event.values));
	stays_event(&stays, &event);
}

/* The time goes on by 10 before each. Other letters are losses, and a step back in time. */
static void play_one(char letter)
{
	unsigned int i;

	now += 10;
	for (i = 0; i < sizeof(letters) / sizeof(*letters); i++) {
		if (letters[i].letter == letter)
			play_event(&letters[i]);
	}
	if (letter == 'L' || letter == 'U')
		stays_lost(&stays, false, letter == 'L' ? 5 : -1);
	else if (letter == 'H')
		stays_lost(&stays, true, 7);
	else if (letter == '-')
		now -= 100;
}

static void play(const char *text)
{
	memset(&stays, 0, sizeof(stays));
	stays.ended = ended;
	stays.ran = ran;
	stays.enter_psci = ~0ULL;
	stays.exit_guest = GUEST_REASON;
	nr_found = 0;
	guest_time = 0;
	now = 1000;
	stays_begin(&stays, 0);
	while (*text)
		play_one(*text++);
	stays_end(&stays);
}

static const struct example {
	const char	*letters;
	unsigned int	whole;
	u64		dropped, partial, unpaired, corrupt;
} cases[] = {
	{ "", 0 },
	{ "<>", 1 },
	{ "<h><.>", 2 },
	{ "h><>", 1, 0, 1 },			/* begins within a stay */
	{ "<><", 1, 0, 1 },			/* ends within one */
	{ "<hL><>", 1, 1 },			/* a loss in a stay: its end is seen */
	{ "<L<>", 1, 1 },			/* its end was lost, too */
	{ "<>L><>", 2, 1 },			/* only the end of one is there */
	{ "<>Lh><>", 2, 1 },
	{ "<>L<>", 2, 0 },			/* a loss between stays */
	{ "L><>", 1, 1 },			/* the begin of the recording was lost */
	{ "<LL>", 0, 1 },			/* one stay is counted once */
	{ "<U><>", 1, 1 },
	{ "<H>", 1, 0 },			/* the host's losses cut nothing */
	{ "<L><L>", 0, 2 },
	{ "<<>", 1, 0, 0, 1 },			/* hyp_exit was filtered */
	{ "<>>", 1, 0, 0, 1 },			/* hyp_enter was filtered */
	{ "<!>", 1, 0, 0, 0, 1 },
	{ "<->", 0, 0, 0, 0, 1 },		/* time goes back */
};

static void check_case(const struct example *example)
{
	const struct losses *losses = &stays.losses;

	play(example->letters);
	if (ok(nr_found == example->whole && losses->dropped == example->dropped &&
	       losses->partial == example->partial && losses->unpaired == example->unpaired &&
	       losses->corrupt == example->corrupt, "stays of \"%s\"", example->letters))
		return;
	printf("# %u whole, %llu dropped, %llu partial, %llu unpaired, %llu corrupt\n", nr_found,
	       (unsigned long long)losses->dropped, (unsigned long long)losses->partial,
	       (unsigned long long)losses->unpaired, (unsigned long long)losses->corrupt);
}

static void check_counts(void)
{
	unsigned int i;

	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		check_case(&cases[i]);
}

static void check_losses(void)
{
	play("<>L<>U<>H");
	equals("lost events", stays.losses.hyp, 5);
	equals("losses without a number", stays.losses.hyp_unknown, 1);
	equals("lost events of the host", stays.losses.host, 7);
	play("<eGL");
	equals("a guest's time into which a loss falls is not counted", guest_time, 0);
}

/* A __kvm_vcpu_run with an exit that EL2 handles, and one that the host handles */
static void check_guest(void)
{
	play("<i><eG<xeG<xh>");
	equals("a run is a stay before, between and after", nr_found, 4);
	ok(found[1].entered && !found[1].exited, "before: the guest was entered");
	ok(found[2].entered && found[2].exited, "between: it was exited and entered");
	ok(!found[3].entered && found[3].exited, "after: it was exited");
	ok(found[1].hcall == NO_HCALL && found[2].hcall == NO_HCALL, "it has not ended");
	equals("after: it has", found[3].hcall, 12);
	ok(found[0].hcall == 99 && !found[0].hcall_known, "a hypercall that is none");
	ok(found[3].guest.known && found[3].guest.vcpu == 3 && found[3].guest.vm_pid == 77 &&
	   found[3].guest.vm_fd == 4, "whose guest it is");
	equals("the guest's time", guest_time, 20);
	equals("the cause", esr_class(found[3].esr), 1);
	equals("the hypercall before", found[3].last_hcall, 99);
	ok(!found[1].last_guest.known && found[3].last_guest.known, "the guest before");
	equals("the length", found[3].end - found[3].begin, 30);
	equals("the events", found[3].nr_events, 2);
	equals("the second one's time", found[3].events[1].ts - found[3].begin, 20);
}

static void check_many_events(void)
{
	play("<..............................>");
	equals("all events of a stay are counted", found[0].nr_events, 30);
	equals("the last that is kept is the right one",
	       found[0].events[STAY_EVENTS - 1].ts - found[0].begin, 10 * STAY_EVENTS);
}

static void check_owner(void)
{
	play("<>s<>(<>)<>[<>]<>o<>H<>");
	ok(!found[0].owner.known, "nothing is known of the task at first");
	ok(found[1].owner.pid == 6 && !strcmp(found[1].owner.comm, "next"), "the next task");
	equals("within an interrupt", found[2].owner.irq, 27);
	equals("after it", found[3].owner.irq, -1);
	equals("within a soft interrupt", found[4].owner.softirq, 1);
	equals("after it", found[5].owner.softirq, -1);
	ok(found[6].owner.pid == 8 && !*found[6].owner.comm, "a task without a switch");
	ok(!found[7].owner.known, "not known after a loss");
}

int main(void)
{
	check_counts();
	check_losses();
	check_guest();
	check_many_events();
	check_owner();
	return tap_end();
}
