# SPDX-License-Identifier: GPL-2.0
"""Lay a VM's /test out with Debian's programs, in usr/ for `cp -R usr /`."""

import shutil

from hyptrace import image, kernel, process
from hyptrace.machine import BUILD, TOOLS, arch_of, cross_for, need, scaled

CLIENTS = TOOLS / "tests/clients"
# What a guest's process 1 runs, and what boots it
INIT = """#!/bin/busybox sh
/bin/busybox mkdir -p /dev /proc
/bin/busybox mount -t devtmpfs none /dev
/bin/busybox mount -t proc none /proc
exec >/dev/console
{}
/bin/busybox poweroff -f
"""
BOOT = """cp -R usr /
[ -e /lib64 ] || ln -s usr/lib64 /lib64
exec timeout -k 5 {:.0f} qemu-system-{} -smp {} -m 128M -nodefaults -nic none -display none \\
	-no-reboot -kernel Image -initrd initrd -serial file:/out/guest.console \\
	-append "rdinit=/guest quiet panic=-1 console={}"
"""
# QEMU offers a guest's guest no state of the FPU that Linux takes for sound.
MACHINES = {"arm64": ("aarch64 -M virt,accel=kvm,gic-version=3 -cpu host", "ttyAMA0"),
            "x86_64": ("x86_64 -M pc,accel=kvm -cpu qemu64", "ttyS0")}


def beside_selftest(files, *more):
    """The kselftest, which is built if it must be, with more files beside it."""
    built = BUILD / "selftest"
    shutil.copytree(built if built.exists() else kernel.selftest(), files, dirs_exist_ok=True)
    for path in more:
        shutil.copy(path, files)


def install(files, root, *paths):
    """Programs of a root, by their paths there, with the libraries that they need and no others."""
    to = files / "usr"
    for path in paths:
        image.program(root, path, to / "bin")
    shutil.move(to / "bin/lib", to / "lib")


def trace_cmd(files, release):
    """trace-cmd of a Debian release, or of "machine", this one's."""
    beside_selftest(files)
    install(files, image.suite(release, "trace-cmd", "trace-cmd"), "usr/bin/trace-cmd")


def perfetto(files):
    """Perfetto and its daemons; perfetto.sh starts them."""
    root = image.suite("sid", "perfetto", "perfetto")
    beside_selftest(files, CLIENTS / "perfetto.sh")
    install(files, root, "usr/bin/perfetto", "usr/sbin/traced", "usr/sbin/traced_probes")


def bpftrace(files):
    """Debian 13's bpftrace, with the headers that it compiles against without BTF."""
    root = image.suite("trixie", "bpftrace", "bpftrace linux-libc-dev")
    beside_selftest(files)
    install(files, root, "usr/bin/bpftrace")
    for path in "linux", "asm-generic":
        shutil.copytree(root / "usr/include" / path, files / "usr/include" / path)
    shutil.copytree(root / "usr/include/aarch64-linux-gnu/asm", files / "usr/include/asm")


def libtracefs(files):
    """Our program that uses Debian 13's libtracefs."""
    need("kernel")
    root = image.suite("trixie", "libtracefs", "libtracefs-dev libtraceevent-dev")
    beside_selftest(files)
    libraries = root / "usr/lib/aarch64-linux-gnu"
    process.run([f"{cross_for('arm64')}gcc", "-O2", "-Wall", "-Werror", "-D_GNU_SOURCE",
                 f"-I{BUILD}/tree/tools/testing/selftests", f"-I{root}/usr/include/tracefs",
                 f"-I{root}/usr/include/traceevent", "-o", files / "hyp-trace/libtracefs",
                 CLIENTS / "libtracefs.c", libraries / "libtracefs.so.1",
                 libraries / "libtraceevent.so.1", "-Wl,--allow-shlib-undefined"])
    install(files, root, files / "hyp-trace/libtracefs")


def qemu(files, arch="arm64"):
    """Debian 12's QEMU for guests in the VM; of x86-64 with its firmware."""
    need("kernel")
    root = image.suite("bookworm", *(("qemu", "qemu-system-arm") if arch == "arm64" else
                                     ("qemu-x86", "qemu-system-x86", "amd64")))
    install(files, root, f"usr/bin/qemu-system-{arch.replace('arm64', 'aarch64')}")
    if arch == "arm64":
        return
    to = files / "usr"
    to.joinpath("lib64").mkdir()
    shutil.copy(to / "lib/ld-linux-x86-64.so.2", to / "lib64")
    to.joinpath("share/qemu").mkdir(parents=True)
    for path in "seabios/bios-256k.bin", "qemu/linuxboot_dma.bin", "qemu/kvmvapic.bin":
        shutil.copy(root / "usr/share" / path, to / "share/qemu")


def debian_kernel():
    """Debian's own kernel for amd64, the flavour whose symbols are smallest: what boots, and its
    vmlinux."""
    root = image.suite("machine", "linux-amd64",
                       "linux-image-cloud-amd64 linux-image-cloud-amd64-dbg", "amd64",
                       ("/lib/modules/*", "/usr/lib/modules/*", "/usr/lib/debug/lib/*"))
    return next(root.glob("boot/vmlinuz-*")), next(root.glob("usr/lib/debug/boot/vmlinux-*"))


def linux(files, config, script, limit, smp=1, guest=None):
    """./boot: a kernel, or else the VM's, as a guest of Debian's QEMU, to run a script of busybox's
    shell, for so many seconds at most."""
    # pylint: disable=too-many-arguments
    arch = arch_of(config)
    qemu(files, arch)
    shutil.copy(guest or kernel.image(config), files / "Image")
    image.initrd(files / "initrd", arch, scripts={"guest": INIT.format(script)})
    system, console = MACHINES[arch]
    (files / "boot").write_text(BOOT.format(scaled(limit), system, smp, console), "utf-8")


def kvm_selftests():
    """Cross-build KVM's own selftests of build/tree, static and without symbols: {name: path}"""
    source, work = BUILD / "tree/tools/testing/selftests/kvm", BUILD / "kvm-selftests"
    install_to = f"INSTALL_HDR_PATH={work}/usr"
    need("kernel")
    with process.lock("kvm-selftests"):
        work.joinpath("tests").mkdir(parents=True, exist_ok=True)
        kernel.make("arm64", "-s", "-C", BUILD / "tree", f"O={work}/headers", install_to,
                    "headers_install")
        kernel.long_make("arm64", BUILD / "kvm-selftests.log", "building KVM's selftests",
                         ["-s", "-C", source, f"OUTPUT={work}/tests", install_to,
                          "LDFLAGS=-static -pthread -s",
                          f"KHDR_INCLUDES=-isystem {work}/usr/include"])
    return {path.name: path for path in [*work.glob("tests/*"), *work.glob("tests/aarch64/*")]}
