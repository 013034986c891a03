# SPDX-License-Identifier: GPL-2.0
"""Programs with libFuzzer, with SEED=n; FUZZ_SECONDS=s goes on with what was found before."""

import random
import re

from hyptrace import process
from hyptrace.machine import BUILD, option, scaled

SEED = option("SEED", str(random.getrandbits(32)))


def write_seeds(listed, into):
    """The inputs of a list, of which a line has a name and hexadecimal bytes, a file each."""
    into.mkdir(exist_ok=True)
    for name, numbers in re.findall(r"^([^#\s]\S*) *(.*)$", listed.read_text("utf-8"), re.M):
        (into / name).write_bytes(bytes.fromhex(numbers))
    return into


def run(program, name, seeds, runs):
    """Run a fuzzer: its last line, or Failure if it does not survive an input, which is kept."""
    crashes, corpus = BUILD / "fuzz/crashes", BUILD / "fuzz/corpus" / name
    for path in crashes, corpus:
        path.mkdir(parents=True, exist_ok=True)
    limit = option("FUZZ_SECONDS")
    how = [f"-max_total_time={limit}", corpus] if limit else [f"-runs={runs}"]
    done = process.run([program, f"-seed={SEED}", f"-timeout={scaled(10):.0f}",
                        "-rss_limit_mb=1500", f"-artifact_prefix={crashes}/{name}-", *how, seeds])
    return f"SEED={SEED}: {done.stdout.splitlines()[-1]}"
