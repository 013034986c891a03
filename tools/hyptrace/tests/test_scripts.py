# SPDX-License-Identifier: GPL-2.0
"""Each shell script is clean under shellcheck, the driver's Python modules under pylint."""

import os
import re

import pytest

from hyptrace import process
from hyptrace.machine import ROOT, TOOLS, need

pytestmark = [pytest.mark.fast, pytest.mark.host, pytest.mark.seconds(20)]

# Fixtures are parameters of the same name, as many as a test needs.
OF_TESTS = "redefined-outer-name,too-many-arguments,too-many-locals"
SCRIPT = rb"#!.*[/ ](ba|da)?sh\n|(.*\n)?# shellcheck shell="


def test_shell(checks):
    """One check for each script, which says so in its first two lines."""
    need("check")
    listed = process.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT).stdout
    # Those that ftracetest runs are as its others.
    scripts = [path for path in listed.splitlines() if (ROOT / path).is_file()
               and not path.endswith(".tc") and re.match(SCRIPT, (ROOT / path).read_bytes()[:200])]
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
    process.run(["/usr/bin/pylint", f"--rcfile={TOOLS}/.pylintrc", "--score=n",
                 f"--disable={allowed}", *sorted(TOOLS.glob(files))], cwd=TOOLS.parent,
                env=os.environ | {"PYTHONPATH": str(TOOLS.parent)})
