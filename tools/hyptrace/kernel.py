# SPDX-License-Identifier: GPL-2.0
"""Kernels: allnoconfig and our fragments, in build/kernel-CONFIG; and the kselftests for them."""

import os
import re
import shutil

from hyptrace import process, tree as trees
from hyptrace.machine import BUILD, ROOT, Failure, arch_of, cross_for, image_of, need, note
from hyptrace.machine import option

# For users; and for the tests: as default, but for what their callers change. `own' may lack
# options.
CONFIGS = "default", "debug", "kcsan", "16k", "64k", "preempt", "rt", "pmu", "x86"
OF_TESTS = "lint", "clang", "event", "mutant", "plain", "without", "own"
# Made of the default kernel: most of it is the same.
COPIES = "event", "without", "mutant"
FRAGMENTS = ROOT / "kernel" / "configs"
# ccache finds an object again only if these are the same.
STAMP = {"KBUILD_BUILD_TIMESTAMP": "Wed Jan  1 00:00:00 UTC 2025", "KBUILD_BUILD_USER": "hyptrace",
         "KBUILD_BUILD_HOST": "localhost", "KBUILD_BUILD_VERSION": "1"}
# The makefiles would read these variables of the driver's as their own.
OURS = ("ARCH CONFIG TARGETS SCRIPT FILES OUT CONSOLE MODE CPU SMP MEM IMAGE DEBUG CMDLINE TREE "
        "TOPIC OPTIONS FLAVOUR LSMOD FOR KERNEL TIMEOUT SOURCE BASE SET TESTS LIST").split()


def clean_env(**more):
    """The environment for the kernel's makes and scripts. They must not see that the tree is a work
    tree of git: versions would name a commit, and checkpatch would do more than for a tarball."""
    kept = {name: value for name, value in os.environ.items() if name not in OURS}
    return STAMP | kept | {"GIT_DIR": "/none"} | more


def make_args(arch):
    """The words that each make for an architecture begins with."""
    return ["make", f"ARCH={arch}", f"CROSS_COMPILE={cross_for(arch)}", "LOCALVERSION="]


def make(arch, *words):
    """A short make; what it says."""
    return process.run([*make_args(arch), *words], env=clean_env()).stdout


def long_make(arch, log, what, words, **env):
    """A long make, with its output in a log. If it fails, show the errors."""
    command = [*make_args(arch), f"-j{len(os.sched_getaffinity(0))}", *words]
    if not process.logged(command, log, what, env=clean_env(**env)):
        errors = re.findall(r".*(?:error:|Error \d|undefined|\*\*\*).*\n(?:.*\n){0,5}",
                            log.read_text("utf-8", "replace"))
        raise Failure("".join(errors)[:3000] + f"the build failed: see {log.relative_to(ROOT)}")


def values(text):
    """The options that a .config or a fragment sets, as {name: value}; n where it is not set."""
    found = re.findall(r"^(?:(CONFIG_\w+)=(.*)|# (CONFIG_\w+) is not set)$", text, re.M)
    return {name or unset: value or "n" for name, value, unset in found}


def _configure(config, arch, tree, out, options):
    """Write .config, by the fragments and these options, where the last word on one counts; what
    .config lacks of them, as lines, with the options' names."""
    paths = [FRAGMENTS / "hyptrace.config"] * (arch == "arm64")
    paths += FRAGMENTS.glob(f"hyptrace-{config}.config")
    wanted = values("\n".join([path.read_text("utf-8") for path in paths]
                              + [f"CONFIG_{each}" for each in options]))
    asked = BUILD / f".kernel-{config}.config"
    asked.write_text("".join(f"{name}={value}\n" for name, value in wanted.items()), "utf-8")
    make(arch, "-s", "-C", tree, f"O={out}", f"KCONFIG_ALLCONFIG={asked}", "allnoconfig")
    got = values((out / ".config").read_text("utf-8"))
    return {name: f"{name}={value} is asked for, .config has {name}={got.get(name, 'n')}"
            for name, value in wanted.items() if got.get(name, "n") != value}


def _directory(config):
    """The build directory, made of the default kernel's if it is a variant of that."""
    out = BUILD / f"kernel-{config}"
    if config in COPIES:
        if config != "mutant":
            shutil.rmtree(out, ignore_errors=True)
        if not out.exists():
            process.run(["cp", "-a", BUILD / "kernel-default", out])
    out.mkdir(exist_ok=True)
    return out


def build(config="default", tree=None, options=(), targets=(), unknown=(), own=False):
    """Build a kernel of CONFIGS or OF_TESTS, with options that differ, as "KVM_HYP_TRACING_DUMP=n".
    Of targets, if not the image and the modules. Options of `unknown' may be missing from .config,
    for a tree that does not have them yet; any may, for a user's own tree."""
    # pylint: disable=too-many-arguments
    tree, arch = tree or BUILD / "tree", arch_of(config)
    if config not in CONFIGS + OF_TESTS:
        raise Failure(f"no configuration {config}: {', '.join(CONFIGS)}")
    need("kernel", *(["x86vm"] if arch == "x86_64" else []))
    with process.lock(f"kernel-{config}"):
        out = _directory(config)
        lacking = _configure(config, arch, tree, out, options)
        wrong = [text for name, text in lacking.items() if name[len("CONFIG_"):] not in unknown]
        if wrong and not own:
            raise Failure("\n".join(wrong))
        for text in wrong:
            note(text)
        targets = targets or [image_of(arch).rpartition("/")[2], "modules"]
        long_make(arch, BUILD / f"kernel-{config}.log", f"building the {config} kernel, steps",
                  ["-C", tree, f"O={out}", *targets])
    return out


def image(config="default"):
    """What is booted of a configuration."""
    return BUILD / f"kernel-{config}" / image_of(arch_of(config))


def _modules(arch, name, sources, kernel, tree, to):
    """Build a kselftest's modules beside the tree, which is all kernels', and take the kernel's
    own: the test remote, and a sample, if they were built."""
    # pylint: disable=too-many-arguments
    beside = BUILD / f"modules-{name}"
    shutil.copytree(sources, beside, dirs_exist_ok=True)
    for old in beside.glob("*.ko"):    # BTF is for one vmlinux; kbuild does not renew it with that
        old.unlink()
    make(arch, "-s", "-C", tree, f"O={kernel}", f"M={beside}", "modules")
    to.mkdir(parents=True)
    for found in [*beside.glob("*.ko"), *kernel.glob("kernel/trace/remote/tests/*.ko"),
                  *kernel.glob("samples/trace_events/*.ko")]:
        shutil.copy(found, to)


def install(arch, suite, objects, to):
    """Build a kselftest of build/tree, statically, and lay it out as it is in a machine: SUITE/,
    the helpers that it takes from the kernel's tree, and `tests', the list of its tests."""
    source = BUILD / "tree/tools/testing/selftests"
    words = ["-s", "-C", source / suite, "USERLDFLAGS=-static", f"OUTPUT={objects}",
             f"INSTALL_PATH={to}/{suite}"]
    objects.mkdir(exist_ok=True)
    (to / "kselftest").mkdir(parents=True)
    make(arch, *words, "install")
    shutil.copy(source / "kselftest/ktap_helpers.sh", to / "kselftest")
    listed = make(arch, *words, "emit_tests").splitlines()
    (to / "tests").write_text("".join(f"{line.partition(':')[2]}\n" for line in listed), "utf-8")


def selftest(suite="hyp-trace", config="default", tree=None):
    """A kselftest for the VM. Its modules are for build/kernel-CONFIG; where that was built without
    any, they are left out."""
    need("kernel")
    arch, kernel = arch_of(config), BUILD / f"kernel-{config}"
    suffix = "" if suite == "hyp-trace" else f"-{suite}"
    to = BUILD / f"selftest{'-x86' if arch == 'x86_64' else ''}{suffix}"
    with process.lock("selftest"):
        new = BUILD / f"{to.name}.new"
        shutil.rmtree(new, ignore_errors=True)
        install(arch, suite, BUILD / f"{to.name}-build", new)
        sources = BUILD / "tree/tools/testing/selftests" / suite / "modules"
        if (kernel / "Module.symvers").exists() and sources.is_dir():
            _modules(arch, f"{config}{suffix}", sources, kernel, tree or BUILD / "tree",
                     new / suite / "modules")
        shutil.rmtree(to, ignore_errors=True)
        new.rename(to)
    return to


def main():
    """`make kernel`."""
    own = option("TREE")
    config = "own" if own else option("CONFIG", "default")
    out = build(config, tree=own and BUILD.joinpath(own), targets=option("TARGETS").split(),
                own=bool(own), unknown=trees.our_options() if option("TOPIC") else ())
    log = (BUILD / f"kernel-{config}.log").read_text("utf-8", "replace")
    for line in re.findall(r"^.*warning:.*$", log, re.M):
        note(line)
    note(f"{out.relative_to(ROOT)}/{image_of(arch_of(config))}")
    return 0
