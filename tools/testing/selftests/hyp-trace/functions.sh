#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Functions of EL2 are traced by name: set_ftrace_filter and set_ftrace_notrace choose them, and
# refuse what the host's refuse. Functions nest, each has the address of its symbol, and there are
# as many runs of a vCPU as hypercalls say. Guests and CPUs that come and go run on while all
# functions are traced, and while they are turned on and off.
# shellcheck source=tools/testing/selftests/hyp-trace/tracing.sh
. "$(dirname "$0")/tracing.sh"
# It chooses functions itself.
HYP_TRACE_FUNCTIONS=

ALL=$HYP/available_filter_functions
FILTER=$HYP/set_ftrace_filter
NOTRACE=$HYP/set_ftrace_notrace
RUN=__kvm_vcpu_run
CPU=$((CPUS - 1))

run_vcpu() {
	guest --hvc 32 --mmio 32 --wfi 2 --cpu "$CPU" >guests
}

# traced COMMAND...: trace the command's functions into the file trace.
traced() {
	only func func_ret
	record trace "$@"
	: >"$FILTER"
	: >"$NOTRACE"
}

# names: of the functions in the trace, each once
names() {
	awk '$3 == "func" || $3 == "func_ret" { print $4 }' trace | sort -u
}

# lines EVENT NAME: how many the trace has
lines() {
	awk -v event="$1" -v name="$2" '$3 == event && $4 == name { n++ } END { print n + 0 }' trace
}

misnested() {
	grep -q ' func ' trace || echo "no function in the trace"
	awk "$@" -f "$DIR/functions.awk" "$ALL" trace
}

# Functions that have no symbol of EL2
unknown() {
	sed -n 's/.* __kvm_nvhe_//p' /proc/kallsyms >symbols
	grep -vxFf symbols "$ALL"
}

# Functions that tracing uses, and what runs after a panic
excluded() {
	grep -x -e 'hyp_event_.*' -e 'hyp_func_.*' -e 'hyp_trace_.*' -e 'hyp_stay_.*' \
		-e 'hyp_panic.*' -e 'hyp_fixmap_.*' -e fixmap_clear_slot -e 'trace_ring_.*' \
		-e '__kvm_host_psci_cpu_entry' "$ALL"
}

test_available() {
	holds "functions are available" "$(wc -l <"$ALL")" -gt 50
	none "each has a symbol of EL2" unknown
	none "none of tracing itself" excluded
	is "available_filter_functions can only be read" "$(stat -c %a "$ALL")" 440
}

test_lists() {
	is "no function is chosen at first" "$(cat "$FILTER")" "#### no functions enabled ####"
	is "none is excluded" "$(cat "$NOTRACE")" "#### no functions disabled ####"
	echo 1 >"$HYP/events/enable"
	record trace run_vcpu
	is "all events, but no function" "$(names)" ""
	for file in set_ftrace_filter set_ftrace_notrace; do
		echo "$RUN" >"$HYP/$file"
		echo handle_trap >>"$HYP/$file"
		is "$file: >> adds" "$(sort "$HYP/$file" | xargs)" "$RUN handle_trap"
		echo '!handle_trap' >>"$HYP/$file"
		is "$file: ! removes" "$(cat "$HYP/$file")" "$RUN"
		echo handle_trap >"$HYP/$file"
		is "$file: > empties the list first" "$(cat "$HYP/$file")" handle_trap
		: >"$HYP/$file"
		is "$file: and the list is empty" "$(grep -vc '^####' "$HYP/$file")" 0
	done
}

# globs: some, and what grep has for each
GLOBS='__kvm_vcpu* ^__kvm_vcpu
*_trap _trap$
*vcpu* vcpu
handle_t?ap ^handle_t.ap$
__[kp]*vm_* ^__[kp].*vm_'

test_globs() {
	echo "$GLOBS" | while read -r glob pattern; do
		echo "$glob" >"$FILTER"
		grep -- "$pattern" "$ALL" >expected
		cmp -s expected "$FILTER" || echo "$glob"
	done >different
	is "globs choose what grep finds" "$(xargs <different)" ""
	echo 3 >"$FILTER"
	is "a number is a position" "$(cat "$FILTER")" "$(sed -n 3p "$ALL")"
	echo '*' >"$FILTER"
	none "a star is all of them" cmp "$ALL" "$FILTER"
	: >"$FILTER"
}

# What is no function is refused as the host's files refuse it, if there are any.
REFUSED='no_such_function
!no_such_function
no_such_*
0
999999
schedule:no_such_command'

test_refused() {
	host=$TRACEFS/set_ftrace_filter
	echo "$REFUSED" >refused
	while read -r word; do
		expected=EINVAL
		[ ! -e "$host" ] || expected=$(fileop write "$host" "$word ")
		is "refused: '$word'" "$(fileop write "$FILTER" "$word ")" "$expected"
	done <refused
	echo "$RUN no_such_function handle_trap" >"$FILTER" 2>&-
	is "words before a wrong one count" "$(cat "$FILTER")" "$RUN"
	: >"$FILTER"
}

# What the file shows can be written to it, however long it is.
test_written_back() {
	echo '*' >"$FILTER"
	cat "$FILTER" >list
	: >"$FILTER"
	dd if=list of="$FILTER" bs=1M 2>/dev/null
	is "a list of all functions can be written" "$(cmp list "$FILTER" && echo same)" same
	: >"$FILTER"
	dd if=list of="$FILTER" bs=100 2>/dev/null
	is "also in blocks that end within words" "$(cmp list "$FILTER" && echo same)" same
	printf %s "$RUN" >"$FILTER"
	is "a word ends when the file is closed" "$(cat "$FILTER")" "$RUN"
	printf '%5000s' '' | tr ' ' x >list
	is "a word of more than a page is refused" \
		"$(dd if=list of="$FILTER" bs=1M 2>/dev/null || echo refused)" refused
	: >"$FILTER"
}

test_chosen() {
	echo "$RUN" >"$FILTER"
	traced run_vcpu
	is "only the function that was chosen" "$(names)" "$RUN"
	is "as many returns as entries" "$(lines func_ret "$RUN")" "$(lines func "$RUN")"
	echo "$RUN" >"$FILTER"
	only func host_hcall
	record trace run_vcpu
	: >"$FILTER"
	is "as many as hypercalls that run a vCPU" "$(lines func "$RUN")" \
		"$(grep -c "name=$RUN invalid=0" trace)"
	is "no event was lost" "$(lost trace)" 0
}

test_all() {
	echo '*' >"$FILTER"
	echo handle_trap >"$NOTRACE"
	traced run_vcpu
	is "notrace excludes a function" "$(names | grep -cx -e handle_trap)" 0
	echo '*' >"$FILTER"
	traced run_vcpu
	is "all: no event was lost" "$(lost trace)" 0
	holds "all: many functions" "$(names | wc -l)" -gt 20
	none "all: functions nest, with their callers" misnested
	none "all: times never go backwards on a CPU" unsound backwards trace
	record trace run_vcpu
	is "none: after that no function" "$(names)" ""
}

# The address in a record is that of the symbol, whatever KASLR does.
test_address() {
	address=$(awk -v name="__kvm_nvhe_$RUN" '$3 == name { print $1 }' /proc/kallsyms)
	echo '*' >"$FILTER"
	echo "ip == 0x$address" >"$EVENTS/func/filter"
	echo "ip == 0x$address" >"$EVENTS/func_ret/filter"
	traced run_vcpu
	is "the address is that of the symbol" "$(names)" "$RUN"
	echo 0 >"$EVENTS/filter"
}

# An event alone
test_one_event() {
	for event in func func_ret; do
		echo '*' >"$FILTER"
		only "$event"
		record trace run_vcpu
		: >"$FILTER"
		is "$event alone: no other event" \
			"$(awk '$1 ~ /^\[/ { print $3 }' trace | sort -u)" "$event"
	done
}

toggle() {
	echo '*' >"$FILTER"
	: >"$FILTER"
}

test_toggled() {
	only func func_ret
	record trace guests_while toggle
	is "the guest runs on while all are turned on and off" $? 0
	echo '*' >"$FILTER"
	traced run_vcpu
	none "after that functions nest" misnested
}

test_hotplug() {
	echo '*' >"$FILTER"
	nests_on_hotplug "$CPU" traced
	: >"$FILTER"
}

plan 46 available_filter_functions
test_available
test_lists
test_globs
test_refused
test_written_back
test_chosen
test_all
test_address
test_one_event
test_toggled
test_hotplug
ktap_finished
