#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The KUnit tests of the rings, and of setting them up, in the VM: their results as ours.
# CONFIG=debug boots the debug kernel, CONFIG=kcsan the one that looks for data races.
# shellcheck source=tools/hyptrace/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tools/hyptrace/t/tap.sh
. "$TOOLS/t/tap.sh"

cat >"$tmp/script" <<'END'
#!/bin/sh
cd /sys/kernel/debug/kunit
cat hyp_trace_ring/results hyp_trace_setup/results
END

boot() {
	"$TOOLS/vm" CMDLINE=kunit.enable=1 SMP=2 SCRIPT="$tmp/script" TIMEOUT=600 >"$tmp/ktap"
}

# The line of this case says ok.
case_is_ok() {
	grep "$1\$" "$tmp/ktap" | grep -q '^ *ok ' || {
		cat "$tmp/ktap"
		return 1
	}
}

ok "the VM ends well" boot
cases=$(sed -n 's/^ \{4\}\(not \)\{0,1\}ok [0-9]* \([a-z_0-9]*\).*/\2/p' "$tmp/ktap")
for name in $cases; do
	ok "$name" case_is_ok "$name"
done
ok "all of its tests ran" [ "$(echo "$cases" | wc -w)" = \
	"$(cat "$ROOT"/arch/arm64/kvm/hyp_trace_test*.c | grep -c 'KUNIT_CASE')" ]
plan
