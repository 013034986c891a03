# SPDX-License-Identifier: GPL-2.0
"""The objects of a part call each other in one direction, so that each builds with those below.

The tables of memory orderings at the heads of three files name each place in the code that has a
pair's letter, and no other; and each pair's litmus tests. By the kernel's memory model, herd7 finds
that what must not happen never does, and that it sometimes does in a broken twin of each test,
which lacks the ordering."""

import graphlib
import re

import pytest
from hyptrace import image, patches, process, tree
from hyptrace.machine import BUILD, ROOT, Failure, cross_for

pytestmark = pytest.mark.fast

# Each part with objects that it must have. ring_buffer.o is the reader's lowest layer.
PARTS = {
    "the remote layer": ("kernel/trace/remote/*.o", "instance remote"),
    "the reader": ("kernel/trace/ring_buffer*.o", "ring_buffer ring_buffer_reader_state"),
    "the arm64 remote": ("arch/arm64/kvm/hyp_trace/*.o", "hyp_trace ring clock"),
}


def symbols(option, path):
    """The global symbols that an object defines, or those that it uses."""
    said = process.run([cross_for("arm64") + "nm", "-g", option, path]).stdout
    return {line.split()[-1] for line in said.splitlines()}


@pytest.mark.host
def test_no_source_includes_another_one():
    """But for tests, and the part of the reader that needs what is private to ring_buffer.c."""
    texts = [(ROOT / path).read_text("utf-8") for path in patches.new_files()
             if re.match(r"(?!tools/|.*/tests/).*\.[chS]$", path)]
    texts += [text for topic in patches.topics() for text in patches.texts(topic).values()]
    assert [name for text in texts for name in
            re.findall(r'^\+?#include "(.*\.c)"$', text, re.M)] == ["ring_buffer_reader_base.c"]


@pytest.mark.boots("default")
@pytest.mark.parametrize("part", PARTS)
def test_no_circles(kernel, part):
    """Of the default kernel's objects, without those of an earlier build, which have no source."""
    out, (pattern, wanted) = kernel(), PARTS[part]
    paths = [path for path in out.glob(pattern)
             if (BUILD / "tree" / path.relative_to(out)).with_suffix(".c").exists()]
    owner = {name: path.stem for path in paths for name in symbols("--defined-only", path)}
    below = {path.stem: {owner[name] for name in symbols("-u", path) if name in owner}
             for path in paths}
    assert set(wanted.split()) <= set(below)
    graphlib.TopologicalSorter(below).prepare()     # raises a CycleError


# The ring's orderings, the host's, EL2's
TABLES = ("kernel/trace/trace_ring.c", "kernel/trace/remote/instance.c",
          "arch/arm64/kvm/hyp/nvhe/trace.c")
HYPTRACE = ROOT / "tools/testing/hyptrace"
LITMUS = HYPTRACE / "litmus"
# Where a text refers to the table that has a letter.
REFERENCE = re.compile(r"\(([A-Z])\)(?: and \(([A-Z])\)| and so on,)?"
                       r" (?:(?:is|are) explained in|of) ([\w/]+\.c)\b")
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


def references(text):
    """The letters of a text for which it names a file that explains them, as (letter, FILE)."""
    for *letters, name in REFERENCE.findall(re.sub(r"\n(?: \*)? *", " ", text)):
        yield from ((letter, name) for letter in letters if letter)


@pytest.fixture(name="texts")
def code_with_places():
    """The code that can have letters, by the files' names."""
    return {path: (ROOT / path).read_text("utf-8") for path in tree.new_files()
            if re.match(r"(arch/arm64/kvm|include/linux|kernel/trace)/.*\.[ch]$", path)
            and not re.search("_test|/tests/", path)}


@pytest.mark.host
@pytest.mark.seconds(2)
def test_references(checks, texts):
    """The code, the litmus tests and their README say of each letter which file explains it."""
    tables = {letter: path for path in TABLES
              for letter, _ in read_table((ROOT / path).read_text("utf-8"))[0]}
    texts |= {path.name: path.read_text("utf-8")
              for path in [*LITMUS.glob("*.litmus"), HYPTRACE / "README.rst"]}
    found = [(path, letter, name) for path, text in texts.items()
             for letter, name in references(text)]
    checks("there are some of each table", {name for *_, name in found} >= {
        "trace_ring.c", "instance.c", "trace.c", "nvhe/trace.c"}, found)
    checks.equals("each is right", [(path, letter, name) for path, letter, name in found
                                    if not f"/{tables.get(letter)}".endswith(f"/{name}")], [])


@pytest.mark.host
@pytest.mark.seconds(2)
def test_the_tables_are_of_the_code(checks, texts):
    """Their pairs, places and tests."""
    pairs, places = [sum(lists, []) for lists in zip(*(
        read_table((ROOT / path).read_text("utf-8")) for path in TABLES))]
    code = {place for path, text in texts.items()
            for place in lettered(path.rpartition("/")[2], text)}
    assert pairs and code
    checks.equals("the tables and the code name the same places",
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


@pytest.mark.host
@pytest.mark.seconds(60)
def test_litmus(checks):
    """Each test is observed as often as it says itself."""
    try:
        root = image.suite("sid", "herdtools7", "herdtools7", image.architecture())
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
