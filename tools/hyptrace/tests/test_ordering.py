# SPDX-License-Identifier: GPL-2.0
"""The table of memory orderings at the head of kernel/trace/trace_ring.c names each place in the
code that has a pair's letter, and no other; and each pair's litmus tests. By the kernel's memory
model, herd7 finds that what must not happen never does, and that it sometimes does in a broken twin
of each test, which lacks the ordering."""

import re

import pytest
from hyptrace import apt, image, process, tree
from hyptrace.machine import BUILD, ROOT, Failure

pytestmark = [pytest.mark.fast, pytest.mark.host]

LITMUS = ROOT / "tools/testing/hyptrace/litmus"
# The line of a function's name begins at the margin, and does not end the statement.
FUNCTION = re.compile(r"(?!static_assert|DEFINE_|DECLARE_|EXPORT_)[A-Za-z_][^;]*\([^;]*$")
ORDERED = re.compile(r"smp_(mb|rmb|wmb|load_acquire|store_release)\("
                     r"|(atomic|xchg)[a-z0-9_]*_(acquire|release)\(")


def read_table(text):
    """The pairs, (letter, tests), and their places, (letter, side, FILE:FUNCTION)."""
    pairs, places, side = [], [], 0
    table = text[text.index(" * Memory ordering\n"):]
    for line in table[:table.index("\n */\n")].splitlines():
        if found := re.match(r" \* \(([A-Z])\) [^:]*: *(.*)", line):
            pairs.append((found[1], tuple(re.findall(r"[^, ]+", found[2]))))
            side = 0
        elif line == " *   with":
            side += 1
        elif found := re.match(r" \*\t([a-z_]+\.[ch]:[a-z_0-9]+)$", line):
            places.append((pairs[-1][0], side, found[1]))
    return pairs, places


def lettered(name, text):
    """Places with letters, "/* (A) */" or "/* (A), (B) */", as (letter, FILE:FUNCTION)."""
    function, in_comment = "", False
    for line in text.splitlines():
        if FUNCTION.match(line):
            function = re.split(r"\W+", line[:line.index("(")])[-1]
        comment = line.rpartition("/*")[2]
        if ("/*" in line) != ("*/" in line):
            in_comment = "/*" in line
        elif not in_comment and comment != line and re.match(r" \([A-Z]\)", comment):
            for letter in re.findall(r"\(([A-Z])\)", comment):
                yield letter, f"{name}:{function}"


def unlettered(text):
    """Barriers, acquires and releases without a letter on their line or the next one."""
    waits = ""
    for line in text.splitlines() + [";"]:
        if re.match(r" ?\*|/\*", line):
            continue
        has_letter = re.search(r"/\* \([A-Z]\)", line)
        if waits and not has_letter:
            yield waits
        waits = line if ORDERED.search(line) and not has_letter else ""


@pytest.mark.seconds(2)
def test_the_table_is_of_the_code(checks):
    """Its pairs, places and tests."""
    pairs, places = read_table((ROOT / "kernel/trace/trace_ring.c").read_text("utf-8"))
    texts = {path: (ROOT / path).read_text("utf-8") for path in tree.new_files()
             if re.match(r"(arch/arm64/kvm|include/linux|kernel/trace)/.*\.[ch]$", path)
             and not re.search("_test|/tests/", path)}
    code = {place for path, text in texts.items()
            for place in lettered(path.rpartition("/")[2], text)}
    assert pairs and code
    checks.equals("the table and the code name the same places",
                  sorted({(letter, place) for letter, _, place in places}), sorted(code))
    checks.equals("each barrier, acquire and release in the code has a letter",
                  [f"{path}: {line}" for path, text in texts.items()
                   for line in unlettered(text)], [])
    assert list(unlettered("smp_mb();\nsmp_wmb();\n\t/* (A) */")) == ["smp_mb();"]
    checks.equals("no pair and no place is there twice", sorted({pair[0] for pair in pairs})
                  + sorted(set(places)), sorted(pair[0] for pair in pairs) + sorted(places))
    checks.equals("each pair has two sides", sorted({place[:2] for place in places}),
                  sorted((letter, side) for letter, _ in pairs for side in (0, 1)))
    checks.equals("each litmus test and its broken twin are of a pair, and are there",
                  sorted(name + end for _, tests in pairs for name in tests
                         for end in (".litmus", "-broken.litmus")),
                  sorted(path.name for path in LITMUS.glob("*.litmus")))
    checks.equals("each pair has a litmus test", [letter for letter, tests in pairs if not tests
                  or not all(name.startswith(letter + "-") for name in tests)], [])


@pytest.mark.seconds(60)
def test_litmus(checks):
    """Each test is observed as often as it says itself."""
    try:
        root = image.suite("sid", "herdtools7", "herdtools7", apt.architecture())
    except Failure as failure:
        pytest.skip(str(failure))
    tree.make()
    loader = next((root / "usr/lib").rglob("ld-linux-*.so.*"))
    herd = [loader, "--library-path", loader.parent, root / "usr/bin/herd7",
            "-I", root / "usr/share/herdtools7/herd", "-conf", "linux-kernel.cfg"]
    for path in sorted(LITMUS.glob("*.litmus")):
        wanted = re.search(r"^\(\*\n \* (.*)", path.read_text("utf-8"), re.M)[1]
        said = process.run([*herd, path], check=False, cwd=BUILD / "tree/tools/memory-model").stdout
        checks(path.stem, f"\nObservation {path.stem} {wanted} " in said, said)
