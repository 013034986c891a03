// SPDX-License-Identifier: GPL-2.0
/* Which VM and vCPU the samples of a thread are of */
#include <stdlib.h>
#include <string.h>
#include <linux/compiler.h>
#include <linux/kernel.h>
#include "debug.h"
#include "env.h"
#include "kvm-vcpu-ids.h"
#include "machine.h"
#include "tests.h"
#include "thread.h"

#define NR_THREADS	1000
#define PRIME		7919

/* The n-th thread that is added, in no order: it runs vCPU n of VM n + 1. */
static int add_threads(struct perf_env *env)
{
	u32 n;

	for (n = 0; n < NR_THREADS; n++) {
		const struct kvm_vcpu_thread thread = {
			.vm_pid		= n + 1,
			.vm_fd		= 4,
			.vcpu_id	= n,
			.tid		= n * PRIME % NR_THREADS + 1,
		};

		if (kvm_vcpu_ids__add(&env->kvm_vcpus, &thread))
			return -1;
	}
	return 0;
}

static struct kvm_vcpu_ids ids_of(const struct perf_env *env, struct machine *machine, u32 tid)
{
	struct thread *thread = machine__findnew_thread(machine, 1234, tid);
	struct kvm_vcpu_ids ids = thread__kvm_vcpu_ids(thread, env);

	thread__put(thread);
	return ids;
}

static bool are(struct kvm_vcpu_ids ids, const char *expected)
{
	char vm[KVM_VCPU_IDS_VM_LEN + 1], vcpu[KVM_VCPU_IDS_VM_LEN + 1], text[64];

	kvm_vcpu_ids__vm_scnprintf(&ids, vm, sizeof(vm));
	kvm_vcpu_ids__vcpu_scnprintf(&ids, vcpu, sizeof(vcpu));
	scnprintf(text, sizeof(text), "%s %s", vm, vcpu);
	if (!strcmp(text, expected))
		return true;
	pr_debug("%s, not %s\n", text, expected);
	return false;
}

static int check_known(const struct perf_env *env, struct machine *host)
{
	char expected[64];
	u32 n;

	for (n = 0; n < NR_THREADS; n++) {
		scnprintf(expected, sizeof(expected), "%u-4 %u", n + 1, n);
		if (!are(ids_of(env, host, n * PRIME % NR_THREADS + 1), expected))
			return -1;
	}
	return 0;
}

static int check(struct perf_env *env, struct machine *host, struct machine *guest)
{
	const struct kvm_vcpu_thread other = {
		.vm_pid = -1, .vm_fd = -1, .vcpu_id = -1, .tid = 17,
	};

	TEST_ASSERT_VAL("no table", are(ids_of(NULL, host, 17), "- -"));
	TEST_ASSERT_VAL("an empty table", are(ids_of(env, host, 17), "- -"));
	TEST_ASSERT_VAL("a guest that is in no table", are(ids_of(env, guest, 17), "1234 -"));
	TEST_ASSERT_VAL("memory", !add_threads(env));
	TEST_ASSERT_VAL("threads that are known", !check_known(env, host));
	TEST_ASSERT_VAL("the guest's samples", are(ids_of(env, guest, 1), "1-4 0"));
	TEST_ASSERT_VAL("a thread that is not", are(ids_of(env, host, NR_THREADS + 1), "- -"));
	TEST_ASSERT_VAL("memory", !kvm_vcpu_ids__add(&env->kvm_vcpus, &other));
	TEST_ASSERT_VAL("a thread that runs another vCPU now, of the largest ids",
			are(ids_of(env, host, 17), "4294967295-4294967295 4294967295"));
	TEST_ASSERT_VAL("no thread twice", env->kvm_vcpus.nr == NR_THREADS);
	return TEST_OK;
}

static int test__kvm_vcpu_ids(struct test_suite *test __maybe_unused,
			      int subtest __maybe_unused)
{
	struct machine host, guest;
	struct perf_env env = {};
	int ret;

	machine__init(&host, "", HOST_KERNEL_ID);
	machine__init(&guest, "", 1234);
	ret = check(&env, &host, &guest);
	machine__exit(&guest);
	machine__exit(&host);
	kvm_vcpu_threads__exit(&env.kvm_vcpus);
	return ret;
}

DEFINE_SUITE("KVM: which VM and vCPU samples are of", kvm_vcpu_ids);
