# SPDX-License-Identifier: GPL-2.0
"""Build perf of a kernel tree for arm64 or for this machine. The libraries that it needs are linked
into it, so that it runs on any such system. It loads none of that system's."""

import pathlib
import platform
import re
import shutil
from collections import Counter

from hyptrace import image, kernel, patches, process
from hyptrace.machine import BUILD, Failure, cross_for, need, note, option

# Of the machine's own release: that is also the compiler's C library.
LIBRARIES = """libtraceevent-dev libelf-dev libdw-dev libbz2-dev zlib1g-dev libzstd-dev liblzma-dev
    libslang2-dev libssl-dev"""
# Other languages, libunwind in place of libdw
WITHOUT = """LIBPERL LIBPYTHON JVMTI DEMANGLE LIBUNWIND SDT LIBNUMA LIBAUDIT LIBCRYPTO
    LIBCAP LIBBABELTRACE LIBPFM4 LIBLLVM LIBDEBUGINFOD GTK2 RUST""".split()
# In place of the C library's functions that load libraries, which may be of another release:
# libtraceevent's plugins of a Debian machine end perf with SIGSEGV. perf has no plugins then, no
# `perf script --dlfilter', and takes users by number alone.
STATIC = """#include <pwd.h>
#include <stddef.h>
void *__wrap_dlopen(const char *name, int mode) { return NULL; }
char *__wrap_dlerror(void) { return "perf is linked statically"; }
int __wrap_getpwnam_r(const char *name, struct passwd *user, char *buf, size_t size,
		      struct passwd **found)
{
	*found = NULL;
	return 0;
}
int __wrap_getpwuid_r(uid_t uid, struct passwd *user, char *buf, size_t size, struct passwd **found)
{
	user->pw_uid = uid;
	*found = user;
	return 0;
}
"""
WRAP = " ".join(f"-Wl,--wrap={name}" for name in "dlopen dlerror getpwnam_r getpwuid_r".split())


def _bpftool(tree, out):
    """bpftool for this machine, which perf's make would link with perf's own flags. It is where
    that expects it."""
    out = out / "util/bpf_skel/.tmp"
    out.mkdir(parents=True, exist_ok=True)
    process.run(["make", "-s", "-C", tree / "tools/bpf/bpftool", f"OUTPUT={out}/", "bootstrap"])


def _make(arch, tree, out, root):
    """Run perf's make, which links perf again for its own sources only. The C library's headers
    come from the compiler."""
    source, static = out / "static.c", out / "static.o"
    if not source.exists() or source.read_text("utf-8") != STATIC:
        source.write_text(STATIC, "utf-8")
        process.run([cross_for(arch) + "gcc", "-O2", "-Wall", "-c", "-o", static, source])
        (out / "perf").unlink(missing_ok=True)
    lib, include = next((root / "usr/lib").glob("*-linux-gnu")), root / "usr/include"
    words = ["-C", tree / "tools/perf", f"O={out}", f"LDFLAGS=-static -L{lib} {static} {WRAP}",
             f"EXTRA_CFLAGS=-idirafter {include} -idirafter {include / lib.name}",
             *(f"NO_{name}=1" for name in WITHOUT), "V=0", "perf"]
    _bpftool(tree, out)
    kernel.long_make(arch, out.with_name(out.name.replace("-build", ".log")),
                     "building perf", words, PKG_CONFIG_SYSROOT_DIR=str(root),
                     PKG_CONFIG_LIBDIR=f"{lib}/pkgconfig:{root}/usr/share/pkgconfig")


def build(machine="arm64", tree=None):
    """perf for "arm64" or for this machine, "host"; of build/tree, or of another tree."""
    if machine not in ("arm64", "host", "x86_64"):
        raise Failure(f"no machine {machine}: arm64 or host")
    need("perf", "rootfs")
    name, arch, debian = "perf", "arm64", "arm64"
    if machine != "arm64":
        name, debian = "perf-host", image.architecture()
        arch = {"aarch64": "arm64"}.get(platform.machine(), platform.machine())
    root = image.suite("machine", name, LIBRARIES, debian)
    name += "-own" if tree else ""
    out, program = BUILD / f"{name}-build", BUILD / name / "perf"
    with process.lock(name):
        out.mkdir(exist_ok=True)
        program.parent.mkdir(exist_ok=True)
        _make(arch, pathlib.Path(tree or patches.base().tree).resolve(), out, root)
        shutil.copy(out / "perf", program)
    return program


def chains(text):
    """The chains in what `perf script -F ip,sym` prints, from the callee on, as tuples of names,
    and how often each was seen."""
    found = (re.findall(r"^\s+[0-9a-f]+ (\S+)", block, re.M)
             for block in re.split(r"\n\s*\n", text))
    return Counter(tuple(names) for names in found if names)


def main():
    note(str(build(option("FOR", "arm64"), option("TREE")).relative_to(BUILD.parent)))
