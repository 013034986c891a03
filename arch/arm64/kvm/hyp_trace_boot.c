// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tracing the hypervisor: setting it up, and what the kernel's command line says
 *
 *	hyp_trace_event=	which events, and that tracing starts
 *	hyp_trace_buffer_size=	how large the rings are
 *
 * They are to the hypervisor what trace_event= and trace_buf_size= are to the
 * host, and take what these take. Whatever is wrong with them is told, and
 * booting goes on.
 */
#include <linux/cpuhotplug.h>
#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/kvm_host.h>
#include <linux/notifier.h>
#include <linux/printk.h>
#include <linux/reboot.h>
#include <linux/ring_buffer.h>
#include <linux/security.h>
#include <linux/string.h>

#include <asm/kvm_asm.h>
#include <asm/setup.h>
#include <asm/virt.h>

#include "hyp_trace.h"

/* A size that is less is taken for this one, as the host does. */
#define HYP_TRACE_BOOT_MIN_SIZE	4096UL

static char hyp_trace_boot_words[COMMAND_LINE_SIZE] __initdata;
static char *hyp_trace_boot_size __initdata;

/* Given several times, all of it counts. */
static int __init hyp_trace_setup_events(char *str)
{
	if (*hyp_trace_boot_words)
		strlcat(hyp_trace_boot_words, ",", sizeof(hyp_trace_boot_words));
	strlcat(hyp_trace_boot_words, str, sizeof(hyp_trace_boot_words));
	return 1;
}
__setup("hyp_trace_event=", hyp_trace_setup_events);

static int __init hyp_trace_setup_size(char *str)
{
	hyp_trace_boot_size = str;
	return 1;
}
__setup("hyp_trace_buffer_size=", hyp_trace_setup_size);

static void __init hyp_trace_boot_set_size(char *str)
{
	unsigned long size;
	char *end;

	size = memparse(str, &end);
	if (!size || *end ||
	    hyp_trace_set_size(RING_BUFFER_ALL_CPUS, max(size, HYP_TRACE_BOOT_MIN_SIZE)))
		pr_warn("kvm: hyp_trace: no such buffer size: %s\n", str);
}

/* The events that the words say, and no others. */
static void __init hyp_trace_boot_set_events(char *words)
{
	char *word;

	hyp_events_enable(NULL, false);
	while ((word = strsep(&words, ","))) {
		if (*word && hyp_event_set(word))
			pr_warn("kvm: hyp_trace: Failed to enable trace event: %s\n", word);
	}
}

/* Nothing is started while tracefs is locked down: nobody could see it. */
static void __init hyp_trace_boot(void)
{
	int ret;

	if (hyp_trace_boot_size)
		hyp_trace_boot_set_size(hyp_trace_boot_size);

	if (!*hyp_trace_boot_words || security_locked_down(LOCKDOWN_TRACEFS))
		return;

	hyp_trace_boot_set_events(hyp_trace_boot_words);
	ret = hyp_trace_set_on(true);
	if (ret)
		pr_warn("kvm: hyp_trace: no tracing from boot (%d)\n", ret);
}

/* A CPU that can't be traced is a CPU all the same: none of these fails. */
static int hyp_trace_cpu_coming(unsigned int cpu)
{
	hyp_trace_cpu_prepare(cpu);
	return 0;
}

static int hyp_trace_cpu_online(unsigned int cpu)
{
	hyp_trace_cpu_enable(cpu, true);
	return 0;
}

static int hyp_trace_cpu_offline(unsigned int cpu)
{
	hyp_trace_cpu_enable(cpu, false);
	return 0;
}

/* In plain nVHE mode KVM leaves EL2 to the next kernel, while programs still run. */
static int hyp_trace_reboot(struct notifier_block *nb, unsigned long action, void *data)
{
	if (!is_protected_kvm_enabled())
		hyp_trace_end();
	return NOTIFY_DONE;
}

static struct notifier_block hyp_trace_reboot_nb = { .notifier_call = hyp_trace_reboot };

/* Of the callbacks above. */
static int hyp_trace_cpuhp_prepare __initdata;
static int hyp_trace_cpuhp_online __initdata;

/* Tracing is set up. */
static bool hyp_trace_is_set_up __initdata;

static int __init hyp_trace_setup_cpus(void)
{
	int state;

	state = cpuhp_setup_state(CPUHP_BP_PREPARE_DYN, "kvm/arm64/hyp_trace:prepare",
				  hyp_trace_cpu_coming, NULL);
	if (state < 0)
		return state;

	hyp_trace_cpuhp_prepare = state;
	state = cpuhp_setup_state(CPUHP_AP_ONLINE_DYN, "kvm/arm64/hyp_trace:online",
				  hyp_trace_cpu_online, hyp_trace_cpu_offline);
	if (state < 0) {
		cpuhp_remove_state(hyp_trace_cpuhp_prepare);
		return state;
	}

	hyp_trace_cpuhp_online = state;
	return 0;
}

static void __init hyp_trace_teardown_cpus(void)
{
	cpuhp_remove_state(hyp_trace_cpuhp_online);
	cpuhp_remove_state(hyp_trace_cpuhp_prepare);
}

static int __init hyp_trace_setup(void)
{
	int ret;

	ret = hyp_trace_setup_cpus();
	if (ret)
		return ret;

	hyp_trace_read_init();
	ret = hyp_events_init();
	if (ret) {
		hyp_trace_teardown_cpus();
		return ret;
	}

	register_reboot_notifier(&hyp_trace_reboot_nb);
	hyp_trace_is_set_up = true;
	return 0;
}

/* Nobody can see the events. */
static void __init hyp_trace_teardown(void)
{
	hyp_trace_set_on(false);
	WARN_ON_ONCE(hyp_trace_clear(RING_BUFFER_ALL_CPUS));
	unregister_reboot_notifier(&hyp_trace_reboot_nb);
	hyp_events_exit();
	hyp_trace_teardown_cpus();
}

static void __init hyp_trace_report(int ret)
{
	if (ret)
		pr_warn("kvm: hyp_trace: no tracing of the hypervisor (%d)\n", ret);
}

/*
 * After KVM, and apart from it: whatever fails here, guests run. Under VHE
 * there is no EL2 object to trace. As soon as there is one, for those who trace
 * from boot: pKVM takes the host's privileges only at the end of this level.
 */
static int __init hyp_trace_init(void)
{
	int ret;

	if (!is_kvm_arm_initialised() || is_kernel_in_hyp_mode())
		return 0;

	ret = hyp_trace_setup();
	if (!ret)
		hyp_trace_boot();
	hyp_trace_report(ret);
	return 0;
}
device_initcall(hyp_trace_init);

/* Files are for when the rest of tracefs is there. */
static int __init hyp_trace_init_files(void)
{
	struct dentry *dir;

	if (!hyp_trace_is_set_up)
		return 0;

	dir = hyp_trace_create_dir(HYP_TRACE_DIR);
	if (IS_ERR(dir)) {
		hyp_trace_teardown();
	} else {
		hyp_trace_create_links();
		hyp_trace_dump_init();
	}
	hyp_trace_report(PTR_ERR_OR_ZERO(dir));
	return 0;
}
late_initcall(hyp_trace_init_files);
