#!/bin/sh
# perf kvm stat: times
# SPDX-License-Identifier: GPL-2.0
#
# Percentiles and histograms of the exits of a VM, those that took long, the time off the CPU,
# and lines for other programs

# What lib/kvm_vm.sh has
# shellcheck disable=SC2154
# shellcheck source-path=SCRIPTDIR source=lib/kvm_vm.sh
. "$(dirname "$0")"/lib/kvm_vm.sh

report()
{
	perf kvm stat report -i "$data/perf.data" --stdio "$@" > "$data/report" 2>&1
}

# Each row has its percentiles behind the deviation of the mean, and between "Min Time" and
# "Max Time".
percentiles_are_in_order()
{
	awk '/\( \+-/ {
		min = $5 + 0; max = $6 + 0; n++
		sub(/.*\)/, "")
		if (NF < 4 || $1 + 0 < min || $2 + 0 < $1 + 0 || $3 + 0 < $2 + 0 ||
		    $4 + 0 < $3 + 0 || max < $4 + 0)
			exit 1
	}
	END { exit !n }' "$data/report"
}

# p99 falls from row to row.
is_sorted()
{
	awk '/\( \+-/ {
		sub(/.*\)/, "")
		if (n++ && $3 + 0 > last)
			exit 1
		last = $3 + 0
	}
	END { exit n < 2 }' "$data/report"
}

# histogram_has EVENT NUMBER: the rows of its histogram have so many together.
histogram_has()
{
	awk -F '|' -v title="$1:" -v number="$2" '
		/:$/ { mine = $0 == title }
		mine && NF == 4 && !/COUNT/ { n += $2 }
		END { exit n != number }' "$data/report"
}

# Each line of a long exit has the exit that began it below.
long_exits_begin()
{
	awk '/ event took [0-9]+usec, .*pc 0x/ { n++; getline; if (!/kvm:kvm_exit: /) exit 1 }
		END { exit !n }' "$data/report"
}

# User space sleeps for 20 ms in each access to the device. Most of that it is off the CPU.
accesses_sleep()
{
	awk -v event="$access" '$1 == event {
		mean = $7 + 0
		sub(/.*\)/, "")
		slept = $2 + 0
		n++
	}
	END { exit n != 1 || slept < 10000 || slept > mean }' "$data/report"
}

record_vm delay=20000

report --percentiles
percentiles_are_in_order
judge "percentiles"

report --key=p99
percentiles_are_in_order && is_sorted
judge "sorted by a percentile"

report --histogram
histogram_has "$hypercall" 300 && histogram_has "$access" 7
judge "histograms"

report --duration=1
long_exits_begin
judge "exits that took long"

report
accesses_sleep
judge "time off the CPU"

perf kvm stat report -i "$data/perf.data" --json-output > "$data/report" 2> /dev/null
grep -q "^{\"event\" : \"$hypercall\", \"samples\" : 300, .*\"min-time-ns\" : [1-9].*}$" \
	"$data/report"
judge "JSON"

perf kvm stat report -i "$data/perf.data" --field-separator ';' > "$data/report" 2> /dev/null
grep -q "^event;samples;.*;min-time-ns;" "$data/report" &&
	grep -q "^$hypercall;300;" "$data/report"
judge "lines with a separator"

exit $err
