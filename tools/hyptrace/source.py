# SPDX-License-Identifier: GPL-2.0
"""The kernel's source as Debian has it: which versions apt offers, and their packages."""

import functools
import pathlib
import tempfile

from hyptrace import image, process
from hyptrace.patches import base, numbers
from hyptrace.machine import SHARED, TOOLS, Failure, note

DL = SHARED / "dl"


def upstream(version):
    """6.12.107 of 6.12.107-1~deb12u1"""
    return version.partition("-")[0]


@functools.cache
def suite():
    """Options for apt: the lists of a base's suite beside the machine's, which stay as they are."""
    if not base().suite:
        return ()
    top = DL / base().suite
    (top / "lists/partial").mkdir(parents=True, exist_ok=True)
    (top / "sources.list").write_text("\n".join(image.sources(base().suite)), "utf-8")
    return [word for name, value in {
        "Dir::Etc::SourceList": top / "sources.list", "Dir::Etc::SourceParts": "/dev/null",
        "Dir::State::Lists": top / "lists", "Dir::Cache": top,
        "Acquire::Check-Valid-Until": "false"}.items() for word in ("-o", f"{name}={value}")]


def versions():
    """Those that apt offers and the patches are for, the newest first."""
    said = process.run(["apt-cache", *suite(), "madison", base().package], check=False).stdout
    found = {line.split("|")[1].strip() for line in said.splitlines() if "|" in line}
    return sorted((each for each in found if numbers(upstream(each)) >= numbers(base().oldest)),
                  key=numbers, reverse=True)


def fetch(version):
    """The package of a version; it is downloaded once."""
    path = DL / f"{base().package}_{version}_all.deb"
    if not path.exists():
        note(f"fetching {base().package} {version} (150 MB)")
        DL.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=DL) as partial:
            process.run(["apt-get", "-q", *suite(), "download", f"{base().package}={version}"],
                        cwd=partial)
            for found in pathlib.Path(partial).glob("*.deb"):
                found.rename(path)
    return path


def newest(most=""):
    """The package of the newest version, at most a given one; renews apt's lists if need be."""
    for update in False, True:
        if update:
            process.run(["apt-get", "-q", *suite(), "update"] if suite() else
                        [TOOLS / "deps", "update"])
        found = (each for each in versions()
                 if not most or numbers(upstream(each)) <= numbers(most))
        try:
            return fetch(next(found))
        except (Failure, StopIteration) as failure:
            why = failure
    raise Failure(f"can't fetch {base().package} {most}: {why}")
