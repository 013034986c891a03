// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tracing the hypervisor: setup, and what the kernel's command line says
 *
 *	hyp_trace_event=	which events, and that tracing starts
 *	hyp_trace_buffer_size=	how large the rings are
 *	hyp_trace_options=	options of the instance
 *	hyp_trace_ftrace_filter=, hyp_trace_ftrace_notrace=, hyp_trace_ftrace_graph_filter=
 *				which functions
 *	hyp_trace_ftrace_graph_max_depth=
 *				how deep function_graph traces
 *	hyp_trace_ftrace=	a tracer, and that tracing starts
 *	hyp_trace_accounting=	whether accounting is on
 *
 * All but the last are to the hypervisor what trace_event=, trace_buf_size=, trace_options=,
 * ftrace_filter=, ftrace_notrace=, ftrace_graph_filter=, ftrace_graph_max_depth= and ftrace= are to
 * the kernel, and take the same values. A wrong value is logged, and booting goes on.
 */
#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/kstrtox.h>
#include <linux/kvm_host.h>
#include <linux/notifier.h>
#include <linux/printk.h>
#include <linux/reboot.h>
#include <linux/ring_buffer.h>
#include <linux/security.h>
#include <linux/string.h>

#include <asm/setup.h>
#include <asm/virt.h>

#include "hyp_trace.h"

/* A smaller size counts as this one, as for the kernel's buffers. */
#define HYP_TRACE_BOOT_MIN_SIZE	4096UL

static char hyp_trace_boot_words[COMMAND_LINE_SIZE] __initdata;
static char *hyp_trace_boot_size __initdata;
static char *hyp_trace_boot_options __initdata;

/* Set once tracing is set up */
static struct trace_remote *hyp_trace_boot_remote;

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

static int __init hyp_trace_setup_options(char *str)
{
	hyp_trace_boot_options = str;
	return 1;
}
__setup("hyp_trace_options=", hyp_trace_setup_options);

#ifdef CONFIG_KVM_HYP_FUNCTION_TRACER
static char *hyp_trace_boot_functions[TRACE_REMOTE_ALL_FUNCTIONS] __initdata;

static int __init hyp_trace_setup_filter(char *str)
{
	hyp_trace_boot_functions[TRACE_REMOTE_FILTER] = str;
	return 1;
}
__setup("hyp_trace_ftrace_filter=", hyp_trace_setup_filter);

static int __init hyp_trace_setup_notrace(char *str)
{
	hyp_trace_boot_functions[TRACE_REMOTE_NOTRACE] = str;
	return 1;
}
__setup("hyp_trace_ftrace_notrace=", hyp_trace_setup_notrace);

static int __init hyp_trace_setup_graph_filter(char *str)
{
	hyp_trace_boot_functions[TRACE_REMOTE_GRAPH] = str;
	return 1;
}
__setup("hyp_trace_ftrace_graph_filter=", hyp_trace_setup_graph_filter);

static char *hyp_trace_boot_depth __initdata;

static int __init hyp_trace_setup_graph_depth(char *str)
{
	hyp_trace_boot_depth = str;
	return 1;
}
__setup("hyp_trace_ftrace_graph_max_depth=", hyp_trace_setup_graph_depth);

static char *hyp_trace_boot_tracer __initdata;

static int __init hyp_trace_setup_tracer(char *str)
{
	hyp_trace_boot_tracer = str;
	return 1;
}
__setup("hyp_trace_ftrace=", hyp_trace_setup_tracer);

static void __init hyp_trace_boot_set_list(struct trace_remote *remote,
					   enum trace_remote_list which)
{
	char *word, *words = hyp_trace_boot_functions[which];

	while ((word = strsep(&words, ","))) {
		if (*word && trace_remote_set_function(remote, word, which))
			pr_warn("kvm: hyp_trace: no such function: %s\n", word);
	}
}

static void __init hyp_trace_boot_set_graph_depth(struct trace_remote *remote)
{
	unsigned int depth;

	if (hyp_trace_boot_depth && (kstrtouint(hyp_trace_boot_depth, 0, &depth) ||
				     trace_remote_set_graph_depth(remote, depth)))
		pr_warn("kvm: hyp_trace: no such depth: %s\n", hyp_trace_boot_depth);
}

static void __init hyp_trace_boot_set_functions(struct trace_remote *remote)
{
	hyp_trace_boot_set_list(remote, TRACE_REMOTE_FILTER);
	hyp_trace_boot_set_list(remote, TRACE_REMOTE_NOTRACE);
	hyp_trace_boot_set_list(remote, TRACE_REMOTE_GRAPH);
	hyp_trace_boot_set_graph_depth(remote);
	if (trace_remote_apply_functions(remote))
		pr_warn("kvm: hyp_trace: no functions are traced from boot\n");
}

/* Whether there is a tracer */
static bool __init hyp_trace_boot_set_tracer(struct trace_remote *remote)
{
	if (!hyp_trace_boot_tracer)
		return false;
	if (!trace_remote_set_tracer(remote, hyp_trace_boot_tracer))
		return true;

	pr_warn("kvm: hyp_trace: no tracer from boot: %s\n", hyp_trace_boot_tracer);
	return false;
}
#else
static void __init hyp_trace_boot_set_functions(struct trace_remote *remote)
{
}

static bool __init hyp_trace_boot_set_tracer(struct trace_remote *remote)
{
	return false;
}
#endif

#ifdef CONFIG_KVM_HYP_ACCOUNTING
static bool hyp_trace_boot_accounting __initdata;

static int __init hyp_trace_setup_accounting(char *str)
{
	return !kstrtobool(str, &hyp_trace_boot_accounting);
}
__setup("hyp_trace_accounting=", hyp_trace_setup_accounting);

static void __init hyp_trace_boot_account(void)
{
	if (hyp_trace_boot_accounting && hyp_acct_set_on(true))
		pr_warn("kvm: hyp_trace: no accounting from boot\n");
}
#else
static void __init hyp_trace_boot_account(void)
{
}
#endif

static void __init hyp_trace_boot_set_size(struct trace_remote *remote, char *str)
{
	unsigned long size;
	char *end;

	size = memparse(str, &end);
	if (!size || *end ||
	    trace_remote_set_size(remote, RING_BUFFER_ALL_CPUS,
				  max(size, HYP_TRACE_BOOT_MIN_SIZE)))
		pr_warn("kvm: hyp_trace: no such buffer size: %s\n", str);
}

static void __init hyp_trace_boot_set_options(struct trace_remote *remote, char *words)
{
	char *word;

	while ((word = strsep(&words, ","))) {
		if (*word && trace_remote_set_option(remote, word))
			pr_warn("kvm: hyp_trace: no such option: %s\n", word);
	}
}

/* The events that the words say, and no others. */
static void __init hyp_trace_boot_set_events(struct trace_remote *remote, char *words)
{
	char *word;

	trace_remote_enable_all(remote, false);
	while ((word = strsep(&words, ","))) {
		if (*word && trace_remote_set_event(remote, word))
			pr_warn("kvm: hyp_trace: Failed to enable trace event: %s\n", word);
	}
}

/* Nothing is started while tracefs is locked down: it could not be seen. */
static void __init hyp_trace_boot(struct trace_remote *remote)
{
	bool has_tracer;
	int ret;

	if (hyp_trace_boot_size)
		hyp_trace_boot_set_size(remote, hyp_trace_boot_size);

	hyp_trace_boot_set_options(remote, hyp_trace_boot_options);

	if (security_locked_down(LOCKDOWN_TRACEFS))
		return;

	hyp_trace_boot_account();
	hyp_trace_boot_set_functions(remote);
	has_tracer = hyp_trace_boot_set_tracer(remote);
	if (!*hyp_trace_boot_words && !has_tracer)
		return;

	hyp_trace_boot_set_events(remote, hyp_trace_boot_words);
	ret = trace_remote_set_on(remote, true);
	if (ret)
		pr_warn("kvm: hyp_trace: no tracing from boot (%d)\n", ret);
}

/* In plain nVHE mode KVM leaves EL2 to the next kernel, while programs still run. */
static int hyp_trace_reboot(struct notifier_block *nb, unsigned long action, void *data)
{
	if (!is_protected_kvm_enabled())
		trace_remote_end(hyp_trace_boot_remote);
	return NOTIFY_DONE;
}

static struct notifier_block hyp_trace_reboot_nb = { .notifier_call = hyp_trace_reboot };

/**
 * hyp_trace_boot_setup - register the hypervisor as a remote
 *
 * Return: 0, or what hyp_trace_register() returns.
 */
int __init hyp_trace_boot_setup(void)
{
	struct trace_remote *remote = hyp_trace_register();

	if (IS_ERR(remote))
		return PTR_ERR(remote);

	hyp_trace_boot_remote = remote;
	register_reboot_notifier(&hyp_trace_reboot_nb);
	return 0;
}

/**
 * hyp_trace_boot_teardown - undo hyp_trace_boot_setup()
 */
void __init hyp_trace_boot_teardown(void)
{
	unregister_reboot_notifier(&hyp_trace_reboot_nb);
	hyp_trace_unregister(hyp_trace_boot_remote);
	hyp_trace_boot_remote = NULL;
}

static void __init hyp_trace_report(int ret)
{
	if (ret)
		pr_warn("kvm: hyp_trace: no tracing of the hypervisor (%d)\n", ret);
}

/*
 * After KVM is initialised, and apart from it: whatever fails here, guests run. Under VHE
 * there is no EL2 object to trace. For tracing from boot this runs as soon as there is one:
 * pKVM takes the host's privileges only at the end of this level.
 */
static int __init hyp_trace_init(void)
{
	int ret;

	if (!is_kvm_arm_initialised() || is_kernel_in_hyp_mode())
		return 0;

	/* EL2 names a place in its image by the address of the kernel's symbol. */
	kvm_nvhe_sym(hyp_kimg_offset) = hyp_trace_kimg_offset();
	ret = hyp_trace_boot_setup();
	if (!ret)
		hyp_trace_boot(hyp_trace_boot_remote);
	hyp_trace_report(ret);
	return 0;
}
device_initcall(hyp_trace_init);

/**
 * hyp_trace_boot_create_dir - create the directory of the hypervisor, if it is registered
 *
 * Context: process context; when the rest of tracefs is there.
 * Return: 0.
 */
int __init hyp_trace_boot_create_dir(void)
{
	int ret;

	if (!hyp_trace_boot_remote)
		return 0;

	ret = trace_remote_create_dir(hyp_trace_boot_remote);
	if (ret)
		hyp_trace_boot_teardown();
	hyp_trace_report(ret);
	return 0;
}
late_initcall(hyp_trace_boot_create_dir);
