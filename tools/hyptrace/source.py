# SPDX-License-Identifier: GPL-2.0
"""The kernel's source as Debian has it: which versions apt offers, and the files of one."""

import shutil

from hyptrace import apt, base, process
from hyptrace.machine import BUILD, TOOLS, Failure, note

DL = BUILD / "dl"
ROOM = 3000     # MB that a source needs, with a kernel
# tar alone may take a source that is cut short for whole.
UNPACK = """set -o pipefail
case $1 in
*.deb) dpkg-deb --fsys-tarfile "$1" | tar -xO --wildcards './usr/src/linux-source-*.tar.xz' ;;
*) cat "$1" ;;
esac | case $1 in *.tar) cat ;; *) xz -dc ;; esac |
	tar -x -v -m --no-same-owner --strip-components=1 -C "$2"
"""


def upstream(version):
    """6.12.107 of 6.12.107-1~deb12u1"""
    return version.partition("-")[0]


def is_supported(version):
    """It is not older than the oldest that the patches are for."""
    return base.numbers(upstream(version)) >= base.numbers(base.read().oldest)


def offered():
    """The versions that apt offers: first the one that it would install, then from the newest."""
    package = base.read().package
    said = process.run(["apt-cache", "madison", package], check=False).stdout
    found = sorted((line.split("|")[1].strip() for line in said.splitlines() if "|" in line),
                   key=base.numbers, reverse=True)
    first = apt.offered(package)
    return list(dict.fromkeys(([first] if first else []) + found))


def versions():
    """Those that are supported."""
    return [version for version in offered() if is_supported(version)]


def known():
    """The newest of them that the patches were seen to apply to."""
    newest = base.numbers(base.read().known)
    return next(iter(sorted((each for each in versions() if base.numbers(upstream(each)) <= newest),
                            key=base.numbers, reverse=True)), None)


def choose():
    """The first that is supported; those before it are named."""
    for version in offered():
        if is_supported(version):
            return version
        note(f"{base.read().package} {version} is passed over: {base.read().oldest} is the oldest "
             "supported")
    return None


def _package(version):
    """Where the package of a version is, once it is fetched."""
    return DL / f"{base.read().package}_{version}_all.deb"


def _download(version):
    """Fetch it, unless it is here. False: that can't be done."""
    if not version or _package(version).exists():
        return bool(version)
    note(f"fetching {base.read().package} {version} (150 MB)")
    partial = DL / "partial"
    partial.mkdir(parents=True, exist_ok=True)
    if not process.logged(["apt-get", "-q", "download", f"{base.read().package}={version}"],
                          BUILD / "apt.log", "fetching, lines", cwd=partial):
        return False
    for found in partial.glob("*.deb"):
        found.rename(_package(version))
    shutil.rmtree(partial)
    return True


def _fetched():
    """The newest that was fetched before and is supported."""
    found = [path.name.split("_")[1] for path in DL.glob(f"{base.read().package}_*.deb")]
    return next(iter(sorted(filter(is_supported, found), key=base.numbers, reverse=True)), None)


def fetch(version=""):
    """The package of the newest version, or of a given one. Lists that are missing or older than
    the mirror are fetched; when even that fails, what an earlier run fetched is good too."""
    wanted = version
    if not version:
        process.run([TOOLS / "deps", "refresh"], check=False, stdout=None, stderr=None)
        wanted = choose()
    if not _download(wanted):
        process.run([TOOLS / "deps", "update"], check=False, stdout=None, stderr=None)
        wanted = version or choose()
        if not _download(wanted):
            wanted = None if version else _fetched()
    if wanted:
        return _package(wanted)
    if not version and offered() and not versions():
        raise Failure(f"apt offers no {base.read().package} from {base.read().oldest} on")
    raise Failure(f"can't fetch {base.read().package}: "
                  f"{apt.says(BUILD / 'apt.log-update', BUILD / 'apt.log')}")


def version_of(tree):
    """The version that a source says it is."""
    return process.run(["make", "-s", "--no-print-directory", "-C", tree, "kernelversion"],
                       stderr=None).stdout.strip()


def unpack(path, to):
    """Unpack a .deb, .tar.xz or .tar. Files are as new as that, so that kbuild sees a new version.
    The directory is whole or not there."""
    if shutil.disk_usage(BUILD).free < ROOM << 20:
        raise Failure(f"the kernel source, with a kernel, needs {ROOM} MB under build/")
    note(f"unpacking {path.name}")
    new = to.with_name(to.name + ".new")
    shutil.rmtree(new, ignore_errors=True)
    new.mkdir(parents=True)
    if not process.logged(["bash", "-c", UNPACK, "unpack", path, new], BUILD / "unpack.log",
                          "unpacking, files"):
        said = (BUILD / "unpack.log").read_text("utf-8", "replace").splitlines()
        raise Failure(f"can't unpack {path.name}: {said[-1] if said else 'it is empty'}")
    if not (new / "Kbuild").exists():
        raise Failure(f"{path.name} is no kernel source")
    version = version_of(new)
    if not is_supported(version):
        raise Failure(f"{path.name} is Linux {version}: {base.read().oldest} is the oldest "
                      "supported")
    new.rename(to)
