# SPDX-License-Identifier: GPL-2.0
"""Each shell script of the repository is clean under shellcheck, each of the driver's Python
modules under pylint."""

import os
import re

import pytest

from hyptrace import process
from hyptrace.machine import ROOT, TOOLS, need

pytestmark = [pytest.mark.fast, pytest.mark.host, pytest.mark.seconds(20)]

# Fixtures are parameters of the same name, as many as a test needs.
OF_TESTS = "redefined-outer-name,too-many-arguments,too-many-locals"


def is_script(path):
    """Whether it says so in its first two lines."""
    head = path.read_bytes()[:200] if path.is_file() and not path.is_symlink() else b""
    return re.match(rb"#!.*[/ ](ba|da)?sh\n|(.*\n)?# shellcheck shell=", head)


def test_shell(checks):
    """One check for each script."""
    need("check")
    listed = process.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT).stdout
    scripts = [path for path in listed.splitlines() if is_script(ROOT / path)]
    checks("there are scripts", len(scripts) > 20)
    said = process.run(["shellcheck", "-x", "-f", "gcc", *scripts], cwd=ROOT, check=False)
    for path in scripts:
        found = re.findall(rf"^{re.escape(path)}:.*", said.stdout, re.M)
        checks(f"shellcheck {path}", not found, "\n".join(found))
    checks("nothing else is wrong", not said.returncode, said.stdout)


@pytest.mark.parametrize("files, allowed", [("*.py", "duplicate-code"), ("tests/*.py", OF_TESTS)],
                         ids=["driver", "tests"])
def test_python(files, allowed):
    """pylint has nothing to say."""
    need("check")
    found = process.run(["/usr/bin/pylint", f"--rcfile={TOOLS}/.pylintrc", "--score=n",
                         f"--disable={allowed}", *sorted(TOOLS.glob(files))], check=False,
                        cwd=TOOLS.parent,
                        env=os.environ | {"PYTHONPATH": str(TOOLS.parent)})
    assert not found.returncode, found.stdout
