# SPDX-License-Identifier: GPL-2.0
"""User space from Debian's packages: unpacked without root, packed for a VM, or run here."""

import functools
import os
import pathlib
import platform
import re
import shutil
import tempfile

from hyptrace import process
from hyptrace.machine import BUILD, SHARED, TOOLS, Failure, arch_of, need, option

# Before 8.1 QEMU did not lock the pages that it translates: code that one CPU changes while
# another one's thread translates it may run as it was until the next change. Static
# branches, the trace events at EL2 among them, change code while all CPUs run.
QEMU = "qemu-system-arm (>= 1:8.1)"

# /usr is merged, whichever way the packages have it.
MERGE = ('mkdir -p "$1/usr/bin" "$1/usr/sbin" "$1/usr/lib" && '
         'ln -s usr/bin usr/sbin usr/lib "$1"')
# What mmdebstrap adds, and documentation
UNWANTED = """dev tmp var/cache var/lib/apt var/lib/dpkg etc/apt etc/fstab etc/hostname
    etc/resolv.conf usr/share/doc usr/share/man usr/share/locale usr/share/info""".split()


@functools.cache
def architecture():
    return process.run(["dpkg", "--print-architecture"]).stdout.strip()


def sources(release):
    """The lines of sources.list for a release or "machine"; bookworm's updates have its 6.12."""
    own = platform.freedesktop_os_release()["VERSION_CODENAME"]
    release = own if release == "machine" else release
    said = process.run(["apt-get", "indextargets", "--format", "$(RELEASE) $(REPO_URI)",
                        "Created-By: Packages"]).stdout
    mirrors = dict(re.findall(r"^(\S+) (?!cdrom:)(.*)", said, re.M))
    if own not in mirrors:
        raise Failure("the machine's apt has no mirror of Debian's")
    updates = mirrors.get(f"{own}-security") if release in (own, "bookworm") else None
    return [f"deb {mirrors[own]} {release} main"] + (
        [f"deb {updates} {release}-security main"] if updates else [])


def mmdebstrap(release, *words):
    """Make a root of a release; the last words are its name for mmdebstrap and the directory."""
    log = BUILD / f"mmdebstrap-{release}.log"
    if not process.logged([*words, *sources(release)], log, f"making {words[-1].name}"):
        raise Failure(f"mmdebstrap fails:\n{log.read_text('utf-8', 'replace')[-2000:]}")


def suite(release, name, packages, arch="arm64", without=()):
    """The root of packages and what they depend on, of a release or "machine"; unpacked once, but
    for the paths of these patterns."""
    root, new = SHARED / f"suite-{release}-{name}", SHARED / f"suite-{release}-{name}.new"
    # The file is written when the root is complete.
    stamp, made_of = SHARED / f"{root.name}.packages", " ".join([arch, packages, *without]) + "\n"
    need("rootfs")
    with process.lock(f"suite-{release}", SHARED):
        if not (root.is_dir() and stamp.exists() and stamp.read_text("utf-8") == made_of):
            shutil.rmtree(new, ignore_errors=True)
            mmdebstrap(release, "mmdebstrap", "--mode=chrootless", "--skip=check/chrootless",
                       "--variant=extract", "--format=directory", f"--architectures={arch}",
                       f"--include={','.join(packages.split())}", f"--setup-hook={MERGE}",
                       '--aptopt=Acquire::Check-Valid-Until "false"',    # for a mirror that lags
                       *(f"--dpkgopt=path-exclude={path}" for path in without), "", new)
            process.run(["rm", "-rf", *UNWANTED], cwd=new)
            shutil.rmtree(root, ignore_errors=True)
            new.rename(root).touch()
            stamp.write_text(made_of, "utf-8")
    return root


def as_root(*words):
    """The words of a command that root runs; a password that sudo wants was given before."""
    return [*([] if os.geteuid() == 0 else ["sudo", "-n"]), *words]


def machine(release, root, *options):
    """A Debian machine of its own in a directory, to be root's."""
    mmdebstrap(release, *as_root("mmdebstrap", "--mode=root", "--variant=minbase"), *options,
               release, root)


def pack(directory, out):
    """Write what a directory has to a file, as a cpio archive in which root owns all."""
    process.run(["sh", "-c", "find . -mindepth 1 | LC_ALL=C sort | "
                 "cpio --quiet -o -H newc -R +0:+0"], cwd=directory, stdout=out)


def rootfs(arch="arm64"):
    """The VM's user space: a cpio archive of a static busybox and init."""
    name, debian = ("rootfs", "arm64") if arch == "arm64" else ("rootfs-x86", "amd64")
    cpio, new, init = BUILD / f"{name}.cpio", BUILD / f"{name}.cpio.new", TOOLS / "init"
    with process.lock("rootfs"):
        root = suite("machine", name, "busybox-static", debian)
        made = cpio.stat().st_mtime if cpio.exists() else 0
        if made < max(root.stat().st_mtime, init.stat().st_mtime):
            shutil.copy(init, root / "init")
            with open(new, "wb") as out:
                pack(root, out)
            new.rename(cpio)
    return cpio


def initrd(path, arch="arm64", files=None, scripts=None):
    """Write the rootfs to a file, behind it what is to be in /test, and scripts, {path: text}."""
    shutil.copy(rootfs(arch), path)
    with tempfile.TemporaryDirectory(dir=path.parent) as made, open(path, "ab") as out:
        stage = pathlib.Path(made)
        if files:
            shutil.copytree(files, stage / "test")
        for name, text in (scripts or {}).items():
            stage.joinpath(name).parent.mkdir(exist_ok=True)
            stage.joinpath(name).write_text(text, "utf-8")
            stage.joinpath(name).chmod(0o755)
        pack(stage, out)


def program(root, path, directory):
    """Copy a program of a root into a directory, and the libraries that it needs into lib/."""
    lib = directory / "lib"
    lib.mkdir(parents=True, exist_ok=True)
    todo = [shutil.copy(root / path, directory)]
    while todo:
        said = process.run(["readelf", "-d", todo.pop()]).stdout
        for name in re.findall(r"\(NEEDED\).*\[(.*)\]", said):
            if not (lib / name).exists():
                todo.append(shutil.copy(next((root / "usr/lib").rglob(name)), lib / name))


@functools.cache
def qemu(arch="arm64"):
    """The words that begin a command of QEMU: this machine's, or Debian 13's with its C library."""
    if arch == "x86_64":
        need("x86vm")
        return ["qemu-system-x86_64"]
    need("vm")
    if not process.run(["apt-get", "-s", "satisfy", QEMU], check=False).returncode:
        return ["qemu-system-aarch64"]
    root = suite("trixie", "qemu", "qemu-system-arm", architecture())
    loader = next((root / "usr/lib").rglob("ld-linux-*.so.*"))
    return [str(loader), "--library-path", str(loader.parent),
            str(root / "usr/bin/qemu-system-aarch64"), "-L", str(root / "usr/share/qemu")]


def main():
    rootfs(arch_of(option("CONFIG")))
