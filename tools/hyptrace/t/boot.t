#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Tracing from boot, as the kernel's command line says.
. "$(dirname "$0")/script.sh"

cat >>"$tmp/prelude" <<'EOF'
cd /sys/kernel/tracing

# The file holds these lines, and no others: holds FILE LINE...
holds() {
	file=$1
	shift
	printf '%s\n' "$@" | diff - "$file"
}

# Lines of the kernel's log that are of tracing.
told() {
	dmesg | grep -v 'Kernel command line' | grep hyp_trace
}

# An event written now is of now: time is right since it was set at boot.
is_of_now() {
	before=$(cut -d ' ' -f 1 /proc/uptime)
	echo 4711 >hypervisor/write_event
	after=$(cut -d ' ' -f 1 /proc/uptime)
	awk -v before="$before" -v after="$after" '
		/selftest id=4711$/ { at = $2 + 0 }
		END { exit !(at > before - 0.02 && at < after + 0.02) }' hypervisor/trace
}

# __pkvm_prot_finalize was called once on each CPU, after tracing began, and all
# of that before there were files to turn tracing on.
has_finalisation() {
	awk -v cpus="$(nproc)" '
		/name=__hyp_trace_enable / && !n { begun++ }
		/name=__pkvm_prot_finalize invalid=0 ret=0$/ { n++; if (!seen[$1]++) on++ }
		END { exit !(begun == cpus && n == cpus && on == cpus) }' hypervisor/trace
}
EOF

# All that is there of pKVM's finalisation, and of the host's before it.
everything() {
	runs CMDLINE="hyp_trace_event=*:* hyp_trace_buffer_size=4M" "$@" <<-'END'
		diff hypervisor/set_event hypervisor/available_events
		holds hypervisor/tracing_on 1
		holds hypervisor/buffer_size_kb '4096 (loaded)'
		has_finalisation
		grep 'host_mem_abort' hypervisor/trace >/tmp/aborts
		[ -s /tmp/aborts ]
		is_of_now
		# Nothing was lost, nor is now
		sed -n 's,.*entries-written: \([0-9]*\)/\([0-9]*\) .*,[ \1 = \2 ],p' hypervisor/trace |
			grep '^\[ \([0-9]*\) = \1 ]'
		[ -z "$(told)" ]
		for event in hypervisor/events/hypervisor/*/format; do
			diff "$event" "${event#hypervisor/}"
		done
		guest
		grep 'hyp_exit reason=guest' hypervisor/trace >/tmp/exits
		[ -s /tmp/exits ]
		echo 0 >hypervisor/tracing_on
		echo >hypervisor/trace
		holds hypervisor/buffer_size_kb '4096 (unloaded)'
	END
}

# The words of set_event, in order; what is wrong is told, and the rest done.
words() {
	set -- "hyp_trace_event=host_hcall,nonsense,hypervisor:selftest,hyp_exit,,!hyp_exit" \
		"hyp_trace_event=hypervisor:guest_enter,kvm:*" "hyp_trace_buffer_size=12" "$@"
	runs CMDLINE="$1 $2 $3" "$4" "$5" <<-'END'
		holds hypervisor/set_event hypervisor:host_hcall hypervisor:guest_enter \
			hypervisor:selftest
		holds hypervisor/tracing_on 1
		# As the host does, no less than a page
		holds hypervisor/buffer_size_kb '4 (loaded)'
		is_of_now
		told | sed 's/.*hyp_trace: //' >/tmp/told
		holds /tmp/told "Failed to enable trace event: nonsense" \
			"Failed to enable trace event: kvm:*"
		guest
	END
}

# A size alone starts nothing; a wrong one changes nothing.
size_alone() {
	runs CMDLINE="hyp_trace_buffer_size=100K" <<-'END'
		holds hypervisor/tracing_on 0
		holds hypervisor/buffer_size_kb '100 (unloaded)'
		diff hypervisor/set_event hypervisor/available_events
		[ -z "$(told)" ]
	END
}

wrong_size() {
	runs MODE=nvhe CMDLINE="hyp_trace_buffer_size=4KiB hyp_trace_event=selftest" <<-'END'
		holds hypervisor/tracing_on 1
		holds hypervisor/buffer_size_kb '1408 (loaded)'
		holds hypervisor/set_event hypervisor:selftest
		is_of_now
		told | sed 's/.*hyp_trace: //' >/tmp/told
		holds /tmp/told "no such buffer size: 4KiB"
		guest
	END
}

# Nothing is started that nobody could see.
locked_down() {
	runs CMDLINE="lockdown=confidentiality hyp_trace_event=*:* hyp_trace_buffer_size=200M" \
		<<-'END'
		[ ! -e hypervisor ]
		told | grep 'no tracing of the hypervisor'
		awk '/^MemTotal/ { total = $2 } /^MemFree/ { exit $2 < total * 0.7 }' /proc/meminfo
		guest
	END
}

# There is nothing to trace; the options are known all the same.
nothing() {
	runs MODE="$1" CMDLINE="hyp_trace_event=*:* hyp_trace_buffer_size=4M" <<-'END'
		[ ! -e hypervisor ]
		[ -z "$(told)" ]
		! dmesg | grep 'Unknown kernel command line'
	END
}

ok "all events, protected max" everything CPU=max
ok "all events, protected cortex-a72" everything CPU=cortex-a72 SMP=4
ok "some events, nvhe max" words MODE=nvhe CPU=max
ok "a size alone" size_alone
ok "a wrong size, nvhe" wrong_size
ok "locked down" locked_down
ok "vhe" nothing vhe
plan
