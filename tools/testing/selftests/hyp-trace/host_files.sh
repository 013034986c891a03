# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
# The files of hypervisor/, and which of the host's files each is like. Sourced after
# tracing.sh.

# Each file, and the host's own of that kind.
ALL_FILES='
accounting				tracing_on
accounting_total			trace
available_events
available_filter_functions		available_events
available_tracers
buffer_percent
buffer_size_kb
buffer_subbuf_size_kb
buffer_total_size_kb
current_tracer
error_log
events/enable
events/header_event
events/header_page
events/ftrace/funcgraph_entry/format	events/kvm/kvm_exit/format
events/ftrace/funcgraph_exit/format	events/kvm/kvm_exit/format
events/ftrace/function/format		events/kvm/kvm_exit/format
events/hypervisor/enable		events/kvm/enable
events/hypervisor/filter		events/kvm/filter
events/hypervisor/EVENT/enable		events/kvm/kvm_exit/enable
events/hypervisor/EVENT/filter		events/kvm/kvm_exit/filter
events/hypervisor/EVENT/format		events/kvm/kvm_exit/format
events/hypervisor/EVENT/hist		events/kvm/kvm_exit/hist
events/hypervisor/EVENT/id		events/kvm/kvm_exit/id
events/hypervisor/EVENT/trigger		events/kvm/kvm_exit/trigger
free_buffer
max_graph_depth				tracing_on
options/overwrite
per_cpu/CPU/accounting			per_cpu/cpu0/trace
per_cpu/CPU/buffer_size_kb		per_cpu/cpu0/buffer_size_kb
per_cpu/CPU/snapshot			per_cpu/cpu0/trace
per_cpu/CPU/stats			per_cpu/cpu0/stats
per_cpu/CPU/trace			per_cpu/cpu0/trace
per_cpu/CPU/trace_pipe			per_cpu/cpu0/trace_pipe
per_cpu/CPU/trace_pipe_raw		per_cpu/cpu0/trace_pipe_raw
options/event-fork
options/record-cmd
set_event
set_event_notrace_pid
set_event_pid
set_ftrace_filter			set_event
set_ftrace_notrace			set_event
set_graph_function			set_event
snapshot				trace
stop_tracing_us				tracing_on
timestamp_mode
trace
trace_clock
trace_options
trace_pipe
tracing_cpumask
tracing_on
write_event				trace_marker
'

# with_accounting, with_functions: the lines of a table, without those of files that this remote or
# kernel lacks
with_accounting() {
	if [ -e "$HYP/accounting" ]; then cat; else grep -v "accounting\|stop_tracing_us"; fi
}

with_functions() {
	if [ -e "$HYP/set_ftrace_filter" ]; then cat; else grep -v "ftrace\|_functions\|_graph_"; fi
}

# The table, with a line for each event of $EVENT_LIST and for each CPU.
rows() {
	cpus=$(find "$HYP/per_cpu" -name 'cpu*' | wc -l)
	events=$(echo "$EVENT_LIST" | xargs)
	echo "$ALL_FILES" | with_ids | with_accounting | with_functions |
		awk -v events="$events" -v cpus="$cpus" '
		function each(word, name) { file = $1; sub(word, name, file); row(file) }
		function row(file) { print file, $2 ? $2 : file }
		BEGIN { nr = split(events, event, " ") }
		!NF || $1 == "write_event" && event[nr] != "selftest" { next }
		{ file = $1 }
		/EVENT/ { for (i = 1; i <= nr; i++) each("EVENT", event[i]); next }
		/CPU/ { for (i = 0; i < cpus; i++) each("CPU", "cpu" i); next }
		{ row(file) }' |
		awk -v remote="$REMOTE" -v group="$HOST_GROUP" -v event="$HOST_OTHER" '
		{
			sub("/hypervisor", "/" remote, $1)
			sub("/kvm/kvm_exit", "/" group "/" event, $2)
			sub("/kvm", "/" group, $2)
			print
		}'
}
