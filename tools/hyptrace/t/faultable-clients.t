#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Clients as Debian has them show the strings of system calls: trace-cmd, perf, and Perfetto.
# The string is on a page that comes late.
. "$(dirname "$0")/tap.sh"
. "$TOOLS/t/program.sh"

SUITE=faultable-tracepoints
CLIENTS=$TOOLS/clients
files=$tmp/files
EVENT=sys_enter_openat

trace_cmd() {
	root=$("$TOOLS/suite" trixie trace-cmd trace-cmd) && program "$root" usr/bin/trace-cmd "$files"
}

perf() {
	root=$("$TOOLS/suite" trixie linux-perf linux-perf) && program "$root" usr/bin/perf "$files"
}

perfetto() {
	"$CLIENTS/perfetto-files" "$files"
}

selftest() {
	SUITE=$SUITE "$TOOLS/selftest" && cp -R "$BUILD/selftest-$SUITE/." "$files"
}

cat >"$tmp/script" <<'END'
#!/bin/sh
# Perfetto's libraries are those of another release.
run() {
	lib/ld-linux-aarch64.so.1 --library-path lib "$@"
}
page="$PWD/faultable-tracepoints/page missing 100"
if [ -e trace-cmd ]; then
	run ./trace-cmd record -q -e syscalls:sys_enter_openat -f '__filename_val ~ "/page/*"' \
		-o /tmp/trace.dat $page
	run ./trace-cmd report -i /tmp/trace.dat >/out/trace-cmd
	run ./trace-cmd report -R -i /tmp/trace.dat >/out/trace-cmd.raw
fi
if [ -e perf ]; then
	run ./perf record -q -e syscalls:sys_enter_openat -o /tmp/perf.data $page
	run ./perf script -f -i /tmp/perf.data >/out/perf
fi
if [ -d perfetto ]; then
	. ./perfetto.sh
	cat >/tmp/config <<-CONFIG
		buffers { size_kb: 4096 }
		data_sources { config { name: "linux.ftrace" ftrace_config {
			ftrace_events: "syscalls/sys_enter_openat"
		} } }
	CONFIG
	start_traced && start_probes && begin /out/perfetto --txt -c /tmp/config
	$page
	end
fi
:
END

run_clients() {
	"$TOOLS/vm" MODE=none SMP=2 MEM=2G SCRIPT="$tmp/script" FILES="$files" OUT="$tmp/out" \
		TIMEOUT=300
}

# The string with the address before it, and the flags behind it
shown() {
	grep -E "openat.*filename: 0x[0-9a-f]+ \"/page/missing\", flags: " "$tmp/out/$1" || {
		cat "$tmp/out/$1"
		return 1
	}
}

field() {
	grep -E "$EVENT.* __filename_val=/page/missing" "$tmp/out/trace-cmd.raw" || {
		cat "$tmp/out/trace-cmd.raw"
		return 1
	}
}

# Perfetto names the fields of an event that it does not know: a field with the string's name
# has it.
decoded() {
	protoc --decode_raw <"$tmp/out/perfetto" >"$tmp/perfetto"
	grep '"__filename_val"' "$tmp/perfetto" && grep '"/page/missing"' "$tmp/perfetto"
}

mkdir "$files"
for client in trace_cmd perf perfetto; do
	if "$client" >"$tmp/said" 2>&1; then
		eval "has_$client=1"
	else
		skip "$client of Debian" "$(grep -v '^hyptrace: ' "$tmp/said" | head -n 1)"
	fi
done
need kernel
ok "the kselftest" selftest
ok "the clients record" run_clients
if [ -n "${has_trace_cmd-}" ]; then
	ok "trace-cmd shows the string" shown trace-cmd
	ok "it has the string as a field" field
fi
[ -z "${has_perf-}" ] || ok "perf shows the string" shown perf
[ -z "${has_perfetto-}" ] || ok "Perfetto has the string" decoded
plan
