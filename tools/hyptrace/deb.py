# SPDX-License-Identifier: GPL-2.0
"""Debian packages of build/tree for arm64, by Debian's own configuration and deb.config."""

import lzma
import pathlib
import re
import shutil
import tempfile

from hyptrace import hypstat, image, kernel, patches, perf, process
from hyptrace.machine import BUILD, ROOT, TOOLS, Failure, need, option

FLAVOURS = "cloud-arm64", "arm64"
FRAGMENT = TOOLS / "deb.config"
# Our perf stands beside Debian's. The libraries have these names in Debian 12 and 13.
CONTROL = """Package: hyptrace-tools
Version: {}
Architecture: arm64
Maintainer: hyptrace <hyptrace@localhost>
Depends: libc6 (>= {}), libtracecmd1, libtracefs1, libtraceevent1
Section: kernel
Priority: optional
Description: hypstat, and perf of the kernel with hypervisor tracing
 hypstat tells what the hypervisor of arm64 KVM costs. hyptrace-perf is the perf
 that knows the tracepoints that this kernel has in KVM.
"""


def _configure(flavour, out, words, lsmod):
    """Debian's configuration and ours; with LSMOD, only the modules that it names."""
    package = patches.base().package.replace("source", "config")
    root = image.suite("machine", package, package)
    packed = root / f"usr/src/{package}/config.arm64_none_{flavour}.xz"
    out.joinpath("debian.config").write_bytes(lzma.decompress(packed.read_bytes()))
    process.run([patches.base().tree / "scripts/kconfig/merge_config.sh", "-m", "-O", out / "obj",
                 out / "debian.config", FRAGMENT], cwd=out / "obj", env=kernel.clean_env())
    kernel.make("arm64", *words, "-s", "olddefconfig")
    if lsmod:
        process.run([*kernel.make_args("arm64"), *words, f"LSMOD={pathlib.Path(lsmod).resolve()}",
                     "localmodconfig"], input="\n" * 10000, env=kernel.clean_env())
    got = kernel.values((out / "obj/.config").read_text("utf-8"))
    for name, value in kernel.values(FRAGMENT.read_text("utf-8")).items():
        if got.get(name, "n") != value:
            raise Failure(f"{name}={value} is asked for, .config has {got.get(name, 'n')}")


def _pack_tools(out, version):
    """The package of hypstat, with its manual pages, and perf"""
    versions = re.findall(r"GLIBC_([\d.]+)", process.run(["readelf", "-V", hypstat.build()]).stdout)
    with tempfile.TemporaryDirectory(dir=out) as made:
        tools = pathlib.Path(made)
        hypstat.make("arm64", "install", f"DESTDIR={tools}")
        shutil.copy(perf.build(), tools / "usr/bin/hyptrace-perf")
        (tools / "DEBIAN").mkdir()
        (tools / "DEBIAN/control").write_text(
            CONTROL.format(version, max(versions, key=patches.numbers)), "utf-8")
        tools.chmod(0o755)
        process.run(["dpkg-deb", "--root-owner-group", "-Zxz", "--build", tools, out])


def build(flavour="cloud-arm64", lsmod=""):
    """Build them in build/deb/FLAVOUR; their paths."""
    if flavour not in FLAVOURS:
        raise Failure(f"no flavour {flavour}: {' or '.join(FLAVOURS)}")
    need("deb")
    out = BUILD / "deb" / flavour
    words = ["-C", patches.base().tree, f"O={out}/obj", f"LOCALVERSION=-hyptrace-{flavour}"]
    with process.lock(f"deb-{flavour}"):
        (out / "obj").mkdir(parents=True, exist_ok=True)
        _configure(flavour, out, words, lsmod)
        for old in out.glob("*.deb"):    # perhaps of another version
            old.unlink()
        kernel.long_make("arm64", out / "build.log", "building the packages",
                         [*words, "DPKG_FLAGS=-d", "KDEB_COMPRESS=xz", "bindeb-pkg"],
                         DEBFULLNAME="hyptrace", DEBEMAIL="hyptrace@localhost")
        _pack_tools(out, kernel.make("arm64", *words, "-s", "kernelversion").strip())
    return sorted(out.glob("*.deb"))


def main():
    for package in build(option("FLAVOUR", "cloud-arm64"), option("LSMOD")):
        print(package.relative_to(ROOT))
