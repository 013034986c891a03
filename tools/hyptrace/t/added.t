#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# An event is one entry in the catalogue and one call: add one that has a field of
# each kind, and see it wherever events are seen, trace-cmd's report included.
. "$(dirname "$0")/ktap.sh"

long=$(printf '0123456789%.0s' $(seq 14))

cat >"$tmp/entry" <<'END'
HYP_EVENT(added,
	HE_PROTO(u64 id, const char *text, const unsigned long *bits),
	HE_STRUCT(
		he_field(s32, sign)
		he_array(u16, values, 3)
		he_string(text, text)
		he_bitmask(bits, 70)
		he_string(again, text)
	),
	HE_ASSIGN(
		__entry->sign = id & 1 ? -1 : 1;
		__entry->values[0] = id;
		__entry->values[1] = id + 1;
		__entry->values[2] = 0xffff;
		__assign_str(text);
		__assign_bitmask(bits, bits, 70);
		__assign_str(again);
	),
	HE_PRINTK("sign=%d values=%s text=%s bits=%s again=%s", __entry->sign,
		  __print_array(__entry->values, 3, 2), __get_str(text), __get_bitmask(bits),
		  __get_str(again))
)
END
cat >"$tmp/call" <<END
	trace_added(id, id == 3 ? "" : id & 1 ? "odd" : "$long",
		    (unsigned long[]){ id << 60 | 5, id & 63 });
END
trap 'rm -rf "$tmp" "$BUILD/kernel-event"' EXIT

ok "a kernel with one more event" "$TOOLS/event-kernel" "$tmp/entry" "$tmp/call"
if ! "$TOOLS/clients/trace-cmd-files" bookworm "$tmp/files" 2>"$tmp/err"; then
	"$TOOLS/selftest"
	mkdir -p "$tmp/files"
	cp -R "$BUILD/selftest/." "$tmp/files"
fi
cp "$TOOLS/clients/added.sh" "$tmp/files/hyp-trace"
vm_script <<'END'
[ ! -d usr ] || cp -R usr /
run hyp-trace/added.sh
END
vm event CONFIG=event SMP=2 TIMEOUT=120
plan
