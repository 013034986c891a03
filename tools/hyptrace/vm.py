# SPDX-License-Identifier: GPL-2.0
"""A virtual machine: boot a kernel in QEMU, with a shell on the terminal or to run a script, whose
output, files and status come out by a virtio port each. See init, which is process 1."""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent import futures
from dataclasses import dataclass

from hyptrace import image as images, kernel, process, results
from hyptrace.machine import BUILD, Failure, arch_of, image_of, need, note, number, option, scaled

HUNG = 124
DIED = 125
KEPT = 86400    # seconds that what is known of a run stays in build/vm
MODES = "protected", "nvhe", "vhe", "none"

# For scripts with build/selftest as their files
PRELUDE = r"""#!/bin/sh
set -ex
export PATH="/test/hyp-trace:$PATH" DIR=/test/hyp-trace HYP=/sys/kernel/tracing/hypervisor
. "$DIR/until.sh"
# An event comes from EL2.
writes() { echo "$1" >"$HYP/write_event"; grep "selftest id=$1\$" "$HYP/trace"; }
# off_by_less SECONDS: the hypervisor's clock than that, by an event that is written now
off_by_less() {
	before=$(cut -d ' ' -f 1 /proc/uptime)
	echo 77 >"$HYP/write_event"
	after=$(cut -d ' ' -f 1 /proc/uptime)
	awk -v from="$before" -v to="$after" -v less="$1" '/selftest id=77$/ { at = $2 + 0 }
		END { exit !(at > from - less && at < to + less) }' "$HYP/trace"
}
"""

# Before 8.1 QEMU does not lock the pages that it translates, while code in them changes: with one
# thread for all CPUs of x86 none is at work then.
BOARDS = {
    "arm64": "-M virt,virtualization=on,gic-version=3 -global virtio-mmio.force-legacy=false "
             "-global virtio-mmio.ioeventfd=off -device virtio-serial-device",
    "x86_64": "-M q35 -accel tcg,thread=single -device virtio-serial-pci,ioeventfd=off"}
CONSOLES = {"arm64": "ttyAMA0 earlycon", "x86_64": "ttyS0"}


def check_mode(mode):
    if mode not in MODES:
        raise Failure(f"no mode {mode}: {', '.join(MODES)}")


@dataclass
class Result:
    """How a run ended. The status is the script's, or HUNG; or DIED: the guest died, or its
    console shows that the kernel or the hypervisor complained, whatever the script said."""
    status: int
    output: str
    console: str
    errors: str
    out: pathlib.Path


@dataclass
class Machine:     # pylint: disable=too-many-instance-attributes
    """What is booted, and how."""
    config: str = "default"
    mode: str = "protected"
    cpu: str = "max"
    smp: int = 2
    mem: str = "1G"
    image: pathlib.Path = None
    cmdline: str = ""
    qemu_args: str = ""
    timeout: int = None
    show: bool = False      # the script's output on ours

    def __post_init__(self):
        self.arch = arch_of(self.config)
        self.image = pathlib.Path(self.image or kernel.image(self.config))
        if not self.image.is_file():
            raise Failure(f"no kernel {self.image}: make kernel")
        check_mode(self.mode)
        self.built = pathlib.Path(str(self.image).removesuffix(image_of(self.arch)))
        for old in BUILD.glob("vm/*"):
            if time.time() - old.stat().st_mtime > KEPT:
                shutil.rmtree(old, ignore_errors=True)
        BUILD.joinpath("vm").mkdir(exist_ok=True)
        self.run = pathlib.Path(tempfile.mkdtemp(dir=BUILD / "vm", prefix=time.strftime("%H%M%S-")))
        self.run.joinpath("out").mkdir()
        for name in "output", "files", "status", "console":
            self.run.joinpath(name).touch()

    def _options(self):
        """The kernel's options, as far as they are known."""
        path = self.built / ".config"
        return kernel.values(path.read_text("utf-8")) if path.exists() else {}

    def _words(self):
        """The kernel's command line. An error is a panic, and a panic the end of the log."""
        words = [f"console={CONSOLES[self.arch]} panic=-1 oops=panic",
                 f"rcupdate.rcu_cpu_stall_timeout={min(int(scaled(21)), 300)}"]
        if self._options().get("CONFIG_DETECT_HUNG_TASK") == "y":
            words.append(f"sysctl.kernel.hung_task_timeout_secs={int(scaled(120))}")
        if self.arch == "arm64" and self.mode != "vhe":
            words.append(f"kvm-arm.mode={self.mode}")
        return " ".join(words + [self.cmdline])

    def _ports(self):
        """Ports to files, which take what they are given; with ioeventfd off, at once."""
        for name in "output", "files", "status":
            to = f"file,id={name},path={self.run / name}"
            if name == "output" and self.show:
                to = f"stdio,id={name},signal=off,logfile={self.run / name}"
            yield from ["-chardev", to,
                        "-device", f"virtserialport,chardev={name},name=hyptrace.{name}"]

    def command(self, *more):
        """QEMU's."""
        return [*images.qemu(self.arch), *BOARDS[self.arch].split(), "-cpu", self.cpu,
                "-smp", str(self.smp), "-m", self.mem, "-nic", "none", "-no-reboot",
                "-display", "none", "-monitor", "none", "-kernel", self.image,
                "-initrd", self.run / "initrd", "-append", self._words(), *self._ports(),
                *self.qemu_args.split(), *more]

    def make_initrd(self, script=None, files=None):
        """The rootfs with the script, if there is one, and its files."""
        scripts = {"scale": option("SCALE", "100") + "\n"}
        if script is not None:
            scripts["test/script"] = "#!/bin/sh\n" * (not script.startswith("#!")) + script
        images.initrd(self.run / "initrd", self.arch, files, scripts)

    def read(self, name):
        return self.run.joinpath(name).read_text("utf-8", "replace").replace("\r", "")

    def _verdict(self, ended, limit):
        """The status, and what is wrong."""
        if not ended:
            return HUNG, f"no end after {limit:.0f} s"
        if faults := results.splats(self.read("console")):
            return DIED, f"the kernel complained: {faults[0]}"
        if status := self.read("status"):
            process.run(["tar", "-xf", self.run / "files", "-C", self.run / "out"])
            return int(status), ""
        return DIED, f"{self.read('qemu')}the guest ended without a status"

    def run_script(self):
        """Boot, and see how the script ends."""
        limit, log, ended = scaled(self.timeout or 600), self.run / "console", True
        with open(self.run / "qemu", "wb") as said, process.started(
                self.command("-serial", f"file:{log}"), stdout=None if self.show else said,
                stderr=said, stdin=subprocess.PIPE) as child:    # Its end would close the port.
            try:
                child.wait(limit)
            except subprocess.TimeoutExpired:
                ended = False
        self.run.joinpath("initrd").unlink()
        status, why = self._verdict(ended, limit)
        if why:
            tail = "\n    ".join(self.read("console").splitlines()[-60:])
            why = f"vm: {why}; the end of the console ({log}):\n    {tail}"
        return Result(status, self.read("output"), self.read("console"), why, self.run / "out")

    def interactive(self):
        """Boot, with a shell on the terminal."""
        log = self.run / "console"
        command = self.command("-chardev", f"stdio,id=tty,mux=on,signal=off,logfile={log}",
                               "-serial", "chardev:tty")
        with process.started(command, stdin=None, start_new_session=False) as child:
            child.wait(self.timeout and scaled(self.timeout))
        if not self.read("status"):
            raise Failure(f"the guest died (its console: {log})")

    def el2_offset(self):
        """EL2's addresses less those in vmlinux: QEMU loads the kernel 2 MB above the start of
        memory, which EL2 maps at an address' highest bit, see compute_layout() in va_layout.c."""
        options, symbols = self._options(), (self.built / "System.map").read_text("utf-8")
        if options.get("CONFIG_RANDOMIZE_BASE") == "y":
            raise Failure("DEBUG=1: EL2 is at a random place: build without CONFIG_RANDOMIZE_BASE")
        text = re.search(r"^(\w+) \w _text$", symbols, re.M)[1]
        return (1 << int(options["CONFIG_ARM64_VA_BITS"]) - 1) + 0x200000 - int(text, 16)

    def wait_for_gdb(self):
        """What QEMU and gdb need to debug; says how to begin."""
        vmlinux, socket = self.built / "vmlinux", self.run / "gdb"
        if self.arch != "arm64" or not vmlinux.is_file():
            raise Failure(f"DEBUG=1: no vmlinux of arm64 beside {self.image}")
        need("debug")
        BUILD.joinpath("gdb").write_text(
            f"file {vmlinux}\nadd-symbol-file {vmlinux} -o {self.el2_offset():#x}\n"
            f"target remote {socket}\n", "utf-8")
        note("waiting for: gdb-multiarch -x build/gdb; "
             "a breakpoint at EL2: break __kvm_nvhe_handle_trap")
        self.qemu_args += (f" -S -chardev socket,id=gdb,path={socket},server=on,wait=off"
                           " -gdb chardev:gdb")

    def under_gdb(self, commands, script, files=None):
        """Boot, and run a script while gdb has these commands: the result, and what gdb says."""
        self.wait_for_gdb()
        self.make_initrd(script, files)
        self.run.joinpath("commands").write_text(commands, "utf-8")
        with futures.ThreadPoolExecutor() as pool:
            run = pool.submit(self.run_script)
            while not self.run.joinpath("gdb").exists() and not run.done():
                time.sleep(0.1)
            said = process.run(["gdb-multiarch", "-nx", "-batch", "-x", BUILD / "gdb", "-x",
                                self.run / "commands"], timeout=scaled(60), check=False).stdout
        return run.result(), said


def boot(script, files=None, **how):
    """Boot a Machine, and run a script in the guest as root, in /test, where `files` are."""
    machine = Machine(**how)
    machine.make_initrd(script, files)
    return machine.run_script()


def main():
    """`make vm`: the variables are Machine's fields. ARGUMENTS=1 is as in demo.py."""
    check_mode(option("MODE", Machine.mode))
    if option("ARGUMENTS"):
        return 0
    need("vm")
    names = "config", "mode", "cpu", "mem", "image", "cmdline", "qemu_args"
    given = {name: option(name.upper()) for name in names if option(name.upper())}
    machine = Machine(smp=number("SMP", 2), timeout=number("TIMEOUT"), show=True, **given)
    if option("DEBUG"):
        machine.wait_for_gdb()
    if not option("SCRIPT"):
        machine.show = False
        machine.make_initrd(files=option("FILES"))
        return machine.interactive()
    machine.make_initrd(pathlib.Path(option("SCRIPT")).read_text("utf-8"), option("FILES"))
    result = machine.run_script()
    print(result.errors, end="", file=sys.stderr)
    if option("OUT") and not result.errors:
        shutil.copytree(result.out, option("OUT"), dirs_exist_ok=True)
    return result.status
