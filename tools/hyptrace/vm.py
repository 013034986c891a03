# SPDX-License-Identifier: GPL-2.0
"""A virtual machine: boot a kernel in QEMU, with a shell on the terminal or to run a script.

The script's output, what it leaves in /out and its exit status come out by a virtio port each,
never from the console. See init, which is process 1.
"""

import os
import pathlib
import re
import shutil
import sys
import tarfile
import tempfile
import time
from dataclasses import dataclass

from hyptrace import console, image, kernel, process
from hyptrace.machine import (BUILD, Failure, arch_of, image_of, need, note, number,
                              option, scaled)

HUNG = 124
DIED = 125
KEPT = 86400    # seconds that what is known of a run stays in build/vm
SHOWN = 40      # lines of the console, where it ended badly
MODES = "protected", "nvhe", "vhe", "none"
WITHOUT_VHE = re.compile("cortex-a([57][37]|72)")

# For scripts with build/selftest as their files
PRELUDE = """#!/bin/sh
set -ex
export PATH="/test/hyp-trace:$PATH" DIR=/test/hyp-trace HYP=/sys/kernel/tracing/hypervisor
. "$DIR/until.sh"
"""


@dataclass
class Result:
    """How a run ended. The status is the script's, or HUNG; or DIED: the guest died, or its
    console shows that the kernel or the hypervisor complained, whatever the script said."""
    status: int
    output: str
    console: str
    errors: str
    out: pathlib.Path


def _image(config, tree):
    """The Image of a configuration, or of a user's own tree."""
    if not tree:
        return kernel.image(config)
    built = pathlib.Path(tree) / image_of("arm64")
    return built if built.is_file() else kernel.image("own")


class Machine:     # pylint: disable=too-many-instance-attributes
    """What is booted, and how."""

    def __init__(self, config="default", mode="protected", cpu="max", smp=2, mem="1G", image=None,
                 tree=None, cmdline="", qemu_args="", timeout=None):
        # pylint: disable=too-many-arguments,redefined-outer-name
        self.arch, self.cpu, self.smp, self.mem = arch_of(config), cpu, smp, mem
        self.image = pathlib.Path(image or _image(config, tree))
        if not self.image.is_file():
            raise Failure(f"no kernel {self.image}: make kernel{f' TREE={tree}' if tree else ''}")
        self.built = pathlib.Path(str(self.image).removesuffix(image_of(self.arch)))
        self.qemu_args, self.timeout = qemu_args.split(), timeout
        self.cmdline = f"{self._mode(mode)} {cmdline}" if self.arch == "arm64" else cmdline
        BUILD.joinpath("vm").mkdir(exist_ok=True)
        for old in BUILD.joinpath("vm").iterdir():
            if time.time() - old.stat().st_mtime > KEPT:
                shutil.rmtree(old, ignore_errors=True)
        self.run = pathlib.Path(tempfile.mkdtemp(dir=BUILD / "vm", prefix=time.strftime("%H%M%S-")))
        self.run.joinpath("out").mkdir()

    def _mode(self, mode):
        """How KVM is set up, for the kernel's command line."""
        if mode not in MODES:
            raise Failure(f"no mode {mode}: {', '.join(MODES)}")
        if mode != "vhe":
            return f"kvm-arm.mode={mode}"
        if WITHOUT_VHE.match(self.cpu):
            raise Failure(f"MODE=vhe: {self.cpu} has no VHE")
        return ""

    def config(self):
        """The kernel's configuration, as far as it is known."""
        path = self.built / ".config"
        return path.read_text(encoding="utf-8").splitlines() if path.exists() else []

    def _patience(self):
        """When the kernel complains of a stall of RCU or of a task that hangs."""
        words = [f"rcupdate.rcu_cpu_stall_timeout={min(int(scaled(21)), 300)}"]
        if "CONFIG_DETECT_HUNG_TASK=y" in self.config():
            words.append(f"sysctl.kernel.hung_task_timeout_secs={int(scaled(120))}")
        return words

    def _board(self):
        """What QEMU is for the architecture. Before 8.1 QEMU does not lock the pages that it
        translates, while code in them changes: with one thread for all CPUs of x86 none is at
        work then."""
        if self.arch == "x86_64":
            return ["-M", "q35", "-accel", "tcg,thread=single",
                    "-device", "virtio-serial-pci,ioeventfd=off"]
        return ["-M", "virt,virtualization=on,gic-version=3",
                "-global", "virtio-mmio.force-legacy=false",
                "-global", "virtio-mmio.ioeventfd=off", "-device", "virtio-serial-device"]

    def _port(self, name):
        """A port whose data ends up in a file of the run's directory. A file always takes what it
        is given; with ioeventfd off, before the guest goes on."""
        return ["-chardev", f"file,id={name},path={self.run / name}",
                "-device", f"virtserialport,chardev={name},name=hyptrace.{name}"]

    def command(self, *more):
        """QEMU's. An error is a panic and a panic the end: the log then stops at it."""
        tty = "ttyS0" if self.arch == "x86_64" else "ttyAMA0 earlycon"
        words = [f"console={tty}", "panic=-1", "oops=panic", *self._patience(), self.cmdline]
        return [*image.qemu(self.arch), *self._board(), "-cpu", self.cpu, "-smp", str(self.smp),
                "-m", self.mem, "-nic", "none", "-no-reboot", "-display", "none", "-monitor",
                "none", "-kernel", self.image, "-initrd", self.run / "initrd", "-append",
                " ".join(words), *self._port("output"), *self._port("files"),
                *self._port("status"), *self.qemu_args, *more]

    def make_initrd(self, script=None, files=None):
        """The rootfs and, appended to it, the script and its files."""
        rootfs = image.rootfs(self.arch if self.arch == "arm64" else "amd64")
        shutil.copyfile(rootfs, self.run / "initrd")
        if script is None:
            return
        stage = self.run / "stage"
        stage.joinpath("test").mkdir(parents=True)
        stage.joinpath("scale").write_text(option("SCALE", "100") + "\n", encoding="utf-8")
        if files:
            shutil.copytree(files, stage / "test", dirs_exist_ok=True)
        if isinstance(script, pathlib.Path):
            script = script.read_text(encoding="utf-8")
        if not script.startswith("#!"):
            script = "#!/bin/sh\n" + script
        stage.joinpath("test/script").write_text(script, encoding="utf-8")
        stage.joinpath("test/script").chmod(0o755)
        process.run(["sh", "-c", "find test scale | cpio --quiet -o -H newc -R +0:+0 >>../initrd"],
                    cwd=stage)
        shutil.rmtree(stage)

    def read(self, name):
        """What a file of the run's directory has."""
        path = self.run / name
        if not path.exists():
            return ""
        return path.read_text(encoding="utf-8", errors="replace").replace("\r", "")

    def _wait(self, child, limit, show):
        """Wait for QEMU, and pass on what the script says as it comes. False: it took too long."""
        deadline, done = time.monotonic() + limit, 0
        while True:
            ended = child.poll() is not None or time.monotonic() > deadline
            path = self.run / "output"
            if show and path.exists():
                with open(path, "rb") as said:
                    said.seek(done)
                    done += show.write(said.read())
                    show.flush()
            if ended:
                return child.poll() is not None
            time.sleep(0.05)

    def _verdict(self, ended, limit):
        """The status, and what is wrong."""
        if not ended:
            return HUNG, f"no end after {limit:.0f} s", SHOWN
        if faults := console.splats(self.read("console")):
            return DIED, f"the kernel complained: {faults[0]}", 60
        status = self.read("status").strip()
        if not status:
            return DIED, f"{self.read('qemu')}the guest ended without a status", SHOWN
        return int(status), "", 0

    def _receive(self):
        """What the script left in /out, now that the guest is known to have ended well."""
        try:
            with tarfile.open(self.run / "files") as archive:
                archive.extractall(self.run / "out")
        except tarfile.TarError as error:
            return f"what the guest sent of /out can't be unpacked: {error}"
        return ""

    def run_script(self, show=None):
        """Boot, and see how the script ends."""
        limit = scaled(self.timeout or 600)
        with open(self.run / "qemu", "wb") as said, \
                process.started(self.command("-serial", f"file:{self.run / 'console'}"),
                                stdout=said, stderr=said) as child:
            ended = self._wait(child, limit, show)
        self.run.joinpath("initrd").unlink()
        status, why, shown = self._verdict(ended, limit)
        if not why and (why := self._receive()):
            status, shown = DIED, SHOWN
        if why:
            tail = "\n".join("    " + line for line in self.read("console").splitlines()[-shown:])
            why = f"vm: {why}; the end of the console ({self.run}/console):\n{tail}"
        return Result(status, self.read("output"), self.read("console"), why, self.run / "out")

    def interactive(self, *more):
        """Boot, with a shell on the terminal."""
        tty = "stdio,id=tty,mux=on,signal=off,logfile=" + str(self.run / "console")
        command = self.command("-chardev", tty, "-serial", "chardev:tty", *more)
        with process.started(command, stdin=None, start_new_session=False) as child:
            child.wait(self.timeout and scaled(self.timeout))
        if not self.read("status"):
            raise Failure(f"the guest died (its console: {self.run}/console)")


def boot(script, files=None, **how):
    """Boot a kernel that is built, and run a script in the guest as root, in /test, where `files`
    are. `how` is Machine's."""
    machine = Machine(**how)
    machine.make_initrd(script, files)
    return machine.run_script()


def _el2_offset(machine):
    """By how much EL2's addresses differ from those in vmlinux. QEMU loads the kernel 2 MB above
    the start of memory. EL2 maps memory from there on at the highest bit of a virtual address, see
    compute_layout() in arch/arm64/kvm/va_layout.c; where it adds a random number, only a program
    that runs can say."""
    if "CONFIG_RANDOMIZE_BASE=y" in machine.config():
        raise Failure("DEBUG=1: EL2 is at a random place: build without CONFIG_RANDOMIZE_BASE")
    bits = next(int(line.partition("=")[2]) for line in machine.config()
                if line.startswith("CONFIG_ARM64_VA_BITS="))
    symbols = machine.built.joinpath("System.map").read_text(encoding="utf-8")
    text = re.search(r"^(\w+) \w _text$", symbols, re.M)[1]
    return f"{(1 << (bits - 1)) + 0x200000:#x}-0x{text}"


def _debug(machine):
    """What QEMU and gdb need to debug; says how to begin."""
    if machine.arch != "arm64":
        raise Failure("DEBUG=1 is for arm64")
    for name in "vmlinux", "System.map", ".config":
        if not machine.built.joinpath(name).is_file():
            raise Failure(f"DEBUG=1: no {name} beside {machine.image}")
    need("debug")
    vmlinux, socket = machine.built / "vmlinux", machine.run / "gdb"
    BUILD.joinpath("gdb").write_text(
        f"file {vmlinux}\nadd-symbol-file {vmlinux} -o {_el2_offset(machine)}\n"
        f"target remote {socket}\n", encoding="utf-8")
    note("waiting for: gdb-multiarch -x build/gdb; "
         "a breakpoint at EL2: break __kvm_nvhe_handle_trap")
    machine.qemu_args += ["-S", "-chardev", f"socket,id=gdb,path={socket},server=on,wait=off",
                          "-gdb", "chardev:gdb"]


def _check(script, files, out):
    """The arguments make sense."""
    if script and not os.path.isfile(script):
        raise Failure(f"no script {script}")
    if files and not os.path.isdir(files):
        raise Failure(f"no directory {files}")
    if (files or out) and not script:
        raise Failure(f"{'FILES' if files else 'OUT'} without SCRIPT")


def main():
    """`make vm`: the variables are Machine's parameters."""
    script, files, out = option("SCRIPT"), option("FILES"), option("OUT")
    _check(script, files, out)
    need("vm")
    names = "config", "mode", "cpu", "mem", "image", "tree", "cmdline", "qemu_args"
    given = {name: option(name.upper()) for name in names if option(name.upper())}
    machine = Machine(smp=number("SMP", 2), timeout=number("TIMEOUT"), **given)
    if option("DEBUG"):
        _debug(machine)
    machine.make_initrd(pathlib.Path(script) if script else None, files)
    if not script:
        machine.interactive()
        return 0
    result = machine.run_script(sys.stdout.buffer)
    if option("CONSOLE"):
        pathlib.Path(option("CONSOLE")).write_text(result.console, encoding="utf-8")
    if result.errors:
        print(result.errors, file=sys.stderr)
    elif out:
        shutil.copytree(result.out, out, dirs_exist_ok=True)
    return result.status
