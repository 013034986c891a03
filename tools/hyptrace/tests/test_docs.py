# SPDX-License-Identifier: GPL-2.0
"""The documentation: Sphinx and kernel-doc do not warn about it; it names all files, events,
fields, hypercalls and tests, and none that do not exist. (Its sessions run in test_guests.py.)"""

import fnmatch
import os
import re

import pytest

from hyptrace import patches, tree as trees
from hyptrace.machine import ROOT, need
from hyptrace.process import run

pytestmark = [pytest.mark.fast, pytest.mark.host, pytest.mark.seconds(30)]

TRACE = "Documentation/trace/hypervisor-"
GUIDE, SECURITY, DESIGN, EVENTS = (f"{TRACE}{name}.rst" for name in (
    "tracing", "tracing-security", "tracing-design", "events"))
KVM = "Documentation/virt/kvm/vcpu-tracepoints.rst"
LIST = "arch/arm64/include/asm/kvm_hypevents.h"
KSELFTEST, USER = "tools/testing/selftests/hyp-trace", "tools/testing/hyptrace"
# Where a path in a text may begin
BEGINS = ["", "arch/arm64/kvm", "arch/arm64/kvm/hyp", "arch/arm64/kvm/hyp/include",
          "arch/arm64/include", "kernel/trace", USER, "Documentation/trace", "include/uapi"]


@pytest.fixture(name="tree", scope="module")
def _tree():
    """The kernel with our files."""
    need("docs")
    return trees.make()


def read(name):
    """A file of ours."""
    return (ROOT / name).read_text(encoding="utf-8")


def sphinx(tree, directory, out):
    """What sphinx-build says, as `make SPHINXDIRS=directory htmldocs` has it, but with nothing left
    in the tree."""
    said = run(["sphinx-build", "-q", "-b", "html", "-c", tree / "Documentation",
                "-d", out / "doctrees", "-D", "version=6.12", "-D", "release=6.12",
                "-D", f"kerneldoc_srctree={tree}", "-D",
                f"kerneldoc_bin={tree}/scripts/kernel-doc", tree / "Documentation" / directory,
                out / "html"],
               env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "BUILDDIR": str(out.parent)})
    return said.stdout.splitlines()


def test_sphinx(tree, checks, tmp_path):
    """trace/ and virt/kvm/ are built; no warning names one of our documents, or the file that
    kernel-doc has read for it. Each function of the writer's header is described."""
    said = sphinx(tree, "trace", tmp_path / "trace")
    checks("Sphinx builds trace/", (tmp_path / "trace/html").exists())
    said += sphinx(tree, "virt/kvm", tmp_path / "kvm")
    checks("Sphinx builds virt/kvm/", (tmp_path / "kvm/html").exists())
    ours = [TRACE.rpartition("/")[2] + "tracing", "hypervisor-events", *trees.new_files()]
    checks.equals("it does not warn about our documents and their kernel-doc",
                  [line for line in said if any(name in line for name in ours)], [])
    html = (tmp_path / "trace/html/hypervisor-tracing-design.html").read_text(encoding="utf-8")
    header = re.sub(r"^ \*.*", "", read("include/linux/ring_buffer_writer.h"), flags=re.M)
    functions = set(re.findall(r"\b((?:ring_buffer|rb)_[a-z_]+)\(", header))
    checks("each function of ring_buffer_writer.h is described",
           functions and all(f'id="c.{name}"' in html for name in functions),
           [name for name in functions if f'id="c.{name}"' not in html])


@pytest.mark.parametrize("document", [GUIDE, SECURITY, DESIGN, EVENTS, KVM])
def test_listed(tree, document):
    """The index lists them."""
    directory, _, name = document.rpartition("/")
    index = (tree / directory / "index.rst").read_text(encoding="utf-8")
    assert f"   {name.removesuffix('.rst')}" in index.splitlines()


def test_readme_is_short():
    """README.md has 150 lines at most."""
    assert len(read("README.md").splitlines()) <= 150


def test_files():
    """The guide explains each file of the instance, as terms of a line each, without the
    directory."""
    terms = [found[1] for line in re.findall("^``.*", read(GUIDE), re.M)
             for term in line.split(",") if (found := re.match(r" *``(?:.*/)?([a-z_]*)``$", term))]
    files = [name for path in (ROOT / "kernel/trace/remote").glob("*.c")
             for name in re.findall(r'^\t{ "([a-z_]*)",[ \t]*(?:TRACE_MODE|0)',
                                    path.read_text(encoding="utf-8"), re.M)]
    assert files and not set(files) - set(terms)


def sections():
    """The sections of the document of the events by their headings."""
    parts = re.split(r"^(.*)\n=+$", read(EVENTS), flags=re.M)
    return dict(zip(parts[1::2], parts[2::2]))


def listed_events():
    """The events and their fields. Some are made by a macro of the list's own."""
    fields, macro = {"": []}, ""
    for line in read(LIST).splitlines():
        if found := re.match(r"#define (HYP_EVENT_\w+)\(|HYP_EVENT\((?!ename)(\w+)", line):
            macro = found[1] or found[2]
            fields[macro] = []
        if found := re.search(r"he_(field|named|array)\([^,]*, *(\w+)|he_[a-z]+\((\w+)", line):
            fields[macro].append(found[2] or found[3])
        if found := re.match(r"(HYP_EVENT_\w+)\((\w+)", line):
            fields[found[2]] = fields[found[1]]
    return {name: each for name, each in fields.items() if re.match("[a-z]", name)}


def test_events(checks):
    """Each event has a section with a line of output, or why there is none, and with what the host
    learns; each of its fields is explained, there or in a section that this one names."""
    events, texts = listed_events(), sections()
    checks("the event list has events", len(events) >= 20, len(events))
    for event, fields in events.items():
        text = texts.get(event, "")
        checks(f"{event}: a line of output", re.search(
            rf"^  \[\d{{3}}\] +\d+\.\d{{6}}: {event} |[Nn]o line of it", text, re.M))
        checks(f"{event}: what the host learns", re.search("learn[st]|for the same reason", text))
        explained = [field for field in fields
                     if re.search(rf"^(``[a-z_0-9]+``, )*``{field}``", text, re.M)]
        checks(f"{event}: its fields", fields and (
            explained == fields or re.search("Fields (as|and)|for the same reason", text)),
               set(fields) - set(explained))


def named_checks(pattern):
    """What the security tables give as checks: a file, and a part of it."""
    return re.findall(rf"^ *(?:- )?\| ``({pattern})`` (.*)$", read(SECURITY), re.M)


def test_security_scripts():
    """The security tables name checks that are in the kselftest."""
    named = [(name, text) for name, text in named_checks(r"[a-z_]*\.sh") if text[0] != "("]
    assert len(named) >= 23
    assert not [each for each in named if each[1] not in read(f"{KSELFTEST}/{each[0]}")]


def test_security_programs():
    """The tables name tests in C that are there. Of KUnit's it is a case."""
    named, missing = named_checks(r"[a-z_/]*\.c"), []
    for name, text in named:
        found = text
        if re.match("(hyp_trace|remote)/tests/test", name):
            found = rf"KUNIT_CASE(_SLOW)?\({text}\)"
        else:
            found = re.escape(text)
        path = "arch/arm64/kvm/" if name.startswith("hyp_trace/") else \
            "kernel/trace/" if name.startswith("remote/") else f"{USER}/"
        case = "kernel/trace/remote/tests/test.c" if name.startswith("remote/") else path + name
        if text not in read(path + name) or not re.search(found, read(case)):
            missing.append((name, text))
    assert len(named) >= 20 and not missing


def test_security_hypercalls():
    """Each hypercall of tracing, with its arguments, is in the table of what EL2 is given."""
    rows = []
    for name, body in re.findall(r"^void handle_(__hyp_trace_\w+)\((.*?)^}",
                                 read("arch/arm64/kvm/hyp/nvhe/trace_hcall.c"), re.M | re.S):
        names = re.findall(r"DECLARE_REG\([^,]*, *(\w+)", body)
        rows.append(f"   * - ``{name}``:" + ",".join(f" ``{each}``" for each in names))
    assert len([row for row in rows if "," in row]) >= 7
    assert not set(rows) - set(read(SECURITY).splitlines())


@pytest.mark.parametrize("document", ["README.md", GUIDE, SECURITY, DESIGN, EVENTS, KVM])
def test_paths(tree, document):
    """The paths in a document lead somewhere: from the root, or of a source file in short."""
    paths = re.findall(r"(?<![\w./])(?:arch|fs|include|kernel|patches|tools|Documentation)/"
                       r"[\w./-]*\w|[\w./-]*\w\.[ch]\b", read(document))
    assert not [path for path in paths if not (ROOT / path).exists() and
                not any((tree / begin / path).exists() for begin in BEGINS)]


def heads():
    """The comment at the head of each test: what it is for."""
    scripts = re.findall(r"[a-z_]+\.sh", " ".join(
        re.findall(r"^TEST_PROGS [:+]= (.*)", read(f"{KSELFTEST}/Makefile"), re.M)))
    for name in dict.fromkeys(scripts):
        yield name, re.search(r"\A#!.*\n# SPDX.*\n((?:#.*\n)*)", read(f"{KSELFTEST}/{name}"))
    for path in sorted((ROOT / USER).glob("*_test.c")) + sorted(
            path for path in (ROOT / USER / "fuzz").glob("*.c")
            if re.search("_(fuzz|race|test).c$", path.name)):
        yield path.name, re.search(r"^/\*(.*?)\*/", read(path), re.M | re.S)
    for path in sorted((ROOT / USER / "litmus").glob("*.litmus")):
        if "-broken" not in path.name:
            yield path.name, re.search(r"^\(\*.*\n.*\n.*\n((?:.*\n)*?) *\*\)$", read(path), re.M)


def test_purposes():
    """Each of the kselftest's scripts, user-space tests, fuzzers and litmus tests says what it is
    for."""
    found = dict(heads())
    assert sum(name.endswith(".sh") for name in found) >= 30
    assert {os.path.splitext(name)[1] for name in found} == {".sh", ".c", ".litmus"}
    assert not [name for name, head in found.items() if not head or
                not re.search(r"^[# *]*[A-Za-z]", re.sub("# shellcheck.*", "", head[1]), re.M)]


def kernel_doc(tree, files):
    """What kernel-doc -Wall has against files."""
    return run(["perl", "scripts/kernel-doc", "-none", "-Wall", *files], cwd=tree,
               check=False).stdout.splitlines()


def test_kernel_doc(tree, checks):
    """kernel-doc -Wall has nothing against new files, nor against functions that the patches add to
    the kernel's own files and describe."""
    checks.equals("of new files", kernel_doc(
        tree, [name for name in trees.new_files() if name.endswith((".c", ".h"))]), [])
    added, said = [], []
    for topic in trees.topics():
        for name in patches.series(topic):
            for part in re.split(r"^\+\+\+ b/", read(f"patches/{topic}/{name}"), flags=re.M)[1:]:
                for function in re.findall(r"^\+/\*\*\n\+ \* ([a-z_]+)(?:\(\))? - ", part, re.M):
                    added.append(function)
                    said += [line for line in kernel_doc(tree, [part.split()[0]])
                             if re.search(rf"\b{function}\b", line)]
    checks("patches add functions with kernel-doc", added)
    checks.equals("of those", said, [])


def test_maintainers(tree):
    """The entry in the tree's MAINTAINERS is ours, and all that is new of hyp-trace is in it. What
    other topics add belongs to the entries of what they change."""
    entry = re.search(r"^HYPERVISOR TRACING FOR ARM64 KVM\n(.+\n)+",
                      (tree / "MAINTAINERS").read_text(encoding="utf-8"), re.M)
    assert entry[0] == read("MAINTAINERS")
    covered = [re.sub("/$", "/*", pattern) for pattern in re.findall(r"^F:\t(.*)", entry[0], re.M)]
    assert not [name for name in trees.new_files("hyp-trace")
                if not any(fnmatch.fnmatchcase(name, pattern) for pattern in covered)]
