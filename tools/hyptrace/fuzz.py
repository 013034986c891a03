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
    for line in listed.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            name, _, numbers = line.partition(" ")
            (into / name).write_bytes(bytes.fromhex(numbers))
    return into


def run(program, name, seeds, runs):
    """Run a fuzzer: how many inputs there were, and what they met. Raises Failure if it does not
    survive one."""
    crashes, corpus = BUILD / "fuzz/crashes", BUILD / "fuzz/corpus" / name
    limit = option("FUZZ_SECONDS")
    amount = [f"-max_total_time={limit}", corpus] if limit else [f"-runs={runs}"]
    for path in crashes, corpus:
        path.mkdir(parents=True, exist_ok=True)
    done = process.run([program, f"-seed={SEED}", f"-timeout={scaled(10):.0f}",
                        "-rss_limit_mb=1500", "-print_final_stats=1",
                        f"-artifact_prefix={crashes}/{name}-", *amount, seeds], check=False)
    if done.returncode:
        said = [line for line in done.stdout.splitlines()
                if not re.match(r"#\d|.*NEW_FUNC", line)]
        raise Failure("\n".join([*said, f"SEED={SEED}; the input is kept: {program} FILE"]))
    inputs = re.search(r"number_of_executed_units: *(\d+)", done.stdout)[1]
    edges, features = re.findall(r" cov: (\d+) ft: (\d+)", done.stdout)[-1]
    return f"SEED={SEED}: {inputs} inputs, {edges} edges, {features} features"
