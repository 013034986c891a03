# SPDX-License-Identifier: GPL-2.0
# What `perf kvm stat report --stdio --per-vcpu` says, as lines of words: of each vCPU and
# event, VM/VCPU EVENT ENDED OPEN MIN MAX MEAN SUM (in microseconds); of each vCPU,
# VM/VCPU = ENDED SUM GUEST. A report without --per-vcpu is of the vCPU all/all.

function number(text) {
	sub(/us.*/, "", text)
	return text + 0
}

function flush_vcpu(event) {
	for (event in seen)
		print vcpu, event, ended[event] + 0, open[event] + 0, min[event] + 0,
			max[event] + 0, mean[event] + 0, sum[event] + 0
	if (total != "")
		print vcpu, "=", total, time, guest + 0
	split("", seen)
	split("", ended)
	split("", open)
	split("", sum)
	total = guest = ""
}

BEGIN {
	OFMT = CONVFMT = "%.3f"
	vcpu = "all/all"
}

/^VM .*, VCPU .*, thread [0-9]+:$/ {
	flush_vcpu()
	vcpu = $2 "/" $4
	gsub(/,/, "", vcpu)
	next
}

/^ *[^ ].* +[0-9]+ +[0-9.]+% +[0-9.]+% +[0-9.]+us +[0-9.]+us +[0-9.]+us \( \+- *[0-9.]+% \)$/ {
	seen[$1] = 1
	ended[$1] = $2
	min[$1] = number($5)
	max[$1] = number($6)
	mean[$1] = number($7)
	sum[$1] = ended[$1] * mean[$1]
	next
}

/^Total Samples:/ {
	total = $2
	sub(/Samples:/, "", total)
	total += 0
	time = $NF
	sub(/.*:/, "", time)
	time = number(time)
}

/^Time in the guest:/ {
	guest = $0
	sub(/.*:/, "", guest)
	guest = number(guest)
}

/^Not ended: / {
	seen[$3] = 1
	open[$3] = $4
}

END { flush_vcpu() }
