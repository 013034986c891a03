# SPDX-License-Identifier: GPL-2.0
"""What a build leaves behind: warnings in its log, what objects were made of, what is in them."""

import re

from hyptrace import patches, process, tree
from hyptrace.machine import cross_for

NVHE = "arch/arm64/kvm/hyp/nvhe"
EL2 = f"{NVHE}/kvm_nvhe.o"      # linked but for what it takes from the host kernel


def ours():
    """Our files, and those that the patches change."""
    return [*patches.new_files(), *patches.touched()]


def log_of(out):
    """What the last build in a directory said."""
    return out.with_name(out.name + ".log").read_text("utf-8", "replace")


def warnings(text, paths):
    """The lines of a log that are a warning or an error of the compiler or of sparse in one of the
    files. One in a macro counts for the file that uses the macro."""
    names = "|".join(re.escape(path) for path in paths
                     if path.endswith((".c", ".h")) and not path.startswith("tools/"))
    return re.findall(rf"^(?:.*[/ \t])?(?:{names}):\d+(?::\d+)?: (?:warning|error).*", text, re.M)


def not_compiled(out, arch="arm64"):
    """The .c files, ours or that the patches change, that no object in a directory was made of."""
    made = {word for path in out.rglob(".*.cmd")
            for word in re.findall(r"\S+\.c(?=[\s)])", path.read_text("utf-8", "replace"))}
    return [path for path in tree.c_files(arch)
            if not any(word.endswith("/" + path) for word in made)]


def undefined(out):
    """What EL2's object takes from the host kernel, or nothing defines."""
    said = process.run([cross_for("arm64") + "nm", "-u", out / EL2]).stdout
    return {line.split()[-1] for line in said.splitlines()}
