# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# Recording with Perfetto in a VM; sourced in the directory that clients.perfetto() has laid out.

PATH=$PWD/hyp-trace:$PATH
export PATH PERFETTO_PRODUCER_SOCK_NAME=/tmp/producer PERFETTO_CONSUMER_SOCK_NAME=/tmp/consumer
cp -R usr /
# shellcheck source=tools/testing/selftests/hyp-trace/until.sh
. "$PWD/hyp-trace/until.sh"

# configure KILOBYTES DRAIN_MS EVENTS: print a configuration; of the hypervisor's buffer a CPU.
configure() {
	cat <<-END
		buffers { size_kb: 32768 }
		data_sources { config { name: "linux.ftrace" ftrace_config {
		  instance_name: "hypervisor"
		  ftrace_events: "hypervisor/$3"
		  buffer_size_kb: $1
		  drain_period_ms: $2
		} } }
	END
}

# configure_host EVENTS...: what comes after that for the host's events.
configure_host() {
	echo 'data_sources { config { name: "linux.ftrace" ftrace_config {'
	printf '  ftrace_events: "%s"\n' "$@"
	echo '} } }'
}

start_traced() {
	traced >/tmp/traced.log 2>&1 &
	until_true 20 test -e "$PERFETTO_CONSUMER_SOCK_NAME"
}

start_probes() {
	: >/tmp/probes.log
	traced_probes >/tmp/probes.log 2>&1 &
	# shellcheck disable=SC2034 # for who sources this
	probes=$!
	until_true 20 grep -q 'Connected to the service' /tmp/probes.log
}

ended() {
	! kill -0 "$1" 2>/dev/null
}

# begin FILE ARGUMENT...: record; when it returns, all sources of data have started.
begin() {
	file=$1
	shift
	recorder=$(perfetto --background-wait -o "$file" "$@")
}

# end: what has been written until now is in the file.
end() {
	kill "$recorder" && until_true 20 ended "$recorder"
}
