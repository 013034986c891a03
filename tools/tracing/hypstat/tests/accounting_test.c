// SPDX-License-Identifier: GPL-2.0
/*
 * accounting_test DIRECTORY HYPSTAT: hypstat top, hist and overhead use files that stand for those
 * of the kernel. They switch the accounting off again, also when they fail or are ended.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "run.h"

#define ROUNDS		200
#define NR_REASONS	130

#define TOTAL	"hypervisor/accounting_total"
#define SWITCH	"hypervisor/accounting"

static const char before[] =
	"# version=1 cpus=2 on=1\n"
	"hcall:__kvm_vcpu_run count=100 total_ns=100000 max_ns=900000 hist=10:100\n"
	"psci:CPU_OFF count=1 total_ns=5 max_ns=5 hist=3:1\n"
	"in:guest count=10 total_ns=1000000\n";

static const char after[] =
	"# version=1 cpus=2 on=1\n"
	"hcall:__kvm_vcpu_run count=120 total_ns=160000 max_ns=900000 hist=10:110,13:10\n"
	"psci:CPU_OFF count=1 total_ns=5 max_ns=5 hist=3:1\n"
	"abort count=2 total_ns=3000 max_ns=1500 hist=11:2\n"
	"in:guest count=11 total_ns=2000000\n";

static const char one_cpu[] =
	"# version=1 cpu=0 on=1\n"
	"smc count=3 total_ns=33 max_ns=20 hist=4:2,5:1\n";

static const char *directory, *hypstat;
static struct run run;

/* The last paths stay as they are. */
static const char *path_of(const char *name)
{
	static char paths[4][4096];
	static unsigned int last;
	char *path = paths[++last % 4];

	snprintf(path, sizeof(paths[0]), "%s/%s", directory, name);
	return path;
}

/* A reader sees the old text or the new one. */
static void write_file(const char *name, const char *text, size_t size)
{
	const char *from = path_of("new");
	FILE *file = fopen(from, "w");

	fwrite(text, 1, size, file);
	fclose(file);
	rename(from, path_of(name));
}

static void write_text(const char *name, const char *text)
{
	write_file(name, text, strlen(text));
}

static char first_byte(const char *name)
{
	FILE *file = fopen(path_of(name), "r");
	int c = getc(file);

	fclose(file);
	return c;
}

static void make_directory(const char *name)
{
	if (mkdir(path_of(name), 0700) && errno != EEXIST)
		perror(name);
}

static void make_files(void)
{
	make_directory("hypervisor");
	make_directory("hypervisor/per_cpu");
	make_directory("hypervisor/per_cpu/cpu0");
	make_directory("hypervisor/per_cpu/cpu1");
	write_text("hypervisor/tracing_on", "0\n");
	write_text(SWITCH, "0\n");
	write_text(TOTAL, before);
	write_text("hypervisor/per_cpu/cpu0/accounting", one_cpu);
	write_text("hypervisor/per_cpu/cpu1/accounting", one_cpu);
}

static void make_vm(const char *exits)
{
	make_directory("kvm");
	make_directory("kvm/12-3");
	make_directory("kvm/12-3/vcpu0");
	write_text("kvm/12-3/vcpu0/hyp_exits", exits);
	write_text("kvm/12-3/vcpu0/hyp_ns", "5000\n");
	write_text("kvm/12-3/vcpu0/guest_ns", "7000000\n");
}

/* The arguments behind the program's name, and no more than seven */
static void start(const char * const *words)
{
	const char *args[10] = { hypstat };
	int i;

	for (i = 0; words[i]; i++)
		args[i + 1] = words[i];
	run_start(&run, args);
}

static void say(const char * const *words)
{
	start(words);
	run_end(&run);
}

#define WORDS(...)	((const char * const []) { __VA_ARGS__, NULL })

static void refuses(const char *what, const char *why)
{
	refused(&run, what, why);
}

static void shows(const char *what, const char *text)
{
	if (!ok(!run.status && strstr(run.out, text), "%s: %s", what, text))
		printf("# status %#x, %s%s\n", run.status, run.errors, run.out);
}

static void hides(const char *what, const char *text)
{
	ok(!strstr(run.out, text), "%s: no %s", what, text);
}

/* From here on, each file that was read is one event. */
static int watch(const char *name)
{
	int fd = inotify_init1(IN_CLOEXEC);

	if (fd < 0 || inotify_add_watch(fd, path_of(name), IN_CLOSE_NOWRITE) < 0)
		perror("inotify");
	return fd;
}

static void wait_until_read(int fd)
{
	char event[4096];

	alarm(10);
	if (read(fd, event, sizeof(event)) < 0)
		perror("inotify");
	alarm(0);
	close(fd);
}

/* hypstat top begins with one text, and ends by a signal with another one. */
static void top_between(const char *from, const char *to, int sig, const char * const *words)
{
	int fd;

	write_text(TOTAL, from);
	fd = watch(TOTAL);
	start(words);
	wait_until_read(fd);
	ok(first_byte(SWITCH) == '1', "the accounting is on meanwhile");
	write_text(TOTAL, to);
	kill(run.pid, sig);
	run_end(&run);
	ok(first_byte(SWITCH) == '0', "and off again after signal %d", sig);
}

static void check_top(void)
{
	top_between(before, after, SIGINT, WORDS("top", "-q"));
	shows("top", "at EL2:");
	shows("top, a difference", "     3.00     900.00     <=1.024     <=8.192");
	shows("top, what is new", "     1.50       1.50     <=2.048");
	shows("top, what is not EL2's", "not at EL2: in:guest");
	hides("top, what did nothing", "psci");
	top_between(before, after, SIGTERM, WORDS("top", "-qn", "--by", "hypercall"));
	shows("by hypercall", "__kvm_vcpu_run");
	hides("by hypercall", "abort");
	top_between(before, after, SIGHUP, WORDS("top", "-q", "--reason", "abort"));
	shows("one reason", "abort");
	hides("one reason", "vcpu_run");
	shows("one reason, and what is not EL2's", "not at EL2: in:guest");
	top_between(after, before, SIGINT, WORDS("top", "-q"));
	shows("a reset", "the accounting was reset");
	top_between(before, "# version=1 cpus=2 on=0\n", SIGINT, WORDS("top", "-q"));
	shows("off meanwhile", "The accounting was turned off");
}

static void check_rounds(void)
{
	say(WORDS("top", "-i", "0.05", "-r", "2"));
	shows("two rounds", "MAX* us");
	ok(strstr(strstr(run.out, "MAX*") + 1, "MAX*"), "and there are two");
	say(WORDS("top", "-i", "0.05", "-r", "1", "-c", "1"));
	shows("one CPU", "on 1 CPU,");
	say(WORDS("top", "-i", "0.3", "-d", "1"));
	shows("a duration", "MAX* us");
	ok(first_byte(SWITCH) == '0', "the accounting is off at the end");
	write_text(SWITCH, "1\n");
	say(WORDS("top", "-i", "0.05", "-r", "1"));
	ok(first_byte(SWITCH) == '1', "accounting that was on stays on");
	write_text(SWITCH, "0\n");
}

/* The first numbers are read after the accounting was turned on. */
static void check_guests(void)
{
	int fd;

	make_vm("10\n");
	fd = watch("kvm/12-3/vcpu0/guest_ns");
	start(WORDS("top", "-q", "--vm", "12"));
	wait_until_read(fd);
	make_vm("25\n");
	write_text("kvm/12-3/vcpu0/hyp_ns", "35000\n");
	kill(run.pid, SIGINT);
	run_end(&run);
	shows("a vCPU", "12-3 vcpu 0");
	shows("its time at EL2", " 2.00 ");
	say(WORDS("top", "-i", "0.05", "-r", "1", "--vm", "13"));
	hides("another VM", "12-3");
	say(WORDS("top", "-i", "0.05", "-r", "1", "--by", "vm"));
	refuses("a VM without numbers", "hypstat record");
}

static void check_hist(void)
{
	write_text(TOTAL, before);
	say(WORDS("hist"));
	shows("hist", "hcall: 100, total 100.000 us, mean 1.000 us, p99 <= 1.024 us");
	shows("hist, a gap", "in:guest: 10, total 1.000 ms, mean 100.000 us\n");
	shows("hist, a bucket", "512 ns .. 1.024 us              100 |####");
	ok(first_byte(SWITCH) == '0', "hist alone switches nothing on");
	say(WORDS("hist", "--with-zeros", "-n"));
	shows("empty buckets", "1073741824 ns ..                         0");
	say(WORDS("hist", "--csv", "--reason", "psci"));
	shows("CSV", "all,\"psci:CPU_OFF\",1,5,5,8,8,8,8,5,0,0,0,1,0");
	say(WORDS("hist", "--per-cpu", "--csv", "-c", "1"));
	shows("CSV of a CPU", "1,\"smc\",3,33,11,16,32,32,32,20,0,0,0,0,2,1,0");
	say(WORDS("hist", "-c", "0-1"));
	shows("the sum of two CPUs", "smc: 6, total 66 ns");
	say(WORDS("hist", "--json"));
	shows("JSON", "\"total_ns\": 100000");
	shows("JSON, a bucket", "\"from_ns\": 512");
}

static void check_metrics(void)
{
	say(WORDS("hist", "--prometheus"));
	shows("metrics", "hypstat_stay_seconds_bucket{reason=\"psci:CPU_OFF\",le=\"4e-09\"} 0\n");
	shows("a bucket", "hypstat_stay_seconds_bucket{reason=\"psci:CPU_OFF\",le=\"8e-09\"} 1\n");
	shows("the last one", "{reason=\"psci:CPU_OFF\",le=\"+Inf\"} 1\n");
	shows("a sum", "hypstat_stay_seconds_sum{reason=\"psci:CPU_OFF\"} 0.000000005\n");
	shows("gaps", "hypstat_gaps_total{in=\"guest\"} 10\n");
	shows("their time", "hypstat_gap_seconds_total{in=\"guest\"} 0.001000000\n");
	shows("whether it is on", "hypstat_accounting_enabled 1\n");
	say(WORDS("hist", "--prometheus", "--per-cpu"));
	shows("of a CPU", "hypstat_stay_seconds_count{cpu=\"1\",reason=\"smc\"} 3\n");
}

/* COMMAND makes the other text that of the kernel. */
static void check_command(void)
{
	write_text("after", after);
	say(WORDS("hist", "/bin/cp", path_of("after"), path_of(TOTAL)));
	shows("a command", "hcall: 20, total 60.000 us, mean 3.000 us");
	shows("what is new in it", "abort: 2, total 3.000 us");
	hides("what did nothing in it", "psci");
	say(WORDS("hist", "/bin/sh", "-c", "exit 7"));
	equals("the status is the command's", WEXITSTATUS(run.status), 7);
	ok(first_byte(SWITCH) == '0', "the accounting is off at the end");
	write_text("after", before);
	say(WORDS("hist", "/bin/cp", path_of("after"), path_of(TOTAL)));
	refuses("a reset meanwhile", "was reset");
}

static void check_svg(void)
{
	say(WORDS("hist", "--svg", path_of("svg")));
	ok(!run.status && first_byte("svg") == '<', "a picture");
	say(WORDS("hist", "--svg", "/nonexistent/svg"));
	refuses("a picture that can't be written", "No such file");
}

static void check_arguments(void)
{
	say(WORDS("top", "-i", "0"));
	refuses("no interval", "-i takes");
	say(WORDS("top", "-r", "-1"));
	refuses("no rounds", "-r takes");
	say(WORDS("top", "--by", "x"));
	refuses("no view", "--by takes");
	say(WORDS("top", "--sort", "x"));
	refuses("no key", "--sort takes");
	say(WORDS("top", "--by", "vm", "-c", "0"));
	refuses("a CPU of VMs", "do not apply");
	say(WORDS("top", "-c", "2-5"));
	refuses("no such CPU", "the last one is CPU 1");
	say(WORDS("hist", "--by", "vm"));
	refuses("no histograms of VMs", "hypstat top --by vm");
	say(WORDS("hist", "--reset"));
	refuses("a reset of what is shown", "COMMAND or -d");
}

static void check_corruption(void)
{
	char copy[sizeof(after)];
	unsigned int i, wrong = 0;

	srandom(1);
	for (i = 0; i < ROUNDS; i++) {
		memcpy(copy, after, sizeof(after));
		copy[random() % sizeof(after)] = random();
		copy[random() % sizeof(after)] = random();
		write_file(TOTAL, copy, random() % sizeof(after));
		say(WORDS("hist"));
		wrong += !run_is_fine(&run);
	}
	equals("no truncated or corrupted file is its end", wrong, 0);
}

/* A machine that uses many reasons, each with a dozen buckets */
static void write_many(void)
{
	static char text[NR_REASONS * 256];
	unsigned int at = sprintf(text, "# version=1 cpus=256 on=1\n"), i, bucket;

	for (i = 0; i < NR_REASONS; i++) {
		at += sprintf(text + at, "hcall:__pkvm_%u count=12000000 total_ns=%u hist=", i, i);
		for (bucket = 6; bucket < 18; bucket++)
			at += sprintf(text + at, "%u:1000000%c", bucket, bucket < 17 ? ',' : '\n');
	}
	write_text(TOTAL, text);
}

static void check_cost(void)
{
	double begin = run_seconds(), cost;

	write_many();
	say(WORDS("top", "-i", "0.01", "-r", "200"));
	cost = (run_seconds() - begin) / 200;
	ok(cost < 0.001, "a refresh takes %.0f us of a CPU, less than 0.1 %% at one a second",
	   cost * 1e6);
}

static void check_overhead(void)
{
	say(WORDS("overhead", "-r", "2"));
	refuses("no write_event", "CONFIG_KVM_HYP_TRACING_SELFTEST");
	make_directory("hypervisor/events");
	make_directory("hypervisor/events/hypervisor");
	make_directory("hypervisor/events/hypervisor/selftest");
	make_directory("hypervisor/events/hypervisor/hyp_printk");
	write_text("hypervisor/write_event", "");
	write_text("hypervisor/trace", "");
	write_text("hypervisor/set_event", "");
	write_text("hypervisor/events/enable", "1\n");
	write_text("hypervisor/events/hypervisor/selftest/enable", "0\n");
	write_text("hypervisor/events/hypervisor/hyp_printk/enable", "1\n");
	write_text("hypervisor/events/hypervisor/selftest/filter", "none\n");
	say(WORDS("overhead", "-r", "2"));
	shows("overhead", "an event, filtered ");
	shows("overhead", "2 rounds of");
	ok(first_byte(SWITCH) == '0', "the accounting is off at the end");
	ok(first_byte("hypervisor/tracing_on") == '0', "so is tracing");
	ok(first_byte("hypervisor/events/hypervisor/hyp_printk/enable") == '0',
	   "nothing was printed");
	say(WORDS("overhead", "-r", "2"));
	refuses("a filter", "has a filter");
	write_text("hypervisor/tracing_on", "1\n");
	say(WORDS("overhead", "-r", "2"));
	refuses("tracing is on", "tracing is on");
}

/* What is missing, from less to more */
static void check_refusals(void)
{
	write_text(TOTAL, "# version=1 cpus=2 on=1\nsmc coun");
	say(WORDS("top"));
	refuses("a truncated file", "accounting_total, line 2");
	ok(first_byte(SWITCH) == '0', "the accounting is off after an error");
	write_text(TOTAL, "# version=1 cpus=2 on=0\n");
	say(WORDS("hist"));
	refuses("nothing was counted", "write 1 to");
	unlink(path_of(TOTAL));
	say(WORDS("hist"));
	refuses("no total", "No such file");
	unlink(path_of(SWITCH));
	say(WORDS("top"));
	refuses("no accounting", "no accounting at EL2: use 'hypstat record'");
	unlink(path_of("hypervisor/tracing_on"));
	say(WORDS("hist"));
	refuses("no hypervisor", "perf kvm stat");
}

int main(int argc, char **argv)
{
	directory = argv[1];
	hypstat = argv[2];
	setenv("TRACEFS_PATH", directory, 1);
	setenv("DEBUGFS_PATH", directory, 1);
	make_files();
	check_top();
	check_rounds();
	check_guests();
	check_hist();
	check_metrics();
	check_command();
	check_svg();
	check_arguments();
	check_corruption();
	check_cost();
	check_overhead();
	check_refusals();
	return tap_end();
}
