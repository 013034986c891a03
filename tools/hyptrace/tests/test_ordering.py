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
    pairs, places = [], []
    table = re.search(r" \* Memory ordering\n((?:.*\n)*?) \*/\n", text)[1]
    _, *parts = re.split(r"^ \* \(([A-Z])\) [^:]*: *(.*)$", table, flags=re.M)
    for letter, tests, body in zip(parts[::3], parts[1::3], parts[2::3]):
        pairs.append((letter, re.findall("[^, ]+", tests)))
        places += [(letter, side, place) for side, part in enumerate(body.split(" *   with\n"))
                   for place in re.findall(r"^ \*\t([a-z_]+\.[ch]:\w+)$", part, re.M)]
    return pairs, places


def lettered(name, text):
    """Places with letters, "/* (A) */" or "/* (A), (B) */", as (letter, FILE:FUNCTION)."""
    function = ""
    for line in text.splitlines():
        if FUNCTION.match(line):
            function = re.split(r"\W+", line[:line.index("(")])[-1]
        if comment := re.search(r"/\* (\([A-Z]\).*)\*/", line):
            for letter in re.findall(r"\(([A-Z])\)", comment[1]):
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
    letters = [letter for letter, _ in pairs]
    checks("no pair and no place is there twice",
           len(set(letters)) == len(letters) and len(set(places)) == len(places), places)
    checks.equals("each pair has two sides", sorted({place[:2] for place in places}),
                  sorted((letter, side) for letter in letters for side in (0, 1)))
    checks.equals("each litmus test and its broken twin are of a pair, and are there",
                  sorted(name + end for _, tests in pairs for name in tests
                         for end in (".litmus", "-broken.litmus")),
                  sorted(path.name for path in LITMUS.glob("*.litmus")))
    checks("each pair has a litmus test", all(tests and all(
        name.startswith(letter + "-") for name in tests) for letter, tests in pairs), pairs)


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
