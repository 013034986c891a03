# SPDX-License-Identifier: GPL-2.0
"""The kernel's source as Debian has it: which versions apt offers, and the files of one."""

import shutil

from hyptrace import apt, base, process
from hyptrace.machine import BUILD, TOOLS, Failure, note

DL = BUILD / "dl"
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


def _supported(found):
    """Those that are not older than what the patches are for, the newest first."""
    oldest = base.numbers(base.read().oldest)
    return sorted((each for each in found if base.numbers(upstream(each)) >= oldest),
                  key=base.numbers, reverse=True)


def versions():
    """Those that apt offers and we support, the newest first."""
    said = process.run(["apt-cache", "madison", base.read().package], check=False).stdout
    return _supported({line.split("|")[1].strip() for line in said.splitlines() if "|" in line})


def known():
    """The newest of them that the patches were seen to apply to."""
    last = base.read().known
    for version in versions():
        if base.numbers(upstream(version)) <= base.numbers(last):
            return version
    raise Failure(f"apt offers no such version: SOURCE=file takes its .deb or a .tar.xz of {last}")


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


def fetch(version=""):
    """The package of the newest version, or of a given one. Lists that are missing or older than
    the mirror are fetched; when even that fails, what an earlier run fetched is good too."""
    for lists in ([] if version else ["refresh"]), ["update"]:
        if lists:
            process.run([TOOLS / "deps", *lists], check=False, stdout=None, stderr=None)
        wanted = version or next(iter(versions()), None)
        if _download(wanted):
            return _package(wanted)
    had = _supported(path.name.split("_")[1] for path in DL.glob(f"{base.read().package}_*.deb"))
    if had and not version:
        return _package(had[0])
    raise Failure(f"can't fetch {base.read().package} {version}: "
                  f"{apt.says(BUILD / 'apt.log-update', BUILD / 'apt.log')}")


def unpack(path, to):
    """Unpack a .deb, .tar.xz or .tar. Files are as new as that, so that kbuild sees a new version.
    The directory is whole or not there."""
    note(f"unpacking {path.name}")
    new = to.with_name(to.name + ".new")
    shutil.rmtree(new, ignore_errors=True)
    new.mkdir(parents=True)
    if not process.logged(["bash", "-c", UNPACK, "unpack", path, new], BUILD / "unpack.log",
                          "unpacking, files"):
        said = (BUILD / "unpack.log").read_text("utf-8", "replace").splitlines()
        raise Failure(f"can't unpack {path.name}: {said[-1] if said else 'it is empty'}")
    new.rename(to)
