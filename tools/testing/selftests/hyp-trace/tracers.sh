#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# current_tracer traces EL2's functions as the host's tracers do its own: all of them, or those that
# set_ftrace_filter selects. The text and the formats are the host's, functions nest, and
# set_graph_function and max_graph_depth limit the graph. Guests and CPUs run on meanwhile.
# shellcheck source=tools/testing/selftests/hyp-trace/tracing.sh
. "$(dirname "$0")/tracing.sh"
# It chooses functions itself.
HYP_TRACE_FUNCTIONS=

TRACER=$HYP/current_tracer
FILTER=$HYP/set_ftrace_filter
NOTRACE=$HYP/set_ftrace_notrace
GRAPH=$HYP/set_graph_function
DEPTH=$HYP/max_graph_depth
RUN=__kvm_vcpu_run
CPU=$((CPUS - 1))
RECORDS="function funcgraph_entry funcgraph_exit"

run_vcpu() {
	guest --hvc 32 --mmio 32 --wfi 2 --cpu "$CPU" >guests
}

# shown COMMAND...: trace the command, and show the trace into the file trace
shown() {
	echo 1 >"$HYP/tracing_on"
	"$@"
	status=$?
	echo 0 >"$HYP/tracing_on"
	cat "$HYP/trace" >trace
	echo >"$HYP/trace"
	return $status
}

# columns NAME: lines of functions that the graph in the file trace has, without CPU and duration
columns() {
	sed -n '/^#/d; s/^[^|]*|  \( *[^ /]\)/\1/p' trace
}

# How many lines a pattern has among these
calls() {
	columns | grep -c -- "$1"
}

misnested() {
	columns | grep -q '{$' || echo "no function in the trace"
	columns | grep -q ');$' || echo "no function without a call in the trace"
	awk "$@" -f "$DIR/graph.awk" trace
}

# The host's file of the same name, of a new instance: each has one.
host_instance() {
	mkdir "$TRACEFS/instances/tracers"
	echo "$TRACEFS/instances/tracers"
}

differing_formats() {
	for record in $RECORDS; do
		cmp "$TRACEFS/events/ftrace/$record/format" "$HYP/events/ftrace/$record/format"
	done
}

test_files() {
	is "the tracers" "$(cat "$HYP/available_tracers")" "function_graph function nop"
	is "none at first" "$(cat "$TRACER")" nop
	none "the formats are the host's" differing_formats
	is "a format is all there is of a record" \
		"$(cd "$HYP/events/ftrace" && find . -type f | sort | xargs)" \
		"./funcgraph_entry/format ./funcgraph_exit/format ./function/format"
	is "the records are no events" "$(grep -c ftrace "$HYP/available_events")" 0
	is "set_event does not know them" \
		"$(fileop write "$HYP/set_event" 'ftrace:function ')" EINVAL
	is "no depth at first" "$(cat "$DEPTH")" 0
	is "functions anywhere begin a graph" "$(cat "$GRAPH")" "#### all functions enabled ####"
}

# What is written to current_tracer, as the host's answers
test_refused() {
	host=$(host_instance)
	for word in no_tracer functions "function  graph" ""; do
		is "refused as the host does: '$word'" "$(fileop write "$TRACER" "$word ")" \
			"$(fileop write "$host/current_tracer" "$word ")"
	done
	rmdir "$host"
	exec 5<"$HYP/trace_pipe"
	is "not while trace_pipe is open" "$(fileop write "$TRACER" function)" EBUSY
	is "an unknown one is as unknown then" "$(fileop write "$TRACER" no_tracer)" EINVAL
	is "but the same one" "$(fileop write "$TRACER" nop)" ok
	exec 5<&-
	is "a depth is a number" "$(fileop write "$DEPTH" x)" EINVAL
	is "a graph begins with a function" "$(fileop write "$GRAPH" 'no_such_function ')" EINVAL
	is "only those in the list can be removed" "$(fileop write "$GRAPH" "!$RUN ")" EINVAL
	is "and still none" "$(cat "$TRACER")" nop
}

# names: of the functions in a trace of function, each once
names() {
	awk '$1 ~ /^\[/ && $4 ~ /^<-/ { print $3 }' trace | sort -u
}

# Lines that are no function's, or name none
odd() {
	awk '$1 ~ /^\[/ && (NF != 4 || $4 !~ /^<-/) { print }' trace
	names | grep -vxFf "$HYP/available_filter_functions"
}

test_function() {
	only
	echo function >"$TRACER"
	is "function: it is the tracer" "$(cat "$TRACER")" function
	is "function: an empty list is all" "$(cat "$FILTER")" "#### all functions enabled ####"
	record trace run_vcpu
	holds "function: many functions" "$(names | wc -l)" -gt 20
	none "function: lines name functions" odd
	is "function: no event was lost" "$(grep -c LOST trace)" 0
	echo "$RUN" >"$NOTRACE"
	record trace run_vcpu
	is "function: notrace excludes one" "$(names | grep -cx "$RUN")" 0
	: >"$NOTRACE"
	echo "$RUN" >"$FILTER"
	record trace run_vcpu
	is "function: a list selects one" "$(names)" "$RUN"
	exec 5>"$FILTER"
	record trace run_vcpu
	is "function: an empty list counts when the file is closed" "$(names)" "$RUN"
	exec 5>&-
	: >"$FILTER"
	only func func_ret
	record trace run_vcpu
	is "function: events of functions need a list" "$(grep -c ' func' trace)" 0
	shown run_vcpu
	is "function: the header names it" "$(head -n 1 trace)" "# tracer: function"
	echo nop >"$TRACER"
	is "nop: an empty list is none" "$(cat "$FILTER")" "#### no functions enabled ####"
	record trace run_vcpu
	is "nop: no function" "$(grep -c '^\[' trace)" 0
}

# The header of the host's function_graph
HEADER='# tracer: function_graph
#
# CPU  DURATION                  FUNCTION CALLS
# |     |   |                     |   |   |   |'

test_graph() {
	only host_hcall
	echo function_graph >"$TRACER"
	shown run_vcpu
	is "graph: the header is the host's" "$(head -n 4 trace)" "$HEADER"
	none "graph: functions nest" misnested
	is "graph: no event was lost" "$(grep -c LOST trace)" 0
	is "graph: as many as hypercalls that run a vCPU" "$(calls "^ *$RUN()")" \
		"$(grep -c "/\* host_hcall .*name=$RUN invalid=0" trace)"
	holds "graph: durations are in microseconds" \
		"$(grep -c '[0-9]\.[0-9]* us  *|  *} /\*' trace)" -gt 20
	record trace run_vcpu
	holds "graph: trace_pipe has entries and returns" "$(calls "^ *} /\* $RUN \*/")" -gt 0
	is "graph: and none in one line" "$(calls ');$')" 0
}

test_limits() {
	only
	echo 1 >"$DEPTH"
	shown run_vcpu
	is "depth 1: the outermost functions alone" "$(calls '^ ')" 0
	holds "depth 1: there are some" "$(calls '();')" -gt 0
	echo 2 >"$DEPTH"
	shown run_vcpu
	holds "depth 2: those that they call, too" "$(calls '^  [^ ]')" -gt 0
	is "depth 2: none that these call" "$(calls '^   ')" 0
	echo 0 >"$DEPTH"
	echo "$RUN" >"$GRAPH"
	shown run_vcpu
	is "set_graph_function: only this one begins a graph" \
		"$(columns | grep '^[^ }]' | sort -u)" "$RUN() {"
	holds "set_graph_function: with what it calls" "$(calls '^  [^ ]')" -gt 20
	none "set_graph_function: functions nest" misnested
	echo 1 >"$DEPTH"
	shown run_vcpu
	is "both: this one alone" "$(columns | sort -u)" "$RUN();"
	echo 0 >"$DEPTH"
	: >"$GRAPH"
	shown run_vcpu
	holds "no limit: functions that it does not call" "$(calls '^handle_trap() {')" -gt 0
}

# Another tracer clears the buffer.
test_cleared() {
	echo 1 >"$HYP/tracing_on"
	run_vcpu
	echo 0 >"$HYP/tracing_on"
	echo function >"$TRACER"
	is "another tracer clears the buffer" "$(grep -vc '^#' "$HYP/trace")" 0
	echo nop >"$TRACER"
}

switch_tracers() {
	for tracer in function function_graph nop; do
		echo $tracer >"$TRACER"
		echo "$RUN" >"$GRAPH"
		: >"$GRAPH"
	done
}

test_switched() {
	shown guests_while switch_tracers
	is "the guest runs on while tracers change" $? 0
	echo function_graph >"$TRACER"
	shown run_vcpu
	none "after that functions nest" misnested
	echo nop >"$TRACER"
}

test_hotplug() {
	echo function_graph >"$TRACER"
	nests_on_hotplug "$CPU" shown
	echo nop >"$TRACER"
}

plan 52 available_filter_functions
test_files
test_refused
test_function
test_graph
test_limits
test_cleared
test_switched
test_hotplug
ktap_finished
