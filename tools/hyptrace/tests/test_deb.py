# SPDX-License-Identifier: GPL-2.0
"""The packages of `make deb` on a Debian 13 machine: it boots from EFI firmware, and Debian's
trace-cmd records the hypervisor while Debian's QEMU runs a guest with KVM.

    FLAVOUR=cloud-arm64
    LSMOD=file     build only these modules, in less time; "few" are those of this machine
"""

import os
import re
import shlex

import pytest

from hyptrace import deb, image, process
from hyptrace.image import as_root
from hyptrace.machine import BUILD, TOOLS, Failure, need, option

FLAVOUR = option("FLAVOUR", "cloud-arm64")
MODULES = """virtio_blk virtio_rng efivarfs autofs4 efi_pstore qemu_fw_cfg configfs fuse loop dm_mod
    vfat nls_ascii nls_cp437 crct10dif_ce ghash_ce sha1_ce sha2_ce aes_ce_blk aes_ce_cipher
    polyval_ce""".split()
DEBIANS = """systemd systemd-sysv udev kmod systemd-boot systemd-boot-efi systemd-ukify
    initramfs-tools cpio busybox-static trace-cmd qemu-system-arm""".split()
BINFMT = "/proc/sys/fs/binfmt_misc"
INSTALLED = 'dpkg -l "linux-image-*" hyptrace-tools trace-cmd qemu-system-arm | grep ^ii'
# What is seen; the command; what all lines of its answer are, or one of them
SEEN = [
    ("the kernel is the package's", "uname -srm", all,
     rf"Linux 6\.12\.\d+-hyptrace-{FLAVOUR} aarch64"),
    ("its package is installed", INSTALLED, any, rf"ii  linux-image-\S*-hyptrace-{FLAVOUR}\s.*"),
    ("and no other one's", INSTALLED, all, r"ii  (linux-image-\S*-hyptrace-|(?!linux-image-)).*"),
    ("EFI firmware booted it", "ls -d /sys/firmware/efi", all, "/sys/firmware/efi"),
    ("KVM is protected", "dmesg | grep -o 'kvm.* mode initialized.*'", all,
     ".*Protected hVHE mode initialized.*"),
    # As many as a Linux that boots has at least
    ("trace-cmd recorded its exits", 'grep -c "hyp_enter:.*reason=guest" report', all,
     r"[1-9]\d{3,}"),
    ("and knows all events", r'grep -c "UNKNOWN EVENT\|FAILED" report', all, "0|exit status 1"),
    ("hypstat of the package sums them up", "hypstat report | head -n 2", any,
     r"at EL2: [1-9]\d{3,} stays, .*"),
    ("counts exits without events", "hypstat hist --by exit ./run-guest", any,
     r"DABT_LOW: [1-9]\d{2,}, total .*"),
    ("and has its manual pages", "ls /usr/share/man/man1/hypstat*", any, ".*/hypstat-top.1"),
    # As in its table: the name, and how many there were
    ("perf of the package names the exits",
     "hyptrace-perf kvm stat report -i stat --stdio 2>&1", any,
     r" *(DABT_LOW|WFx|SYS64|IRQ) +[1-9]\d* .*"),
]


def judge(checks, said):
    """What is seen of what the machine said."""
    said = said.replace("\r", "")
    answers = dict(part.partition("\n")[::2] for part in re.split(r"^# ", said, flags=re.M)[1:])
    guest = re.search(rf"^the guest is up: .*-hyptrace-{FLAVOUR}$", said, re.M)
    checks("the test there comes to its end", "end" in answers, said)
    checks("Debian's QEMU ran a guest with KVM", guest, said)
    for name, command, which, pattern in SEEN:
        lines = answers.get(command, "").splitlines()
        found = [re.fullmatch(pattern, line) for line in lines]
        checks(name, lines and which(found), "\n".join(lines))


def enable_arm64():
    """This machine runs arm64 programs. In a container nobody may have mounted binfmt_misc."""
    if os.uname().machine != "aarch64" and not os.path.exists(f"{BINFMT}/qemu-aarch64"):
        process.run(as_root("mount", "-t", "binfmt_misc", "none", BINFMT), check=False)
        process.run(as_root("update-binfmts", "--enable", "qemu-aarch64"), check=False)
        if not os.path.exists(f"{BINFMT}/qemu-aarch64"):
            raise Failure("this machine does not run arm64 programs: no binfmt_misc for them")


def make_disk(directory, packages):
    """The disk of the machine with these packages."""
    enable_arm64()
    root, disk, script = directory / "root", directory / "disk", TOOLS / "tests/installed.sh"
    setup = f'{shlex.quote(str(script))} setup "$1" {shlex.join(map(str, packages))}'
    image.machine("trixie", root, "--architectures=arm64", "--skip=cleanup/reproducible",
                  f"--include={','.join(DEBIANS)}", f"--customize-hook={setup}")
    process.run(as_root("env", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", script, "disk", root, disk))
    process.run(as_root("rm", "-rf", "--one-file-system", root))
    return disk


def boot(disk):
    """Boot it from EFI firmware, with a hypervisor's exception level; what it said."""
    # In hVHE mode 6.12's KVM shows a guest features of QEMU 10's newest CPU that then trap.
    output = disk.with_suffix(".output")
    process.run(
        [*image.qemu(), *f"""-M virt,virtualization=on,gic-version=3 -cpu cortex-a76 -smp 2 -m 2G
        -nic none -no-reboot -display none -monitor none
        -bios /usr/share/qemu-efi-aarch64/QEMU_EFI.fd -device virtio-serial-pci
        -drive if=none,id=disk,format=raw,file={disk} -device virtio-blk-pci,drive=disk
        -chardev file,id=output,path={output}
        -device virtserialport,chardev=output,name=hyptrace.output
        -serial file:{BUILD}/deb/machine.console""".split()], timeout=1800)
    return output.read_text("utf-8", "replace")


@pytest.mark.deb
@pytest.mark.alone
@pytest.mark.seconds(9000)
def test_deb(checks, tmp_path):
    """Build, install, boot, look."""
    need("deb", "installed")
    lsmod = option("LSMOD")
    if lsmod == "few":
        lsmod = tmp_path / "lsmod"
        lsmod.write_text("".join(f"{name} 0 0\n" for name in ["Module", *MODULES]), "utf-8")
    packages = {re.sub(r"\d[\d.]*\d|_.*", "", path.name): path
                for path in deb.build(FLAVOUR, lsmod)}
    names = [f"linux-{part}--hyptrace-{FLAVOUR}" for part in ("image", "headers")]
    if not checks("make deb builds an image, headers and tools",
                  {*names, "hyptrace-tools"} <= set(packages), packages):
        return
    process.run(["dpkg-deb", "-x", packages[names[1]], tmp_path / "headers"])
    for program in "basic/fixdep", "mod/modpost":    # which kbuild runs to build a module there
        found = next(tmp_path.glob(f"headers/usr/src/linux-headers-*/scripts/{program}"))
        said = process.run(["readelf", "-h", found]).stdout
        checks(f"the headers' {program} is for arm64", re.search("Machine: *AArch64", said), said)
    disk = make_disk(tmp_path, [packages[names[0]], packages["hyptrace-tools"]])
    checks("they install on a Debian 13 arm64 machine", disk.exists())
    judge(checks, boot(disk))
