# SPDX-License-Identifier: GPL-2.0
# The driver of hyptrace: `make help`. Each target is a module of the Python package tools/hyptrace;
# variables reach it by the environment.

T := tools/hyptrace
# Debian's own, which has Debian's pytest
H := @PYTHONPATH=tools /usr/bin/python3 -B -m hyptrace
CONFIG ?= $(if $(filter functions,$(TOOL)),functions,default)
export CONFIG
# A kernel tree of the user's own: the Image that is built there, or built here
ifneq ($(TREE),)
CONFIG := own
IMAGE ?= $(wildcard $(TREE)/arch/arm64/boot/Image)
export IMAGE
endif
MAKEFLAGS += --no-print-directory
# A step begins when those before it have ended, also with -j.
.NOTPARALLEL:

.PHONY: help goals arguments run check bench torture tree import kernel perf hypstat deb rootfs vm series clean distclean

help: ## show this
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/  make \1\t\2/p' Makefile | sed 's/ \[/\n\t[/g' | expand -t 18

# All packages at once, before the work
goals:
	@$(T)/deps $(MAKECMDGOALS)

run check bench torture tree import kernel perf hypstat deb rootfs vm series: | goals
	$(H) $@

# A mistake is refused before a kernel is built.
arguments: export ARGUMENTS := 1
arguments: | goals
	$(H) $(or $(firstword $(filter run vm,$(MAKECMDGOALS))),run)

run: arguments kernel rootfs ## boot a pKVM host, run a guest and show what the hypervisor did [TOOL=hypstat|functions|trace-cmd|perfetto|perf-kvm|syscalls|guest-callchains]
check: ## run the fast tests, in half an hour; ends with `N passed, N failed` [SET=debug|pages|kcsan|clients|modes|topics|series|variants|x86: others, an hour each at most] [SET=all: all of these] [SET=mutants: mistakes of one line, which the tests find] [SET=fresh: on fresh Debian machines] [SET=deb: the packages, in hours] [TESTS="boot kselftest.debug"] [LIST=1]
bench: kernel rootfs ## what an event costs, to write and to read, in instructions [RUNS=3] [MODE=protected] [CPU=max]
torture: kernel rootfs ## rounds of the hardest tests, with seeds [MINUTES=60] [SEED=s] [ROUND=n] [SECS=60] [KERNELS=".."]
tree: ## make build/tree: Debian's linux-source-6.12 with our files and patches, a work tree of git [SOURCE=tarball] [TOPIC=name: one topic alone] [BASE=7.3: another kernel, in build/7.3, also for the others]
import: ## take what was changed in build/tree back to patches/ and our files [PATCH=topic/name.patch: of edits where that is not clear] [TOPIC=name: of a new commit]
kernel: $(if $(TREE),,tree) ## build it [CONFIG=default|functions|debug|kcsan|16k|64k|bti|preempt|rt|pmu|x86] [TOPIC=name] [TREE=dir: a kernel tree of your own]
perf: $(if $(TREE),,tree) ## cross-build perf for arm64 into build/perf [FOR=host: for this machine] [TREE=dir: of a kernel tree of your own]
hypstat: tree ## cross-build hypstat for arm64 into build/hypstat [FOR=host: for this machine]
deb: tree ## build Debian packages of it, to install on a machine [FLAVOUR=cloud-arm64|arm64] [LSMOD=file: only the modules that it names]
rootfs: ## make the guest's user space from Debian's arm64 packages
vm: arguments $(if $(IMAGE),,kernel) rootfs ## boot it: a shell, or a script [TREE=dir|IMAGE=file: your own kernel] [DEBUG=1: wait for gdb, with the symbols of EL2] [SCRIPT=file] [FILES=dir] [OUT=dir] [MODE=protected|nvhe|vhe|none] [CPU=max] [SMP=2] [MEM=1G] [CONFIG=..] [CMDLINE=".."] [QEMU_ARGS=".."] [TIMEOUT=s]
series: ## export each topic as mails that `git am` takes [OUT=build/series] [TOPIC=name] [SIGNOFF=1: with your Signed-off-by]

clean: ## remove what was built, but not what was downloaded
	@[ ! -d build ] || find build -mindepth 1 -maxdepth 1 ! -name dl ! -name 'suite-*' -exec rm -rf {} +

distclean: ## remove build/
	@rm -rf build
