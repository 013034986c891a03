# SPDX-License-Identifier: GPL-2.0
"""Kernels: allnoconfig and our fragments, in build/kernel-CONFIG; and the kselftests for them."""

import os
import re
import shutil

from hyptrace import patches, process, tree as trees
from hyptrace.machine import BASE, BUILD, MAIN, ROOT, Failure, arch_of, cross_for, image_of, need
from hyptrace.machine import note, option

# For users; and for the tests: as default, but for what their callers change. `own' may lack
# options.
CONFIGS = "default", "functions", "debug", "kcsan", "16k", "64k", "bti", "preempt", "rt", "pmu", \
    "x86"
OF_TESTS = "lint", "clang", "event", "mutant", "plain", "without", "own"
# Made of the default kernel: most of it is the same.
COPIES = "event", "without", "functions", "mutant"
BY_CLANG = "clang", "bti"
FRAGMENTS = ROOT / "kernel" / "configs"
# ccache finds an object again only if these are the same.
STAMP = {"KBUILD_BUILD_TIMESTAMP": "Wed Jan  1 00:00:00 UTC 2025", "KBUILD_BUILD_USER": "hyptrace",
         "KBUILD_BUILD_HOST": "localhost", "KBUILD_BUILD_VERSION": "1"}
# The makefiles would read these variables of the driver's as their own.
OURS = ("ARCH CONFIG TARGETS SCRIPT FILES OUT MODE CPU SMP MEM IMAGE DEBUG CMDLINE TREE TOPIC "
        "FLAVOUR LSMOD FOR TIMEOUT SOURCE SET TESTS LIST BASE").split()


def clean_env(**more):
    """The environment for the kernel's makes, which must not take the tree for git's."""
    kept = {name: value for name, value in os.environ.items() if name not in OURS}
    return STAMP | kept | {"GIT_DIR": "/none"} | more


def make_args(arch):
    """The words that each make for an architecture begins with."""
    return ["make", f"ARCH={arch}", f"CROSS_COMPILE={cross_for(arch)}", "LOCALVERSION="]


def make(arch, *words, **env):
    """A short make; what it says."""
    return process.run([*make_args(arch), *words], env=clean_env(**env)).stdout


def _compiler_of(config):
    """What names the compiler to a make for a kernel."""
    return {"LLVM": "1"} if config in BY_CLANG else {}


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
    """Write .config by the fragments and these options; what it lacks of them."""
    paths = [FRAGMENTS / "hyptrace.config"] * (arch == "arm64")
    paths += FRAGMENTS.glob(f"hyptrace-{config}.config")
    of_base = getattr(patches.base(), arch).split()
    wanted = values("\n".join([path.read_text("utf-8") for path in paths]
                              + [f"CONFIG_{each}" for each in [*of_base, *options]]))
    asked = BUILD / f".kernel-{config}.config"
    asked.write_text("".join(f"{name}={value}\n" for name, value in wanted.items()), "utf-8")
    make(arch, "-s", "-C", tree, f"O={out}", f"KCONFIG_ALLCONFIG={asked}", "allnoconfig",
         **_compiler_of(config))
    got = values((out / ".config").read_text("utf-8"))
    return {name: f"{name}={value} is asked for, .config has {name}={got.get(name, 'n')}"
            for name, value in wanted.items() if got.get(name, "n") != value}


def build(config="default", tree=None, options=(), targets=(), unknown=(), own=False):
    """Build a kernel. Its .config may lack options of `unknown', and any in a user's own tree or of
    another base."""
    # pylint: disable=too-many-arguments
    tree, arch, out = tree or BUILD / "tree", arch_of(config), BUILD / f"kernel-{config}"
    if config not in CONFIGS + OF_TESTS:
        raise Failure(f"no configuration {config}: {', '.join(CONFIGS)}")
    need("kernel", *["x86vm"] * (arch == "x86_64"), *["clang"] * (config in BY_CLANG))
    with process.lock(out.name):
        if config in COPIES and config != "mutant":
            shutil.rmtree(out, ignore_errors=True)
        if config in COPIES and not out.exists() and (BUILD / "kernel-default").exists():
            process.run(["cp", "-a", BUILD / "kernel-default", out])
        out.mkdir(exist_ok=True)
        lacking = _configure(config, arch, tree, out, options)
        wrong = [text for name, text in lacking.items() if name[len("CONFIG_"):] not in unknown]
        if wrong and not own and BASE == MAIN:
            raise Failure("\n".join(wrong))
        for text in wrong:
            note(text)
        targets = targets or [image_of(arch).rpartition("/")[2], "modules"]
        long_make(arch, BUILD / f"{out.name}.log", f"building the {config} kernel",
                  ["-C", tree, f"O={out}", *targets], **_compiler_of(config))
    return out


def image(config="default"):
    return BUILD / f"kernel-{config}" / image_of(arch_of(config))


def _modules(config, beside, sources):
    """Build a kselftest's modules beside the tree, which is all kernels'; with the kernel's own."""
    shutil.copytree(sources, beside, dirs_exist_ok=True)
    for old in beside.glob("*.ko"):    # BTF is for one vmlinux; kbuild does not renew it with that
        old.unlink()
    kernel = BUILD / f"kernel-{config}"
    make(arch_of(config), "-s", "-C", BUILD / "tree", f"O={kernel}", f"M={beside}", "modules",
         **_compiler_of(config))
    return [*beside.glob("*.ko"), *kernel.glob("kernel/trace/remote/tests/*.ko"),
            *kernel.glob("samples/trace_events/*.ko")]


def selftest(suite="hyp-trace", config="default"):
    """A kselftest for the VM, linked statically, with `tests', the list of its scripts, and with
    modules for build/kernel-CONFIG if that was built with any."""
    need("kernel")
    arch, kernel = arch_of(config), BUILD / f"kernel-{config}"
    suffix = "" if suite == "hyp-trace" else f"-{suite}"
    to, source = BUILD / f"selftest{'-x86' if arch == 'x86_64' else ''}{suffix}", \
        BUILD / "tree/tools/testing/selftests"
    with process.lock("selftest"):
        shutil.rmtree(to, ignore_errors=True)
        make(arch, "-s", "-C", source, f"TARGETS={suite}", "FORCE_TARGETS=1", "USERLDFLAGS=-static",
             f"O={BUILD}/{to.name}-build", f"INSTALL_PATH={to}", "install")
        listed = (to / "kselftest-list.txt").read_text("utf-8")
        (to / "tests").write_text(listed.replace(f"{suite}:", ""), "utf-8")
        if (kernel / "Module.symvers").exists() and (source / suite / "modules").is_dir():
            (to / suite / "modules").mkdir()
            for path in _modules(config, BUILD / f"modules-{config}{suffix}",
                                 source / suite / "modules"):
                shutil.copy(path, to / suite / "modules")
    return to


def main():
    """`make kernel`."""
    own = option("TREE")
    config = "own" if own else option("CONFIG", "default")
    out = build(config, tree=own and BUILD.joinpath(own), targets=option("TARGETS").split(),
                own=bool(own), unknown=trees.our_options() if option("TOPIC") else ())
    log = (BUILD / f"{out.name}.log").read_text("utf-8", "replace")
    note("\n".join([*re.findall(r"^.*warning:.*$", log, re.M),
                    f"{out.relative_to(ROOT)}/{image_of(arch_of(config))}"]))
