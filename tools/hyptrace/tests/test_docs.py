# SPDX-License-Identifier: GPL-2.0
"""The documentation: Sphinx and kernel-doc do not warn about it; it names all files, events,
fields, hypercalls and tests, and none that do not exist. (test_guide.py runs its sessions.)"""

import fnmatch
import os
import re

import pytest

from hyptrace import patches, tree as trees
from hyptrace.machine import ROOT, need
from hyptrace.process import run

pytestmark = [pytest.mark.fast, pytest.mark.host, pytest.mark.seconds(30)]

TRACE = "Documentation/trace/hypervisor-"
GUIDE, SECURITY, DESIGN, EVENTS, *_ = DOCUMENTS = [f"{TRACE}{name}.rst" for name in (
    "tracing", "tracing-security", "tracing-design", "events", "tracing-files", "histograms",
    "functions")]
KVM = "Documentation/virt/kvm/vcpu-tracepoints.rst"
KSELFTEST, USER = "tools/testing/selftests/hyp-trace", "tools/testing/hyptrace"
# Where a path in a text may begin
BEGINS = ["", "arch/arm64/kvm", "arch/arm64/kvm/hyp", "arch/arm64/kvm/hyp/include",
          "arch/arm64/include", "kernel/trace", USER, "Documentation/trace", "include/uapi"]


@pytest.fixture(name="tree", scope="module")
def _tree():
    need("docs")
    return trees.make()


def read(name):
    return (ROOT / name).read_text("utf-8")


def find(expression, name):
    return re.findall(expression, read(name), re.M)


def sphinx(tree, directory, out):
    """What sphinx-build says, as `make htmldocs' has it, but with nothing left in the tree."""
    docs = tree / "Documentation"
    words = ["version=6.12", "release=6.12", f"kerneldoc_srctree={tree}",
             f"kerneldoc_bin={tree}/scripts/kernel-doc"]
    return run(["sphinx-build", "-q", "-b", "html", "-c", docs, "-d", out / "doctrees",
                *(word for each in words for word in ("-D", each)), docs / directory, out / "html"],
               env=os.environ | {"PYTHONDONTWRITEBYTECODE": "1", "BUILDDIR": str(out.parent)}
               ).stdout.splitlines()


def test_sphinx(tree, checks, tmp_path):
    """No warning names our documents or files. The functions of the ring's headers are there."""
    said = sphinx(tree, "trace", tmp_path / "trace") + sphinx(tree, "virt/kvm", tmp_path / "kvm")
    ours = ["hypervisor-tracing", "hypervisor-events", *trees.new_files()]
    checks.equals("it does not warn about our documents and their kernel-doc",
                  [line for line in said if any(name in line for name in ours)], [])
    html = (tmp_path / "trace/html/hypervisor-tracing-design.html").read_text("utf-8")
    for header in "include/linux/ring_buffer_writer.h", "kernel/trace/ring_buffer_reader.h":
        functions = find(r"^(?! \*).*?\b((?:ring_buffer|rb)_[a-z_]+)\(", header)
        checks(f"each function of {header} is described",
               functions and all(f'id="c.{name}"' in html for name in functions), functions)


def test_readme_is_short():
    """README.md has 195 lines at most."""
    assert read("README.md").count("\n") <= 195


def test_files():
    """The guide explains each file of the instance, as terms of a line each."""
    terms = [found[1] for line in find("^``.*", GUIDE)
             for term in line.split(",") if (found := re.match(r" *``(?:.*/)?([a-z_]*)``$", term))]
    files = [name for path in (ROOT / "kernel/trace/remote").glob("*.c")
             for name in find(r'^\t{ "([a-z_]*)",[ \t]*(?:TRACE_MODE|0)', path)]
    assert files and not set(files) - set(terms)


def listed_events():
    """The events and their fields. Some are made by a macro of the list's own."""
    fields, macro = {"": []}, ""
    for line in read("arch/arm64/include/asm/kvm_hypevents.h").splitlines():
        if found := re.match(r"#define (HYP_EVENT_\w+)\(|HYP_EVENT\((?!ename)(\w+)", line):
            macro = found[1] or found[2]
            fields[macro] = []
        if found := re.search(
                r"he_(field|named|array)\([^,]*, *(\w+)|he_(?!value)[a-z]+\((\w+)", line):
            fields[macro].append(found[2] or found[3])
        if found := re.match(r"(HYP_EVENT_\w+)\((\w+)", line):
            fields[found[2]] = fields[found[1]]
    return {name: each for name, each in fields.items() if re.match("[a-z]", name)}


def test_events(checks):
    """A section for each event: a line of output, what the host learns, and each of its fields."""
    parts = re.split(r"^(.*)\n=+$", read(EVENTS), flags=re.M)
    texts, events = dict(zip(parts[1::2], parts[2::2])), listed_events()
    checks("the event list has events", len(events) >= 15, len(events))
    for event, fields in events.items():
        text = texts.get(event, "")
        checks(f"{event}: a line of output", re.search(
            rf"^  \[\d{{3}}\] +\d+\.\d{{6}}: {event} |[Nn]o line of it", text, re.M))
        checks(f"{event}: what the host learns", re.search("learn[st]|for the same reason", text))
        left = [field for field in fields
                if not re.search(rf"^(``[a-z_0-9]+``, )*``{field}``", text, re.M)]
        checks(f"{event}: its fields", fields and (not left or re.search(
            "Fields (as|and)|for the same reason", text)), left)


def test_security_tests(checks):
    """The security tables name scripts of the kselftest, tests in C, and cases of KUnit."""
    scripts = find(r"^ *(?:- )?\| ``([a-z_]*\.sh)`` ([^(].*)$", SECURITY)
    programs = find(r"^ *(?:- )?\| ``([a-z_/]*\.c)`` (.*)$", SECURITY)
    checks("it names many", len(scripts) >= 23 and len(programs) >= 20)
    for name, text in scripts:
        checks(f"{name} {text}", text in read(f"{KSELFTEST}/{name}"))
    for name, text in programs:
        path = {"hyp_trace": "arch/arm64/kvm/", "remote": "kernel/trace/"}.get(
            name.partition("/")[0], f"{USER}/") + name
        case = re.sub("(?<=remote/tests/).*", "test.c", path)
        kunit = re.search("/(hyp_trace|remote)/tests/test", path)
        wanted = rf"KUNIT_CASE(_SLOW)?\({text}\)" if kunit else re.escape(text)
        checks(f"{name} {text}", text in read(path) and find(wanted, case))


def test_security_hypercalls():
    """Each hypercall of tracing, with its arguments, is in the table of what EL2 is given."""
    rows = []
    for name, body in find(r"^void handle_(__hyp_trace_\w+)\(((?:.*\n)*?)}",
                           "arch/arm64/kvm/hyp/nvhe/trace_hcall.c"):
        names = re.findall(r"DECLARE_REG\([^,]*, *(\w+)", body)
        rows.append(f"   * - ``{name}``" + ":" * bool(names) +
                    ",".join(f" ``{each}``" for each in names))
    assert len([row for row in rows if "," in row]) >= 7
    assert not set(rows) - set(read(SECURITY).splitlines())


@pytest.mark.parametrize("document", ["README.md", *DOCUMENTS, KVM])
def test_paths(tree, document):
    """The paths in a document lead somewhere. The index beside it lists it."""
    path = tree / document
    assert path.suffix == ".md" or (
        f"   {path.stem}\n" in (path.parent / "index.rst").read_text("utf-8"))
    paths = find(r"(?<![\w./])(?:arch|fs|include|kernel|patches|tools|Documentation)/[\w./-]*\w"
                 r"|[\w./-]*\w\.[ch]\b", document)
    assert not [path for path in paths if not (ROOT / path).exists() and
                not any((tree / begin / path).exists() for begin in BEGINS)]


def words(comment):
    """A comment's words, without its signs."""
    return re.sub(r"^[ \t]*(?:#|/?\*+/?)|\*/$|``", " ", comment, flags=re.M).split()


@pytest.mark.parametrize("directory", ["hyptrace", "selftests/hyp-trace"])
def test_readmes_of_the_tests(directory):
    """What a README says of each test is in the comment at its head."""
    at = ROOT / "tools/testing" / directory
    text = re.sub(r"^ *::$", "", (at / "README.rst").read_text("utf-8"), flags=re.M)
    terms = re.findall(r"^``(\S+)``\n((?:  .*\n|\n(?=  |\n))+)", text, re.M)
    assert len(terms) >= 20
    heads = {name: " ".join(words(next(at.rglob(name)).read_text("utf-8")[:4000]))
             for name, _ in terms}
    assert not [name for name, said in terms if " ".join(words(said)) not in heads[name]]


def kernel_doc(tree, *files):
    return run(["perl", "scripts/kernel-doc", "-none", "-Wall", *files], cwd=tree,
               check=False).stdout.splitlines()


def test_kernel_doc(tree, checks):
    """kernel-doc -Wall accepts new files, and functions that the patches add to others."""
    checks.equals("of new files", kernel_doc(
        tree, *(name for name in trees.new_files() if name.endswith((".c", ".h")))), [])
    text = "".join(text for topic in trees.topics() for text in patches.texts(topic).values())
    added = [(function, part.split()[0]) for part in text.split("\n+++ b/")[1:] for function in
             re.findall(r"^\+/\*\*\n\+ \* ([a-z_]+)(?:\(\))? - ", part, re.M)]
    checks("patches add functions with kernel-doc", added)
    checks.equals("of those", [line for function, file in added for line in kernel_doc(tree, file)
                               if re.search(rf"\b{function}\b", line)], [])


def test_maintainers(tree):
    """The entry in the tree's MAINTAINERS is ours, and all that is new of hyp-trace is in it."""
    assert f"\n\n{read('MAINTAINERS')}\n" in (tree / "MAINTAINERS").read_text("utf-8")
    covered = [re.sub("/$", "/*", pattern) for pattern in find(r"^F:\t(.*)", "MAINTAINERS")]
    assert not [name for name in trees.new_files("hyp-trace")
                if not any(fnmatch.fnmatchcase(name, pattern) for pattern in covered)]
