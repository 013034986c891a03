# SPDX-License-Identifier: GPL-2.0
"""Fuzzers, which are programs with libFuzzer: first the inputs that are written down, then what
chance makes of them. An input that one does not survive is kept in build/fuzz/crashes.

  SEED=n          chance's
  FUZZ_SECONDS=s  for each fuzzer so long, and go on with what was found before, in
                  build/fuzz/corpus; else as many inputs as take some seconds
"""

import random
import re

from hyptrace import process
from hyptrace.machine import BUILD, Failure, option, scaled

SEED = option("SEED", str(random.getrandbits(32)))


def write_seeds(listed, into):
    """The inputs of a list, of which a line has a name and hexadecimal bytes, a file each."""
    into.mkdir(exist_ok=True)
    for name, numbers in re.findall(r"^([^#\s]\S*) *(.*)$", listed.read_text("utf-8"), re.M):
        (into / name).write_bytes(bytes.fromhex(numbers))
    return into


def run(program, name, seeds, runs):
    """Run a fuzzer: how many inputs there were, and what they met. Raises Failure if it does not
    survive one."""
    crashes, corpus = BUILD / "fuzz/crashes", BUILD / "fuzz/corpus" / name
    limit = option("FUZZ_SECONDS")
    for path in crashes, corpus:
        path.mkdir(parents=True, exist_ok=True)
    done = process.run([program, f"-seed={SEED}", f"-timeout={scaled(10):.0f}",
                        "-rss_limit_mb=1500", f"-artifact_prefix={crashes}/{name}-",
                        *([f"-max_total_time={limit}", corpus] if limit else [f"-runs={runs}"]),
                        seeds], check=False)
    if done.returncode:
        said = re.sub("^(#[0-9]|.*NEW_FUNC).*\n", "", done.stdout, flags=re.M)
        raise Failure(f"{said}\nSEED={SEED}; the input is kept: {program} FILE")
    return f"SEED={SEED}: {done.stdout.splitlines()[-1]}"
