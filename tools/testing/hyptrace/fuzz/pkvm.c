// SPDX-License-Identifier: GPL-2.0-only
#include <sanitizer/asan_interface.h>

#include <asm/kvm_hypevents_defs.h>

#include "pkvm.h"

enum owner { OWNER_HOST, OWNER_EL2, OWNER_GUEST };

/**
 * struct state - the state of a page
 * @owner:	who owns it
 * @shared:	its owner, the host, shares it with EL2
 * @pins:	how often EL2 has pinned it
 * @vcpu_pins:	how often of these for a vCPU
 */
struct state {
	enum owner	owner;
	bool		shared;
	int		pins;
	int		vcpu_pins;
};

static _Alignas(PAGE_SIZE) u8 memory[PKVM_PAGES][PAGE_SIZE];
/* What is behind the caches, where an access that bypasses them goes. */
static u8 uncached[PKVM_PAGES][PAGE_SIZE];
static struct state states[PKVM_PAGES];

static struct state *pkvm_state(u64 pfn)
{
	return pfn - PKVM_FIRST_PFN < PKVM_PAGES ? &states[pfn - PKVM_FIRST_PFN] : NULL;
}

static void pkvm_map(const struct state *state)
{
	u8 *page = memory[state - states];

	if (state->owner == OWNER_EL2 || state->shared)
		ASAN_UNPOISON_MEMORY_REGION(page, PAGE_SIZE);
	else
		ASAN_POISON_MEMORY_REGION(page, PAGE_SIZE);
}

void pkvm_boot(void)
{
	unsigned int i;

	for (i = 0; i < PKVM_PAGES; i++) {
		states[i] = (struct state){ };
		ASAN_UNPOISON_MEMORY_REGION(memory[i], PAGE_SIZE);
		memset(memory[i], 0xa5, PAGE_SIZE);
		memset(uncached[i], 0xa5, PAGE_SIZE);
		pkvm_map(&states[i]);
	}
}

/* Arithmetic, as at EL2: it may lead anywhere. */
void *hyp_phys_to_virt(u64 phys)
{
	return (void *)((uintptr_t)memory + phys - hyp_pfn_to_phys(PKVM_FIRST_PFN));
}

u64 hyp_virt_to_pfn(const void *va)
{
	return PKVM_FIRST_PFN + (((uintptr_t)va - (uintptr_t)memory) >> PAGE_SHIFT);
}

static bool pkvm_owns(u64 pfn, u64 nr_pages)
{
	u64 i;

	for (i = 0; i < nr_pages; i++) {
		struct state *state = pkvm_state(pfn + i);

		if (!state || state->owner != OWNER_HOST || state->shared)
			return false;
	}

	return true;
}

int __pkvm_host_share_pin_hyp(u64 pfn, u64 nr_pages)
{
	u64 i;

	WARN_ON(!nr_pages || nr_pages > HYP_TRACE_HCALL_PAGES);
	if (!pkvm_owns(pfn, nr_pages))
		return -EPERM;

	for (i = 0; i < nr_pages; i++) {
		struct state *state = pkvm_state(pfn + i);

		WARN_ON(state->pins);
		state->shared = true;
		state->pins = 1;
		pkvm_map(state);
	}

	return 0;
}

int __pkvm_host_unpin_unshare_hyp(u64 pfn, u64 nr_pages)
{
	bool last = true;
	u64 i;

	WARN_ON(!nr_pages || nr_pages > HYP_TRACE_HCALL_PAGES);
	for (i = 0; i < nr_pages; i++) {
		struct state *state = pkvm_state(pfn + i);

		WARN_ON(!state || !state->shared || !state->pins);
		state->pins--;
		last &= !state->pins;
	}

	for (i = 0; last && i < nr_pages; i++)
		pkvm_unshare(pfn + i - PKVM_FIRST_PFN);

	return last ? 0 : -EBUSY;
}

int hyp_pin_shared_mem(void *from, void *to)
{
	struct state *state = pkvm_state(hyp_virt_to_pfn(from));

	WARN_ON(to - from != PAGE_SIZE);
	if (!state || !state->shared)
		return -EPERM;

	state->pins++;
	return 0;
}

void hyp_unpin_shared_mem(void *from, void *to)
{
	struct state *state = pkvm_state(hyp_virt_to_pfn(from));

	WARN_ON(to - from != PAGE_SIZE);
	WARN_ON(!state || !state->shared || !state->pins);
	state->pins--;
}

int hyp_page_count(const void *va)
{
	return pkvm_state(hyp_virt_to_pfn(va))->pins;
}

int __pkvm_host_donate_hyp(u64 pfn, u64 nr_pages)
{
	struct state *state = pkvm_state(pfn);

	WARN_ON(nr_pages != 1);
	if (!state || state->owner != OWNER_HOST || state->shared)
		return -EPERM;

	state->owner = OWNER_EL2;
	pkvm_map(state);
	return 0;
}

void kvm_flush_dcache_to_poc(const void *va, size_t size)
{
	struct state *state = pkvm_state(hyp_virt_to_pfn(va));

	WARN_ON(size != PAGE_SIZE || !state || state->owner != OWNER_EL2);
	memcpy(uncached[state - states], va, size);
}

/* A page that EL2 returns has zeroes on it, in the caches and behind them. */
int __pkvm_hyp_donate_host(u64 pfn, u64 nr_pages)
{
	struct state *state = pkvm_state(pfn);
	unsigned int i;

	WARN_ON(nr_pages != 1);
	if (!state || state->owner != OWNER_EL2)
		return -EPERM;

	for (i = 0; i < PAGE_SIZE; i++)
		WARN_ON(memory[state - states][i] || uncached[state - states][i]);
	state->owner = OWNER_HOST;
	pkvm_map(state);
	return 0;
}

void pkvm_share(unsigned int page)
{
	if (states[page].owner == OWNER_HOST)
		states[page].shared = true;
	pkvm_map(&states[page]);
}

void pkvm_unshare(unsigned int page)
{
	if (!states[page].pins)
		states[page].shared = false;
	pkvm_map(&states[page]);
}

void pkvm_pin(unsigned int page)
{
	struct state *state = &states[page];

	if (!state->shared || state->vcpu_pins)
		return;

	state->pins++;
	state->vcpu_pins++;
}

void pkvm_unpin(unsigned int page)
{
	struct state *state = &states[page];

	state->pins -= state->vcpu_pins;
	state->vcpu_pins = 0;
}

void pkvm_give_guest(unsigned int page)
{
	if (states[page].owner == OWNER_HOST && !states[page].shared)
		states[page].owner = OWNER_GUEST;
}

void pkvm_take_guest(unsigned int page)
{
	if (states[page].owner == OWNER_GUEST)
		states[page].owner = OWNER_HOST;
}

/* The host writes what it likes where it can, and that is no business of EL2's mappings. */
__attribute__((no_sanitize("address")))
void pkvm_corrupt(unsigned int page, unsigned int offset, u64 value)
{
	volatile u64 *word = (u64 *)&memory[page][offset % PAGE_SIZE & ~7U];

	if (states[page].owner != OWNER_HOST)
		return;

	*word = value;
	*(u64 *)&uncached[page][offset % PAGE_SIZE & ~7U] = value;
}

void pkvm_check_all_given_back(void)
{
	unsigned int i;

	for (i = 0; i < PKVM_PAGES; i++)
		WARN_ON(states[i].owner == OWNER_EL2 || states[i].pins);
}
