# SPDX-License-Identifier: GPL-2.0
"""User space from Debian's packages: unpacked without root, packed for a VM, or run here."""

import functools
import os
import re
import shutil

from hyptrace import apt, process
from hyptrace.machine import BUILD, TOOLS, Failure, arch_of, need, note, option

# Before 8.1 QEMU did not lock the pages that it translates: code that one CPU changes while
# another one's thread translates it may run in its old form until the next change. Static
# branches, the trace events at EL2 among them, change code while all CPUs run.
QEMU_OLDEST = (8, 1)

# /usr is merged, whichever way the packages have it.
MERGE = ('mkdir -p "$1/usr/bin" "$1/usr/sbin" "$1/usr/lib" && '
         'ln -s usr/bin usr/sbin usr/lib "$1"')
# What mmdebstrap adds, and documentation
UNWANTED = """dev tmp var/cache var/lib/apt var/lib/dpkg etc/apt etc/fstab etc/hostname
    etc/resolv.conf usr/share/doc usr/share/man usr/share/locale usr/share/info""".split()


def unpack(release, packages, arch, root):
    """Unpack them. None of their programs run. What a mirror that lags by weeks has is signed."""
    log = root.with_suffix(".log")
    if not process.logged(
            ["mmdebstrap", "--mode=chrootless", "--skip=check/chrootless", "--variant=extract",
             "--format=directory", f"--architectures={arch}", f"--include={','.join(packages)}",
             '--aptopt=Acquire::Check-Valid-Until "false"', f"--setup-hook={MERGE}",
             "", root, *apt.sources(release)], log, "mmdebstrap, lines"):
        raise Failure(f"can't fetch {' '.join(packages)} of {release}: {apt.says(log)}")
    process.run(["rm", "-rf", *UNWANTED], cwd=root)


def suite(release, name, packages, arch="arm64"):
    """The root of these packages (a string) of a Debian release, or of "machine", this one's, with
    all that they depend on: to chroot into. It is unpacked once."""
    root, new = BUILD / f"suite-{release}-{name}", BUILD / f"suite-{release}-{name}.new"
    # The file is written when the root is complete.
    stamp, made_of = BUILD / f"{root.name}.packages", f"{arch} {packages}\n"
    need("rootfs")
    with process.lock(f"suite-{release}"):
        if not (root.is_dir() and stamp.exists() and stamp.read_text("utf-8") == made_of):
            note(f"fetching {arch} packages of {release}: {packages}")
            shutil.rmtree(new, ignore_errors=True)
            unpack(release, packages.split(), arch, new)
            shutil.rmtree(root, ignore_errors=True)
            new.rename(root).touch()
            stamp.write_text(made_of, "utf-8")
    return root


def as_root(*words):
    """The words of a command that root runs; a password that sudo wants was given before."""
    return [*([] if os.geteuid() == 0 else ["sudo", "-n"]), *words]


def machine(release, root, *options, security=False):
    """A Debian machine of its own in a directory, to be root's."""
    log = BUILD / "mmdebstrap.log"
    if not process.logged(
            as_root("mmdebstrap", "--mode=root", "--variant=minbase", *options, release, root,
                    *apt.sources(release, security)), log, f"making a {release} machine, lines"):
        raise Failure(f"mmdebstrap: {apt.says(log)}: see {log}")


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
            note(f"made build/{cpio.name}")
    return cpio


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


def _installed_qemu(name):
    """The version of this machine's QEMU; () if it has none."""
    said = process.run([name, "--version"]).stdout if shutil.which(name) else ""
    found = re.match(r"QEMU emulator version (\S+)", said)
    return apt.upstream(found[1]) if found else ()


@functools.cache
def qemu(arch="arm64"):
    """The words that begin a command of QEMU: this machine's if it or apt's is new enough, else
    Debian 13's, with its own C library."""
    if arch == "x86_64":
        need("x86vm")
        return ["qemu-system-x86_64"]
    name = "qemu-system-aarch64"
    if (_installed_qemu(name) >= QEMU_OLDEST
            or apt.upstream(apt.offered("qemu-system-arm")) >= QEMU_OLDEST):
        need("qemu")
        return [name]
    if not (BUILD / "suite-trixie-qemu").is_dir():
        note("neither this machine nor its apt has QEMU 8.1 or newer: using Debian 13's")
    try:
        root = suite("trixie", "qemu", "qemu-system-arm", apt.architecture())
    except Failure as failure:
        note(f"{failure}; using this machine's QEMU: events may stay off when they are turned on")
        need("qemu")
        return [name]
    loader = next((root / "usr/lib").rglob("ld-linux-*.so.*"))
    return [str(loader), "--library-path", str(loader.parent), str(root / "usr/bin" / name),
            "-L", str(root / "usr/share/qemu")]


def main():
    """`make rootfs`"""
    rootfs(arch_of(option("CONFIG")))
